/*
 * Ranked locks on futexes.
 *
 * Owns mutual exclusion and the order in which locks may be taken. The fault
 * path uses them: no malloc, errno kept, no cancellation point. A thread takes
 * locks in rising rank only; checked builds (without NDEBUG) report the first
 * violation, builds with -DADSM_DEBUG_LOCKS abort on it. The locks are C11
 * atomics throughout, so ThreadSanitizer follows them without annotations.
 *
 * A thread that holds a lock is in a quiet stretch (quiet.h).
 *
 * Not recursive, not robust, not shared between processes.
 */
#ifndef ADSM_BASE_LOCK_H
#define ADSM_BASE_LOCK_H

#include "base/quiet.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** The order in which locks are taken: outermost first. */
enum adsm_rank {
    ADSM_RANK_RING,  /* entries of io_uring, while they are looked at */
    ADSM_RANK_QUEUE, /* tasks that wait */
    ADSM_RANK_ADOPT,
    ADSM_RANK_ADOPTING,
    ADSM_RANK_API,
    ADSM_RANK_MODULE,
    ADSM_RANK_CODE,
    ADSM_RANK_GATE,
    ADSM_RANK_OBJECT_TABLE,
    ADSM_RANK_OBJECT,
    ADSM_RANK_AWAITED, /* what of objects waiting tasks use */
    ADSM_RANK_OBJECT_LIST,
    ADSM_RANK_STORE,
    ADSM_RANK_DIRTY_QUEUE,
    ADSM_RANK_READY,
    ADSM_RANK_ARENA,
    ADSM_RANK_ACCEL,
    ADSM_RANK_POKE,
    ADSM_RANK_STREAM,
    ADSM_RANK_POOL,
    ADSM_RANK_SIGNAL,
    ADSM_RANKS
};

#if defined(ADSM_DEBUG_LOCKS) || !defined(NDEBUG)
#define ADSM_LOCK_CHECKED 1
#else
#define ADSM_LOCK_CHECKED 0
#endif

/** A mutex: 4 bytes, 8 in checked builds. */
struct adsm_lock {
    _Atomic uint32_t word; /* 0 free, 1 held, 2 held and waited for */
#if ADSM_LOCK_CHECKED
    uint32_t rank; /* enum adsm_rank */
#endif
};

/** Many readers or one writer. A waiting writer keeps new readers out, and a
 *  leaving writer lets the readers in that waited for it: neither starves. */
struct adsm_rwlock {
    _Atomic uint32_t state;    /* readers inside, or ADSM_RWLOCK_WRITER     */
    _Atomic uint32_t writers;  /* writers waiting                           */
    _Atomic uint32_t readers;  /* readers waiting                           */
    _Atomic bool readers_turn; /* those come before the next writer        */
    _Atomic uint32_t waiters;  /* threads asleep or about to be             */
    _Atomic uint32_t event;    /* futex word: bumped when someone may enter */
#if ADSM_LOCK_CHECKED
    uint32_t rank; /* enum adsm_rank */
#endif
};

#define ADSM_RWLOCK_WRITER UINT32_C(0x80000000)

#if ADSM_LOCK_CHECKED
#define ADSM_LOCK_INIT(rank_)                                                  \
    {                                                                          \
        0, (rank_)                                                             \
    }
#define ADSM_RWLOCK_INIT(rank_)                                                \
    {                                                                          \
        0, 0, 0, false, 0, 0, (rank_)                                          \
    }
#else
#define ADSM_LOCK_INIT(rank_)                                                  \
    {                                                                          \
        0                                                                      \
    }
#define ADSM_RWLOCK_INIT(rank_)                                                \
    {                                                                          \
        0, 0, 0, false, 0, 0                                                   \
    }
#endif

/** Make a lock in dynamic memory; free locks need no destruction. */
void adsm_lock_init(struct adsm_lock *lock, enum adsm_rank rank);
void adsm_rwlock_init(struct adsm_rwlock *lock, enum adsm_rank rank);

/**
 * Take or give back a mutex.
 *
 * Thread: any; the caller holds no lock of the same or a later rank
 * Signal: fault path
 */
void adsm_lock_acquire(struct adsm_lock *lock);
void adsm_lock_release(struct adsm_lock *lock);

/**
 * Take a mutex while holding others of the same rank. The caller orders them
 * itself, by address or index, always the same way.
 *
 * Thread: any; the caller holds no lock of a later rank
 * Signal: fault path
 */
void adsm_lock_acquire_another(struct adsm_lock *lock);

/**
 * Take a mutex if that needs no waiting; any order is allowed.
 *
 * Return: true when taken
 * Thread: any
 * Signal: fault path
 */
bool adsm_lock_try(struct adsm_lock *lock);

/** Does somebody hold it? For assertions only. Signal: any handler. */
bool adsm_lock_is_held(const struct adsm_lock *lock);

/**
 * Enter as one of many readers, or leave. A thread that is inside must not
 * enter again: a writer waiting in between would stop both.
 *
 * Thread: any; the caller holds no lock of the same or a later rank
 * Signal: fault path
 */
void adsm_rwlock_acquire_shared(struct adsm_rwlock *lock);
void adsm_rwlock_release_shared(struct adsm_rwlock *lock);

/**
 * Enter as the only one, or leave.
 *
 * Thread: any; the caller holds no lock of the same or a later rank
 * Signal: fault path
 */
void adsm_rwlock_acquire(struct adsm_rwlock *lock);
void adsm_rwlock_release(struct adsm_rwlock *lock);

/**
 * Enter as the only one while holding others of the same rank. The caller
 * orders them itself, by address or index, always the same way.
 *
 * Thread: any; the caller holds no lock of a later rank
 * Signal: fault path
 */
void adsm_rwlock_acquire_another(struct adsm_rwlock *lock);

/**
 * Enter as the only one, or as one of many readers, if that needs no waiting;
 * any order is allowed.
 *
 * Return: true when taken
 * Thread: any
 * Signal: fault path
 */
bool adsm_rwlock_try(struct adsm_rwlock *lock);
bool adsm_rwlock_try_shared(struct adsm_rwlock *lock);

/** Is somebody the only one in there now? Thread: any. Signal: any handler */
static inline bool adsm_rwlock_is_taken(const struct adsm_rwlock *lock)
{
    return atomic_load(&lock->state) & ADSM_RWLOCK_WRITER;
}

#endif
