/*
 * Tables for people and for programs. See table.h.
 */
#include "table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *column_name(const char *column)
{
    return column + (column[0] == '#' || column[0] == '~');
}

static const char *cell(const struct table *table, size_t row, size_t column)
{
    return table->cells[row * table->width + column];
}

void table_columns(struct table *table, const char *name, const char *empty,
                   ...)
{
    *table = (struct table){.name = name, .empty = empty};
    va_list list;
    va_start(list, empty);
    const char *column;
    while ((column = va_arg(list, const char *)))
        table->columns[table->width++] = column;
    va_end(list);
}

void table_add(struct table *table, const char *const *texts)
{
    size_t used = table->rows * table->width;
    char **cells =
        realloc(table->cells, (used + table->width) * sizeof *table->cells);
    if (!cells)
        abort();
    table->cells = cells;
    for (size_t i = 0; i < table->width; i++)
        if (!(cells[used + i] = strdup(texts[i] ? texts[i] : "")))
            abort();
    table->rows++;
}

static size_t column_width(const struct table *table, size_t column)
{
    size_t most = strlen(column_name(table->columns[column]));
    for (size_t row = 0; row < table->rows; row++)
        if (strlen(cell(table, row, column)) > most)
            most = strlen(cell(table, row, column));
    return most;
}

/* One line, without space at its end. */
static void print_line(const struct table *table, FILE *out,
                       const char *const *texts, const size_t *widths)
{
    int owed = 2; /* spaces due before the next text */
    for (size_t i = 0; i < table->width; i++) {
        if (table->columns[i][0] == '~')
            continue;
        int length = (int)strlen(texts[i]);
        int padding = (int)widths[i] - length;
        if (table->columns[i][0] == '#')
            owed += padding;
        if (length > 0)
            fprintf(out, "%*s%s", owed, "", texts[i]);
        int behind = table->columns[i][0] == '#' ? 0 : padding;
        owed = (length > 0 ? 0 : owed) + behind + 2;
    }
    fputc('\n', out);
}

void table_print(const struct table *table, FILE *out)
{
    fprintf(out, "%s\n", table->name);
    if (table->rows == 0) {
        fprintf(out, "  none: %s\n", table->empty);
        return;
    }
    const char *texts[TABLE_MOST_COLUMNS];
    size_t widths[TABLE_MOST_COLUMNS];
    for (size_t i = 0; i < table->width; i++) {
        widths[i] = column_width(table, i);
        texts[i] = column_name(table->columns[i]);
    }
    print_line(table, out, texts, widths);
    for (size_t row = 0; row < table->rows; row++) {
        for (size_t i = 0; i < table->width; i++)
            texts[i] = cell(table, row, i);
        print_line(table, out, texts, widths);
    }
}

void json_string(const char *text, FILE *out)
{
    fputc('"', out);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else if (*p < 0x20)
            fprintf(out, "\\u%04x", *p);
        else
            fputc(*p, out);
    }
    fputc('"', out);
}

void table_print_json(const struct table *table, FILE *out)
{
    json_string(table->name, out);
    fputs(": [", out);
    for (size_t row = 0; row < table->rows; row++) {
        fputs(row ? ",\n  {" : "\n  {", out);
        for (size_t i = 0; i < table->width; i++) {
            const char *text = cell(table, row, i);
            fputs(i ? ", " : "", out);
            json_string(column_name(table->columns[i]), out);
            fputs(": ", out);
            if (table->columns[i][0] == '#' && *text)
                fputs(text, out);
            else
                json_string(text, out);
        }
        fputc('}', out);
    }
    fputc(']', out);
}

void table_clear(struct table *table)
{
    for (size_t i = 0; i < table->rows * table->width; i++)
        free(table->cells[i]);
    free(table->cells);
    table->cells = NULL;
    table->rows = 0;
}
