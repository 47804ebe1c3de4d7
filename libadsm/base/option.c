/*
 * The option parser: environment text to values, with one warning per mistake.
 *
 * Owns the values in use and where each came from. The texts for people are
 * option_text.c. Lock: options_lock (rank API) orders the first load.
 */
#include "base/option_table.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/log.h"

#define ADSM_WORDS_NONE(W)
#define ENUM_WORD(option, constant, word, ...) word,
#define X(field, env, type, def, min, max, words, unit, help)                  \
    static const char *const words_##field[] = {words(ENUM_WORD) NULL};
#include "base/options.def"
#undef X
#undef ENUM_WORD

const struct adsm_option_entry adsm_option_table[ADSM_OPTION_COUNT] = {
#define X(field, env, type, def, min, max, words, unit, help)                  \
    {env,                                                                      \
     ADSM_OPTION_##type,                                                       \
     offsetof(struct adsm_options, field),                                     \
     def,                                                                      \
     min,                                                                      \
     max,                                                                      \
     words_##field,                                                            \
     unit,                                                                     \
     help},
#include "base/options.def"
#undef X
};

static struct {
    struct adsm_options in_use;
    bool from_env[ADSM_OPTION_COUNT];
    bool loaded;
    struct adsm_lock lock;
} options = {
    .in_use =
        {
#define X(field, env, type, def, min, max, words, unit, help) .field = def,
#include "base/options.def"
#undef X
        },
    .lock = ADSM_LOCK_INIT(ADSM_RANK_API),
};

static void option_store(struct adsm_options *options,
                         const struct adsm_option_entry *entry, int64_t number,
                         const char *text)
{
    void *at = (char *)options + entry->offset;
    switch (entry->type) {
    case ADSM_OPTION_BOOL:
        *(adsm_opt_BOOL *)at = number != 0;
        break;
    case ADSM_OPTION_INT:
        *(adsm_opt_INT *)at = number;
        break;
    case ADSM_OPTION_SIZE:
    case ADSM_OPTION_POW2:
        *(adsm_opt_SIZE *)at = (uint64_t)number;
        break;
    case ADSM_OPTION_ENUM:
        *(adsm_opt_ENUM *)at = (int)number;
        break;
    case ADSM_OPTION_LIST:
    case ADSM_OPTION_PATH:
        *(adsm_opt_PATH *)at = text;
        break;
    }
}

static bool option_read_bool(const char *text, int64_t *number)
{
    static const char *const words[] = {"0",   "1",  "no",    "yes",
                                        "off", "on", "false", "true"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *number = (int64_t)(i % 2);
            return true;
        }
    }
    return false;
}

static bool option_read_word(const char *text, const char *const *words,
                             int64_t *number)
{
    for (int i = 0; words[i] != NULL; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *number = i;
            return true;
        }
    }
    return false;
}

/* "64", "64k", "64KiB", "64KB": a number and a binary unit. */
static bool option_read_size(const char *text, int64_t *number)
{
    char *end;
    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0)
        return false;
    unsigned shift = 0;
    static const char units[] = "KMGT";
    const char *unit =
        *end == '\0' ? NULL : strchr(units, toupper((unsigned char)*end));
    if (unit != NULL) {
        shift = 10 * (unsigned)(unit - units + 1);
        end++;
        if (*end == 'i')
            end++;
    }
    if (*end == 'B')
        end++;
    if (*end != '\0' || value > (unsigned long long)INT64_MAX >> shift)
        return false;
    *number = (int64_t)(value << shift);
    return true;
}

static bool option_read_int(const char *text, int64_t *number)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0')
        return false;
    *number = value;
    return true;
}

bool adsm_option_next(const char **list, int64_t *number)
{
    const char *text = *list, *end = text + strlen("cpu");
    if (strncasecmp(text, "cpu", strlen("cpu")) == 0)
        *number = ADSM_OPTION_CPU;
    else if (isdigit((unsigned char)*text))
        *number = strtoll(text, (char **)&end, 10);
    else
        return false;
    *list = *end == ',' ? end + 1 : end;
    return *end == '\0' || (*end == ',' && end[1] != '\0');
}

static bool option_is_in(const char *list, const char *end, int64_t number)
{
    int64_t seen;
    while (list < end && adsm_option_next(&list, &seen))
        if (seen == number)
            return true;
    return false;
}

/* Numbers up to `max`, or "cpu", separated by commas, each once. */
static bool option_is_list(const char *text, int64_t max)
{
    for (const char *at = text, *next = text;; at = next) {
        int64_t number;
        if (!adsm_option_next(&next, &number) || number > max ||
            option_is_in(text, at, number))
            return false;
        if (*next == '\0')
            return true;
    }
}

