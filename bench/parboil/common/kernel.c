/*
 * The compiled kernels inside the program. The build turns the benchmark's PTX
 * into lines of string literals, BENCH_PTX_INC; nobody edits them.
 */
#include "common/bench.h"

const char bench_ptx[] =
#include BENCH_PTX_INC
    ;
