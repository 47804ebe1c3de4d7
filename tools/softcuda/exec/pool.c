/*
 * Owns: the threads, joining and leaving a job, sleeping.
 * Does not own: what a job does (launch.c).
 *
 * `gate` holds whether the job is open and who is inside: a helper joins by
 * compare and exchange, so that a job which has ended cannot be joined, and
 * what describes the job stays as it is while somebody is inside.
 * Lock: none; the orders are at the accesses.
 */
#include "exec/pool.h"

#include "base/futex.h"
#include "base/aside.h"
#include "exec/processors.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#define OPEN   (UINT64_C(1) << 31)
#define INSIDE (OPEN - 1)          /* helpers */
#define SERIAL (UINT64_C(1) << 32) /* of the job, above */

/* A helper spins so long for the next job, and the starter for the last
 * helper: about the price of sleeping and waking. */
#define SPIN_NS 8000u
/* The helper, where it takes a core from the program. */
#define SHORT_SPIN_NS 3000u

static struct {
    struct sc_worker *workers; /* [0] is the starter of a job */
    pthread_t *threads;
    uint32_t count;   /* workers */
    uint32_t started; /* threads, numbers 1 … started */
    uint32_t spin_ns; /* of a helper */

    /* the job; fixed while somebody is inside */
    sc_pool_job *job;
    void *argument;
    uint32_t limit; /* helpers that may join */
    int cpu;        /* where its starter is */

    _Alignas(64) _Atomic uint64_t gate;
    _Alignas(64) _Atomic uint32_t turn; /* futex: a job was opened, or quit */
    _Atomic uint32_t sleepers;          /* helpers asleep on it */
    _Alignas(64) _Atomic uint32_t waiting; /* futex: the starter sleeps */
    atomic_bool quit;
} pool;

static bool join(void)
{
    uint64_t gate = atomic_load_explicit(&pool.gate, memory_order_acquire);
    while (gate & OPEN && (gate & INSIDE) < pool.limit)
        if (atomic_compare_exchange_weak(&pool.gate, &gate, gate + 1))
            return true;
    return false;
}

static void leave(void)
{
    uint64_t gate = atomic_fetch_sub(&pool.gate, 1) - 1;
    if (!(gate & (OPEN | INSIDE)) && atomic_exchange(&pool.waiting, 0))
        sc_futex_wake(&pool.waiting);
}

/* Return: the new turn. */
static uint32_t wait_for_turn(uint32_t seen)
{
    uint32_t turn;
    uint64_t until = sc_now_ns() + pool.spin_ns;
    for (;;) {
        for (int i = 0; i < 64; i++) {
            turn = atomic_load_explicit(&pool.turn, memory_order_acquire);
            if (turn != seen)
                return turn;
            sc_relax();
        }
        if (sc_now_ns() > until)
            break;
    }
    /* Sequentially consistent, as is the starter's look at `sleepers` after
     * its step of `turn`: one of the two sees the other. */
    atomic_fetch_add(&pool.sleepers, 1);
    while ((turn = atomic_load(&pool.turn)) == seen)
        sc_futex_wait(&pool.turn, seen, NULL);
    atomic_fetch_sub(&pool.sleepers, 1);
    return turn;
}

static void *helper(void *argument)
{
    struct sc_worker *worker = argument;
    uint32_t seen = 0;
    for (;;) {
        seen = wait_for_turn(seen);
        if (atomic_load(&pool.quit))
            return NULL;
        if (!join())
            continue;
        sc_aside(pool.cpu);
        pool.job(worker, pool.argument);
        leave();
    }
}

static void wait_for_helpers(void)
{
    uint64_t until = sc_now_ns() + SPIN_NS;
    do {
        for (int i = 0; i < 64; i++) {
            if (!(atomic_load_explicit(&pool.gate, memory_order_acquire) &
                  INSIDE))
                return;
            sc_relax();
        }
    } while (sc_now_ns() < until);
    for (;;) {
        atomic_store(&pool.waiting, 1);
        if (!(atomic_load(&pool.gate) & INSIDE))
            break;
        sc_futex_wait(&pool.waiting, 1, NULL);
    }
    atomic_store(&pool.waiting, 0);
}

static void open_job(uint32_t helpers, sc_pool_job *job, void *argument)
{
    pool.job = job;
    pool.argument = argument;
    pool.limit = helpers;
    pool.cpu = sched_getcpu();
    uint64_t gate = atomic_load_explicit(&pool.gate, memory_order_relaxed);
    atomic_store_explicit(&pool.gate, ((gate / SERIAL + 1) * SERIAL) | OPEN,
                          memory_order_release);
    atomic_fetch_add(&pool.turn, 1);
    if (atomic_load(&pool.sleepers))
        sc_futex_wake_some(&pool.turn, helpers);
}

void sc_pool_run(uint32_t helpers, sc_pool_job *job, void *argument)
{
    if (helpers > pool.started)
        helpers = pool.started;
    if (helpers)
        open_job(helpers, job, argument);
    job(&pool.workers[0], argument);
    if (!helpers)
        return;
    if (atomic_fetch_and(&pool.gate, ~OPEN) & INSIDE)
        wait_for_helpers();
}

uint32_t sc_pool_workers(void)
{
    return pool.count;
}

static void free_pool(void)
{
    for (uint32_t i = 0; i < pool.count; i++)
        sc_worker_fini(&pool.workers[i]);
    free(pool.workers);
    free(pool.threads);
    pool.workers = NULL;
    pool.threads = NULL;
    pool.count = pool.started = 0;
}

static void start_threads(void)
{
    sigset_t all, old;
    sigfillset(&all);
    /* these are the kernel's own doing */
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    for (uint32_t i = 1; i < pool.count; i++) {
        if (pthread_create(&pool.threads[i], NULL, helper, &pool.workers[i]) !=
            0)
            break;
        pool.started = i;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

bool sc_pool_init(int workers)
{
    uint32_t processors = sc_processors();
    uint32_t want = workers > 0 ? (uint32_t)workers : processors;
    uint32_t n = want > SC_POOL_MOST ? SC_POOL_MOST : want;
    pool.workers = calloc(n, sizeof *pool.workers);
    pool.threads = calloc(n, sizeof *pool.threads);
    bool good = pool.workers && pool.threads;
    for (uint32_t i = 0; good && i < n; i++) {
        good = sc_worker_init(&pool.workers[i], i, n);
        pool.count += good;
    }
    if (!good || !pool.count) {
        free_pool();
        return false;
    }
    pool.spin_ns = processors > 2 ? SPIN_NS : SHORT_SPIN_NS;
    sc_aside_init();
    atomic_store(&pool.quit, false);
    atomic_store(&pool.turn, 0);
    start_threads();
    return true;
}

void sc_pool_fini(void)
{
    atomic_store(&pool.quit, true);
    atomic_fetch_add(&pool.turn, 1);
    sc_futex_wake(&pool.turn);
    for (uint32_t i = 1; i <= pool.started; i++)
        pthread_join(pool.threads[i], NULL);
    free_pool();
}
