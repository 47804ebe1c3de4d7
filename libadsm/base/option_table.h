/*
 * The option list as a table, shared by the parser and the texts about it.
 * Private to base/option*.c. No lock: constant.
 */
#ifndef ADSM_BASE_OPTION_TABLE_H
#define ADSM_BASE_OPTION_TABLE_H

#include "base/option.h"

struct adsm_option_entry {
    const char *env;
    enum adsm_option_type type;
    size_t offset; /* of the member in struct adsm_options */
    int64_t def, min, max;
    const char *const *words; /* ends with NULL */
    const char *unit;
    const char *help;
};

extern const struct adsm_option_entry adsm_option_table[ADSM_OPTION_COUNT];

/** The default as a user would write it. Thread: any. Signal: never. */
void adsm_option_default_text(const struct adsm_option_entry *entry, char *text,
                              size_t bytes);

/**
 * The allowed values in words, "a size from 4K to 1G, a power of two".
 *
 * @text  receives the description; @bytes  room in it
 * Thread: any
 * Signal: never
 */
void adsm_option_describe(const struct adsm_option_entry *entry, char *text,
                          size_t bytes);

#endif
