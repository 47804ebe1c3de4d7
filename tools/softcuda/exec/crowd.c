/*
 * Owns: the threads beyond the pool's, and their workers; see exec/crowd.h.
 * Does not own: when they are needed (launch.c).
 *
 * Lock: `crowd.lock`, for all of it.
 */
#include "exec/crowd.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

static struct {
    pthread_mutex_t lock;
    sc_pool_job *job;
    void *argument;
    uint32_t count, room, most;
    pthread_t *threads;
} crowd = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *run(void *unused)
{
    struct sc_worker worker;
    uint32_t n = sc_pool_workers();
    /* the thread that started this one may compute by rules of its kernel */
    fesetenv(FE_DFL_ENV);
    pthread_mutex_lock(&crowd.lock);
    uint32_t number = crowd.count % n;
    pthread_mutex_unlock(&crowd.lock);
    if (!sc_worker_init(&worker, number, n))
        return unused;
    crowd.job(&worker, crowd.argument);
    sc_worker_fini(&worker);
    return unused;
}

static bool make_room(void)
{
    if (crowd.count < crowd.room)
        return true;
    uint32_t room = crowd.room ? crowd.room * 2 : 8;
    void *grown = realloc(crowd.threads, room * sizeof *crowd.threads);
    if (!grown)
        return false;
    crowd.threads = grown;
    crowd.room = room;
    return true;
}

void sc_crowd_open(sc_pool_job *job, void *argument, uint32_t most)
{
    pthread_mutex_lock(&crowd.lock);
    crowd.job = job;
    crowd.argument = argument;
    crowd.most = most;
    pthread_mutex_unlock(&crowd.lock);
}

uint32_t sc_crowd_add(uint32_t more)
{
    sigset_t all, old;
    sigfillset(&all);
    /* these are the kernel's own doing */
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_mutex_lock(&crowd.lock);
    for (; more && crowd.count < crowd.most && make_room(); more--) {
        if (pthread_create(&crowd.threads[crowd.count], NULL, run, NULL) != 0)
            break;
        crowd.count++;
    }
    uint32_t count = crowd.count;
    pthread_mutex_unlock(&crowd.lock);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return count;
}

/* Whoever has been started may start more until all have returned. */
void sc_crowd_close(void)
{
    for (uint32_t i = 0;; i++) {
        pthread_mutex_lock(&crowd.lock);
        bool more = i < crowd.count;
        pthread_t thread = more ? crowd.threads[i] : 0;
        if (!more)
            crowd.count = crowd.most = 0;
        pthread_mutex_unlock(&crowd.lock);
        if (!more)
            return;
        pthread_join(thread, NULL);
    }
}
