/*
 * A device as the driver sees it.
 */
#ifndef SOFTCUDA_DRIVER_DEVICE_H
#define SOFTCUDA_DRIVER_DEVICE_H

#include "base/ranges.h"
#include "driver/channel.h"
#include "driver/engine.h"
#include "driver/file.h"
#include "driver/link.h"
#include "driver/view.h"

struct sc_slab;

struct sc_device {
    int ordinal;
    _Atomic bool started; /* written under the start lock */
    _Atomic bool dead;    /* its process is gone; never cleared */
    struct sc_file memory_file;
    int channel_file;
    struct sc_channel channel;
    struct sc_engine upload_engine, download_engine, host_engine;
    struct sc_link upload_link, download_link;
    struct sc_view view;
    _Atomic uint64_t print_taken; /* bytes of its output passed on */

    /* memory lock: */
    struct sc_ranges offsets; /* free parts of the memory file */
    uint64_t used_bytes;      /* counted against SOFTCUDA_MEMORY */
    uint64_t heap_base, heap_bytes, heap_offset; /* fixed after start */
    uint64_t heap_used; /* last reported by the device process */
    struct sc_slab *slabs;
    uint32_t seen_by; /* devices whose kernels may read this memory */
    uint32_t adopted; /* memory files the device process has */
    CUmemoryPool default_pool, pool; /* pool: where cuMemAllocAsync takes */

    /* start lock: */
    CUcontext primary;
    unsigned primary_refs, primary_flags;
};

/** Make the table of devices. Thread: cuInit only. */
CUresult sc_device_init(void);

/** Number of devices. */
int sc_device_count(void);

/** Device by ordinal, NULL when out of range. Thread: any. */
struct sc_device *sc_device_get(int ordinal);

/**
 * Start the device's process if that has not happened.
 *
 * Return: CUDA_SUCCESS, CUDA_ERROR_DEVICE_UNAVAILABLE (it died),
 *         CUDA_ERROR_OPERATING_SYSTEM, CUDA_ERROR_OUT_OF_MEMORY
 * Thread: holds the start lock
 */
CUresult sc_device_start(struct sc_device *device);

/**
 * Descriptor of a device's memory, looked at before each use.
 *
 * Return: -1 where the program has closed it: said once, the device is lost
 * Thread: any
 */
int sc_device_file(struct sc_device *device);

/** Fail everything on a device whose process ended, or that was cut off.
 *  Thread: holds sc_sched_lock. */
void sc_device_died(struct sc_device *device);

/** Wait for all work of all contexts on a device.
 *  Thread: any, no lock held. */
void sc_device_drain(struct sc_device *device);

#endif
