/*
 * One way to run the kernels on a device: the CUDA driver API or OpenCL.
 *
 * Both are used alike, so that a case is written once. Errors of either API
 * end the program with the call that failed. Thread: one.
 */
#ifndef BENCH_KERNELS_SIDE_H
#define BENCH_KERNELS_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Device memory: a CUdeviceptr or a cl_mem. */
typedef uint64_t side_memory;

/** One kernel argument. */
struct side_arg {
    enum { SIDE_MEMORY, SIDE_INT, SIDE_FLOAT } kind;
    union {
        side_memory memory;
        int i;
        float f;
    };
};

#define SIDE_MOST_ARGS 8

struct side {
    const char *name;
    side_memory (*alloc)(size_t bytes);
    void (*free)(side_memory memory);
    void (*upload)(side_memory memory, const void *from, size_t bytes);
    void (*download)(void *to, side_memory memory, size_t bytes);
    void (*zero)(side_memory memory, size_t bytes);
    /* grid counts blocks of `block` threads */
    void (*launch)(const char *kernel, const unsigned grid[3],
                   const unsigned block[3], const struct side_arg *args,
                   int count);
    void (*finish)(void);
};

/** The CUDA side: the first device of libcuda.so.1. Exits 77 without one. */
const struct side *side_cuda(void);

/** The OpenCL side: the first CPU device; NULL when there is none. */
const struct side *side_opencl(void);

#endif
