/*
 * Where the program has device memory that the CPU never touched.
 *
 * A bit for each 2 MiB of addresses: the driver gave the program device memory
 * there, which holds nothing of ours. Set by who hears of an allocation, which
 * costs a store; nobody has to say when one ends: who asks in vain clears the
 * bit, unless several allocations may lie there. An address that is not so marked
 * is never asked about.
 *
 * Owns the table, of which a part is made when something is marked there. No
 * lock.
 */
#ifndef ADSM_MM_PLACEHOLDER_H
#define ADSM_MM_PLACEHOLDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ADSM_PLACEHOLDER_SHIFT = 21, /* of a bit */
    ADSM_PLACEHOLDER_PART = 34,  /* of a part of the table: 16 GiB */
    ADSM_PLACEHOLDER_BITS = 47,  /* of addresses; those beyond have none */
    ADSM_PLACEHOLDER_WORDS =
        1 << (ADSM_PLACEHOLDER_PART - ADSM_PLACEHOLDER_SHIFT - 6),
};

struct adsm_placeholder_part {
    _Atomic uint64_t marked[ADSM_PLACEHOLDER_WORDS];
    /* Of which an allocation has only a part: others may lie there, too. */
    _Atomic uint64_t crowded[ADSM_PLACEHOLDER_WORDS];
    /* Where variables of modules lie, which kernels know without being told. */
    _Atomic uint64_t variables[ADSM_PLACEHOLDER_WORDS];
};

/* On pages of its own, which a child gets empty. */
extern struct adsm_placeholder_part *_Atomic
    adsm_placeholders[1 << (ADSM_PLACEHOLDER_BITS - ADSM_PLACEHOLDER_PART)];

/** Anything marked, ever? Relaxed: who was given an address by another thread
 *  sees what that thread saw. */
extern _Atomic bool adsm_placeholder_any;

/** Index of the bit of an address in its part. */
static inline size_t adsm_placeholder_bit(uintptr_t at)
{
    return at >> ADSM_PLACEHOLDER_SHIFT & (64 * ADSM_PLACEHOLDER_WORDS - 1);
}

/** May device memory be there that is no object? Signal: any handler */
static inline bool adsm_placeholder_is(uintptr_t at)
{
    if (!atomic_load_explicit(&adsm_placeholder_any, memory_order_relaxed) ||
        at >> ADSM_PLACEHOLDER_BITS)
        return false;
    struct adsm_placeholder_part *part = atomic_load_explicit(
        &adsm_placeholders[at >> ADSM_PLACEHOLDER_PART], memory_order_acquire);
    size_t bit = adsm_placeholder_bit(at);
    return part && atomic_load_explicit(&part->marked[bit / 64],
                                        memory_order_relaxed) >>
                           (bit % 64) &
                       1;
}

/** The first address of [at, end) that may be such; `end` when none is. Signal:
 *  any handler */
uintptr_t adsm_placeholder_next(uintptr_t at, uintptr_t end);

/** Mark a range. Thread: any. Signal: any handler */
void adsm_placeholder_mark(uintptr_t at, size_t bytes);

/** In a range that is marked there is a variable of a module, or was. Thread: any. Signal: any handler */
void adsm_placeholder_mark_variable(uintptr_t at, size_t bytes);

/** May one be in a range? Thread: any. Signal: any handler */
bool adsm_placeholder_has_variable(uintptr_t at, size_t bytes);

/** There is none at an address, it was asked when so many had been marked: what
 *  came since stays marked. Thread: any. Signal: any handler */
uint64_t adsm_placeholder_marks(void);
void adsm_placeholder_clear(uintptr_t at, uint64_t asked);

/** Have nothing marked in every child that is a copy of this process, as
 *  adsm_index_expect_fork. Thread: one. Signal: never */
void adsm_placeholder_expect_fork(void);

/** In the child of a fork nothing is marked any more. Thread: the only one.
 *  Signal: never */
void adsm_placeholder_forget(void);

#endif
