/*
 * Ranked locks on futexes: see base/lock.h.
 *
 * Owns waiting, waking and the check of the order. The mutex is the three
 * state one of Drepper's "Futexes Are Tricky"; the read-write lock keeps one
 * event word on which everybody sleeps.
 */
#include "base/lock.h"

#include "base/futex.h"
#include "base/log.h"

#include <stdlib.h>

enum { FREE, HELD, WAITED };

/* A lock is held for a transfer at worst, for a list operation mostly: spin
 * about as long as the latter before sleeping. */
#define LOCK_SPINS 100

static void lock_wait(_Atomic uint32_t *word, uint32_t value)
{
    int saved_errno = errno;
    bool sleeps = adsm_quiet_sleep_begin();
    adsm_futex_wait(word, value);
    adsm_quiet_sleep_end(sleeps);
    errno = saved_errno;
}

/* ---- order ---------------------------------------------------------------- */

#if ADSM_LOCK_CHECKED
static __thread struct {
    uint32_t mask; /* ranks held */
    uint8_t count[ADSM_RANKS];
} lock_held __attribute__((tls_model("initial-exec")));

static void lock_violation(void)
{
#ifdef ADSM_DEBUG_LOCKS
    adsm_log_signal(ADSM_LOG_ERROR, "locks taken out of rank order");
    abort();
#else
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set_explicit(&said, memory_order_relaxed))
        adsm_log_signal(ADSM_LOG_ERROR, "locks taken out of rank order");
#endif
}

/* `first` is the lowest rank that must not be held already. */
static void lock_check(uint32_t rank, uint32_t first)
{
    if (__builtin_expect((lock_held.mask >> first) != 0, 0))
        lock_violation();
    if (lock_held.count[rank]++ == 0)
        lock_held.mask |= UINT32_C(1) << rank;
}

static void lock_uncheck(uint32_t rank)
{
    if (lock_held.count[rank] != 0 && --lock_held.count[rank] == 0)
        lock_held.mask &= ~(UINT32_C(1) << rank);
}
#define LOCK_CHECK(lock)       lock_check((lock)->rank, (lock)->rank)
#define LOCK_CHECK_AFTER(lock) lock_check((lock)->rank, (lock)->rank + 1)
#define LOCK_CHECK_NONE(lock)  lock_check((lock)->rank, 31)
#define LOCK_UNCHECK(lock)     lock_uncheck((lock)->rank)
#define LOCK_SET_RANK(lock, r) ((lock)->rank = (r))
#else
#define LOCK_CHECK(lock)       ((void)(lock))
#define LOCK_CHECK_AFTER(lock) ((void)(lock))
#define LOCK_CHECK_NONE(lock)  ((void)(lock))
#define LOCK_UNCHECK(lock)     ((void)(lock))
#define LOCK_SET_RANK(lock, r) ((void)(r))
#endif

void adsm_lock_init(struct adsm_lock *lock, enum adsm_rank rank)
{
    atomic_init(&lock->word, FREE);
    LOCK_SET_RANK(lock, rank);
}

/* FREE to HELD; acquire pairs with the exchange in adsm_lock_release. */
static bool lock_grab(struct adsm_lock *lock)
{
    uint32_t expected = FREE;
    return atomic_compare_exchange_strong_explicit(&lock->word, &expected, HELD,
                                                   memory_order_acquire,
                                                   memory_order_relaxed);
}

static void lock_take(struct adsm_lock *lock)
{
    for (int i = 0; i < LOCK_SPINS; i++) {
        if (lock_grab(lock))
            return;
        adsm_pause();
    }
    /* From here on the holder must wake us. After a sleep others may still be
     * asleep, so the lock stays marked WAITED when we get it. */
    while (atomic_exchange_explicit(&lock->word, WAITED,
                                    memory_order_acquire) != FREE)
        lock_wait(&lock->word, WAITED);
}

void adsm_lock_acquire(struct adsm_lock *lock)
{
    adsm_quiet_enter();
    LOCK_CHECK(lock);
    if (__builtin_expect(!lock_grab(lock), 0))
        lock_take(lock);
}

void adsm_lock_acquire_another(struct adsm_lock *lock)
{
    adsm_quiet_enter();
    LOCK_CHECK_AFTER(lock);
    if (__builtin_expect(!lock_grab(lock), 0))
        lock_take(lock);
}

bool adsm_lock_try(struct adsm_lock *lock)
{
    adsm_quiet_enter();
    if (!lock_grab(lock)) {
        adsm_quiet_leave();
        return false;
    }
    LOCK_CHECK_NONE(lock);
    return true;
}

void adsm_lock_release(struct adsm_lock *lock)
{
    LOCK_UNCHECK(lock);
    /* Release: what was written under the lock is seen by the next holder. */
    if (atomic_exchange_explicit(&lock->word, FREE, memory_order_release) ==
        WAITED)
        adsm_futex_wake(&lock->word, 1);
    adsm_quiet_leave();
}

