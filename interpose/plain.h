/*
 * The test with which every hook begins: can any of this memory be shared?
 */
#ifndef INTERPOSE_PLAIN_H
#define INTERPOSE_PLAIN_H

#include "mm/doors/loan.h"
#include "mm/object/index.h"

#define HOOK_EXPORT      __attribute__((visibility("default")))
#define hook_likely(x)   __builtin_expect(!!(x), 1)
#define hook_unlikely(x) __builtin_expect(!!(x), 0)

/* Ranges up to one index tract are plain when both ends are: no memory of the
 * program's goes on at both sides of an object. */
#define HOOK_TRACT_BYTES ((size_t)1 << ADSM_TRACT_SHIFT)

/** True when no byte of the range can be shared. Signal: any handler */
static inline bool hook_is_plain(const void *address, size_t bytes)
{
    if (hook_unlikely(bytes > HOOK_TRACT_BYTES))
        return adsm_loan_unneeded(address, bytes);
    const char *first = address;
    return !adsm_index_find(first) &&
           !adsm_index_find(first + bytes - (bytes != 0));
}

#endif
