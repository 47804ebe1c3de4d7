/*
 * What people read about options: allowed values, defaults, values in use.
 *
 * Owns the wording; the table and the values are option.c's. No lock.
 */
#include "base/option_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void text_size(uint64_t value, char *text, size_t bytes)
{
    static const char units[] = {'T', 'G', 'M', 'K'};
    for (unsigned i = 0; i < sizeof units; i++) {
        unsigned shift = 40 - 10 * i;
        if (value != 0 && value % (UINT64_C(1) << shift) == 0) {
            snprintf(text, bytes, "%" PRIu64 "%c", value >> shift, units[i]);
            return;
        }
    }
    snprintf(text, bytes, "%" PRIu64, value);
}

static void text_words(const char *const *words, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; words[i] != NULL && used < bytes; i++) {
        int n = snprintf(text + used, bytes - used, "%s%s",
                         i == 0                 ? ""
                         : words[i + 1] != NULL ? ", "
                                                : " or ",
                         words[i]);
        used += (size_t)n;
    }
}

void adsm_option_describe(const struct adsm_option_entry *entry, char *text,
                          size_t bytes)
{
    char low[24], high[24];
    switch (entry->type) {
    case ADSM_OPTION_BOOL:
        snprintf(text, bytes, "0 or 1");
        break;
    case ADSM_OPTION_INT:
        snprintf(text, bytes, "a number from %" PRId64 " to %" PRId64,
                 entry->min, entry->max);
        break;
    case ADSM_OPTION_SIZE:
    case ADSM_OPTION_POW2:
        text_size((uint64_t)entry->min, low, sizeof low);
        text_size((uint64_t)entry->max, high, sizeof high);
        snprintf(text, bytes, "a size from %s to %s%s", low, high,
                 entry->type == ADSM_OPTION_POW2 ? ", a power of two" : "");
        break;
    case ADSM_OPTION_ENUM:
        text_words(entry->words, text, bytes);
        break;
    case ADSM_OPTION_LIST:
        snprintf(text, bytes, "different numbers, or cpu, separated by commas");
        break;
    case ADSM_OPTION_PATH:
        snprintf(text, bytes, "a file name");
        break;
    }
}

static void text_value(const struct adsm_option_entry *entry, int64_t number,
                       const char *string, char *text, size_t bytes)
{
    switch (entry->type) {
    case ADSM_OPTION_BOOL:
    case ADSM_OPTION_INT:
        snprintf(text, bytes, "%" PRId64, number);
        break;
    case ADSM_OPTION_SIZE:
    case ADSM_OPTION_POW2:
        text_size((uint64_t)number, text, bytes);
        break;
    case ADSM_OPTION_ENUM:
        snprintf(text, bytes, "%s", entry->words[number]);
        break;
    case ADSM_OPTION_LIST:
    case ADSM_OPTION_PATH:
        snprintf(text, bytes, "%s", string != NULL ? string : "-");
        break;
    }
}

void adsm_option_default_text(const struct adsm_option_entry *entry, char *text,
                              size_t bytes)
{
    text_value(entry, entry->def, NULL, text, bytes);
}

static void text_in_use(const struct adsm_option_entry *entry, char *text,
                        size_t bytes)
{
    const void *at = (const char *)adsm_options_get() + entry->offset;
    int64_t number = 0;
    const char *string = NULL;
    switch (entry->type) {
    case ADSM_OPTION_BOOL:
        number = *(const adsm_opt_BOOL *)at;
        break;
    case ADSM_OPTION_INT:
        number = *(const adsm_opt_INT *)at;
        break;
    case ADSM_OPTION_SIZE:
    case ADSM_OPTION_POW2:
        number = (int64_t) * (const adsm_opt_SIZE *)at;
        break;
    case ADSM_OPTION_ENUM:
        number = *(const adsm_opt_ENUM *)at;
        break;
    case ADSM_OPTION_LIST:
    case ADSM_OPTION_PATH:
        string = *(const adsm_opt_PATH *)at;
        break;
    }
    text_value(entry, number, string, text, bytes);
}

bool adsm_option_info(size_t index, struct adsm_option_info *info)
{
    if (index >= ADSM_OPTION_COUNT)
        return false;
    const struct adsm_option_entry *entry = &adsm_option_table[index];
    info->env = entry->env;
    info->type = entry->type;
    adsm_option_describe(entry, info->type_text, sizeof info->type_text);
    adsm_option_default_text(entry, info->default_text,
                             sizeof info->default_text);
    text_in_use(entry, info->value_text, sizeof info->value_text);
    info->source =
        adsm_option_is_from_environment(index) ? "environment" : "default";
    info->unit = entry->unit;
    info->help = entry->help;
    return true;
}

const char *adsm_option_word(enum adsm_option_id option, int value)
{
    const char *const *words = adsm_option_table[option].words;
    for (int i = 0; words[i] != NULL; i++) {
        if (i == value)
            return words[i];
    }
    return "?";
}