static bool option_read(const struct adsm_option_entry *entry, const char *text,
                        int64_t *number)
{
    switch (entry->type) {
    case ADSM_OPTION_BOOL:
        return option_read_bool(text, number);
    case ADSM_OPTION_INT:
        return option_read_int(text, number) && *number >= entry->min &&
               *number <= entry->max;
    case ADSM_OPTION_SIZE:
    case ADSM_OPTION_POW2:
        if (!option_read_size(text, number) || *number < entry->min ||
            *number > entry->max)
            return false;
        return entry->type == ADSM_OPTION_SIZE ||
               (*number & (*number - 1)) == 0;
    case ADSM_OPTION_ENUM:
        return option_read_word(text, entry->words, number);
    case ADSM_OPTION_LIST:
        return option_is_list(text, entry->max);
    case ADSM_OPTION_PATH:
        return true;
    }
    return false;
}

static size_t option_min3(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Least number of inserted, deleted and replaced characters (Levenshtein). */
static size_t option_distance(const char *a, size_t a_length, const char *b)
{
    size_t row[64];
    size_t b_length = strlen(b);
    for (size_t j = 0; j <= b_length; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t replace = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = option_min3(row[j] + 1, row[j - 1] + 1, replace);
        }
    }
    return row[b_length];
}

static void option_warn_unknown(const char *name, size_t length)
{
    const char *nearest = NULL;
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < ADSM_OPTION_COUNT; i++) {
        size_t d = option_distance(name, length, adsm_option_table[i].env);
        if (d < best) {
            best = d;
            nearest = adsm_option_table[i].env;
        }
    }
    adsm_log(ADSM_LOG_WARN,
             "unknown option %.*s is ignored; the nearest name is %s",
             (int)length, name, nearest);
}

static const struct adsm_option_entry *option_find(const char *name,
                                                   size_t length)
{
    for (size_t i = 0; i < ADSM_OPTION_COUNT; i++) {
        const char *env = adsm_option_table[i].env;
        if (strlen(env) == length && memcmp(env, name, length) == 0)
            return &adsm_option_table[i];
    }
    return NULL;
}

/* One "ADSM_…=value" of the environment. Return: warnings given. */
static int option_take(struct adsm_options *options, bool *from_env,
                       const char *name, size_t length)
{
    const struct adsm_option_entry *entry = option_find(name, length);
    if (entry == NULL) {
        option_warn_unknown(name, length);
        return 1;
    }
    const char *text = name + length + 1;
    if (*text == '\0')
        return 0; /* an empty value is the shell's way of not setting one */
    int64_t number = 0;
    if (!option_read(entry, text, &number)) {
        char allowed[160], kept[64];
        adsm_option_describe(entry, allowed, sizeof allowed);
        adsm_option_default_text(entry, kept, sizeof kept);
        bool none = strcmp(kept, "-") == 0;
        adsm_log(ADSM_LOG_WARN, "%s=%s is not valid: %s wanted; %s%s",
                 entry->env, text, allowed,
                 none ? "it counts as not set" : kept, none ? "" : " is used");
        return 1;
    }
    option_store(options, entry, number, text);
    if (from_env != NULL)
        from_env[entry - adsm_option_table] = true;
    return 0;
}

int adsm_options_parse(struct adsm_options *options, bool *from_env,
                       char *const *environment)
{
    int warnings = 0;
    for (size_t i = 0; i < ADSM_OPTION_COUNT; i++) {
        option_store(options, &adsm_option_table[i], adsm_option_table[i].def,
                     NULL);
        if (from_env != NULL)
            from_env[i] = false;
    }
    for (; environment != NULL && *environment != NULL; environment++) {
        const char *equals = strchr(*environment, '=');
        if (equals != NULL && strncmp(*environment, "ADSM_", 5) == 0)
            warnings += option_take(options, from_env, *environment,
                                    (size_t)(equals - *environment));
    }
    return warnings;
}

/* The environment's own text may go away with a later setenv. */
static void options_keep_texts(struct adsm_options *options)
{
    for (size_t i = 0; i < ADSM_OPTION_COUNT; i++) {
        const struct adsm_option_entry *entry = &adsm_option_table[i];
        if (entry->type != ADSM_OPTION_LIST && entry->type != ADSM_OPTION_PATH)
            continue;
        const char **at = (const char **)((char *)options + entry->offset);
        if (*at != NULL)
            *at = strdup(*at);
    }
}

void adsm_options_load(void)
{
    adsm_lock_acquire(&options.lock);
    if (!options.loaded) {
        struct adsm_options parsed;
        adsm_options_parse(&parsed, options.from_env, environ);
        options_keep_texts(&parsed);
        options.in_use = parsed;
        adsm_log_set_level((enum adsm_log_level)parsed.log);
        options.loaded = true;
    }
    adsm_lock_release(&options.lock);
}

const struct adsm_options *adsm_options_get(void)
{
    return &options.in_use;
}

bool adsm_option_is_from_environment(size_t index)
{
    return options.from_env[index];
}
