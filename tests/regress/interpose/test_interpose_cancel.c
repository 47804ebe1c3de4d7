/*
 * Threads that are cancelled while they use shared memory: what they held is
 * let go, and the rest of the program goes on. A case that hangs is ended by
 * Check's timeout.
 */
#include "preloaded.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum { BYTES = 1 << 20, PAGE = 4096, ROUNDS = 60, THREADS = 4 };

static uint8_t *memory;
static CUcontext context;
static _Atomic int running, cleaned;
static int type;

static void clean_up(void *ignored)
{
    sigset_t now;
    /* As the thread had it, not as inside the handler of a fault. */
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    cleaned += !sigismember(&now, SIGTERM) && !sigismember(&now, SIGUSR1);
}

static void *hammer(void *slice)
{
    volatile uint8_t *at = slice;
    must(cuCtxSetCurrent(context));
    running++;
    pthread_cleanup_push(clean_up, NULL);
    pthread_setcanceltype(type, NULL);
    for (;;) {
        for (size_t i = 0; i < BYTES / THREADS; i += PAGE)
            at[i]++;
        if (type == PTHREAD_CANCEL_DEFERRED)
            pthread_testcancel();
    }
    pthread_cleanup_pop(0);
    return NULL;
}

/* The device takes the memory away again and again. */
static void cancel_in_the_middle(int round)
{
    pthread_t threads[THREADS];
    running = cleaned = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, hammer,
                       memory + (size_t)i * (BYTES / THREADS));
    while (running < THREADS)
        usleep(100);
    for (int i = 0; i < THREADS; i++) {
        must(cuMemsetD8((CUdeviceptr)memory, (uint8_t)i, BYTES));
        usleep((unsigned)(round * 7 % 100));
        pthread_cancel(threads[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    }
    ck_assert_int_eq(cleaned, THREADS);
}

static void cancel_often(int cancel_type)
{
    device_start();
    must(cuCtxGetCurrent(&context));
    memory = device_bytes(BYTES, 1);
    type = cancel_type;
    for (int round = 0; round < ROUNDS; round++) {
        cancel_in_the_middle(round);
        must(cuMemsetD8((CUdeviceptr)memory, 9, BYTES));
        for (size_t i = 0; i < BYTES; i += PAGE)
            ck_assert_int_eq(memory[i], 9);
    }
    ck_assert(runtime_is_up());
}

START_TEST(threads_cancelled_at_any_place_leave_the_memory_usable)
{
    cancel_often(PTHREAD_CANCEL_ASYNCHRONOUS);
}
END_TEST

START_TEST(threads_cancelled_at_their_points_leave_the_memory_usable)
{
    cancel_often(PTHREAD_CANCEL_DEFERRED);
}
END_TEST

SUITE_MAIN("interpose_cancel", 60,
           threads_cancelled_at_any_place_leave_the_memory_usable,
           threads_cancelled_at_their_points_leave_the_memory_usable)
