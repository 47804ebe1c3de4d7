/*
 * Address strategies: device memory together with host addresses for it.
 *
 *   direct     the host's own memory, which kernels use where it is: for devices
 *              that share it. Open on both sides, nothing is copied
 *   window     one big cuMemAddressReserve range; spans are mapped into it by
 *              cuMemCreate/cuMemMap; the host address is the device address
 *   overlay    an ordinary cuMemAlloc, whose address range on the host is
 *              unmapped or the driver's PROT_NONE placeholder (checked)
 *   translate  cuMemAlloc, and a reserved host range somewhere else
 *   reserved   host addresses only: devices get copies of parts (range/)
 *   adopted    memory that the program got from the driver by itself, in its own
 *              way, and with it the driver's placeholder
 *   given      host addresses of the program's own memory (os/given.h), and device
 *              memory elsewhere, or none
 *
 * Probed once per accel, forced by ADSM_ADDRESS. A span's host range is whole
 * pages, no other span's, and, but for direct, PROT_NONE until the memory
 * manager maps pages over it.
 */
#ifndef ADSM_ACCEL_ADDRESS_H
#define ADSM_ACCEL_ADDRESS_H

#include "accel/types.h"

struct adsm_extents;
struct adsm_share;

enum adsm_strategy {
    ADSM_DIRECT,
    ADSM_WINDOW,
    ADSM_OVERLAY,
    ADSM_TRANSLATE,
    ADSM_RESERVED, /* never the strategy of an accel */
    ADSM_ADOPTED,  /* nor is this */
    ADSM_GIVEN,    /* nor this */
};

struct adsm_span {
    uint8_t *host;            /* CPU address range, PROT_NONE; direct: open */
    struct adsm_daddr device; /* equals host except under translate       */
    size_t bytes;             /* rounded up to pages                      */
    uint64_t handle;          /* back end's own (VMM handle, base address) */
    struct adsm_share *share; /* window: where the last, broken part begins */
    enum adsm_strategy strategy;
    struct adsm_extents
        *extents;     /* adopted: of several allocations, else NULL */
    uint64_t *pieces; /* not NULL: movable, with room for their handles   */
    bool away;        /* movable, and has no device memory                */
};

/**
 * Choose the strategy, once.
 *
 * Return: ADSM_OK; ADSM_E_NOMEM (the host has nothing left to find out with;
 *         adsm_accel_error_text says what): chosen another time
 * Thread: any. Signal: never
 */
int adsm_address_choose(struct adsm_accel *accel);

/** Strategy in use, chosen now if none is, and one sentence why. */
enum adsm_strategy adsm_address_strategy(struct adsm_accel *accel,
                                         const char **why);

/** Is that the strategy in use? Chooses none: to try them asks much of the
 *  driver, and waits for kernels. Signal: any handler */
bool adsm_address_is(struct adsm_accel *accel, enum adsm_strategy strategy);

/** Bytes of device memory that all spans take, with what is left of granules;
 *  0 where the driver rounds (overlay, translate). Signal: any handler */
size_t adsm_address_mapped(struct adsm_accel *accel);

/** Is it an address that a window has reserved, whether anything lies there or
 *  not? The driver may know memory at it that no object has. Thread: any.
 *  Signal: any handler */
bool adsm_address_is_reserved(uint64_t at);

const char *adsm_strategy_name(enum adsm_strategy strategy);

/**
 * Obtain device memory and host addresses for `bytes`.
 *
 * @safe  use translate whatever the accel's strategy is (adsmSafeAlloc)
 * Return: ADSM_OK; ADSM_E_DEVICE_NOMEM; ADSM_E_NOMEM; ADSM_E_LIMIT; ADSM_E_DEVICE
 * Signal: never
 */
int adsm_address_alloc(struct adsm_accel *accel, size_t bytes, bool safe,
                       struct adsm_span *span) ADSM_MUST_CHECK;

/**
 * Addresses for device memory that comes and goes, away at first. They are the
 * span's own, in whole granules, whether there is memory or not.
 *
 * Return: ADSM_OK; ADSM_E_UNSUPPORTED: the accel's strategy is not window, in
 *         which alone addresses outlive their memory; ADSM_E_DEVICE_NOMEM: the
 *         device has less memory than that; ADSM_E_NOMEM; ADSM_E_LIMIT
 * Signal: never
 */
