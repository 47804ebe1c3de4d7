/*
 * Kinds of memory: what allocations differ in, a row each.
 *
 * Who allocates names a kind. How its addresses are had, where its bytes are in
 * the beginning and what it is instead on some devices stands in the row, and
 * nobody else asks which kind it is.
 *
 * Thread: any, no lock of rank GATE or later held. Signal: never.
 */
#ifndef ADSM_MM_KIND_H
#define ADSM_MM_KIND_H

#include "accel/address/address.h"
#include "protocols/protocol.h"

/** Where the bytes are that nobody has written yet. */
enum adsm_begins {
    ADSM_BEGINS_BY_PROTOCOL, /* as its protocol has it                  */
    ADSM_BEGINS_ON_DEVICE,   /* so, but never DIRTY: they may stay there */
    ADSM_BEGINS_ON_HOST,     /* DIRTY                                   */
};

struct adsm_kind {
    /** Addresses, and memory at the home if it has any. As adsm_address_alloc */
    int (*take)(struct adsm_accel *home, size_t bytes, struct adsm_span *span);
    enum adsm_begins begins;
    bool homeless; /* no memory of its own on any device: copies of parts    */
    bool small;    /* up to ADSM_SLAB_MAX, it may share an object with others */
    /** Where the device shares the host's memory it lies in that, and has the
     *  protocol of such memory. */
    bool shares;
    /** What it is there instead, which is apart from the host's; NULL: itself. */
    const struct adsm_kind *apart;
    /** What it is under ADSM_OVERSUBSCRIBE, where that is possible; NULL: itself. */
    const struct adsm_kind *movable;
};

/** adsmAlloc: one address for CPU and device. */
extern const struct adsm_kind adsm_kind_plain;
/** What a program asks the driver for: it may never touch it on the CPU. */
extern const struct adsm_kind adsm_kind_driver;
/** Of arrays for calls over ranges: as plain, always with memory of the device's
 *  own, for they are made of copies. */
extern const struct adsm_kind adsm_kind_array;
/** adsmSafeAlloc: an address of its own on the device. */
extern const struct adsm_kind adsm_kind_safe;
/** Copies of parts alone (mm/object/holders.h). */
extern const struct adsm_kind adsm_kind_homeless;
/** As plain, but device memory comes and goes; there is none at first
 *  (mm/object/movable.h). */
extern const struct adsm_kind adsm_kind_movable;

/** State of its blocks at first, where its protocol is this one. Signal: any
 *  handler */
enum adsm_state adsm_kind_first(const struct adsm_kind *kind,
                                const struct adsm_protocol *protocol);

#endif
