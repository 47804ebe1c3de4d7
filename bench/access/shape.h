/*
 * Shapes of launches that kernels (access.cu) and who calls them agree on.
 */
#ifndef BENCH_ACCESS_SHAPE_H
#define BENCH_ACCESS_SHAPE_H

enum {
    BLOCK = 256,     /* threads of a block, of all kernels */
    SWEEP_ROWS = 16, /* of a thread of `sweep` */
    WALK_HOPS = 64,
};

#endif
