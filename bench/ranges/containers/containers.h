/*
 * Smart containers as they are described in Dastgeer and Kessler, "Smart
 * containers and skeleton programming for GPU-based systems" (2015), by the
 * CUDA driver API: the baseline for what libadsm's calls over several devices
 * move. Real memory, real copies; nothing of libadsm.
 *
 * A container is a matrix of `rows` by `columns` elements, a vector has one
 * row. It has one main copy, in host memory, and copies of boxes of it in the
 * memory of devices, each packed.
 *
 * What the driver refuses ends the program; memory that is short makes room by
 * taking away the copies used least recently. One thread, no locks.
 */
#ifndef BENCH_RANGES_CONTAINERS_H
#define BENCH_RANGES_CONTAINERS_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CONTAINERS_DEVICES = 16 };

enum container_rules {
    RULES_APART,          /* none: each call brings what it reads, takes back
                           * what it writes */
    RULES_BACK_AND_FORTH, /* none: and takes back what it reads as well */
    RULES_INITIAL,        /* Fig. 3; calls on several devices need a flush */
    RULES_NEW,            /* Fig. 5, Algorithms 1 and 2 */
};

enum container_mode { MODE_READ = 1, MODE_WRITE = 2, MODE_BOTH = 3 };

/** Part of a container; empty where `rows` or `columns` is not positive. */
struct container_box {
    long row, column, rows, columns;
};

/** Bytes that were copied, with the number of copies in a plan; a copy to or
 *  from several devices counts for each. */
struct container_moved {
    uint64_t up, local, peer, down;
    uint64_t copies;
    uint64_t allocated, allocations, evictions; /* device memory */
};

struct container;

/** Bring up that many devices. Ends the program when there are fewer. */
void containers_start(int devices);

/**
 * Choose rules; counts begin at 0. There must be no container.
 *
 * @peer  whether RULES_NEW may copy from device to device
 */
void containers_set(enum container_rules rules, bool peer);

const struct container_moved *containers_moved(void);

/** Make a device's context current. */
void containers_use(int device);

/** Wait for all devices. */
void containers_wait(void);

/**
 * A container that the CPU owns; its contents are zeros.
 *
 * @pinned  whether the main copy is page-locked
 */
struct container *container_create(size_t elem, long rows, long columns,
                                   bool pinned);
void container_destroy(struct container *c);

struct container_box container_all(const struct container *c);

/** Return: the main copy; the box may be used by the CPU as `mode` says until
 *  the next call on a device. */
void *container_on_cpu(struct container *c, struct container_box box,
                       enum container_mode mode);

/** A call on devices begins: copies it uses stay until the next one does. */
void containers_call(void);

/** Return: the packed copy of the box on the device, to be used as `mode`
 *  says; 0: the rules have no such copies (Fig. 1: initial ones are of one
 *  range of elements) */
CUdeviceptr container_on_device(struct container *c, int device,
                                struct container_box box,
                                enum container_mode mode);

/** The call ended: where calls stand alone, its copies go. Takes what
 *  container_on_device took. */
void container_used(struct container *c, int device, struct container_box box,
                    enum container_mode mode);

/** Save what devices have modified (updateHost). */
void container_update_host(struct container *c);

/** Save what devices have modified and take their copies away (flush). */
void container_flush(struct container *c);

/** Mark what devices have invalid, modified or not
 *  (invalidateDeviceCopy). Not for RULES_INITIAL. */
void container_invalidate(struct container *c);

#endif
