/*
 * What the address strategies keep per accel, and the strategies themselves.
 *
 * address.c chooses one and passes calls on; each strategy is a file. Lock:
 * address->lock (rank ACCEL) guards the choice, the list of windows and the
 * granules that spans share; each window's granules have their own (rank
 * STREAM).
 */
#ifndef ADSM_ACCEL_ADDRESS_WAY_H
#define ADSM_ACCEL_ADDRESS_WAY_H

#include "accel/address/address.h"
#include "accel/granule.h"
#include "accel/share.h"
#include "base/lock.h"

#include <stdatomic.h>

/** The least that an address window is made of, what most drivers map at once;
 *  the granules of an accel may be larger. */
#define ADSM_GRANULE_BYTES ((size_t)2 << 20)

_Static_assert(ADSM_GRANULE_BYTES % ((size_t)ADSM_SHARE_PAGES * 4096) == 0,
               "the pages of a shared granule are pages of the host");

enum { ADSM_WINDOWS = 16 };

struct adsm_window {
    struct adsm_daddr at;
    size_t bytes;
    struct adsm_granules granules;
    struct adsm_share **shared; /* by granule; NULL where it is not */
    _Atomic bool *away;         /* by granule: in use, but not mapped */
};

struct adsm_address {
    struct adsm_lock lock;
    _Atomic bool chosen;
    enum adsm_strategy strategy;
    int forced_status; /* ADSM_OK, or why the forced strategy is impossible */
    char why[512];
    size_t device_bytes;      /* memory of the device; window only */
    size_t granule_bytes;     /* of its windows */
    _Atomic uint32_t windows; /* grows; window[i] is written before */
    struct adsm_window window[ADSM_WINDOWS];
    struct adsm_shares shares; /* window only */
    uint64_t *spare;           /* pieces that have no address */
    size_t spares, spare_room; /* how many, and room for them */
    _Atomic size_t mapped;     /* bytes in its mappings; window only */
};

/** Make it in zeroed memory; chooses nothing yet. */
void adsm_address_init(struct adsm_address *address);

/** Free windows. No span may be in use. */
void adsm_address_fini(struct adsm_accel *accel);

/**
 * One strategy.
 *
 * @probe  can the accel do it? ADSM_OK, or a status with its reason kept as
 *         error text. Called once, with address->lock held
 * @alloc @free  as adsm_address_alloc/free; bytes are whole pages
 */
struct adsm_address_way {
    const char *name;
    const char *why; /* sentence when it works */
    int (*probe)(struct adsm_accel *accel);
    int (*alloc)(struct adsm_accel *accel, size_t bytes,
                 struct adsm_span *span);
    int (*free)(struct adsm_accel *accel, struct adsm_span *span);
};

extern const struct adsm_address_way adsm_address_direct;
extern const struct adsm_address_way adsm_address_window;
extern const struct adsm_address_way adsm_address_overlay;
extern const struct adsm_address_way adsm_address_translate;
extern const struct adsm_address_way adsm_address_reserved; /* no probe */
extern const struct adsm_address_way adsm_address_adopted;  /* free alone */
extern const struct adsm_address_way adsm_address_given;    /* free alone */

/**
 * Make sure of the host side of device memory. Addresses that nothing holds are
 * claimed with a placeholder of our own, or another thread's mmap could get
 * them before the memory manager does.
 *
 * Return: ADSM_OK; ADSM_E_LIMIT; ADSM_E_NOMEM
 */
int adsm_address_claim(uint64_t at, size_t bytes, bool *claimed);

/** Addresses of a window without memory, in whole granules, and back. Return of
 *  `give`: they were in use. Thread: any. Signal: never */
int adsm_window_take(struct adsm_accel *accel, size_t bytes,
                     uint64_t *at) ADSM_MUST_CHECK;
bool adsm_window_give(struct adsm_accel *accel, uint64_t at, size_t bytes);

/** Granules of a span are mapped, or not any more. Thread: any. Signal: never */
void adsm_window_mark(struct adsm_accel *accel, uint64_t at, size_t bytes,
                      bool away);

/** Free a movable span, as a way does. */
int adsm_movable_free(struct adsm_accel *accel, struct adsm_span *span);

/** Is the range free on the host? Return: ADSM_OK; ADSM_E_LIMIT with the text
 *  `taken`; ADSM_E_NOMEM where nothing is left to look with: ask again */
int adsm_address_look(uint64_t at, size_t bytes, const char *taken);

#endif
