/*
 * Streams and events: order, overlap, times, host functions.
 *
 * Host functions that sleep stand for long work, so that order shows.
 */
#include <stdatomic.h>

#include "tests/driver/driver_test.h"

static void sleep_ms(void *ms)
{
    usleep((useconds_t)(uintptr_t)ms * 1000);
}

static void *pinned(size_t bytes)
{
    void *p;
    OK(cuMemHostAlloc(&p, bytes, 0));
    return p;
}

START_TEST(async_copy_of_pinned_memory_returns_before_it_ran)
{
    CUstream s;
    CUdeviceptr p;
    begin();
    uint32_t *host = pinned(4096);
    OK(cuMemAlloc(&p, 4096));
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuLaunchHostFunc(s, sleep_ms, (void *)100));
    host[0] = 1;
    double start = now_ms();
    OK(cuMemcpyHtoDAsync(p, host, 4096, s));
    ck_assert(now_ms() - start < 50);
    WANT(CUDA_ERROR_NOT_READY, cuStreamQuery(s));
    host[0] = 2; /* the copy has not read it yet */
    OK(cuStreamSynchronize(s));
    OK(cuStreamQuery(s));
    uint32_t got;
    OK(cuMemcpyDtoH(&got, p, 4));
    ck_assert_uint_eq(got, 2);
}
END_TEST

START_TEST(async_copy_of_pageable_memory_may_reuse_the_buffer)
{
    CUstream s;
    CUdeviceptr p;
    uint32_t value = 1, got;
    begin();
    OK(cuMemAlloc(&p, 4));
    OK(cuStreamCreate(&s, 0));
    OK(cuLaunchHostFunc(s, sleep_ms, (void *)30));
    OK(cuMemcpyHtoDAsync(p, &value, 4, s));
    value = 2;
    OK(cuMemcpyDtoH(&got, p, 4));
    ck_assert_uint_eq(got, 1);
}
END_TEST

static void note(void *order)
{
    static _Atomic int next;
    *(int *)order = atomic_fetch_add(&next, 1);
}

START_TEST(legacy_stream_waits_for_blocking_streams_and_holds_them)
{
    CUstream blocking, free_running;
    int first = -1, second = -1, third = -1, other = -1;
    begin();
    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    OK(cuStreamCreate(&free_running, CU_STREAM_NON_BLOCKING));
    OK(cuLaunchHostFunc(blocking, sleep_ms, (void *)20));
    OK(cuLaunchHostFunc(blocking, note, &first));
    OK(cuLaunchHostFunc(NULL, note, &second));
    OK(cuLaunchHostFunc(blocking, note, &third));
    OK(cuLaunchHostFunc(free_running, note, &other));
    OK(cuCtxSynchronize());
    ck_assert_int_lt(first, second);
    ck_assert_int_lt(second, third);
    /* one thread runs host functions, and this one was ready first */
    ck_assert_int_lt(other, second);
}
END_TEST

START_TEST(non_blocking_stream_does_not_wait_for_the_legacy_stream)
{
    CUstream s;
    CUdeviceptr p;
    begin();
    OK(cuMemAlloc(&p, 4));
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuLaunchHostFunc(NULL, sleep_ms, (void *)200));
    double start = now_ms();
    OK(cuMemsetD8Async(p, 1, 4, s));
    OK(cuStreamSynchronize(s));
    ck_assert(now_ms() - start < 100);
    OK(cuMemsetD8(p, 2, 4));
    OK(cuStreamSynchronize(NULL));
    ck_assert(now_ms() - start > 190);
}
END_TEST

START_TEST(blocking_stream_waits_for_the_legacy_stream)
{
    CUstream s;
    CUdeviceptr p;
    begin();
    OK(cuMemAlloc(&p, 4));
    OK(cuStreamCreate(&s, CU_STREAM_DEFAULT));
    OK(cuLaunchHostFunc(NULL, sleep_ms, (void *)200));
    double start = now_ms();
    OK(cuMemsetD8Async(p, 1, 4, s));
    usleep(50000);
    WANT(CUDA_ERROR_NOT_READY, cuStreamQuery(s));
    OK(cuStreamSynchronize(s));
    ck_assert(now_ms() - start > 190);
}
END_TEST

