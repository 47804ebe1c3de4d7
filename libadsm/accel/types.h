/*
 * The words of this layer, and what is known of an accel.
 *
 * Addresses of devices, streams, points in their work. What an accel is made of
 * is for the files of this layer only (device.h).
 */
#ifndef ADSM_ACCEL_TYPES_H
#define ADSM_ACCEL_TYPES_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Device address: a type of its own so that it never mixes with host ones. */
struct adsm_daddr {
    uint64_t at;
};

static inline struct adsm_daddr adsm_daddr_add(struct adsm_daddr base,
                                               uint64_t offset)
{
    return (struct adsm_daddr){base.at + offset};
}

struct adsm_accel; /* opaque above this layer */

/** An allocation, as the driver knows it. */
struct adsm_memory {
    struct adsm_daddr begin;
    size_t bytes;
    void *context; /* NULL: it is no context's                  */
    bool mapped;   /* to its address, by the program (cuMemMap) */
    int ordinal;   /* the driver's number of the device         */
};

/** A stream as the driver knows it: CUstream in the CUDA back end. */
typedef void *adsm_stream;

/**
 * A point in the work of one lane of one accel: reached when all before it has
 * ended. Accels are never freed, so a fence may be kept as long as one likes:
 * those of an accel that was forgotten are reached.
 */
struct adsm_fence {
    struct adsm_accel *accel; /* NULL, or seq 0: nothing to wait for */
    uint32_t lane;            /* index in the accel */
    uint64_t seq;
};

/** Bytes of a range: a part of a transfer. */
struct adsm_dma_part {
    size_t offset, bytes;
};

/* ---- what is known of one (accel/device.c) ------------------------------ */

/** The accel of a driver context handle, or NULL when none was made for it.
 *  Thread: any. Signal: any handler */
struct adsm_accel *adsm_accel_of_context(void *context);

/** Memory of the accel's device, as the driver says. Thread: any. Signal:
 *  never */
int adsm_accel_memory(struct adsm_accel *accel, size_t *free_bytes,
                      size_t *total_bytes);

/** The driver's handle of the accel's context; NULL once that was detached.
 *  Thread: any. Signal: any handler */
void *adsm_accel_context(const struct adsm_accel *accel);

/** Index of the accel's device among the visible ones. Thread: any. Signal: any
 *  handler */
int adsm_accel_device(const struct adsm_accel *accel);

/** Is it the processors of the host? Thread: any. Signal: any handler */
bool adsm_accel_is_cpu(const struct adsm_accel *accel);

/** A number of the accel's own, small: they are numbered as they are made.
 *  Thread: any. Signal: any handler */
uint32_t adsm_accel_index(const struct adsm_accel *accel);

/** Device lost or context dead (sticky): ADSM_OK, ADSM_E_DEVICE(_LOST). Thread:
 *  any. Signal: any handler */
int adsm_accel_health(const struct adsm_accel *accel);

#endif
