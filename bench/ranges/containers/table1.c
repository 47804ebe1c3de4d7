/*
 * Fig. 2 and Table 1 of Dastgeer and Kessler (containers.h): bytes that
 * programs move and allocate on two devices under SkePU's first rules, under
 * the new ones, under these with copies from device to device, and by libadsm
 * without and with such copies. Results are compared with the CPU's on the way.
 *
 * One JSON line for each number, or with --table one line for each run.
 */
#include "engine.h"
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 8, MOVED = 4, BLOCK = 65536 };

static const char *const columns[COLUMNS] = {
    "up",    "local",     "peer",        "down",
    "moved", "allocated", "allocations", "copies"};

static bool table;

/* How a program is run: on containers, or else by libadsm. */
struct config {
    const char *name;
    bool engine;
    enum container_rules rules;
    bool peer;
};

struct row {
    double value[COLUMNS];
};

static struct row on_containers(const struct program *program, int devices,
                                const struct config *config)
{
    containers_set(config->rules, config->peer);
    run_program(program, devices, false, true);
    const struct container_moved *m = containers_moved();
    return (struct row){{(double)m->up, (double)m->local, (double)m->peer,
                         (double)m->down, 0, (double)m->allocated,
                         (double)m->allocations, (double)m->copies}};
}

static struct row by_engine(const struct program *program, int calls,
                            int devices, bool peer)
{
    struct engine_moved m =
        engine_run(program->name, program->n, calls, devices, peer, true);
    return (struct row){{(double)m.up, (double)m.local, (double)m.peer,
                         (double)m.down, 0, (double)m.allocated,
                         (double)m.allocations, (double)m.copies}};
}

static void print_row(const char *program, const struct config *config,
                      const struct row *row, const struct row *first,
                      const char *first_name, int shown)
{
    if (table) {
        printf("%-8s %-14s", program, config->name);
        for (int i = 0; i < shown; i++)
            printf(" %11.0f", row->value[i]);
        printf("\n");
    }
    for (int i = 0; i < shown && !table; i++) {
        double value = row->value[i];
        printf("{\"bench\":\"table1\",\"case\":\"%s/%s/%s\",\"unit\":\"%s\","
               "\"reps\":1,\"median\":%.0f,\"min\":%.0f,\"max\":%.0f",
               program, config->name, columns[i], i > 5 ? "" : "bytes", value,
               value, value);
        if (first && first->value[i] > 0)
            printf(",\"against\":\"%s\",\"ratio\":%.4f", first_name,
                   value / first->value[i]);
        printf("}\n");
    }
    fflush(stdout);
}

/* Run a program in each way; the first is what others are compared with.
 * Copies inside a device are none that the link moves. */
static void measure(struct program program, int calls, int devices,
                    const struct config *config, int configs, int shown)
{
    struct row first;
    for (int i = 0; i < configs; i++) {
        struct row row =
            config[i].engine
                ? by_engine(&program, calls, devices, config[i].peer)
                : on_containers(&program, devices, &config[i]);
        row.value[MOVED] = row.value[0] + row.value[2] + row.value[3];
        if (i == 0)
            first = row;
        print_row(program.name, &config[i], &row, i ? &first : NULL,
                  config[0].name, shown);
    }
    program_free(&program);
}

static void read_options(int argc, char **argv)
{
    table = argc == 2 && strcmp(argv[1], "--table") == 0;
    if (argc > 1 && !table) {
        fprintf(stderr, "usage: %s [--table]\n", argv[0]);
        exit(2);
    }
    if (table)
        printf("%-8s %-14s", "", "rules");
    for (int i = 0; i < COLUMNS && table; i++)
        printf(" %11s%s", columns[i], i == COLUMNS - 1 ? "\n" : "");
}

int main(int argc, char **argv)
{
    static const struct config fig2[] = {
        {"back and forth", false, RULES_BACK_AND_FORTH, false},
        {"apart", false, RULES_APART, false},
        {"initial", false, RULES_INITIAL, false},
        {"new", false, RULES_NEW, false},
        {"adsm", true, RULES_NEW, false},
    };
    static const struct config table1[] = {
        {"initial", false, RULES_INITIAL, false},
        {"new", false, RULES_NEW, false},
        {"new+peer", false, RULES_NEW, true},
        {"adsm", true, RULES_NEW, false},
        {"adsm+peer", true, RULES_NEW, true},
    };
    setenv("SOFTCUDA_DEVICES", "2", 0);
    read_options(argc, argv);
    containers_start(2);
    /* The whole vector is a block, or the CPU touches one of sixteen. */
    measure(program_fig2(BLOCK, false), 0, 1, fig2, 5, COLUMNS);
    measure(program_fig2(16 * BLOCK, true), 0, 1, fig2, 5, COLUMNS);
    measure(program_lu(256, 255), 255, 2, table1, 5, COLUMNS - 1);
    measure(program_nbody(32768, 50), 50, 2, table1, 5, COLUMNS - 1);
    measure(program_sph(32768, 50), 50, 2, table1, 5, COLUMNS - 1);
    return 0;
}