START_TEST(event_holds_another_stream_until_recorded_work_is_done)
{
    CUstream a, b;
    CUevent e;
    int first = -1, second = -1;
    begin();
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&e, 0));
    OK(cuEventQuery(e));
    OK(cuLaunchHostFunc(a, sleep_ms, (void *)30));
    OK(cuLaunchHostFunc(a, note, &first));
    OK(cuEventRecord(e, a));
    OK(cuStreamWaitEvent(b, e, 0));
    OK(cuLaunchHostFunc(b, note, &second));
    WANT(CUDA_ERROR_NOT_READY, cuEventQuery(e));
    OK(cuEventDestroy(e));  /* the wait stays */
    OK(cuStreamDestroy(a)); /* and the work goes on */
    OK(cuStreamSynchronize(b));
    ck_assert_int_lt(first, second);
    ck_assert_int_ge(first, 0);
    WANT(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(e));
    WANT(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(a));
}
END_TEST

START_TEST(event_times_measure_what_lies_between)
{
    CUstream s;
    CUevent a, b, untimed;
    float ms = -1;
    begin();
    OK(cuStreamCreate(&s, 0));
    OK(cuEventCreate(&a, 0));
    OK(cuEventCreate(&b, CU_EVENT_BLOCKING_SYNC));
    OK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    WANT(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, a, b));
    OK(cuEventRecord(a, s));
    OK(cuLaunchHostFunc(s, sleep_ms, (void *)50));
    OK(cuEventRecord(b, s));
    WANT(CUDA_ERROR_NOT_READY, cuEventElapsedTime(&ms, a, b));
    OK(cuEventSynchronize(b));
    OK(cuEventElapsedTime(&ms, a, b));
    ck_assert(ms > 49 && ms < 200);
    OK(cuEventElapsedTime(&ms, b, a));
    ck_assert(ms < -49);
    OK(cuEventRecord(untimed, s));
    OK(cuEventSynchronize(untimed));
    WANT(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, a, untimed));
}
END_TEST

struct told {
    CUresult status;
    CUstream stream;
    CUresult nested;
};

static void callback(CUstream stream, CUresult status, void *data)
{
    struct told *told = data;
    *told = (struct told){status, stream, cuCtxSynchronize()};
}

START_TEST(callback_is_told_stream_and_status)
{
    CUstream s;
    struct told told = {.status = CUDA_ERROR_UNKNOWN};
    begin();
    OK(cuStreamCreate(&s, 0));
    OK(cuStreamAddCallback(s, callback, &told, 0));
    OK(cuStreamSynchronize(s));
    ck_assert_int_eq(told.status, CUDA_SUCCESS);
    ck_assert_ptr_eq(told.stream, s);
    /* the driver must not be called from there */
    ck_assert_int_ne(told.nested, CUDA_SUCCESS);
    WANT(CUDA_ERROR_INVALID_VALUE, cuStreamAddCallback(s, NULL, NULL, 0));
    WANT(CUDA_ERROR_INVALID_VALUE, cuLaunchHostFunc(s, NULL, NULL));
}
END_TEST

/* Random operations over a few buffers in four streams, ordered by events
 * where they touch the same buffer, against the same list run serially. */
enum { STREAMS = 4, BUFFERS = 12, BYTES = 4096, STEPS = 3000 };

struct graph {
    CUstream stream[STREAMS];
    CUdeviceptr device[BUFFERS];
    uint8_t *host[BUFFERS];
    uint8_t device_model[BUFFERS][BYTES], host_model[BUFFERS][BYTES];
    CUevent last[2 * BUFFERS]; /* last use of each buffer */
    int last_stream[2 * BUFFERS];
};

static void use(struct graph *g, int buffer, int s)
{
    if (g->last_stream[buffer] >= 0 && g->last_stream[buffer] != s)
        OK(cuStreamWaitEvent(g->stream[s], g->last[buffer], 0));
}

static void used(struct graph *g, int buffer, int s)
{
    OK(cuEventRecord(g->last[buffer], g->stream[s]));
    g->last_stream[buffer] = s;
}