int adsm_address_alloc_movable(struct adsm_accel *accel, size_t bytes,
                               struct adsm_span *span) ADSM_MUST_CHECK;

/**
 * A movable span gets memory, which holds anything, or gives its own up. Where
 * there is none, pieces that were got so far are kept for the next who asks;
 * those that are given up are kept as well. `trim` gives what is kept back to
 * the driver.
 *
 * Return: ADSM_OK, also where it is so already; ADSM_E_DEVICE_NOMEM;
 *         ADSM_E_NOMEM; a device's error: the span is as it was
 * Thread: any, one at a time for a span; nobody uses the memory. Drivers wait
 *         for all kernels when memory is given up
 * Signal: never
 */
int adsm_address_occupy(struct adsm_accel *accel,
                        struct adsm_span *span) ADSM_MUST_CHECK;
int adsm_address_vacate(struct adsm_accel *accel,
                        struct adsm_span *span) ADSM_MUST_CHECK;
void adsm_address_trim(struct adsm_accel *accel);

/** Bytes that a movable span takes of the device, and bytes that are kept.
 *  Thread: any. Signal: never */
size_t adsm_address_taken(const struct adsm_accel *accel,
                          const struct adsm_span *span);
size_t adsm_address_kept(struct adsm_accel *accel);

/**
 * A span over memory that the program allocated by itself: whole pages around
 * an allocation, with all others that have bytes on them. Nobody allocates or
 * frees there from then on, as far as the caller keeps them from it. It is to be
 * claimed before pages are mapped over it, and freed in either case.
 *
 * @accel @memory  of adsm_accel_of_memory
 * @bytes          from the beginning of the span to the end of its last
 *                 allocation
 * Return: ADSM_OK; ADSM_E_NOMEM
 * Thread: any. Signal: as adsm_accel_of_memory
 */
int adsm_address_find(struct adsm_accel *accel,
                      const struct adsm_memory *memory, struct adsm_span *span,
                      size_t *bytes) ADSM_MUST_CHECK;

/** Return: ADSM_OK; ADSM_E_LIMIT: something else is mapped at its addresses;
 *  ADSM_E_NOMEM. Thread: any. Signal: as above */
int adsm_address_claim_found(struct adsm_accel *accel,
                             struct adsm_span *span) ADSM_MUST_CHECK;

/**
 * Does a preloaded program keep the memory that its driver gives it, until the
 * CPU touches it? By the options, which have been loaded.
 *
 * @why  what stands in the way, one sentence; NULL: nothing
 * Thread: any. Signal: never
 */
bool adsm_address_adopts(const char **why);

/**
 * Can that be had of this accel? It is tried.
 *
 * Return: ADSM_OK; another status, with the reason in adsm_accel_error_text
 * Thread: any. Signal: never
 */
int adsm_address_try_adopting(struct adsm_accel *accel) ADSM_MUST_CHECK;

/** Is this allocation all that the span has? Signal: any handler */
bool adsm_address_is_whole(const struct adsm_span *span, uint64_t begin);

/**
 * Reserve host addresses for `bytes` without any device memory.
 *
 * Return: ADSM_OK; ADSM_E_INVALID (0 bytes or too many); ADSM_E_NOMEM
 * Thread: any. Signal: never
 */
int adsm_address_reserve(size_t bytes, struct adsm_span *span) ADSM_MUST_CHECK;

/**
 * A span at host addresses that are the program's, whole pages, which stay so
 * when it is freed.
 *
 * @home  it has device memory, too
 * Return: ADSM_OK; ADSM_E_DEVICE_NOMEM; a device's error. Thread: any. Signal:
 *         never
 */
int adsm_address_give(struct adsm_accel *accel, void *host, size_t bytes,
                      bool home, struct adsm_span *span) ADSM_MUST_CHECK;

/**
 * The context of an overlay span is about to be destroyed, and the driver may
 * hand out its addresses from then on: let go of the host's. The range must be
 * PROT_NONE placeholder again; the span is still to be freed.
 *
 * Thread: any. Signal: never
 */
void adsm_address_withdraw(struct adsm_span *span);

/** Give a span back. Its host range must be PROT_NONE placeholder again and no
 *  work may use it. */
int adsm_address_free(struct adsm_accel *accel,
                      struct adsm_span *span) ADSM_MUST_CHECK;

#endif
