/*
 * What the forms on adsm.h share: its errors, device code, memory and waiting,
 * one line each. Errors end the program with BENCH_EXIT_DEVICE. One thread,
 * no locks.
 */
#ifndef BENCH_PARBOIL_SHARED_H
#define BENCH_PARBOIL_SHARED_H

#include <adsm.h>

#include "common/bench.h"

/** End the program unless `status` is ADSM_OK; use CHECK. */
void shared_check(adsmStatus status, const char *call);

#define CHECK(call) shared_check(call, #call)

/** Load `bench_ptx`. */
adsmModule *shared_load(void);

/** A kernel that follows no pointers stored in memory. */
adsmKernel *shared_kernel(adsmModule *module, const char *name);

void *shared_alloc(size_t bytes);
void shared_free(void *address);

/** Call a kernel with adsmIn, adsmOut, adsmInOut and adsmVal arguments. */
#define shared_launch(kernel, grid, block, ...)                                \
    shared_launch_v(kernel, grid, block, ADSM_ARGS(__VA_ARGS__))
void shared_launch_v(adsmKernel *kernel, struct bench_dim grid,
                     struct bench_dim block, int count, const adsmArg *args);

void shared_wait(void);

#endif
