/*
 * Memory pools: which allocations are counted together.
 */
#ifndef SOFTCUDA_DRIVER_POOL_H
#define SOFTCUDA_DRIVER_POOL_H

#include "base/ranges.h"
#include "driver/device.h"
#include "driver/driver.h"

/** Everything under the memory lock. */
struct CUmemPoolHandle_st {
    struct sc_device *device;
    CUmemPoolProps props;
    bool standard;  /* the device's own, never destroyed */
    bool destroyed; /* goes with its last allocation */
    uint64_t used, used_high, allocations;
    uint64_t threshold;
    int reuse[3];
    uint32_t peers;             /* devices that were given access */
    struct sc_range range;      /* of the window, since its first memory */
    struct sc_ranges addresses; /* free parts of that */
};

/** Count an allocation. Return: false: above the pool's size.
 *  Thread: holds the memory lock. */
bool sc_pool_charge(CUmemoryPool pool, uint64_t bytes);

/** Take an allocation off; may free the pool.
 *  Thread: holds the memory lock. */
void sc_pool_discharge(CUmemoryPool pool, uint64_t bytes);

/** Take addresses of the pool's own range: one placeholder for as long as the
 *  pool lives, as on the H200. Where the window is too small for that, they are
 *  taken as any others. Return: SC_RANGES_NONE when nothing fits.
 *  Thread: holds the memory lock. */
uint64_t sc_pool_place(CUmemoryPool pool, uint64_t bytes);

/** Give them back.  Thread: holds the memory lock. */
void sc_pool_displace(CUmemoryPool pool, uint64_t address, uint64_t bytes);

/** The device's own pool, made on first use. Return: NULL: no memory. */
CUmemoryPool sc_pool_standard(struct sc_device *device);

/** Allocate in the order of a stream: at once, since what comes earlier in
 *  the stream cannot name the new address.
 *  Return: CUDA_SUCCESS, CUDA_ERROR_OUT_OF_MEMORY */
CUresult sc_pool_alloc(CUcontext ctx, CUmemoryPool pool, uint64_t bytes,
                       uint64_t *address);

/** Give a device access to another's memory, or let it go, as one entry of a
 *  list says; @peers receives which have it.
 *  Return: what cuMemPoolSetAccess returns. Thread: any, no lock held */
CUresult sc_pool_access(struct sc_device *device, const CUmemAccessDesc *desc,
                        uint32_t *peers);

/** Free a block when `last` is done, NULL: soon.
 *  Thread: any, sc_sched_lock not held */
void sc_pool_free_after(struct sc_op *last, struct sc_device *device,
                        uint64_t address, uint64_t id);

/** Free an allocation when the stream gets there.
 *  Return: CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE (not allocated) */
CUresult sc_pool_free(CUcontext ctx, CUstream stream, uint64_t address);

#endif
