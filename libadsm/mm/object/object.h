/*
 * Objects: a host part and copies of it in devices' memory, kept coherent.
 *
 * The host part is cut into blocks, each with a state. Of the copies an object
 * has one at its home, as large as itself, unless it was made without; others,
 * of parts, come with calls over ranges (mm/object/holders.h).
 *
 * This is the structure alone. What is done with a part of it is said where the
 * part belongs: the pages in host.h, the lists in list.h, a block's byte in
 * block.h, what is noted of blocks in mm/watch, its states in
 * mm/state/coherence.h, its creation and end in mm/heap/life.h.
 *
 * Three addresses: `host` (A, what the program sees, protected by state),
 * `shadow` (S, same pages, always read-write), `device`. Structures come from
 * a type-stable pool and are never unmapped, so a fault that races with a free
 * finds either a live object or one whose `live` is false: it takes the lock
 * shared and looks again.
 *
 * Lock: object->lock, rank OBJECT. Shared: change blocks that are held by
 * their BUSY bit. Exclusive: everything (boundary, destroy).
 * Invariant: adsm_object_is_valid().
 */
#ifndef ADSM_MM_OBJECT_H
#define ADSM_MM_OBJECT_H

#include "accel/address/address.h"
#include "accel/dma.h"
#include "base/cause.h"
#include "base/lock.h"
#include "os/arena.h"
#include "os/given.h"
#include "protocols/protocol.h"

#include <stdatomic.h>

enum { ADSM_OBJECT_KERNELS = 8 };

struct adsm_ahead;
struct adsm_dense;
struct adsm_kept;
struct adsm_scatter;
struct adsm_sparse_block;
struct adsm_slab;
struct adsm_twins;
struct adsm_holders;

/** Marks of a page (mm/watch/keep.h); NULL: none. */
typedef struct adsm_kept *_Atomic adsm_kept_page;

struct adsm_object {
    void *pool_link; /* the pool's while the structure is free             */
    struct adsm_rwlock lock;
    _Atomic bool live;
    _Atomic uint32_t generation; /* grows when the structure is reused     */
    size_t bytes; /* as allocated; the mapping is span.bytes long          */
    _Atomic uint32_t gate;  /* its home's; read without the lock to pass it */
    struct adsm_slab *slab; /* not NULL: small allocations live in it      */
    bool
        direct; /* host part and home are the same pages, and S is A: direct.h */
    const void *kernels[ADSM_OBJECT_KERNELS]; /* assigned kernels          */
    uint32_t kernel_count;

    /* The host part: pages at A and S, and what the CPU may do with them. */
    uint8_t *host;
    struct adsm_arena_range shadow; /* backed: see `backed`                */
    struct adsm_given given;  /* whose shadow it is; NULL: the arena's      */
    size_t ready_at, ready;   /* offset and bytes of what had pages before */
    _Atomic bool backed;      /* shadow allocated and mapped at A; of these the
                                 mapping may go again                  */
    bool withdrawn;           /* A is no longer ours; lock: exclusive       */
    uint32_t grain_shift;     /* log2 of the bytes committed at once    */
    _Atomic uint32_t reach;   /* most blocks that an access opens: grain.h */
    _Atomic uint8_t *paging;  /* by grain, NULL: no huge pages; paging.h */
    struct adsm_dense *dense; /* by 2 MiB, NULL: not noted; dense.h    */
    _Atomic uint64_t *committed; /* bit per grain: pages there and pinned  */
    size_t block_bytes; /* whole pages; the last one may be shorter        */
    uint32_t block_count;
    _Atomic uint32_t blocks_used; /* those behind were never allocated     */
    _Atomic uint8_t *blocks;   /* block_count bytes: block.h                 */
    _Atomic uint32_t near;     /* blocks that are not INVALID                */
    _Atomic uint32_t dirty;    /* blocks that are DIRTY                      */
    _Atomic uint32_t closings; /* grows before blocks are closed: in_place.h */
    _Atomic bool settled;      /* none was since a call released it          */
    _Atomic uint32_t lent;     /* direct: loans that keep it open: direct.h   */
    _Atomic uint32_t loans;    /* of its bytes, where it is adopted: life.h   */

    /* The copy at home. Of an object without one only `home` means something,
     * which page-locks its pages, and `span`, which has no memory. */
    struct adsm_accel *home;
    bool homeless;
    bool goes_on;          /* adopted, has ended: its memory has not   */
    bool variables;        /* adopted: variables of modules may be in it */
    _Atomic bool unwaited; /* adopted for a host function: what nobody noted
                              may still run on it; doors/adopt.h         */
    struct adsm_span span;
    struct adsm_daddr device;
    _Atomic uint32_t awaited; /* uses of tasks that wait: awaited.h        */
    _Atomic uint32_t pins;    /* copies that need it to stay there           */
    _Atomic bool holds; /* movable: written by the device since it came    */
    struct adsm_fence work; /* last call of our own API that may use it    */
    uint64_t *sent; /* by block: its last upload, in the home's upload lane;
                        written by who holds the block                     */
    struct adsm_twins *twins; /* NULL: none has one yet; see twin.h        */
    bool crowded; /* at the last call too many were dirty for them; twin.h */
    struct adsm_ahead *ahead; /* NULL: nothing comes ahead; see ahead.h    */
    struct adsm_sparse_block *sparse; /* by block, NULL: none is; sparse.h */
    _Atomic uint32_t watched;         /* blocks that are watched           */
    struct adsm_scatter *scatter;     /* NULL: no store is served; scatter.h */
    adsm_kept_page *_Atomic kept; /* by page, NULL: no byte is; see keep.h */

    /* Further copies, and who has what; NULL: there never was one. */
    struct adsm_holders *_Atomic holders; /* as holders.h has it */

    struct adsm_object *prev, *next;           /* lock: the lists'         */
    struct adsm_object *prev_near, *next_near; /* lock: the lists'         */
    bool on_near_list;                         /* lock: the lists'         */
};

/** A cause, for bytes of this object from `offset` on. Signal: any handler */
static inline struct adsm_cause
adsm_object_cause(const struct adsm_object *object, size_t offset,
                  const struct adsm_cause *cause)
{
    struct adsm_cause its = *cause;
    its.object = (uintptr_t)object->host;
    its.object_bytes = object->bytes;
    its.object_offset = offset;
    its.block_bytes = object->block_bytes;
    return its;
}

#endif
