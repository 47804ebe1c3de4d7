/*
 * Fetching ahead: what the CPU accessed after a kernel's last return comes at
 * its next.
 *
 * A round of an object is the time from one call that takes its blocks from the
 * CPU to the next. The blocks that the CPU brings in it are the kernel's whose
 * return, or launch, was the last one before, and when that kernel returns
 * again, they are fetched by a thread of the runtime. Where no return is seen,
 * the first access that fetches anything of the object has the rest fetched.
 * Either way the access goes on as ever: what it wants and is on its way it
 * waits for, what is not it fetches itself.
 *
 * A block that came so is READ_ONLY and still closed. Its first access costs a
 * fault and no transfer, and tells that it was wanted; what was not by the end
 * of the round is no longer expected. Of a kernel for which less than half was
 * wanted nothing comes ahead until one round in which half of what was expected
 * is accessed all the same, the next time two, four, up to 64.
 *
 * Little, which takes no longer to fetch than to wake the thread, is fetched by
 * whoever returns. When all of it was wanted the next return opens it as well,
 * so its access costs nothing, and tells nothing: it is closed again after one
 * such return, then after two, four, up to 64.
 *
 * Bounds: blocks are fetched in pieces of 2 MiB, each with the gate passed and
 * the object's lock held, so a call waits for one piece at most. Nothing is
 * fetched that would wait for the device: it may be the CPU's turn. An object
 * remembers KERNELS kernels, a bit for each block, and OBJECTS objects have
 * something fetched.
 *
 * The opposite as well: of a block of which a system call or a copy wants a few
 * bytes, the pages around them alone are fetched, and it stays INVALID. That may
 * happen as often as it costs less than all of the block, and not where the
 * block before is there.
 *
 * Owns the member `ahead` of `struct adsm_object`. Does not fetch
 * (mm/doors/fetcher.h).
 *
 * Lock: the object's, shared at least, and where it says so, exclusively.
 * Thread: any. Signal: fault path. Where nothing else is said.
 */
#ifndef ADSM_MM_AHEAD_H
#define ADSM_MM_AHEAD_H

#include "mm/object/block.h"

#include <stdatomic.h>

/** What is known of an object. Bits by block: the first words those that the
 *  CPU brought in this round, then those that came and were not accessed. */
struct adsm_ahead {
    uint32_t words;
    _Atomic uint32_t unseen;          /* bits of the second kind */
    _Atomic uint32_t brought;         /* blocks, in this round   */
    _Atomic uint32_t hits;            /* of these, accessed      */
    _Atomic(const void *) kernel;     /* whose round it is       */
    _Atomic bool begun;               /* it is known whose       */
    _Atomic bool asked;               /* the thread is to fetch  */
    uint32_t place;                   /* in the table, from 1 on */
    uint32_t next;                    /* memory to be used next  */
    struct adsm_ahead_memory *memory; /* KERNELS of them, or NULL */
    _Atomic uint8_t *parts;           /* by block: fetched in parts, times   */
    _Atomic uint64_t bits[];
};

/** What the CPU brought in the last round of one kernel. */
struct adsm_ahead_memory {
    const void *kernel;
    uint32_t wrong;  /* times in a row that less than half was wanted       */
    uint32_t skip;   /* times that it has to be right before anything comes */
    uint32_t span;   /* returns that may open it, before the next look ...  */
    uint32_t left;   /* ... and how many of these are left                  */
    uint32_t blocks; /* in the set                                          */
    uint64_t *set;   /* a bit for each block; NULL: nothing is remembered   */
};

/** Do blocks come for what was accessed after returns? Thread: any. Signal: any
 *  handler */
bool adsm_ahead_follows_returns(void);

/**
 * Prepare a new object that follows `protocol`. Without memory for it nothing
 * comes ahead.
 *
 * Thread: the one that makes it. Signal: never
 */
void adsm_ahead_init(struct adsm_object *object,
                     const struct adsm_protocol *protocol);

/** Nobody finds the object any more, or yet. Signal: never */
void adsm_ahead_free(struct adsm_object *object);

/** `kernel` was launched, for the objects behind these gates. Thread: that of
 *  the call. Signal: never */
void adsm_ahead_called(uint32_t gates, const void *kernel);

/** A call is about to take held or locked blocks from the CPU: their round ends.
 *  The lock is held exclusively. Signal: never */
void adsm_ahead_taken(struct adsm_object *object, uint32_t first,
                      uint32_t count);

/** An access is about to be answered for held blocks, which have their states
 *  from before. */
void adsm_ahead_touched(struct adsm_object *object, uint32_t first,
                        uint32_t count);

/** The same where block `i` is read and nobody holds it: bytes that are there.
 *  Lock: none, as long as nobody frees the object. Signal: any handler */
void adsm_ahead_read(const struct adsm_object *object, uint32_t i);

/** Held blocks are no longer READ_ONLY. */
void adsm_ahead_left(struct adsm_object *object, uint32_t first,
                     uint32_t count);

/** Did block `i` come ahead, and is not accessed yet? Lock: none, as above.
 *  Signal: any handler */
static inline bool adsm_ahead_is_unseen(const struct adsm_object *object,
                                        uint32_t i)
{
    const struct adsm_ahead *a = object->ahead;
    /* Relaxed: who saw the state sees the bit that was set before it. */
    return a && atomic_load_explicit(&a->unseen, memory_order_relaxed) &&
           (atomic_load_explicit(&a->bits[a->words + i / 64],
                                 memory_order_relaxed) >>
                i % 64 &
            1);
}

/** Should a few pages of block `i`, which is INVALID, be fetched alone? That is
 *  counted. */
bool adsm_ahead_takes_part(struct adsm_object *object, uint32_t i,
                           size_t bytes);

/** An access had to fetch something of the object: the rest may come. */
void adsm_ahead_want(struct adsm_object *object);

/* ---- for who fetches (mm/doors/fetcher.h) ---------------------------------- */

/** Who fetches what is expected of an object, and how. */
enum adsm_ahead_way {
    ADSM_AHEAD_NOT,
    ADSM_AHEAD_THREAD, /* the thread                                        */
    ADSM_AHEAD_HERE,   /* whoever asks: it is little                        */
    ADSM_AHEAD_OPEN    /* ... and opens it, too: it was wanted each time    */
};

/** As adsm_ahead_want, at a return. What is due is the caller's from then on. */
enum adsm_ahead_way adsm_ahead_ask(struct adsm_object *object);

/** What its next return is expected to bring of the object, if that is little and
 *  in one piece. Return: how many blocks, from *first on; 0: nothing such */
uint32_t adsm_ahead_next(const struct adsm_object *object, const void *kernel,
                         uint32_t *first);

/** What is expected in the round; NULL: nothing is remembered of its kernel. */
const struct adsm_ahead_memory *
adsm_ahead_memory_of(const struct adsm_object *object);

/** Held blocks are about to come ahead; `failed`: they did not. */
void adsm_ahead_bring(struct adsm_object *object, uint32_t first,
                      uint32_t count);
void adsm_ahead_failed(struct adsm_object *object, uint32_t first,
                       uint32_t count);

#endif
