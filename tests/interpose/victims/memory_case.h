/*
 * Cases of the victims that try calls: each begins with the same bytes in the
 * memory under test, in the state that is the turn's, and prints the call, its
 * result, and what the CPU and the device then find there.
 */
#ifndef MEMORY_CASE_H
#define MEMORY_CASE_H

#include "memory.h"

#include <errno.h>

enum { HALF = 2 << 20 };

static uint8_t *memory; /* 2 * HALF bytes */
static enum memory_state state;
static bool has_words; /* that stay with the CPU: the device need not know */

static inline void fill(void)
{
    memory_fill(memory, 2 * HALF, 0x21, state);
}

static inline void show(const char *name, long result)
{
    int error = result < 0 ? errno : 0;
    uint64_t seen = victim_hash(memory, 2 * HALF);
    printf("%s/%d %ld %d: %016llx %016llx\n", name, state, result, error,
           (unsigned long long)seen,
           has_words ? 0ull
                     : (unsigned long long)memory_device_hash(memory, HALF));
    fflush(stdout);
}

#define CASE(...)                                                              \
    do {                                                                       \
        fill();                                                                \
        errno = 0;                                                             \
        long result_ = (long)(__VA_ARGS__);                                    \
        show(#__VA_ARGS__, result_);                                           \
    } while (0)

#endif
