/*
 * A number for some bytes, as fast as they can be read: two contents with the
 * same number are taken to be the same. Not for who wants to be deceived.
 */
#ifndef INTERPOSE_REPORT_HASH_H
#define INTERPOSE_REPORT_HASH_H

#include <stddef.h>
#include <stdint.h>

/** Thread: any. Signal: any handler */
uint64_t report_hash(const void *bytes, size_t count);

/** One more word of a key. */
static inline uint64_t report_mix(uint64_t hash, uint64_t word)
{
    __uint128_t product =
        (__uint128_t)(hash ^ word ^ 0x9e3779b97f4a7c15u) * 0xa0761d6478bd642fu;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif
