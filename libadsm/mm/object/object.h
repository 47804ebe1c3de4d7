/*
 * Objects: a host part and copies of it in devices' memory, kept coherent.
 *
 * The host part is cut into blocks, each with a state. Of the copies an object
 * has one at its home, as large as itself, unless it was made without; others,
 * of parts, come with calls over ranges (mm/object/spread.h).
 *
 * Owns the life of `struct adsm_object`, its mapping at A and the list of
 * objects that are near the CPU. Does not know what a block's byte means
 * (mm/object/block.h), does not decide states (mm/state/coherence.c) and does
 * not carve small allocations (mm/heap/slab.c).
 *
 * Three addresses: `host` (A, what the program sees, protected by state),
 * `shadow` (S, same pages, always read-write), `device`. Structures come from
 * a type-stable pool and are never unmapped, so a fault that races with a free
 * finds either a live object or one whose `live` is false: it takes the lock
 * shared and looks again.
 *
 * Lock: object->lock, rank OBJECT. Shared: change blocks that are held by
 * their BUSY bit. Exclusive: everything (boundary, destroy). Beside it that of
 * the lists, rank OBJECT_LIST, those of walks, OBJECT_TABLE, and one for host
 * pages, OBJECT_LIST.
 * Invariant: adsm_object_is_valid().
 */
#ifndef ADSM_MM_OBJECT_H
#define ADSM_MM_OBJECT_H

#include "accel/address/address.h"
#include "accel/dma.h"
#include "base/lock.h"
#include "os/arena.h"
#include "protocols/protocol.h"

#include <stdatomic.h>

enum { ADSM_OBJECT_KERNELS = 8 };

struct adsm_ahead;
struct adsm_dense;
struct adsm_kept;
struct adsm_sparse_block;
struct adsm_slab;
struct adsm_spread;

/** Marks of a page (mm/watch/keep.h); NULL: none. */
typedef struct adsm_kept *_Atomic adsm_kept_page;

/** What an object is on devices, and how it is addressed there. */
enum adsm_placement {
    ADSM_ONE_ADDRESS,   /* all of it on its home, at the CPU's address        */
    ADSM_TWO_ADDRESSES, /* ... at another address (adsmSafeAlloc)             */
    ADSM_NO_HOME_MEMORY, /* nothing of its own: copies of parts (spread.h)    */
    ADSM_MOVABLE /* as the first, but the memory comes and goes; none at first:
                    its blocks begin DIRTY (heap/residence.h)              */
};

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
    _Atomic bool backed;      /* shadow allocated and mapped at A; of these the
                                 mapping may go again                  */
    bool withdrawn;           /* A is no longer ours; lock: exclusive       */
    uint32_t grain_shift;     /* log2 of the bytes committed at once    */
    uint32_t reach;           /* most blocks that an access opens: grain.h */
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

    /* The copy at home. Of an object without one only `home` means something,
     * which page-locks its pages, and `span`, which has no memory. */
    struct adsm_accel *home;
    bool homeless;
    struct adsm_span span;
    struct adsm_daddr device;
    _Atomic uint32_t pins;  /* copies that need it to stay there           */
    struct adsm_fence work; /* last call of our own API that may use it    */
    uint64_t *sent;  /* by block: its last upload, in the home's upload lane;
                        written by who holds the block                     */
    uint8_t **twins; /* by block, NULL: none has one; see twin.h           */
    struct adsm_ahead *ahead; /* NULL: nothing comes ahead; see ahead.h    */
    struct adsm_sparse_block *sparse; /* by block, NULL: none is; sparse.h */
    _Atomic uint32_t watched;         /* blocks that are watched           */
    adsm_kept_page *_Atomic kept; /* by page, NULL: no byte is; see keep.h */

    /* Further copies, and who has what; NULL: there never was one. */
    struct adsm_spread *_Atomic spread; /* spread.h                              */

    struct adsm_object *prev, *next;           /* lock: the lists'         */
    struct adsm_object *prev_near, *next_near; /* lock: the lists'         */
    bool on_near_list;                         /* lock: the lists'         */
};

/**
 * Create an object of `bytes` on `accel`, all blocks in state `first`.
 *
 * @unit   bytes of an allocation, which is what protocols that move whole
 *         objects move at once: all of them, less in a slab. No block is
 *         larger
 * @accel  its home; of one without, the accel that page-locks its pages
 * Return: ADSM_OK; ADSM_E_DEVICE_NOMEM; ADSM_E_NOMEM; ADSM_E_LIMIT;
 *         ADSM_E_DEVICE: nothing was made
 * Thread: any, no lock of rank GATE or later held. Signal: never
 */
