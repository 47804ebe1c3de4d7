/*
 * Eight threads use one device at once, each in its own way.
 */
#include <pthread.h>

#include "tests/driver/driver_test.h"

enum { THREADS = 8, STEPS = 400, SLOTS = 6 };

struct worker {
    CUcontext ctx;
    uint64_t seed;
    CUdeviceptr p[SLOTS];
    size_t bytes[SLOTS];
    uint8_t value[SLOTS];
};

static void replace(struct worker *w, int i, CUstream s)
{
    if (w->p[i])
        OK(cuMemFree(w->p[i]));
    w->bytes[i] = next_random(&w->seed) % (i == 0 ? 3 * MIB : 20000) + 1;
    w->value[i] = (uint8_t)next_random(&w->seed);
    OK(cuMemAlloc(&w->p[i], w->bytes[i]));
    OK(cuMemsetD8Async(w->p[i], w->value[i], w->bytes[i], s));
}

static void check(struct worker *w, int i, CUstream s)
{
    static _Thread_local uint8_t got[64];
    size_t n = w->bytes[i] < 64 ? w->bytes[i] : 64;
    OK(cuMemcpyDtoHAsync(got, w->p[i] + w->bytes[i] - n, n, s));
    for (size_t k = 0; k < n; k++)
        ck_assert_uint_eq(got[k], w->value[i]);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    CUstream s;
    CUevent e;
    void *host;
    OK(cuCtxSetCurrent(w->ctx));
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&e, 0));
    for (int i = 0; i < SLOTS; i++)
        replace(w, i, s);
    for (int i = 0; i < STEPS; i++) {
        int slot = (int)(next_random(&w->seed) % SLOTS);
        switch (next_random(&w->seed) % 5) {
        case 0:
            replace(w, slot, s);
            break;
        case 1:
            check(w, slot, s);
            break;
        case 2:
            OK(cuEventRecord(e, s));
            OK(cuStreamWaitEvent(CU_STREAM_PER_THREAD, e, 0));
            check(w, slot, CU_STREAM_PER_THREAD);
            break;
        case 3:
            OK(cuMemHostAlloc(&host, 5000, 0));
            OK(cuMemFreeHost(host));
            break;
        default:
            OK(cuEventRecord(e, s));
            OK(cuEventSynchronize(e));
        }
    }
    for (int i = 0; i < SLOTS; i++) {
        check(w, i, s);
        OK(cuMemFree(w->p[i]));
    }
    OK(cuStreamDestroy(s));
    OK(cuEventDestroy(e));
    return NULL;
}

START_TEST(eight_threads_do_not_disturb_each_other)
{
    pthread_t thread[THREADS];
    static struct worker w[THREADS];
    size_t before, after, total;
    CUcontext ctx = begin();
    OK(cuMemGetInfo(&before, &total));
    for (int i = 0; i < THREADS; i++) {
        w[i].ctx = ctx;
        w[i].seed = (uint64_t)i * 77 + 5;
        ck_assert_int_eq(pthread_create(&thread[i], NULL, work, &w[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    OK(cuMemGetInfo(&after, &total));
    ck_assert_uint_eq(before, after);
}
END_TEST

static void *retain(void *out)
{
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(out, 0));
    return NULL;
}

START_TEST(threads_bring_the_driver_up_together)
{
    pthread_t thread[THREADS];
    CUcontext ctx[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, retain, &ctx[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        ck_assert_ptr_eq(ctx[i], ctx[0]);
    }
}
END_TEST

SUITE_MAIN("softcuda driver: threads", 60,
           eight_threads_do_not_disturb_each_other,
           threads_bring_the_driver_up_together)
