/*
 * Native code of kernels: which variants there are, and getting them built
 * while the interpreter runs.
 *
 * A variant is one kernel for one block size. The launcher asks for it, adds
 * the time the interpreter spends on it, and calls its code once that is
 * there. Threads of this module generate, compile and load.
 *
 * Owns variants, their code and the threads. Does not own the IR: the module
 * keeps it until sc_build_kernel_drop has returned.
 * Lock: one inside, a leaf, never held while work is done; `run` of a variant
 * is published with release order and read without it.
 */
#ifndef SOFTCUDA_NATIVE_BUILD_H
#define SOFTCUDA_NATIVE_BUILD_H

#include "native/build_object.h"

#include <stdatomic.h>

/** Block sizes of one kernel that are ever compiled. */
#define SC_BUILD_VARIANTS 8u

enum sc_build_state {
    SC_BUILD_IDLE,    /* the interpreter has not worked on it enough yet */
    SC_BUILD_WORKING, /* queued or under way */
    SC_BUILD_READY,
    SC_BUILD_REFUSED, /* for good; `why` is set */
};

struct sc_build_kernel;

/** One kernel for one block size; lives as long as its kernel. */
struct sc_build_variant {
    struct sc_build_variant *next;
    struct sc_build_kernel *kernel;
    uint32_t block[3];
    _Atomic(sc_native_run *) run; /* NULL until it is ready */
    uint64_t save;                /* as in sc_native_code; before run */
    _Atomic uint64_t spent_ns;    /* by the interpreter, all workers */
    _Atomic uint32_t state;       /* enum sc_build_state */
    char why[160];                /* fixed once REFUSED */
    struct sc_build_object object;
};

/** What is known of one kernel; zeroed, then ir and func set, by the module. */
struct sc_build_kernel {
    const struct sc_ir *ir;
    const struct sc_func *func;
    struct sc_build_variant *variants;
    uint32_t count;
};

/** Read the environment; threads start with the first job.
 *  Thread: one at a time. */
void sc_build_init(void);

/** End the threads, and what they are compiling. Variants stay.
 *  Thread: one at a time. */
void sc_build_fini(void);

/**
 * The variant of a kernel for a block size, made on first use.
 *
 * @why receives why there is none, a text that lives for ever
 * Return: NULL: native code is off, or this kernel has too many variants
 * Thread: one at a time for each kernel
 * Signal: never
 */
struct sc_build_variant *sc_build_find(struct sc_build_kernel *kernel,
                                       const uint32_t block[3],
                                       const char **why);

/**
 * A launch of the variant begins: where the environment says so, wait until
 * it is ready or refused.
 *
 * @cancel may be NULL; non-zero ends the wait
 * Thread: any
 * Signal: never
 */
void sc_build_begin(struct sc_build_variant *variant,
                    const volatile int *cancel);

/**
 * The interpreter worked on it for `ns`; once that adds up, it is built.
 *
 * Thread: any
 * Signal: never
 */
void sc_build_spend(struct sc_build_variant *variant, uint64_t ns);

/**
 * The process is about to end: leave what is queued and being compiled to one
 * of its own, where there is a cache for it (build_later.h). Variants go on as
 * they are.
 *
 * @let_go called there first: gives up all that the program might miss
 * Thread: one, whose stack is the child's
 * Signal: never
 */
void sc_build_leave(void (*let_go)(void));

/**
 * The kernel goes: drop its jobs, unload its code, free its variants. None of
 * its launches is running.
 *
 * Thread: any
 * Signal: never
 */
void sc_build_kernel_drop(struct sc_build_kernel *kernel);

#endif
