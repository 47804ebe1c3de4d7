/*
 * Links as they were measured last, a text for each machine and its devices in
 * the folder of ADSM_MODELS:
 *
 *     libadsm links 1
 *     machine node7, AMD EPYC 9355
 *     device 0 NVIDIA H200, driver 12.4
 *     measured 2026-11-28 17:40
 *     host 0 50.310 8.8 upload
 *     ...
 *     end
 *
 * Who reads it compares all in front of `measured` with what is here: devices of
 * another kind or order, or another driver, are measured anew.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "accel/accel.h"
#include "code/model_file.h"
#include "code/remember.h"
#include "links.h"

enum { ROW = 64, NAME = 64, HEAD = 16 << 10 };

/* What is here, and the name of its file. Return: bytes of the head; 0: too many
 * devices */
static size_t describe(char head[HEAD], char name[NAME])
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    int n = snprintf(head, HEAD, "libadsm links 1\nmachine %s\n",
                     adsm_model_machine());
    for (int d = 0; d < adsm_accel_devices() && n < HEAD; d++) {
        char kind[ADSM_MODEL_KIND];
        adsm_remember_kind(d, kind);
        n += snprintf(head + n, (size_t)(HEAD - n), "device %d %s\n", d, kind);
    }
    if (n >= HEAD)
        return 0;
    for (int i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)head[i]) * UINT64_C(1099511628211);
    snprintf(name, NAME, "links-%016" PRIx64 ".txt", hash);
    return (size_t)n;
}

static const char *cell(const struct table *table, size_t row, int column)
{
    return table->cells[row * table->width + (size_t)column];
}

static bool is_whole(const struct table *table)
{
    for (size_t row = 0; row < table->rows; row++)
        if (*cell(table, row, LINKS_ERROR))
            return false;
    return table->rows > 0;
}

void links_keep(const struct table *table)
{
    char name[NAME];
    adsm_model_files_init();
    if (!is_whole(table) || !adsm_model_is_written())
        return;
    char *text = malloc(HEAD + ROW * (table->rows + 2));
    size_t n = text ? describe(text, name) : 0;
    if (n > 0) {
        n += (size_t)sprintf(text + n, "measured %.16s\n",
                             cell(table, 0, LINKS_MEASURED));
        for (size_t row = 0; row < table->rows; row++)
            n += (size_t)sprintf(
                text + n, "%.8s %.8s %.12s %.12s %.12s\n",
                cell(table, row, LINKS_FROM), cell(table, row, LINKS_TO),
                cell(table, row, LINKS_RATE), cell(table, row, LINKS_LATENCY),
                cell(table, row, LINKS_WAY));
        n += (size_t)sprintf(text + n, "end\n");
        if (n > ADSM_MODEL_BYTES || !adsm_model_text_write(name, text, n))
            fprintf(stderr, "adsm-info: %s/%s cannot be written\n",
                    adsm_model_folder(), name);
    }
    free(text);
}

/* A number that JSON takes as it is. */
static bool is_number(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && text[digits] == '.' &&
           strspn(text + digits + 1, "0123456789") ==
               strlen(text) - digits - 1 &&
           text[digits + 1] != '\0';
}

static bool take_row(struct table *table, const char *line, const char *when)
{
    char from[9], to[9], rate[13], latency[13], way[13];
    if (sscanf(line, "%8s %8s %12s %12s %12[a-z ]", from, to, rate, latency,
               way) != 5 ||
        !is_number(rate) || !is_number(latency))
        return false;
    table_add(table, (const char *[LINKS_COLUMNS]){from, to, way, rate, latency,
                                                   "", when});
    return true;
}

/* What comes behind the head. */
static bool take(struct table *table, char *text)
{
    char when[17] = "", *rest = NULL;
    char *line = strtok_r(text, "\n", &rest);
    if (!line || sscanf(line, "measured %16[0-9: -]", when) != 1)
        return false;
    while ((line = strtok_r(NULL, "\n", &rest)) && strcmp(line, "end") != 0)
        if (!take_row(table, line, when))
            return false;
    return line && table->rows > 0;
}

void section_links_kept(struct table *table)
{
    char head[HEAD], name[NAME];
    links_table(table);
    if (adsm_accel_init() != ADSM_OK)
        table->empty = adsm_accel_why();
    if (adsm_accel_devices() == 0)
        return;
    table->empty = "nobody has measured them yet: adsm-info --links";
    adsm_model_files_init();
    char *text = malloc(ADSM_MODEL_BYTES + 1);
    size_t n = describe(head, name);
    ssize_t bytes = text && n > 0 && adsm_model_folder()
                        ? adsm_model_text_read(name, text)
                        : -1;
    if (bytes > 0)
        text[bytes] = '\0';
    if (bytes != -1 &&
        (bytes < 0 || (size_t)bytes < n || memcmp(text, head, n) != 0 ||
         memchr(text, '\0', (size_t)bytes) || !take(table, text + n))) {
        table_clear(table);
        table->empty =
            "what was measured is damaged: adsm-info --links measures "
            "anew";
    }
    free(text);
}
