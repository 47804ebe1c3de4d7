/*
 * Runs a program by libadsm in a process of its own (engine.c) and reads what
 * it counted.
 */
#ifndef BENCH_RANGES_CONTAINERS_ENGINE_H
#define BENCH_RANGES_CONTAINERS_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

struct engine_moved {
    uint64_t up, local, peer, down;
    uint64_t copies;                 /* to and from the host outside of calls */
    uint64_t allocated, allocations; /* device memory for copies */
    double ms;
};

/**
 * Run one program; ends this one when that fails.
 *
 * @n @calls  as program_by_name; @devices  software devices it sees
 * @peer      whether they may copy to each other
 * @check     compare its results instead of taking the time
 */
struct engine_moved engine_run(const char *name, long n, int calls, int devices,
                               bool peer, bool check);

#endif
