/*
 * Launches of a kernel and what they touch, the last few.
 *
 * A launch is alike if all is that its ranges depend on; pointers that only
 * shift what is touched may differ. Programs launch the same again and again,
 * or two in turn.
 *
 * Lives in the arena of the load. Lock: none; one thread at a time.
 */
#ifndef SOFTCUDA_PTX_RECALL_H
#define SOFTCUDA_PTX_RECALL_H

#include "ptx/solve.h"

enum { SC_RECALL_LAUNCHES = 4 };

/** Ranges of a launch, and what each is shifted by. */
struct sc_recalled {
    bool is_valid;
    bool has_rows;               /* they were looked for               */
    struct sc_geometry geometry; /* what does not matter is 0          */
    uint64_t *numbers;           /* by input                           */
    unsigned count;
    struct sc_range range[SC_RANGES_MOST];
    int32_t base[SC_RANGES_MOST]; /* an input, or SC_BASE_NONE         */
};

struct sc_recall {
    const struct sc_flow *flow;
    struct sc_recalled launch[SC_RECALL_LAUNCHES];
    unsigned next;
};

/** Prepare; @load receives the allocations. Thread: its owner */
void sc_recall_init(struct sc_load *load, const struct sc_flow *flow,
                    struct sc_recall *recall);

/** What a launch touches. @params all of them. Return: false: none is alike, or
 *  nobody has looked for the rows that are asked for */
bool sc_recall(const struct sc_recall *recall,
               const struct sc_geometry *geometry, const uint8_t *params,
               bool rows, struct sc_touched *touched);

/** Note the launch that was evaluated last, and say what it touches. @params
 *  all of them. Return: false: too many ranges */
bool sc_recall_note(struct sc_recall *recall, struct sc_solve *solve,
                    const uint8_t *params, bool rows,
                    struct sc_touched *touched);

#endif
