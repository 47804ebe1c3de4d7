/*
 * Twins: what the device has of blocks that stay open over calls.
 *
 * A block that the host writes before every call costs each of them a fault,
 * two changes of protection and an upload of all of it. After three such calls
 * one after the other it stays DIRTY: at a call it is compared with its twin,
 * and the pages that differ, without what is equal at the ends of a run of them,
 * are copied to the twin and sent from there. The host may go on writing
 * meanwhile: the twin is plain memory, which the driver has read when it returns
 * from an asynchronous copy. (Twins are Munin's, Carter, Bennett and Zwaenepoel
 * 1991, which merges several writers with them; here they save faults.)
 *
 * Of a block above 64 KiB the comparison pays only where little was written. So
 * one block of an object is tried first; when at most half of it was found
 * changed, the others are as well. When more was, it is closed, and the next is
 * tried some 8 calls later, then 64, 512. A large block that the device writes in
 * between would be sent twice: for that one the count of calls begins anew. Of
 * more than 32 dirty ones none stays open: one change of protection closes them.
 * One that was proved and is written densely twice in a row is closed.
 * Where the engine watches pages (mm/watch/sparse.h) it tells more, for less: no
 * large block has a twin.
 *
 * As long as it has a twin a block counts for no rolling size and is not written
 * back early: what is sent of it is what a call finds.
 *
 * Owns the twins, ADSM_TWIN_BYTES_MAX of them at most, and the heat in the
 * blocks' bytes. A twin is what the device has while ADSM_BLOCK_TWIN stands,
 * which goes when the block is no longer DIRTY: who sends or takes it otherwise
 * ends that.
 *
 * Lock: the object's, exclusively, where nothing else is said.
 * Thread: any. Signal: never: twins come from malloc.
 */
#ifndef ADSM_MM_TWIN_H
#define ADSM_MM_TWIN_H

#include "mm/object/block.h"

enum {
    ADSM_TWIN_BYTES_MAX = 8 << 20,
    /* Comparing and copying all of those up to here costs less than a fault, and
     * drivers take as much of plain memory without waiting. */
    ADSM_TWIN_SMALL_BYTES = 64 << 10,
};

struct adsm_twin {
    uint8_t *bytes; /* NULL: there is no memory for it                   */
    uint8_t whole;  /* times it was filled and nothing was found since   */
};

/** Of an object. */
struct adsm_twins {
    uint32_t wait;  /* large written blocks to be closed before the next try */
    uint32_t tried; /* the block that is tried ...                           */
    bool trying;    /* ... if one is                                         */
    bool trusted;   /* large ones were found to be written sparsely          */
    uint8_t level;  /* tries in a row that found the opposite                */
    struct adsm_twin of[]; /* by block */
};

/** A call that only reads the object begins with its blocks: before it asks. */
void adsm_twin_call(struct adsm_object *object);

/**
 * Should DIRTY block `i` stay open at a call that only reads it? Only where it
 * is hot, not larger than ADSM_KEEP_OPEN, worth comparing, and its upload has
 * nothing to wait for: a launch must not wait for the kernel before. Asking cools
 * a block that would have to.
 *
 * Return: true: there is memory for its twin
 */
bool adsm_twin_keeps(struct adsm_object *object, uint32_t i);

/** Send what the host has changed of block `i`, which adsm_twin_keeps said
 *  stays open. Return: ADSM_OK; ADSM_E_DEVICE(_LOST): the next call sends all */
int adsm_twin_send(struct adsm_object *object, uint32_t i,
                   const struct adsm_cause *cause) ADSM_MUST_CHECK;

/** A call that only reads the object closes blocks [first, first + count):
 *  were they written? Return: how many had twins, and have none any more */
uint32_t adsm_twin_close(struct adsm_object *object, uint32_t first,
                         uint32_t count, bool written);

/** Does comparing block `i` pay only where little of it was written? Signal: any
 *  handler */
static inline bool adsm_twin_is_large(const struct adsm_object *object,
                                      uint32_t i)
{
    return adsm_block_bytes(object, i) > ADSM_TWIN_SMALL_BYTES;
}

/** Does block `i` stay open, with a twin? Lock: none; it is so as long as the
 *  block is held. Signal: fault path */
static inline bool adsm_twin_is_there(const struct adsm_object *object,
                                      uint32_t i)
{
    return adsm_block_flags(object, i, ADSM_BLOCK_TWIN);
}

/** Is it known besides that its object is written sparsely? Lock: the object's,
 *  shared at least. Signal: fault path */
static inline bool adsm_twin_is_sparse(const struct adsm_object *object,
                                       uint32_t i)
{
    return adsm_twin_is_there(object, i) && object->twins->trusted;
}

/** How many of [first, first + count) do. Signal: fault path */
uint32_t adsm_twin_count(const struct adsm_object *object, uint32_t first,
                         uint32_t count);

/** The object's blocks are going away. Lock: none, nobody finds the object any
 *  more, or yet */
void adsm_twin_free(struct adsm_object *object);

#endif
