/*
 * The steps of a kernel with the numbers of launches.
 *
 * Launches are evaluated one after the other, and what depends on nothing that
 * differs from the launch before stays as it was. Pointers that only shift what
 * is touched are added at the end, and cost nothing.
 *
 * Lives in the arena of the load. Lock: none; one thread at a time.
 */
#ifndef SOFTCUDA_PTX_SOLVE_H
#define SOFTCUDA_PTX_SOLVE_H

#include "ptx/flow.h"
#include "ptx/strided.h"

struct sc_solve {
    const struct sc_flow *flow;
    bool is_valid; /* all below, for the launch evaluated last */
    struct sc_geometry geometry;
    struct sc_interval *numbers; /* by input; of one that shifts: 0 */
    uint64_t *shifts;            /* by input; of others: 0 */
    struct sc_interval *values;  /* by variable, less its base */
    struct sc_interval *touched; /* by access, less its base */
    unsigned steps;              /* evaluated so far */
    /* Made where they are asked for: by variable, of the launch of that number. */
    struct sc_strided *strided;
    uint64_t *noted, launch;
};

/**
 * Prepare for launches.
 *
 * @load receives the allocations; jumped back through when memory runs out
 * Thread: the owner of `load`
 * Signal: never
 */
void sc_solve_init(struct sc_load *load, const struct sc_flow *flow,
                   struct sc_solve *solve);

/**
 * Evaluate a launch.
 *
 * @params values of all parameters, `bytes` of them
 * Return: false: no end was found in the time that a launch may take
 */
bool sc_solve(struct sc_solve *solve, const struct sc_geometry *geometry,
              const uint8_t *params, size_t bytes);

/** First and last byte of an access of the launch evaluated last: none when it
 *  is not reached, sc_interval_any(64) when they are not known. */
struct sc_interval sc_solve_range(const struct sc_solve *solve, size_t access);

/** Would the bytes of an access, as often as it is made at most, fill less than
 *  half of its range? Says little of one that several threads make alike. */
bool sc_solve_is_sparse(const struct sc_solve *solve, size_t access);

/** All bytes of an access of the launch evaluated last, within sc_solve_range;
 *  SC_STRIDED_ANY when no more is known. */
struct sc_strided sc_solve_strided(struct sc_solve *solve, size_t access);

/** The input that shifts an access, or SC_BASE_NONE. */
int32_t sc_solve_base(const struct sc_solve *solve, size_t access);

#endif
