/*
 * Locks, condition variables, semaphores and barriers in the memory under test,
 * beside data that a kernel works on: threads wait in them while the first one
 * calls kernels. See memory.h for the command line.
 */
#include "memory.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, LAUNCHES = 60, TURNS = 400, WORDS = 3000, BYTES = 2 << 20 };

/* What lies there: locks, then words of theirs, then words of the kernel's, all
 * from one page on. */
struct under_test {
    pthread_mutex_t mutex;
    pthread_cond_t turned;
    pthread_rwlock_t readers;
    pthread_barrier_t barrier;
    sem_t items, room;
    mtx_t c11;
    cnd_t c11_turned;
    pthread_once_t once;
    once_flag c11_once;
    pthread_mutex_t robust, recursive, shared;
    int turn, c11_turn, ran, produced, consumed, both[2];
    struct timespec until;
    unsigned words[WORDS];
};

static struct under_test *volatile at;
static CUfunction step;

static void launch(unsigned k)
{
    CUdeviceptr words = (CUdeviceptr)at->words;
    unsigned n = WORDS;
    void *params[] = {&words, &n, &k};
    if (memory_is_shared) {
        CHECK(cuLaunchKernel(step, (n + 127) / 128, 1, 1, 128, 1, 1, 0, NULL,
                             params, NULL));
        if (k % 3 == 0)
            CHECK(cuCtxSynchronize());
        return;
    }
    for (unsigned i = 0; i < n; i++)
        at->words[i] = at->words[i] * 3 + k;
}

/* Calls that close the block again and again, while others wait. */
static void launch_all(void)
{
    for (unsigned k = 0; k < LAUNCHES; k++) {
        launch(k);
        if (k % 8 == 0)
            usleep(300);
    }
}

/* A fixed number of turns each, in order. */
static void *count(void *which)
{
    int mine = (int)(intptr_t)which;
    for (int i = 0; i < TURNS; i++) {
        pthread_mutex_lock(&at->mutex);
        while (at->turn % THREADS != mine)
            pthread_cond_wait(&at->turned, &at->mutex);
        at->turn++;
        pthread_cond_broadcast(&at->turned);
        pthread_mutex_unlock(&at->mutex);
    }
    return NULL;
}

static int count_c11(void *which)
{
    int mine = (int)(intptr_t)which;
    for (int i = 0; i < TURNS; i++) {
        mtx_lock(&at->c11);
        while (at->c11_turn % THREADS != mine)
            cnd_wait(&at->c11_turned, &at->c11);
        at->c11_turn++;
        cnd_broadcast(&at->c11_turned);
        mtx_unlock(&at->c11);
    }
    return 0;
}

static void *produce_and_consume(void *which)
{
    bool producer = (intptr_t)which % 2;
    for (int i = 0; i < TURNS; i++) {
        sem_wait(producer ? &at->room : &at->items);
        __atomic_fetch_add(producer ? &at->produced : &at->consumed, 1,
                           __ATOMIC_SEQ_CST);
        sem_post(producer ? &at->items : &at->room);
    }
    return NULL;
}

/* Both words change together; who reads sees them equal. */
static void *read_and_write(void *which)
{
    long wrong = 0;
    for (int i = 0; i < TURNS; i++) {
        if ((intptr_t)which % 2) {
            pthread_rwlock_wrlock(&at->readers);
            at->both[0]++;
            at->both[1]++;
        } else {
            pthread_rwlock_rdlock(&at->readers);
            wrong += at->both[0] != at->both[1];
        }
        pthread_rwlock_unlock(&at->readers);
    }
    return (void *)wrong;
}

