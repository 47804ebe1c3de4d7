/*
 * Kernels and variables of a program that nvcc compiles, by name.
 *
 * runtime_symbols.cu has them, runtime.c looks them up. Knows nothing of libadsm.
 */
#ifndef BENCH_PARBOIL_RUNTIME_H
#define BENCH_PARBOIL_RUNTIME_H

struct runtime_symbol {
    const char *name;
    const void *host; /* what stands for it in calls of the runtime */
};

#ifdef __cplusplus
extern "C" {
#endif

/** All of the program; the last one has no name. */
extern const struct runtime_symbol runtime_symbols[];

#ifdef __cplusplus
}
#endif

#endif
