/*
 * What the programs of bench/ranges that are written by hand on the CUDA driver
 * API share: several devices with streams of their own, checked. Which device
 * has what, and what is copied when, is the programs' business.
 *
 * Knows nothing of libadsm. Errors of the device end the program with
 * BENCH_EXIT_DEVICE. One thread, no locks.
 */
#ifndef BENCH_RANGES_TEAM_H
#define BENCH_RANGES_TEAM_H

#include "common/cuda.h"

#define TEAM_DEVICES 16
#define TEAM_STREAMS 4

struct team_device {
    CUcontext context;
    CUfunction kernel;
    CUstream stream[TEAM_STREAMS];
};

struct team {
    int count;
    struct team_device device[TEAM_DEVICES];
};

/**
 * Bring up the devices there are, with a kernel of `bench_ptx`, and let those
 * that can reach each other do so.
 *
 * @most  devices that have something to do
 */
void team_open(struct team *team, const char *kernel, long most);

/** Make a device the current one. */
void team_use(const struct team *team, int device);

/** Where the share of a device begins, of n, as libadsm cuts into equal parts;
 *  that of device `count` is n. */
long team_first(const struct team *team, long n, int device);

/** Memory of the current device for elements from `first` on, and its address
 *  less what is before them: the whole array's indices go with it. */
CUdeviceptr team_alloc(long first, long count, size_t elem);
void team_free(CUdeviceptr base, long first, size_t elem);

/** Page-locked memory of the host, for copies of all devices. */
void *team_host_alloc(size_t bytes);

/** An event of the current device. */
CUevent team_event(void);

/** Blocks for `count` indices. */
unsigned team_blocks(long count, unsigned block);

/** Wait for all devices; charged to BENCH_KERNEL. */
void team_wait(const struct team *team);

/** Give the streams and devices back. */
void team_close(struct team *team);

#endif
