/*
 * Records in tables of a fixed size, which are read and written without a lock.
 *
 * A writer makes the record's version odd, and even again; a reader that has met
 * the same even version before and after has copied what one writer wrote. A
 * record that is being written is as good as empty, and whoever finds another
 * one writing lets him. A writer that never comes back, because a handler of the
 * program jumped out of it, costs the record and nothing else.
 */
#ifndef ADSM_BASE_CELL_H
#define ADSM_BASE_CELL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Version of a record, whose words the owner has beside it; 0 at first. */
typedef _Atomic uint32_t adsm_cell;

/** Which of `1 << log2` records is a key's. */
static inline size_t adsm_cell_of(uint64_t key, unsigned log2)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - log2));
}

/** Begin to read. Return: false: it is being written. Signal: any handler */
static inline bool adsm_cell_begin(const adsm_cell *cell, uint32_t *version)
{
    *version = atomic_load_explicit(cell, memory_order_acquire);
    return *version % 2 == 0;
}

/** Is all that was read since adsm_cell_begin of one writer? */
static inline bool adsm_cell_is(const adsm_cell *cell, uint32_t version)
{
    return atomic_load_explicit(cell, memory_order_acquire) == version;
}

/** Copy words. Acquire: the version is looked at again behind the last of them,
 *  and who sees a word of a later writer sees its odd version, too. */
static inline void adsm_cell_read(const _Atomic uint64_t *from, uint64_t *to,
                                  size_t words)
{
    for (size_t i = 0; i < words; i++)
        to[i] = atomic_load_explicit(&from[i], memory_order_acquire);
}

/** Are the words these? */
static inline bool adsm_cell_has(const _Atomic uint64_t *cell,
                                 const uint64_t *these, size_t words)
{
    uint64_t differs = 0;
    for (size_t i = 0; i < words; i++)
        differs |=
            atomic_load_explicit(&cell[i], memory_order_acquire) ^ these[i];
    return differs == 0;
}

/** Begin to write. Return: false: another thread does. Signal: any handler */
static inline bool adsm_cell_take(adsm_cell *cell)
{
    uint32_t version = atomic_load_explicit(cell, memory_order_acquire);
    return version % 2 == 0 &&
           atomic_compare_exchange_strong(cell, &version, version + 1);
}

/** Release: none is seen before the odd version. */
static inline void adsm_cell_write(_Atomic uint64_t *to, const uint64_t *from,
                                   size_t words)
{
    for (size_t i = 0; i < words; i++)
        atomic_store_explicit(&to[i], from[i], memory_order_release);
}

static inline void adsm_cell_give(adsm_cell *cell)
{
    atomic_fetch_add_explicit(cell, 1, memory_order_release);
}

#endif
