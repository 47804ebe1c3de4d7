/*
 * A titled table of texts, printed for people or as JSON.
 *
 * Owns the texts of its cells. Knows nothing of what they mean.
 */
#ifndef ADSM_INFO_TABLE_H
#define ADSM_INFO_TABLE_H

#include <stddef.h>
#include <stdio.h>

#define TABLE_MOST_COLUMNS 8

struct table {
    const char *name;  /* key in JSON, title for people              */
    const char *empty; /* printed for people when there are no rows  */
    const char *columns[TABLE_MOST_COLUMNS]; /* "#x": numbers; "~x": only
                                                in JSON              */
    size_t width;                            /* columns used         */
    size_t rows;
    char **cells; /* rows * width                                    */
};

/** Name an empty table and its columns; the list of these ends with NULL. */
void table_columns(struct table *table, const char *name, const char *empty,
                   ...);

/** Add a row: `width` texts, copied. A NULL text is an empty cell. */
void table_add(struct table *table, const char *const *texts);

/** Print aligned columns below the title. */
void table_print(const struct table *table, FILE *out);

/** Print `"name": [{"column": "text", …}, …]`. */
void table_print_json(const struct table *table, FILE *out);

/** Print a text as a JSON string. */
void json_string(const char *text, FILE *out);

/** Free the rows; the table may be filled again. */
void table_clear(struct table *table);

#endif
