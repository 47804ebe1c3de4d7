/*
 * Basic blocks of a function and the order they are laid out in.
 *
 * Owns block boundaries, edges and layout. The layout is topological with
 * every loop contiguous and its head first, so that a point where diverged
 * lanes meet again (the immediate post-dominator of the branch) always lies
 * behind both sides: running the lanes with the lowest position first then
 * reconverges there without a stack, and also where a stack would be wrong
 * (spin locks, barriers in divergent code). Lock: none.
 */
#ifndef SOFTCUDA_PTX_CFG_H
#define SOFTCUDA_PTX_CFG_H

#include "ptx/ir.h"

struct sc_block {
    uint32_t first, end; /* instructions [first, end) */
    uint32_t *succs;     /* blocks; the fall-through comes first */
    uint32_t succ_count;
    uint32_t pred_count; /* edges from reachable blocks */
    bool falls;          /* succs[0] is the next block of the text */
};

struct sc_cfg {
    struct sc_block *blocks;
    uint32_t block_count;
    uint32_t *block_of; /* instruction -> block; one more entry than insts */
    uint32_t *order;    /* reachable blocks in layout order */
    uint32_t order_count;
};

/** Whether an instruction ends its block: bra, brx, ret, exit, trap. */
bool sc_cfg_ends_block(const struct sc_inst *inst);

/**
 * Build blocks, edges and layout of a function with a body.
 *
 * @load receives the allocations; jumped back through when memory runs out
 * Thread: the owner of `load`
 * Signal: never
 */
void sc_cfg_build(struct sc_load *load, const struct sc_func *func,
                  struct sc_cfg *cfg);

#endif