static void *meet(void *which)
{
    long serial = 0;
    (void)which;
    for (int i = 0; i < TURNS / 4; i++)
        serial +=
            pthread_barrier_wait(&at->barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
    return (void *)serial;
}

/* Run `work` in threads, and kernels meanwhile. Return: sum of what they gave */
static long with_kernels(void *(*work)(void *))
{
    pthread_t threads[THREADS];
    long sum = 0;
    for (intptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
            exit(3);
    launch_all();
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        sum += (long)result;
    }
    return sum;
}

static void with_kernels_c11(void)
{
    thrd_t threads[THREADS];
    for (intptr_t i = 0; i < THREADS; i++)
        if (thrd_create(&threads[i], count_c11, (void *)i) != thrd_success)
            exit(3);
    launch_all();
    for (int i = 0; i < THREADS; i++)
        thrd_join(threads[i], NULL);
}

static void show(const char *name, long value)
{
    uint64_t hash = victim_hash((const uint8_t *)at->words, WORDS * 4);
    printf("%s %ld %016llx\n", name, value, (unsigned long long)hash);
    fflush(stdout);
}

static void run_once(void)
{
    at->ran++;
}

/* Locks that are there as bytes only: of a plain one, brought by the device. */
static void bring_initialised(void)
{
    static struct under_test initial = {
        .mutex = PTHREAD_MUTEX_INITIALIZER,
        .turned = PTHREAD_COND_INITIALIZER,
        .readers = PTHREAD_RWLOCK_INITIALIZER,
        .once = PTHREAD_ONCE_INIT,
        .c11_once = ONCE_FLAG_INIT,
        .recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
    };
    for (unsigned i = 0; i < WORDS; i++)
        initial.words[i] = i * i;
    if (memory_is_shared)
        CHECK(cuMemcpyHtoD((CUdeviceptr)at, &initial, sizeof initial));
    else
        memcpy(at, &initial, sizeof initial);
}

static void initialise(void)
{
    pthread_barrier_init(&at->barrier, NULL, THREADS);
    sem_init(&at->items, 0, 0);
    sem_init(&at->room, 0, 3);
    mtx_init(&at->c11, mtx_timed);
    cnd_init(&at->c11_turned);
}

static void waits(void)
{
    with_kernels(count);
    show("mutex", at->turn);
    with_kernels_c11();
    show("c11", at->c11_turn);
    with_kernels(produce_and_consume);
    show("semaphore", at->produced * 10000L + at->consumed);
    show("rwlock", with_kernels(read_and_write) * 10000 + at->both[0]);
    show("barrier", with_kernels(meet));
}

/* Functions that do not wait, with the times and words in the memory, too. */
static void others(void)
{
    int value = -1, *inside = &at->ran;
    at->until = (struct timespec){1, 0};
    launch(1);
    pthread_mutex_lock(&at->mutex);
    show("trylock", pthread_mutex_trylock(&at->mutex) == EBUSY);
    show("timedlock", pthread_mutex_timedlock(&at->mutex, &at->until));
    show("clocklock",
         pthread_mutex_clocklock(&at->mutex, CLOCK_MONOTONIC, &at->until));
    launch(2);
    show("timedwait",
         pthread_cond_timedwait(&at->turned, &at->mutex, &at->until));
    launch(3);
    show("clockwait", pthread_cond_clockwait(&at->turned, &at->mutex,
                                             CLOCK_MONOTONIC, &at->until));
    pthread_mutex_unlock(&at->mutex);
    launch(4);
    show("sem_timedwait", sem_timedwait(&at->items, &at->until));
    show("errno", errno);
    show("trywait", sem_trywait(&at->room));
    sem_getvalue(&at->room, inside);
    show("value", at->ran);
    sem_getvalue(&at->items, &value);
    show("value", value);
    pthread_rwlock_wrlock(&at->readers);
    launch(5);
    show("rdlock", pthread_rwlock_timedrdlock(&at->readers, &at->until));
    show("tryrdlock", pthread_rwlock_tryrdlock(&at->readers));
    pthread_rwlock_unlock(&at->readers);
    mtx_lock(&at->c11);
    launch(6);
    show("mtx", mtx_timedlock(&at->c11, &at->until) == thrd_timedout);
    show("cnd",
         cnd_timedwait(&at->c11_turned, &at->c11, &at->until) == thrd_timedout);
    mtx_unlock(&at->c11);
    pthread_mutex_lock(&at->recursive);
    launch(7);
    pthread_mutex_lock(&at->recursive);
    show("recursive", pthread_mutex_unlock(&at->recursive) +
                          pthread_mutex_unlock(&at->recursive));
    at->ran = 0;
    for (int i = 0; i < 3; i++) {
        launch(8);
        pthread_once(&at->once, run_once);
        call_once(&at->c11_once, run_once);
    }
    show("once", at->ran);
}

static void *die_with_it(void *nothing)
{
    pthread_mutex_lock(&at->robust);
    return nothing;
}

static void attributes(void)
{
    pthread_mutexattr_t attributes;
    pthread_t thread;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&at->robust, &attributes);
    launch(9);
    if (pthread_create(&thread, NULL, die_with_it, NULL) != 0)
        exit(3);
    pthread_join(thread, NULL);
    launch(10);
    show("robust", pthread_mutex_lock(&at->robust));
    show("consistent", pthread_mutex_consistent(&at->robust));
    launch(11);
    show("unlock", pthread_mutex_unlock(&at->robust));
    pthread_mutex_destroy(&at->robust);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&at->robust, &attributes);
    pthread_mutex_lock(&at->robust);
    launch(12);
    show("inherit", pthread_mutex_unlock(&at->robust));
    pthread_mutex_destroy(&at->robust);
}

static bool cleaned;

static void clean(void *nothing)
{
    (void)nothing;
    cleaned = true;
    pthread_mutex_unlock(&at->mutex);
}

static void *wait_for_ever(void *nothing)
{
    pthread_mutex_lock(&at->mutex);
    pthread_cleanup_push(clean, NULL);
    at->turn = -1;
    for (;;)
        pthread_cond_wait(&at->turned, &at->mutex);
    pthread_cleanup_pop(0);
    return nothing;
}

static void cancelled(void)
{
    pthread_t thread;
    void *result;
    if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0)
        exit(3);
    while (pthread_mutex_lock(&at->mutex) == 0 && at->turn != -1) {
        pthread_mutex_unlock(&at->mutex);
        usleep(100);
    }
    launch(13);
    pthread_mutex_unlock(&at->mutex);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    show("cancelled", (result == PTHREAD_CANCELED) + 2 * cleaned);
    show("free", pthread_mutex_trylock(&at->mutex));
    pthread_mutex_unlock(&at->mutex);
}