bool adsm_lock_is_held(const struct adsm_lock *lock)
{
    return atomic_load_explicit(&lock->word, memory_order_relaxed) != FREE;
}

void adsm_rwlock_init(struct adsm_rwlock *lock, enum adsm_rank rank)
{
    atomic_init(&lock->state, 0);
    atomic_init(&lock->writers, 0);
    atomic_init(&lock->readers, 0);
    atomic_init(&lock->readers_turn, false);
    atomic_init(&lock->waiters, 0);
    atomic_init(&lock->event, 0);
    LOCK_SET_RANK(lock, rank);
}

static bool rwlock_enter_shared(struct adsm_rwlock *lock)
{
    uint32_t state = atomic_load(&lock->state);
    while (!(state & ADSM_RWLOCK_WRITER) &&
           (atomic_load(&lock->writers) == 0 ||
            atomic_load(&lock->readers_turn))) {
        if (atomic_compare_exchange_weak(&lock->state, &state, state + 1))
            return true;
    }
    return false;
}

static bool rwlock_enter(struct adsm_rwlock *lock)
{
    uint32_t expected = 0;
    if (atomic_load(&lock->readers_turn) && atomic_load(&lock->readers) > 0)
        return false;
    return atomic_compare_exchange_strong(&lock->state, &expected,
                                          ADSM_RWLOCK_WRITER);
}

/*
 * Sleep until `enter` succeeds. Sequentially consistent throughout: the sleeper
 * says it waits before it looks at the lock, the leaver frees the lock before
 * it looks for waiters, so one of the two sees the other.
 */
static void rwlock_wait(struct adsm_rwlock *lock,
                        bool (*enter)(struct adsm_rwlock *))
{
    for (int i = 0; i < LOCK_SPINS; i++) {
        if (enter(lock))
            return;
        adsm_pause();
    }
    atomic_fetch_add(&lock->waiters, 1);
    for (;;) {
        uint32_t event = atomic_load(&lock->event);
        if (enter(lock))
            break;
        lock_wait(&lock->event, event);
    }
    atomic_fetch_sub(&lock->waiters, 1);
}

static void rwadsm_futex_wake(struct adsm_rwlock *lock)
{
    if (atomic_load(&lock->waiters) == 0)
        return;
    atomic_fetch_add(&lock->event, 1);
    adsm_futex_wake(&lock->event, INT32_MAX);
}

void adsm_rwlock_acquire_shared(struct adsm_rwlock *lock)
{
    adsm_quiet_enter();
    LOCK_CHECK(lock);
    if (rwlock_enter_shared(lock))
        return;
    atomic_fetch_add(&lock->readers, 1);
    rwlock_wait(lock, rwlock_enter_shared);
    if (atomic_fetch_sub(&lock->readers, 1) == 1)
        atomic_store(&lock->readers_turn, false);
}

void adsm_rwlock_release_shared(struct adsm_rwlock *lock)
{
    LOCK_UNCHECK(lock);
    if (atomic_fetch_sub(&lock->state, 1) == 1)
        rwadsm_futex_wake(lock);
    adsm_quiet_leave();
}

static void rwlock_take(struct adsm_rwlock *lock)
{
    if (rwlock_enter(lock))
        return;
    atomic_fetch_add(&lock->writers, 1);
    rwlock_wait(lock, rwlock_enter);
    atomic_fetch_sub(&lock->writers, 1);
}

void adsm_rwlock_acquire(struct adsm_rwlock *lock)
{
    adsm_quiet_enter();
    LOCK_CHECK(lock);
    rwlock_take(lock);
}

void adsm_rwlock_acquire_another(struct adsm_rwlock *lock)
{
    adsm_quiet_enter();
    LOCK_CHECK_AFTER(lock);
    rwlock_take(lock);
}

static bool rwlock_try(struct adsm_rwlock *lock,
                       bool (*enter)(struct adsm_rwlock *))
{
    adsm_quiet_enter();
    if (!enter(lock)) {
        adsm_quiet_leave();
        return false;
    }
    LOCK_CHECK_NONE(lock);
    return true;
}

bool adsm_rwlock_try(struct adsm_rwlock *lock)
{
    return rwlock_try(lock, rwlock_enter);
}

bool adsm_rwlock_try_shared(struct adsm_rwlock *lock)
{
    return rwlock_try(lock, rwlock_enter_shared);
}

void adsm_rwlock_release(struct adsm_rwlock *lock)
{
    LOCK_UNCHECK(lock);
    if (atomic_load(&lock->readers) > 0)
        atomic_store(&lock->readers_turn, true);
    atomic_store(&lock->state, 0);
    rwadsm_futex_wake(lock);
    adsm_quiet_leave();
}
