/*
 * Locks, condition variables, semaphores and barriers in memory that may be
 * shared.
 *
 * A thread that waits in one of them asks the kernel to look at its memory, and
 * libc ends the program where the kernel cannot: when another thread has called
 * a kernel meanwhile, which closes the block. So libc works on them at their
 * shadow address, and their bytes stay with the CPU (mm/watch/keep.h) until
 * they are destroyed or freed. All threads do so, or they would not find each
 * other; which is why every function is here, also those that never wait. Spin
 * locks are not: no kernel looks at them.
 *
 * Times to wait until are copied, since libc hands them to the kernel.
 */
#include "interpose/hook.h"
#include "base/status.h"
#include "mm/doors/kept.h"
#include "mm/watch/keep.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static __attribute__((noinline)) void *keep(const void *object, size_t bytes)
{
    void *at = adsm_keep_find(object, bytes);
    if (hook_likely(at != NULL))
        return at;
    hook_enter();
    int status = adsm_keep(object, bytes, &at);
    hook_leave();
    if (status == ADSM_OK)
        return at;
    hook_failed("a lock, or what else threads wait with,", status);
    return (void *)object;
}

/* Where libc is to work on *object, which no allocation ends in. The driver's
 * own are not shared. */
#define PLACE(object)                                                          \
    (hook_likely(hook_driver || hook_is_plain(object, 1))                      \
         ? (object)                                                            \
         : (__typeof__(object))keep(object, sizeof *(object)))

/* *time for the kernel, with room for a copy. */
#define TIME(time)                                                             \
    (hook_likely(hook_is_plain(time, sizeof *(time)))                          \
         ? (time)                                                              \
         : &(const struct timespec){(time)->tv_sec, (time)->tv_nsec})

/* After the real function has destroyed *object at its place. */
#define END(object)                                                            \
    do {                                                                       \
        if (hook_unlikely(adsm_index_find(object) != NULL))                    \
            adsm_keep_end(object, sizeof *(object));                           \
    } while (0)

/* Hooks by what they are given besides the object. */

/* The driver's own first: it takes some ten locks for a launch. */
#define PLAIN(name, type)                                                      \
    static __attribute__((noinline)) int name##_at_its_place(type *object)     \
    {                                                                          \
        return HOOK_REAL(name)(PLACE(object));                                 \
    }                                                                          \
    int name(type *object)                                                     \
    {                                                                          \
        if (hook_driver && hook_likely(hook_real.name != NULL))                \
            return hook_real.name(object);                                     \
        return name##_at_its_place(object);                                    \
    }
#define INIT(name, type, attribute_type)                                       \
    int name(type *object, attribute_type attributes)                          \
    {                                                                          \
        return HOOK_REAL(name)(PLACE(object), attributes);                     \
    }
#define DESTROY(name, type)                                                    \
    int name(type *object)                                                     \
    {                                                                          \
        int result = HOOK_REAL(name)(PLACE(object));                           \
        if (result == 0)                                                       \
            END(object);                                                       \
        return result;                                                         \
    }
#define TIMED(name, type)                                                      \
    int name(type *object, const struct timespec *time)                        \
    {                                                                          \
        return HOOK_REAL(name)(PLACE(object), TIME(time));                     \
    }
/* Newer than the others: glibc 2.30. */
#define CLOCKED(name, type)                                                    \
    int name(type *object, clockid_t clock, const struct timespec *time)       \
    {                                                                          \
        if (!HOOK_REAL(name))                                                  \
            return ENOSYS;                                                     \
        return HOOK_REAL(name)(PLACE(object), clock, TIME(time));              \
    }

/* ---- mutexes ---------------------------------------------------------------- */

INIT(pthread_mutex_init, pthread_mutex_t, const pthread_mutexattr_t *)
DESTROY(pthread_mutex_destroy, pthread_mutex_t)
PLAIN(pthread_mutex_lock, pthread_mutex_t)
PLAIN(pthread_mutex_trylock, pthread_mutex_t)
TIMED(pthread_mutex_timedlock, pthread_mutex_t)
CLOCKED(pthread_mutex_clocklock, pthread_mutex_t)
PLAIN(pthread_mutex_unlock, pthread_mutex_t)
PLAIN(pthread_mutex_consistent, pthread_mutex_t)

int pthread_mutex_getprioceiling(const pthread_mutex_t *object, int *ceiling)
{
    return HOOK_REAL(pthread_mutex_getprioceiling)(PLACE(object), ceiling);
}

int pthread_mutex_setprioceiling(pthread_mutex_t *object, int ceiling,
                                 int *before)
{
    return HOOK_REAL(pthread_mutex_setprioceiling)(PLACE(object), ceiling,
                                                   before);
}

