/*
 * `struct adsm_accel` itself, for the files of this layer only.
 *
 * This is the structure alone. A part is known to the module that owns it, whose
 * header has its structure, and to accel.c, which makes an accel with all of its
 * parts. They are never freed: a stale pointer finds an accel whose health says
 * that it is gone.
 */
#ifndef ADSM_ACCEL_DEVICE_H
#define ADSM_ACCEL_DEVICE_H

#include "accel/ops.h"

#include <stdatomic.h>

struct adsm_address;
struct adsm_dma;
struct adsm_early;
struct adsm_extent_table;
struct adsm_lanes;
struct adsm_launched;
struct adsm_pinned;
struct adsm_poke;
struct adsm_rates;
struct adsm_stage;
struct adsm_store;
struct adsm_timers;

/** Devices of a machine that are told apart; more are there in vain. */
enum { ADSM_MOST_DEVICES = 64 };

/** The number that the processors of the host have as a device. */
enum { ADSM_CPU_ORDINAL = ADSM_MOST_DEVICES - 1 };

/** A set of devices, a bit for each by the driver's number of it. */
typedef uint64_t adsm_device_set;

_Static_assert(ADSM_MOST_DEVICES <= 8 * sizeof(adsm_device_set),
               "every device has a bit");

/** The device's bit; none for one beyond ADSM_MOST_DEVICES. */
static inline adsm_device_set adsm_device_bit(int ordinal)
{
    return ordinal < ADSM_MOST_DEVICES ? UINT64_C(1) << ordinal : 0;
}

struct adsm_accel {
    const struct adsm_accel_ops *ops;
    void *_Atomic context; /* the driver's handle; NULL when forgotten */
    int ordinal;           /* the driver's number of the device */
    int device;     /* index among the visible ones; -1 when not visible */
    uint32_t index; /* among all accels that were ever made */
    bool primary;   /* we hold a reference on the context */
    /* First of ADSM_E_DEVICE, ADSM_E_DEVICE_LOST; never goes back. */
    _Atomic int health;
    struct adsm_accel *next; /* list of all; written before publication */
    /* Devices whose kernels may use the memory, and those that may be copied
     * from without the host, where that was asked already (accel/peer.h). */
    _Atomic adsm_device_set guests, peers_asked, peers;
    /* The parts, which are there as long as it: */
    struct adsm_lanes *lanes;          /* lane.h */
    struct adsm_launched *launched;    /* launched.h */
    struct adsm_timers *timers;        /* timer.h */
    struct adsm_pinned *pinned;        /* pinned.h */
    struct adsm_stage *stage;          /* stage.h */
    struct adsm_dma *dma;              /* dma_write.h */
    struct adsm_early *early;          /* early.h */
    struct adsm_poke *poke;            /* poke.h */
    struct adsm_rates *rates;          /* rate.h */
    struct adsm_store *store;          /* store.h */
    struct adsm_address *address;      /* address/way.h */
    struct adsm_extent_table *extents; /* extent.h */
};

/** Note that nothing will work any more; the first reason stays. Thread: any.
 *  Signal: any handler */
static inline void adsm_accel_condemn(struct adsm_accel *accel, int status)
{
    int sound = ADSM_OK;
    /* Relaxed: a flag by itself, nothing is published with it. */
    atomic_compare_exchange_strong_explicit(&accel->health, &sound, status,
                                            memory_order_relaxed,
                                            memory_order_relaxed);
}

/** The first of the list of all accels, forgotten ones included. Thread: any.
 *  Signal: any handler */
struct adsm_accel *adsm_accel_first(void);

/** What is known of the driver. Thread: any, behind adsm_accel_init. Signal:
 *  never */
void adsm_accel_driver(struct adsm_driver *driver);

/** Put an accel at the head of the list, and number it. Its other members are
 *  written. Thread: one at a time. Signal: never */
void adsm_accel_list(struct adsm_accel *accel);

/** A child of fork has no accelerator: its driver's state is the parent's.
 *  Thread: any. Signal: any handler */
bool adsm_accel_is_forked(void);
void adsm_accel_mark_forked(void);

#endif
