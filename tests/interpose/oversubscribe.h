/* What the tests of ADSM_OVERSUBSCRIBE share: a device of MEMORY bytes, arrays
 * of half of it with a copy of what has to be in them, and kernels. */
#ifndef OVERSUBSCRIBE_H
#define OVERSUBSCRIBE_H

#include "base/stats.h"
#include "regress/interpose/preloaded.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    MEMORY_MIB = 16,
    BYTES = MEMORY_MIB << 19, /* half of it */
    WORDS = BYTES / 4,
    ARRAYS = 8, /* four times the memory */
    THREADS = 256,
};

#define ENTRY(name)                                                            \
    ".visible .entry " name "(.param .u64 x, .param .u64 y)\n{\n"              \
    ".reg .b64 %x, %y, %z, %o; .reg .b32 %i, %n, %t, %v, %w;\n"                \
    "ld.param.u64 %x, [x]; ld.param.u64 %y, [y];\n"                            \
    "mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x;\n"         \
    "mad.lo.u32 %i, %i, %n, %t; mul.wide.u32 %o, %i, 4;\n"

static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
    /* y[i] += 3 * x[i] */
    ENTRY("add") "add.u64 %x, %x, %o; add.u64 %y, %y, %o;\n"
                 "ld.global.u32 %v, [%x]; ld.global.u32 %w, [%y];\n"
                 "mad.lo.u32 %w, %v, 3, %w; st.global.u32 [%y], %w; ret; }\n"
    /* x[0] is the address of an array z: y[i] = z[i] */
    ENTRY("through") "ld.global.u64 %z, [%x];\n"
                     "add.u64 %z, %z, %o; add.u64 %y, %y, %o;\n"
                     "ld.global.u32 %v, [%z]; st.global.u32 [%y], %v; ret; }\n";

struct array {
    CUdeviceptr at;
    uint32_t *model;
};

static inline CUfunction kernel(const char *name)
{
    static CUmodule module;
    CUfunction function;
    if (!module)
        must(cuModuleLoadData(&module, text));
    must(cuModuleGetFunction(&function, module, name));
    return function;
}

static inline CUresult launch(const char *name, CUdeviceptr x, CUdeviceptr y,
                              CUstream stream)
{
    void *arguments[] = {&x, &y};
    return cuLaunchKernel(kernel(name), WORDS / THREADS, 1, 1, THREADS, 1, 1, 0,
                          stream, arguments, NULL);
}

static inline void model_add(const struct array *x, struct array *y)
{
    for (int i = 0; i < WORDS; i++)
        y->model[i] += 3 * x->model[i];
}

static inline void add(const struct array *x, struct array *y, CUstream stream)
{
    must(launch("add", x->at, y->at, stream));
    model_add(x, y);
}

static inline void oversubscribe_with(int mib)
{
    char memory[16];
    snprintf(memory, sizeof memory, "%dM", mib);
    setenv("SOFTCUDA_MEMORY", memory, 1);
    setenv("ADSM_OVERSUBSCRIBE", "1", 0);
    device_start();
}

static inline void oversubscribe(void)
{
    oversubscribe_with(MEMORY_MIB);
}

/* An array of numbers that no other has. */
static inline struct array array_make(uint32_t seed)
{
    struct array a = {.model = malloc(BYTES)};
    for (uint32_t i = 0; i < WORDS; i++)
        a.model[i] = i * 2654435761u + seed * 40503u;
    must(cuMemAlloc(&a.at, BYTES));
    must(cuMemcpyHtoD(a.at, a.model, BYTES));
    return a;
}

static inline void array_free(struct array *a)
{
    must(cuMemFree(a->at));
    free(a->model);
}

static inline void array_check(const struct array *a)
{
    static __thread uint32_t *got;
    if (!got)
        got = malloc(BYTES);
    must(cuMemcpyDtoH(got, a->at, BYTES));
    ck_assert_int_eq(memcmp(got, a->model, BYTES), 0);
}

/* Counters of the runtime that is preloaded. */
#define COUNTER(name) counter_get(ADSM_STAT_##name)
static inline uint64_t counter_get(enum adsm_stat which)
{
    uint64_t (*get)(enum adsm_stat) = dlsym(RTLD_DEFAULT, "adsm_stats_get");
    ck_assert_msg(get != NULL, "not preloaded");
    return get(which);
}

#endif
