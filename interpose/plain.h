/*
 * The test with which every hook begins: can any of this memory be shared?
 */
#ifndef INTERPOSE_PLAIN_H
#define INTERPOSE_PLAIN_H

#include "mm/doors/adopt.h"
#include "mm/doors/loan.h"
#include "mm/object/index.h"

#define HOOK_EXPORT      __attribute__((visibility("default")))
#define hook_likely(x)   __builtin_expect(!!(x), 1)
#define hook_unlikely(x) __builtin_expect(!!(x), 0)

/* Ranges up to one index tract are plain when both ends are: no memory of the
 * program's goes on at both sides of an object. */
#define HOOK_TRACT_BYTES ((size_t)1 << ADSM_TRACT_SHIFT)

/** True when no byte of the range is shared now. Signal: any handler */
static inline bool hook_is_apart(const void *address, size_t bytes)
{
    if (hook_unlikely(bytes > HOOK_TRACT_BYTES))
        return adsm_loan_unneeded(address, bytes);
    const char *first = address;
    return !adsm_index_find(first) &&
           (bytes <= 1 || !adsm_index_find(first + bytes - 1));
}

/** May device memory be in the range that is no object yet? */
static inline bool hook_may_adopt(const void *address, size_t bytes)
{
    uintptr_t first = (uintptr_t)address;
    if (adsm_placeholder_is(first))
        return true;
    uintptr_t last = first + bytes - 1;
    return bytes > 1 && (adsm_placeholder_is(last) ||
                         (hook_unlikely(bytes > HOOK_TRACT_BYTES) &&
                          adsm_placeholder_next(first, last) < last));
}

/**
 * Greater than 0 while this thread is inside the driver for a call that uses no
 * shared memory: then nothing that the driver reads or writes is.
 */
extern _Thread_local int hook_bare __attribute__((tls_model("initial-exec")));

/**
 * True when no byte of the range can be shared: for what the CPU is about to
 * read or write, by itself or in a call. Device memory in it is shared then.
 *
 * Signal: any handler; where there is device memory, as adsm_adopt
 */
static inline bool hook_is_plain(const void *address, size_t bytes)
{
    if (hook_bare)
        return true;
    if (hook_unlikely(hook_may_adopt(address, bytes)) &&
        adsm_adopt_range(address, bytes))
        return false;
    return hook_is_apart(address, bytes);
}

#endif
