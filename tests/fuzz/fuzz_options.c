/*
 * ADSM_* variables: an environment of the input's lines, each behind "ADSM_".
 */
#include "fuzz.h"

#include "base/option_table.h"

static int64_t number_of(const struct adsm_options *options,
                         const struct adsm_option_entry *entry)
{
    const void *at = (const char *)options + entry->offset;
    switch (entry->type) {
    case ADSM_OPTION_BOOL:
        return *(const adsm_opt_BOOL *)at;
    case ADSM_OPTION_INT:
        return *(const adsm_opt_INT *)at;
    case ADSM_OPTION_SIZE:
    case ADSM_OPTION_POW2:
        return (int64_t) * (const adsm_opt_SIZE *)at;
    case ADSM_OPTION_ENUM:
        return *(const adsm_opt_ENUM *)at;
    default:
        return 0;
    }
}

/* Numbers up to `max`, each once, and nothing else. */
static void check_list(const char *list, int64_t max)
{
    char seen[1 << 12] = {0};
    FUZZ_CHECK(max < (int64_t)sizeof seen);
    do {
        int64_t number = -1;
        FUZZ_CHECK(adsm_option_next(&list, &number));
        FUZZ_CHECK(number >= 0 && number <= max && !seen[number]);
        seen[number] = 1;
    } while (*list);
}

static void check_value(const struct adsm_options *options,
                        const struct adsm_option_entry *entry)
{
    int64_t number = number_of(options, entry);
    const void *at = (const char *)options + entry->offset;
    int words = 0;
    switch (entry->type) {
    case ADSM_OPTION_BOOL:
        break;
    case ADSM_OPTION_POW2:
        FUZZ_CHECK((number & (number - 1)) == 0);
        __attribute__((fallthrough));
    case ADSM_OPTION_INT:
    case ADSM_OPTION_SIZE:
        FUZZ_CHECK(number >= entry->min && number <= entry->max);
        break;
    case ADSM_OPTION_ENUM:
        while (entry->words[words])
            words++;
        FUZZ_CHECK(number >= 0 && number < words);
        break;
    case ADSM_OPTION_LIST:
        check_list(*(const adsm_opt_LIST *)at, entry->max);
        break;
    case ADSM_OPTION_PATH:
        FUZZ_CHECK(**(const adsm_opt_PATH *)at);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct adsm_options options;
    bool taken[ADSM_OPTION_COUNT];
    char *environment[FUZZ_LINES_MOST + 1];
    int lines = 0;
    fuzz_lines(data, bytes, "ADSM_", environment);
    int warnings = adsm_options_parse(&options, taken, environment);
    while (environment[lines])
        lines++;
    FUZZ_CHECK(warnings >= 0 && warnings <= lines);
    for (size_t i = 0; i < ADSM_OPTION_COUNT; i++) {
        const struct adsm_option_entry *entry = &adsm_option_table[i];
        if (taken[i])
            check_value(&options, entry);
        else
            FUZZ_CHECK(number_of(&options, entry) == entry->def ||
                       entry->type >= ADSM_OPTION_LIST);
    }
    fuzz_lines_free(environment);
    return 0;
}
