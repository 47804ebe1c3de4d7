/* Four independent chains of 128-bit products; see hash.h. No lock. */
#include "interpose/report/hash.h"

#include <string.h>

enum { CHAINS = 4, STEP = 16, STRIDE = CHAINS * STEP };

static const uint64_t secret[2 * CHAINS] = {
    0xa0761d6478bd642fu, 0xe7037ed1a0b428dbu, 0x8ebc6af09c88c6e3u,
    0x589965cc75374cc3u, 0x1d8e4e27c47d124fu, 0xeb44accab455d165u,
    0x2545f4914f6cdd1du, 0x9e3779b97f4a7c15u};

static inline uint64_t word_at(const uint8_t *at)
{
    uint64_t word;
    __builtin_memcpy(&word, at, sizeof word);
    return word;
}

static inline uint64_t fold(uint64_t a, uint64_t b)
{
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* 64 bytes. The chain goes in by a sum: a product of zero must not end it. */
static inline void stride(uint64_t chain[CHAINS], const uint8_t *at)
{
    for (unsigned i = 0; i < CHAINS; i++)
        chain[i] = ((chain[i] << 23) | (chain[i] >> 41)) +
                   fold(word_at(at + STEP * i) ^ secret[2 * i],
                        word_at(at + STEP * i + 8) ^ secret[2 * i + 1]);
}

uint64_t report_hash(const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    uint64_t chain[CHAINS] = {count, 1, 2, 3}, hash = count;
    size_t left = count;
    for (; left >= STRIDE; left -= STRIDE, at += STRIDE)
        stride(chain, at);
    if (left) {
        uint8_t last[STRIDE] = {0};
        memcpy(last, at, left);
        stride(chain, last);
    }
    for (unsigned i = 0; i < CHAINS; i++)
        hash = report_mix(hash, chain[i]);
    return hash;
}