static void step(struct graph *g, uint64_t *seed)
{
    int s = (int)(next_random(seed) % STREAMS);
    int a = (int)(next_random(seed) % BUFFERS);
    int b = (int)(next_random(seed) % BUFFERS);
    size_t n = next_random(seed) % BYTES + 1;
    int kind = (int)(next_random(seed) % 4);
    int first = kind == 1 ? BUFFERS + a : a;
    int second = kind == 0 ? BUFFERS + b : b;
    use(g, first, s);
    if (kind != 3)
        use(g, second, s);
    switch (kind) {
    case 0:
        OK(cuMemcpyHtoDAsync(g->device[a], g->host[b], n, g->stream[s]));
        memcpy(g->device_model[a], g->host_model[b], n);
        break;
    case 1:
        OK(cuMemcpyDtoHAsync(g->host[a], g->device[b], n, g->stream[s]));
        memcpy(g->host_model[a], g->device_model[b], n);
        break;
    case 2:
        OK(cuMemcpyDtoDAsync(g->device[a], g->device[b], n, g->stream[s]));
        memmove(g->device_model[a], g->device_model[b], n);
        break;
    default:
        OK(cuMemsetD8Async(g->device[a], (unsigned char)n, n, g->stream[s]));
        memset(g->device_model[a], (int)n, n);
    }
    used(g, first, s);
    if (kind != 3)
        used(g, second, s);
}

START_TEST(random_graph_over_four_streams_matches_the_serial_model)
{
    static struct graph g;
    uint64_t seed = (uint64_t)time(NULL);
    uint8_t got[BYTES];
    printf("seed %llu\n", (unsigned long long)seed);
    begin();
    for (int i = 0; i < STREAMS; i++)
        OK(cuStreamCreate(&g.stream[i], CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < BUFFERS; i++) {
        OK(cuMemAlloc(&g.device[i], BYTES));
        OK(cuMemsetD8(g.device[i], 0, BYTES));
        g.host[i] = pinned(BYTES);
        fill_random(g.host_model[i], BYTES, seed + (uint64_t)i);
        memcpy(g.host[i], g.host_model[i], BYTES);
    }
    for (int i = 0; i < 2 * BUFFERS; i++) {
        OK(cuEventCreate(&g.last[i], CU_EVENT_DISABLE_TIMING));
        g.last_stream[i] = -1;
    }
    OK(cuCtxSynchronize());
    for (int i = 0; i < STEPS; i++)
        step(&g, &seed);
    OK(cuCtxSynchronize());
    for (int i = 0; i < BUFFERS; i++) {
        ck_assert_mem_eq(g.host[i], g.host_model[i], BYTES);
        OK(cuMemcpyDtoH(got, g.device[i], BYTES));
        ck_assert_mem_eq(got, g.device_model[i], BYTES);
    }
}
END_TEST

START_TEST(own_stream_of_a_thread_is_not_the_legacy_stream)
{
    CUdeviceptr p;
    unsigned long long own, legacy;
    begin();
    OK(cuMemAlloc(&p, 4));
    OK(cuStreamGetId(CU_STREAM_PER_THREAD, &own));
    OK(cuStreamGetId(NULL, &legacy));
    ck_assert_uint_ne(own, legacy);
    OK(cuMemsetD8Async(p, 1, 4, CU_STREAM_PER_THREAD));
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    WANT(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(NULL));
    WANT(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize((CUstream)(void *)&p));
}
END_TEST

START_TEST(unreadable_registered_buffer_is_told_at_the_next_wait)
{
    CUstream s;
    CUdeviceptr p;
    begin();
    OK(cuMemAlloc(&p, 4096));
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuMemHostRegister((void *)0x10000, 4096, 0));
    OK(cuMemcpyHtoDAsync(p, (void *)0x10000, 4096, s));
    WANT(CUDA_ERROR_INVALID_VALUE, cuStreamSynchronize(s));
    OK(cuStreamSynchronize(s));
    OK(cuMemsetD8(p, 0, 4096));
}
END_TEST

SUITE_MAIN("softcuda driver: streams", 30,
           async_copy_of_pinned_memory_returns_before_it_ran,
           async_copy_of_pageable_memory_may_reuse_the_buffer,
           legacy_stream_waits_for_blocking_streams_and_holds_them,
           non_blocking_stream_does_not_wait_for_the_legacy_stream,
           blocking_stream_waits_for_the_legacy_stream,
           event_holds_another_stream_until_recorded_work_is_done,
           event_times_measure_what_lies_between,
           callback_is_told_stream_and_status,
           random_graph_over_four_streams_matches_the_serial_model,
           own_stream_of_a_thread_is_not_the_legacy_stream,
           unreadable_registered_buffer_is_told_at_the_next_wait)