INIT(mtx_init, mtx_t, int)
PLAIN(mtx_lock, mtx_t)
PLAIN(mtx_trylock, mtx_t)
TIMED(mtx_timedlock, mtx_t)
PLAIN(mtx_unlock, mtx_t)

void mtx_destroy(mtx_t *object)
{
    HOOK_REAL(mtx_destroy)(PLACE(object));
    END(object);
}

/* ---- condition variables ---------------------------------------------------- */

INIT(pthread_cond_init, pthread_cond_t, const pthread_condattr_t *)
DESTROY(pthread_cond_destroy, pthread_cond_t)
PLAIN(pthread_cond_signal, pthread_cond_t)
PLAIN(pthread_cond_broadcast, pthread_cond_t)

int pthread_cond_wait(pthread_cond_t *object, pthread_mutex_t *mutex)
{
    return HOOK_REAL(pthread_cond_wait)(PLACE(object), PLACE(mutex));
}

int pthread_cond_timedwait(pthread_cond_t *object, pthread_mutex_t *mutex,
                           const struct timespec *time)
{
    return HOOK_REAL(pthread_cond_timedwait)(PLACE(object), PLACE(mutex),
                                             TIME(time));
}

int pthread_cond_clockwait(pthread_cond_t *object, pthread_mutex_t *mutex,
                           clockid_t clock, const struct timespec *time)
{
    if (!HOOK_REAL(pthread_cond_clockwait)) /* glibc before 2.30 */
        return ENOSYS;
    return HOOK_REAL(pthread_cond_clockwait)(PLACE(object), PLACE(mutex), clock,
                                             TIME(time));
}

PLAIN(cnd_init, cnd_t)
PLAIN(cnd_signal, cnd_t)
PLAIN(cnd_broadcast, cnd_t)

int cnd_wait(cnd_t *object, mtx_t *mutex)
{
    return HOOK_REAL(cnd_wait)(PLACE(object), PLACE(mutex));
}

int cnd_timedwait(cnd_t *object, mtx_t *mutex, const struct timespec *time)
{
    return HOOK_REAL(cnd_timedwait)(PLACE(object), PLACE(mutex), TIME(time));
}

void cnd_destroy(cnd_t *object)
{
    HOOK_REAL(cnd_destroy)(PLACE(object));
    END(object);
}

/* ---- locks for readers and writers ------------------------------------------ */

INIT(pthread_rwlock_init, pthread_rwlock_t, const pthread_rwlockattr_t *)
DESTROY(pthread_rwlock_destroy, pthread_rwlock_t)
PLAIN(pthread_rwlock_rdlock, pthread_rwlock_t)
PLAIN(pthread_rwlock_wrlock, pthread_rwlock_t)
PLAIN(pthread_rwlock_tryrdlock, pthread_rwlock_t)
PLAIN(pthread_rwlock_trywrlock, pthread_rwlock_t)
PLAIN(pthread_rwlock_unlock, pthread_rwlock_t)
TIMED(pthread_rwlock_timedrdlock, pthread_rwlock_t)
TIMED(pthread_rwlock_timedwrlock, pthread_rwlock_t)
CLOCKED(pthread_rwlock_clockrdlock, pthread_rwlock_t)
CLOCKED(pthread_rwlock_clockwrlock, pthread_rwlock_t)

/* ---- barriers and what runs once -------------------------------------------- */

int pthread_barrier_init(pthread_barrier_t *object,
                         const pthread_barrierattr_t *attributes,
                         unsigned count)
{
    return HOOK_REAL(pthread_barrier_init)(PLACE(object), attributes, count);
}

DESTROY(pthread_barrier_destroy, pthread_barrier_t)
PLAIN(pthread_barrier_wait, pthread_barrier_t)

int pthread_once(pthread_once_t *object, void (*function)(void))
{
    return HOOK_REAL(pthread_once)(PLACE(object), function);
}

void call_once(once_flag *object, void (*function)(void))
{
    HOOK_REAL(call_once)(PLACE(object), function);
}

/* ---- semaphores --------------------------------------------------------------- */

int sem_init(sem_t *object, int shared, unsigned value)
{
    return HOOK_REAL(sem_init)(PLACE(object), shared, value);
}

DESTROY(sem_destroy, sem_t)
PLAIN(sem_wait, sem_t)
PLAIN(sem_trywait, sem_t)
TIMED(sem_timedwait, sem_t)
PLAIN(sem_post, sem_t)

int sem_clockwait(sem_t *object, clockid_t clock, const struct timespec *time)
{
    if (!HOOK_REAL(sem_clockwait)) { /* glibc before 2.30 */
        errno = ENOSYS;
        return -1;
    }
    return HOOK_REAL(sem_clockwait)(PLACE(object), clock, TIME(time));
}

int sem_getvalue(sem_t *object, int *value)
{
    return HOOK_REAL(sem_getvalue)(PLACE(object), value);
}
