/*
 * Which host memory is page-locked for an accel.
 *
 * Owns the list of registrations, cut at multiples of 2 MiB. A transfer must
 * not cross from one registration into another or into plain memory (drivers
 * refuse that), so dma.c asks here where to cut. Two locks: `change` (rank
 * ACCEL) serialises pinning and unpinning and is held over driver calls;
 * `lock` (rank STREAM) guards the table and is held for loads and stores only.
 */
#ifndef ADSM_ACCEL_PINNED_H
#define ADSM_ACCEL_PINNED_H

#include "accel/types.h"
#include "base/lock.h"

enum { ADSM_PINNED_BUCKETS = 4096 };

/** Registered pages; never crosses a multiple of 2 MiB. */
struct adsm_pinned_range {
    struct adsm_pinned_range *next;
    uintptr_t begin, end;
    bool owned; /* false: somebody else registered it */
};

struct adsm_pinned {
    struct adsm_lock change;
    struct adsm_lock lock;
    bool refused;           /* change: the system gives no more for now */
    bool never;             /* change: the device cannot pin at all */
    char why[320];          /* change: the first refusal, a sentence */
    _Atomic uint64_t bytes; /* in the table */
    struct adsm_pinned_range *bucket[ADSM_PINNED_BUCKETS];
};

/** Make an empty table in zeroed memory. Thread: the one that makes the accel.
 *  Signal: never */
void adsm_pinned_init(struct adsm_pinned *pinned);

/** Unregister everything. Nobody may use the accel. Thread: one. Signal:
 *  never */
void adsm_pinned_clear(struct adsm_accel *accel);

/**
 * Pin shadow memory so that transfers of it are asynchronous and direct.
 * Failing is no error (ulimit -l): transfers then go through the driver's
 * staging, or ours (stage.h) where it does not take the memory even so.
 * Signal: fault path; Thread: any
 */
void adsm_pin(struct adsm_accel *accel, void *shadow, size_t bytes);
void adsm_unpin(struct adsm_accel *accel, void *shadow, size_t bytes);

/** Memory of the runtime's own, page-locked, to be given back when the accel has
 *  unpinned all. @bytes  a power of two, 2 MiB at most. Return: NULL: there is
 *  none. Thread: any. Signal: fault path */
void *adsm_pinned_make(struct adsm_accel *accel, size_t bytes);
void adsm_pinned_free(void *memory, size_t bytes);

/**
 * How many bytes from `at` on are uniformly in one registration, or plain. One
 * of another accel counts as well: all drivers take it, and none across its
 * borders.
 *
 * @at @bytes  host range
 * Return: length of the piece, 1 .. bytes
 * Thread: any
 * Signal: fault path
 */
size_t adsm_pinned_piece(struct adsm_accel *accel, const void *at,
                         size_t bytes);

/** Is all of it in one registration of the accel? Thread: any. Signal: fault
 *  path */
bool adsm_pinned_has(struct adsm_accel *accel, const void *at, size_t bytes);

/** The sentence about the first refusal; "" when there was none. Thread: any,
 *  behind the adsm_pin that may have been refused. Signal: never */
const char *adsm_pinned_why(const struct adsm_accel *accel);

/** Was memory of any accel refused? Of that the driver may read the bytes only
 *  where they are due, and its call returns behind that. Thread: any. Signal: any
 *  handler */
bool adsm_pinned_is_partial(void);

/** Bytes known to be page-locked; for adsm-info and tests. Thread:
 *  any. Signal: any handler */
uint64_t adsm_pinned_bytes(const struct adsm_accel *accel);

#endif
