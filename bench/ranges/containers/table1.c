/*
 * Fig. 2 and Table 1 of Dastgeer and Kessler (containers.h): bytes that
 * programs move and allocate on two devices under SkePU's first rules, under
 * the new ones, and under these with copies from device to device. Results are
 * compared with the CPU's on the way.
 *
 * One JSON line for each number, or with --table one line for each run.
 */
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONFIGS = 3, COLUMNS = 7 };

static const struct config {
    const char *name;
    enum container_rules rules;
    bool peer;
} configs[CONFIGS] = {
    {"initial", RULES_INITIAL, false},
    {"new", RULES_NEW, false},
    {"new+peer", RULES_NEW, true},
};

static const char *const columns[COLUMNS] = {
    "up", "local", "peer", "down", "moved", "allocated", "allocations"};

static bool table;

struct row {
    double value[COLUMNS];
};

static struct row row_of(const struct container_moved *m)
{
    return (struct row){{
        (double)m->up,
        (double)m->local,
        (double)m->peer,
        (double)m->down,
        (double)(m->up + m->peer + m->down),
        (double)m->allocated,
        (double)m->allocations,
    }};
}

static void print_row(const char *program, const char *name,
                      const struct row *row, const struct row *against)
{
    if (table) {
        printf("%-14s %-14s", program, name);
        for (int i = 0; i < COLUMNS; i++)
            printf(" %11.0f", row->value[i]);
        printf("\n");
        return;
    }
    for (int i = 0; i < COLUMNS; i++) {
        printf("{\"bench\":\"table1\",\"case\":\"%s/%s/%s\",\"unit\":\"%s\","
               "\"reps\":1,\"median\":%.0f,\"min\":%.0f,\"max\":%.0f",
               program, name, columns[i], i == COLUMNS - 1 ? "" : "bytes",
               row->value[i], row->value[i], row->value[i]);
        if (against && against->value[i] > 0)
            printf(",\"against\":\"initial\",\"ratio\":%.4f",
                   row->value[i] / against->value[i]);
        printf("}\n");
    }
}

static void measure(const struct program *program)
{
    struct row first = {{0}};
    for (int i = 0; i < CONFIGS; i++) {
        containers_set(configs[i].rules, configs[i].peer);
        run_program(program, 2, false, true);
        struct row row = row_of(containers_moved());
        if (i == 0)
            first = row;
        print_row(program->name, configs[i].name, &row, i ? &first : NULL);
    }
}

/* One device: seven copies where each call stands alone, two otherwise. */
static void measure_fig2(void)
{
    static const struct config fig2[] = {
        {"back and forth", RULES_BACK_AND_FORTH, false},
        {"apart", RULES_APART, false},
        {"initial", RULES_INITIAL, false},
        {"new", RULES_NEW, false},
    };
    struct program program = program_fig2(65536);
    struct row first = {{0}};
    for (size_t i = 0; i < sizeof fig2 / sizeof *fig2; i++) {
        containers_set(fig2[i].rules, fig2[i].peer);
        run_program(&program, 1, false, true);
        struct row row = row_of(containers_moved());
        if (fig2[i].rules == RULES_INITIAL)
            first = row;
        print_row(program.name, fig2[i].name, &row,
                  fig2[i].rules == RULES_NEW ? &first : NULL);
        if (!table)
            printf("{\"bench\":\"table1\",\"case\":\"fig2/%s/copies\","
                   "\"unit\":\"\",\"reps\":1,\"median\":%llu}\n",
                   fig2[i].name,
                   (unsigned long long)containers_moved()->copies);
    }
    program_free(&program);
}

int main(int argc, char **argv)
{
    table = argc == 2 && strcmp(argv[1], "--table") == 0;
    if (argc > 1 && !table) {
        fprintf(stderr, "usage: %s [--table]\n", argv[0]);
        return 2;
    }
    setenv("SOFTCUDA_DEVICES", "2", 0);
    containers_start(2);
    if (table) {
        printf("%-14s %-14s", "program", "rules");
        for (int i = 0; i < COLUMNS; i++)
            printf(" %11s", columns[i]);
        printf("\n");
    }
    measure_fig2();
    struct program programs[] = {program_lu(96), program_nbody(4096, 50),
                                 program_sph(4096, 50)};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        measure(&programs[i]);
        program_free(&programs[i]);
    }
    return 0;
}