int adsm_object_create(struct adsm_accel *accel, size_t bytes, size_t unit,
                       enum adsm_state first, enum adsm_placement placement,
                       struct adsm_object **object) ADSM_MUST_CHECK;

/**
 * Wait for the work that uses it, then release everything it holds.
 *
 * @generation  the object's when the caller found it: of two threads that free
 *              one object, one gets ADSM_E_NOT_SHARED
 * Return: ADSM_OK; ADSM_E_NOT_SHARED: nothing was done; a device's error: it is
 *         gone all the same
 * Thread: any, no lock of an object or of a later rank held; waits for the
 *         device. Signal: never
 */
int adsm_object_destroy(struct adsm_object *object,
                        uint32_t generation) ADSM_MUST_CHECK;

/**
 * The object's context is about to be destroyed: give up its host addresses if
 * the driver takes them back with it. It is still to be destroyed, afterwards.
 *
 * Thread: any, no lock of an object or of a later rank held; waits for those
 *         that use the object, but for no kernel
 * Signal: never
 */
void adsm_object_withdraw(struct adsm_object *object);

/**
 * Map the object's pages at A, closed; those that were not committed are not
 * there. Idempotent. Where no mapping is left, other objects that nobody uses
 * just now give up theirs.
 *
 * Return: ADSM_OK; ADSM_E_LIMIT; ADSM_E_NOMEM
 * Thread: any; the object's lock is held, shared at least. Signal: fault path
 */
int adsm_object_back(struct adsm_object *object) ADSM_MUST_CHECK;

/** The same for what needs the shadow only: where no mapping is left, that at A
 *  comes with the next access, and that is no failure. */
int adsm_object_shadow(struct adsm_object *object) ADSM_MUST_CHECK;

/** The system grants no mapping: use those set aside, or take objects from A
 *  that nobody uses just now. Return: whether trying again can help. Thread:
 *  any; locks of objects may be held. Signal: fault path */
bool adsm_object_make_room(void);

/**
 * Commit and pin the grains under [offset, offset + bytes), once each.
 *
 * Return: ADSM_OK; ADSM_E_NOMEM. Pages that cannot be pinned are no failure
 * Thread: any; the object's lock is held, shared at least. Signal: fault path
 */
int adsm_object_commit(struct adsm_object *object, size_t offset,
                       size_t bytes) ADSM_MUST_CHECK;

/** Are all of them committed? Lock: none; they stay so while it lives.
 *  Thread: any. Signal: any handler */
bool adsm_object_has(const struct adsm_object *object, size_t offset,
                     size_t bytes);

/**
 * Time this thread has spent in getting host pages from the system, which a
 * program of its own would spend when it first touches its memory.
 *
 * `add` adds what was spent outside adsm_object_commit.
 * Thread: any. Signal: fault path
 */
uint64_t adsm_object_memory_ns(void);
void adsm_object_memory_add(uint64_t ns);

/**
 * Call `visit` for every object of `accel` (NULL: all), near ones only or all of
 * them. The visitor may take the object's lock, and finds out behind it whether
 * the object still lives. Walks of other threads over objects of the same home,
 * or over all if this one is, wait for this one.
 *
 * Return: ADSM_OK; what a visitor returned otherwise, which ends the walk;
 *         ADSM_E_NOMEM: nobody was visited
 * Thread: any, no lock of rank OBJECT_TABLE or later held. Signal: never
 */
typedef int adsm_object_visit(struct adsm_object *object, void *context);
int adsm_object_each(struct adsm_accel *accel, bool near_only,
                     adsm_object_visit *visit, void *context);

/** Whether any object is near just now. Thread: any. Signal: any handler */
bool adsm_object_any_near(void);

/** Whether any object has ever had pages on the host, which it gets when the CPU
 *  first accesses it. Thread: any. Signal: any handler */
bool adsm_object_any_pages(void);

/** Enter or leave the list of near objects, where those are that have blocks on
 *  the host or are spread. Thread: any; the object's lock is held, shared at
 *  least. Signal: fault path */
void adsm_object_update_near(struct adsm_object *object);

/** The structure's specification; used by assertions and tests. Lock: the
 *  object's, exclusively */
bool adsm_object_is_valid(const struct adsm_object *object);

#endif
