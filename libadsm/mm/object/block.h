/*
 * Blocks: the unit of coherence, a byte each in their object.
 *
 * Owns that byte: state in the low bits, flags and heat above. Decides none of
 * them: states are changed by mm/state/coherence.c alone, the queue's flag by
 * mm/state/write_back.c, heat and twins by mm/watch/twin.c.
 *
 * Lock: object->lock, held shared or exclusively, keeps the byte where it is,
 * unless a function says otherwise. A state is changed by who holds the block
 * (BUSY) or has the lock exclusively; flags by anybody, so every change is one
 * atomic step that leaves the other bits alone. A thread holds blocks of one
 * object in rising order, and waits for one without lock and gate.
 * Order: who sees a state sees the bytes that go with it, who holds a block
 * sees what its last holder did; flags order nothing.
 * Thread: any, unless a function says otherwise. Signal: fault path; errno is
 * kept.
 */
#ifndef ADSM_MM_BLOCK_H
#define ADSM_MM_BLOCK_H

#include "mm/object/object.h"

enum {
    ADSM_BLOCK_STATE = 0x03,
    ADSM_BLOCK_BUSY = 0x04,   /* held by one thread; others wait          */
    ADSM_BLOCK_QUEUED = 0x08, /* stands in the queue of dirty blocks      */
    ADSM_BLOCK_MAPPED = 0x10, /* page table entries at A are filled in    */
    ADSM_BLOCK_TWIN = 0x20,   /* its twin is what the device has: twin.h  */
    ADSM_BLOCK_HEAT = 0xc0,   /* calls that found it written: twin.h      */
};

/* ---- where a block lies; no lock ----------------------------------------- */

static inline size_t adsm_block_begin(const struct adsm_object *o, uint32_t i)
{
    return i * o->block_bytes;
}

static inline size_t adsm_block_bytes(const struct adsm_object *o, uint32_t i)
{
    size_t left = o->bytes - adsm_block_begin(o, i);
    return left < o->block_bytes ? left : o->block_bytes;
}

static inline uint32_t adsm_block_of(const struct adsm_object *o, size_t offset)
{
    return (uint32_t)(offset / o->block_bytes);
}

/* ---- its byte ------------------------------------------------------------ */

/** State of block `i` now. */
static inline enum adsm_state adsm_block_state(const struct adsm_object *o,
                                               uint32_t i)
{
    /* Acquire: who sees the state sees the bytes that go with it. */
    return atomic_load_explicit(&o->blocks[i], memory_order_acquire) &
           ADSM_BLOCK_STATE;
}

/** Those of `bits` that are set in block `i`'s byte. Order: none. */
static inline uint8_t adsm_block_flags(const struct adsm_object *o, uint32_t i,
                                       uint8_t bits)
{
    return atomic_load_explicit(&o->blocks[i], memory_order_relaxed) & bits;
}

/** Does a thread hold it? Of use where none can begin to: the lock is held
 *  exclusively. */
static inline bool adsm_block_is_held(const struct adsm_object *o, uint32_t i)
{
    return adsm_block_flags(o, i, ADSM_BLOCK_BUSY);
}

/** Change bits of the byte: `clear`, then `set`. Return: what it was. */
static inline uint8_t adsm_block_change(struct adsm_object *o, uint32_t i,
                                        uint8_t clear, uint8_t set)
{
    uint8_t old = atomic_load_explicit(&o->blocks[i], memory_order_relaxed);
    /* Release: pairs with adsm_block_state. */
    while (!atomic_compare_exchange_weak_explicit(
        &o->blocks[i], &old, (uint8_t)((old & ~clear) | set),
        memory_order_release, memory_order_relaxed))
        continue;
    return old;
}

/** A new object's blocks, before another thread knows of it: no lock. */
void adsm_block_init(struct adsm_object *object, enum adsm_state first);

/** Blocks from `first` on, at most `limit`, in the state of `first`. */
uint32_t adsm_block_run(const struct adsm_object *object, uint32_t first,
                        uint32_t limit);

/* ---- holding it ---------------------------------------------------------- */

/** Hold block `i` if nobody does. The lock is held shared. */
bool adsm_block_try_hold(struct adsm_object *object, uint32_t i);

/**
 * Hold block `i`, waiting for whoever holds it. The object's lock, held
 * shared, and its gate are let go of while waiting and held again on return:
 * whoever holds the block may need both.
 *
 * @generation  the object's, as it was when the caller found it
 * Return: false when the object was freed meanwhile; nothing is held then but
 *         the lock
 */
bool adsm_block_hold(struct adsm_object *object, uint32_t generation,
                     uint32_t i);

/** Let go of held blocks [first, first + count); wakes who waits. */
void adsm_block_release(struct adsm_object *object, uint32_t first,
                        uint32_t count);

#endif
