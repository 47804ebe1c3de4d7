/*
 * Shows measured links to people: a matrix of rates, one of latencies and one
 * of ways. See links.h. Reads the table alone, so that what it shows is what
 * --json prints.
 */
#include <stdbool.h>
#include <string.h>

#include "links.h"

static const char *cell(const struct table *table, size_t row, int column)
{
    return table->cells[row * table->width + (size_t)column];
}

/* Whether the row is the first one about its `from`. */
static bool is_new(const struct table *table, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (strcmp(cell(table, i, LINKS_FROM), cell(table, row, LINKS_FROM)) ==
            0)
            return false;
    return true;
}

/* What a column says of a pair; "-": nothing. */
static const char *look(const struct table *table, const char *from,
                        const char *to, int column)
{
    for (size_t i = 0; i < table->rows; i++)
        if (strcmp(cell(table, i, LINKS_FROM), from) == 0 &&
            strcmp(cell(table, i, LINKS_TO), to) == 0 &&
            *cell(table, i, column))
            return cell(table, i, column);
    return "-";
}

static bool occurs(const struct table *table, const char *way)
{
    for (size_t i = 0; i < table->rows; i++)
        if (strcmp(cell(table, i, LINKS_WAY), way) == 0)
            return true;
    return false;
}

/* "host", "device 3" */
static void print_end(const char *name, int width, FILE *out)
{
    char text[32];
    snprintf(text, sizeof text, "%s%s",
             strcmp(name, "host") == 0 ? "" : "device ", name);
    fprintf(out, "%*s", width, text);
}

static void print_matrix(const struct table *table, const char *title,
                         int column, FILE *out)
{
    fprintf(out, "  %s\n    %-9s", title, "from \\ to");
    for (size_t i = 0; i < table->rows; i++)
        if (is_new(table, i))
            print_end(cell(table, i, LINKS_FROM), 14, out);
    fputc('\n', out);
    for (size_t row = 0; row < table->rows; row++) {
        const char *from = cell(table, row, LINKS_FROM);
        if (!is_new(table, row))
            continue;
        fputs("    ", out);
        print_end(from, -9, out);
        for (size_t i = 0; i < table->rows; i++)
            if (is_new(table, i))
                fprintf(out, "%14s",
                        look(table, from, cell(table, i, LINKS_FROM), column));
        fputc('\n', out);
    }
    fputc('\n', out);
}

static void print_errors(const struct table *table, FILE *out)
{
    for (size_t i = 0; i < table->rows; i++) {
        const char *from = cell(table, i, LINKS_FROM),
                   *to = cell(table, i, LINKS_TO);
        if (!*cell(table, i, LINKS_ERROR))
            continue;
        fputs("  ", out);
        print_end(from, 0, out);
        if (*to) {
            fputs(" to ", out);
            print_end(to, 0, out);
            fputs(" failed", out);
        } else {
            fputs(" cannot be used", out);
        }
        fprintf(out, ": %s\n", cell(table, i, LINKS_ERROR));
    }
}

static void print_ways(const struct table *table, FILE *out)
{
    fputs("  within: inside the device's memory\n", out);
    if (occurs(table, "peer"))
        fputs("  peer: from device to device, past the host's memory\n", out);
    if (occurs(table, "through host"))
        fputs("  through host: the driver lets these devices not reach each "
              "other; down to the\n  host's memory, then up\n",
              out);
    if (!occurs(table, "peer") && !occurs(table, "through host"))
        fputs("  only one device can be used: nothing goes from device to "
              "device\n",
              out);
}

void links_print(const struct table *table, FILE *out)
{
    fputs(table->name, out);
    if (table->rows > 0)
        fprintf(out, ", measured %s", cell(table, 0, LINKS_MEASURED));
    fputc('\n', out);
    if (table->rows == 0)
        fprintf(out, "  none: %s\n", table->empty);
    if (occurs(table, "upload")) {
        print_matrix(table, "GiB/s of a large copy", LINKS_RATE, out);
        print_matrix(table, "us until a copy of 4 KiB has arrived",
                     LINKS_LATENCY, out);
        print_matrix(table, "way that the bytes go", LINKS_WAY, out);
        print_ways(table, out);
    }
    print_errors(table, out);
}
