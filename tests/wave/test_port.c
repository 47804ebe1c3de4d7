/*
 * The port is made by deleting: wave_ported.c is wave_explicit.c with lines
 * taken out and characters taken out of lines, and nothing put in.
 */
#include "common/suite.h"
#include "command.h"

#include <ctype.h>
#include <stdbool.h>

#define LINES_MAX 400

struct text {
    int count;
    char *lines[LINES_MAX];
};

static struct text text_read(const char *name)
{
    char path[1024], line[256];
    struct text text = {0};
    snprintf(path, sizeof path, "%s/%s", place("WAVE_SOURCE"), name);
    FILE *file = fopen(path, "r");
    ck_assert_msg(file, "cannot open %s", path);
    while (fgets(line, sizeof line, file)) {
        ck_assert_int_lt(text.count, LINES_MAX);
        text.lines[text.count++] = strdup(line);
    }
    fclose(file);
    return text;
}

static void text_free(struct text *text)
{
    for (int i = 0; i < text->count; i++)
        free(text->lines[i]);
}

/* Whether deleting characters makes `shorter` of `line`, with enough left of
 * it (half) that it is still that line. */
static bool is_shortened(const char *shorter, const char *line)
{
    size_t left = strlen(shorter), all = strlen(line);
    for (; *line && *shorter; line++)
        shorter += *shorter == *line;
    return *shorter == 0 && 2 * left >= all;
}

struct port {
    int kept, shortened, deleted;
};

/* Cost of turning old[i..] into new[j..]: a deleted line 2, a shortened one 1;
 * impossible where a line would have to be put in. */
static int cost[LINES_MAX + 1][LINES_MAX + 1];
#define IMPOSSIBLE 1000000

static void costs_fill(const struct text *old, const struct text *new)
{
    for (int i = old->count; i >= 0; i--)
        for (int j = new->count; j >= 0; j--) {
            int best = i == old->count && j == new->count ? 0 : IMPOSSIBLE;
            if (i < old->count)
                best = cost[i + 1][j] + 2;
            if (i < old->count && j < new->count) {
                const char *a = old->lines[i], *b = new->lines[j];
                int change = strcmp(a, b) == 0    ? 0
                             : is_shortened(b, a) ? 1
                                                  : -1;
                if (change >= 0 && cost[i + 1][j + 1] + change < best)
                    best = cost[i + 1][j + 1] + change;
            }
            cost[i][j] = best < IMPOSSIBLE ? best : IMPOSSIBLE;
        }
}

/* Whether `new` comes from `old` by deletions; counts them. */
static bool port_compare(const struct text *old, const struct text *new,
                         struct port *port)
{
    *port = (struct port){0};
    costs_fill(old, new);
    if (cost[0][0] >= IMPOSSIBLE)
        return false;
    for (int i = 0, j = 0; i < old->count; i++) {
        if (j == new->count || cost[i][j] == cost[i + 1][j] + 2) {
            port->deleted++;
            continue;
        }
        bool same = strcmp(old->lines[i], new->lines[j]) == 0;
        port->kept += same;
        port->shortened += !same;
        j++;
    }
    return true;
}

static int code_lines(const struct text *text)
{
    int count = 0;
    for (int i = 0; i < text->count; i++)
        for (const char *c = text->lines[i]; *c; c++)
            if (!isspace((unsigned char)*c)) {
                count++;
                break;
            }
    return count;
}

START_TEST(port_only_deletes)
{
    struct port port;
    struct text old = text_read("wave_explicit.c");
    struct text new = text_read("wave_ported.c");
    ck_assert_msg(port_compare(&old, &new, &port),
                  "wave_ported.c has a line that no deletion makes of "
                  "wave_explicit.c");
    printf("wave_explicit.c %d lines, wave_ported.c %d: %d deleted, %d "
           "shortened, %d unchanged, 0 added\n",
           code_lines(&old), code_lines(&new), port.deleted, port.shortened,
           port.kept);
    ck_assert_int_gt(port.deleted, 20);
    ck_assert_int_lt(port.shortened, 10);
    ck_assert_int_eq(port.kept + port.shortened, new.count);
    text_free(&old);
    text_free(&new);
}
END_TEST

START_TEST(ported_program_copies_nothing)
{
    static const char *const words[] = {"cuMemcpy", "malloc", "upload",
                                        "download", "host_",  "adsm"};
    struct text new = text_read("wave_ported.c");
    for (int i = 0; i < new.count; i++)
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            ck_assert_msg(!strstr(new.lines[i], words[k]), "line %d: %s", i + 1,
                          new.lines[i]);
    text_free(&new);
}
END_TEST

START_TEST(cuda_programs_do_not_know_this_project)
{
    static const char *const names[] = {"wave_explicit.c", "wave_managed.c"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        struct text text = text_read(names[k]);
        for (int i = 0; i < text.count; i++)
            ck_assert_msg(!strstr(text.lines[i], "adsm"), "%s, line %d: %s",
                          names[k], i + 1, text.lines[i]);
        text_free(&text);
    }
}
END_TEST

START_TEST(line_put_in_is_found)
{
    struct port port;
    struct text old = {2, {"int a;\n", "a = b;\n"}};
    struct text fine = {1, {"a = b;\n"}};
    struct text added = {3, {"int a;\n", "lock();\n", "a = b;\n"}};
    struct text longer = {2, {"int a;\n", "a = b + 1;\n"}};
    struct text swapped = {2, {"a = b;\n", "int a;\n"}};
    ck_assert(port_compare(&old, &fine, &port));
    ck_assert_int_eq(port.deleted, 1);
    ck_assert(!port_compare(&old, &added, &port));
    ck_assert(!port_compare(&old, &longer, &port));
    ck_assert(!port_compare(&old, &swapped, &port));
}
END_TEST

SUITE_MAIN("wave port", 10, port_only_deletes, ported_program_copies_nothing,
           cuda_programs_do_not_know_this_project, line_put_in_is_found)