/* A thread that is interrupted where it waits: the kernel looks once more at
 * memory that a call has closed meanwhile. */

static volatile int handled;
static volatile pid_t waiter;

static void note(int number)
{
    (void)number;
    handled = 1;
}

static void wait_in(int what)
{
    if (what == 0)
        pthread_mutex_lock(&at->mutex);
    else if (what == 1)
        sem_wait(&at->items);
    else if (what == 2)
        pthread_rwlock_rdlock(&at->readers);
    else if (what == 3)
        pthread_barrier_wait(&at->barrier);
    else if (what == 4)
        mtx_lock(&at->c11);
    else
        pthread_mutex_lock(&at->shared);
}

static void let_go(int what)
{
    if (what == 0)
        pthread_mutex_unlock(&at->mutex);
    else if (what == 1)
        sem_post(&at->items);
    else if (what == 2)
        pthread_rwlock_unlock(&at->readers);
    else if (what == 3)
        pthread_barrier_wait(&at->barrier);
    else if (what == 4)
        mtx_unlock(&at->c11);
    else
        pthread_mutex_unlock(&at->shared);
}

static void *wait_interrupted(void *which)
{
    int what = (int)(intptr_t)which;
    waiter = gettid();
    wait_in(what);
    if (what != 1 && what != 3)
        let_go(what);
    return NULL;
}

static void interrupted(void)
{
    static const char *const names[] = {"mutex",   "semaphore", "rwlock",
                                        "barrier", "c11",       "shared"};
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    pthread_mutexattr_t attributes;
    sigaction(SIGUSR1, &action, NULL);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&at->shared, &attributes);
    pthread_barrier_destroy(&at->barrier);
    pthread_barrier_init(&at->barrier, NULL, 2);
    for (int what = 0; what < 6; what++) {
        pthread_t thread;
        waiter = handled = 0;
        if (what == 2)
            pthread_rwlock_wrlock(&at->readers);
        else if (what != 1 && what != 3)
            wait_in(what);
        pthread_create(&thread, NULL, wait_interrupted, (void *)(intptr_t)what);
        while (!waiter || !victim_sleeps(waiter))
            usleep(100);
        usleep(3000);
        launch((unsigned)what);
        pthread_kill(thread, SIGUSR1);
        while (!handled)
            usleep(100);
        usleep(3000);
        let_go(what);
        pthread_join(thread, NULL);
        show(names[what], handled);
    }
}

static void on_signal(int number)
{
    (void)number;
    sem_post(&at->items);
}

/* A handler's sem_post, while the thread waits for it, or for a kernel. */
static void posted(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    for (int i = 0; i < 20; i++) {
        launch(14);
        ualarm(500, 0);
        while (sem_wait(&at->items) != 0)
            ;
    }
    show("posted", 0);
}

/* Where locks were, the device's words are seen again. */
static void reused(void)
{
    uint8_t *bytes = (uint8_t *)at;
    pthread_mutex_destroy(&at->mutex);
    pthread_cond_destroy(&at->turned);
    pthread_rwlock_destroy(&at->readers);
    pthread_barrier_destroy(&at->barrier);
    sem_destroy(&at->items);
    sem_destroy(&at->room);
    cnd_destroy(&at->c11_turned);
    if (memory_is_shared) {
        unsigned n = 64, k = 1;
        CUdeviceptr words = (CUdeviceptr)at;
        void *params[] = {&words, &n, &k};
        CHECK(cuMemcpyHtoD(words, "0123456789abcdef", 16));
        CHECK(cuMemsetD32(words + 16, 5, 60));
        CHECK(cuLaunchKernel(step, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
    } else {
        memcpy(bytes, "0123456789abcdef", 16);
        for (int i = 4; i < 64; i++)
            ((unsigned *)bytes)[i] = 5;
        for (int i = 0; i < 64; i++)
            ((unsigned *)bytes)[i] = ((unsigned *)bytes)[i] * 3 + 1;
    }
    printf("reused %016llx\n", (unsigned long long)victim_hash(bytes, 256));
    /* The words of the once_flag, which nobody destroys, by the device. */
    if (memory_is_shared)
        CHECK(cuMemsetD32((CUdeviceptr)&at->once, 9, 1));
    else
        *(volatile int *)&at->once = 9;
    printf("once %d\n", *(volatile int *)&at->once);
}

int main(int argc, char **argv)
{
    CUmodule module;
    memory_start(argc, argv);
    if (memory_is_shared) {
        CHECK(cuModuleLoadData(&module, victim_ptx));
        CHECK(cuModuleGetFunction(&step, module, "step"));
    }
    at = (struct under_test *)(memory_pair(BYTES) + 4096 - 64);
    bring_initialised();
    initialise();
    waits();
    others();
    attributes();
    cancelled();
    posted();
    interrupted();
    reused();
    return 0;
}
