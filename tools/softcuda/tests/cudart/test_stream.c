/*
 * Streams and events: order, waits, timing, host functions, and the default
 * stream.  Built a second time with per-thread default streams.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "tests/cudart/cudart_test.h"

/* About a quarter of a second for the slowest executor. */
#define LONG (20u * 1000 * 1000)

static uint32_t read_back(const void *p)
{
    uint32_t value = 0;
    OK(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost));
    return value;
}

START_TEST(a_stream_keeps_its_order)
{
    cudaStream_t stream;
    uint32_t *p, host = 7;
    register_kernels();
    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc((void **)&p, 4));
    OK(launch_spin(p, LONG, stream));
    OK(cudaMemcpyAsync(p, &host, 4, cudaMemcpyHostToDevice, stream));
    for (int i = 0; i < 100; i++)
        OK(launch_add(count_of(1), count_of(1), p, 1, 1, stream));
    OK(cudaMemcpyAsync(&host, p, 4, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    ck_assert_uint_eq(host, 107);
    OK(cudaStreamDestroy(stream));
}
END_TEST

START_TEST(an_event_makes_another_stream_wait)
{
    cudaStream_t one, two;
    cudaEvent_t done;
    uint32_t *p;
    register_kernels();
    OK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    OK(cudaEventQuery(done)); /* nothing was recorded */
    OK(cudaMalloc((void **)&p, 4));
    OK(launch_spin(p, LONG, one));
    OK(cudaEventRecord(done, one));
    WANT(cudaErrorNotReady, cudaEventQuery(done));
    OK(cudaStreamWaitEvent(two, done, 0));
    OK(launch_add(count_of(1), count_of(1), p, 1, 5, two));
    OK(cudaStreamSynchronize(two));
    OK(cudaEventQuery(done));
    ck_assert_uint_eq(read_back(p), LONG + 5);
    OK(cudaEventDestroy(done));
    OK(cudaStreamDestroy(one));
    OK(cudaStreamDestroy(two));
}
END_TEST

START_TEST(events_tell_the_time_between_them)
{
    cudaEvent_t start, stop, untimed;
    float ms = -1, none;
    uint32_t *p;
    register_kernels();
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&stop));
    OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    OK(cudaMalloc((void **)&p, 4));
    OK(cudaEventRecord(start, NULL));
    OK(launch_spin(p, LONG, NULL));
    OK(cudaEventRecord(stop, NULL));
    WANT(cudaErrorNotReady, cudaEventElapsedTime(&none, start, stop));
    OK(cudaEventSynchronize(stop));
    OK(cudaEventElapsedTime(&ms, start, stop));
    ck_assert(ms > 0.1f && ms < 60000.f);
    OK(cudaEventRecord(untimed, NULL));
    OK(cudaEventSynchronize(untimed));
    WANT(cudaErrorInvalidResourceHandle,
         cudaEventElapsedTime(&none, start, untimed));
    WANT(cudaErrorInvalidResourceHandle,
         cudaEventElapsedTime(&none, start, NULL));
}
END_TEST

static _Atomic int calls;

static void count_call(void *data)
{
    atomic_fetch_add(&calls, (int)(intptr_t)data);
}

static void count_result(cudaStream_t stream, cudaError_t status, void *data)
{
    (void)stream;
    atomic_fetch_add(&calls, status ? 1000 : (int)(intptr_t)data);
}

START_TEST(host_functions_run_in_stream_order)
{
    cudaStream_t stream;
    uint32_t *p;
    register_kernels();
    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc((void **)&p, 4));
    OK(launch_spin(p, LONG, stream));
    OK(cudaLaunchHostFunc(stream, count_call, (void *)3));
    OK(cudaStreamAddCallback(stream, count_result, (void *)4, 0));
    ck_assert_int_eq(atomic_load(&calls), 0);
    OK(cudaStreamSynchronize(stream));
    ck_assert_int_eq(atomic_load(&calls), 7);
    WANT(cudaErrorInvalidValue, cudaStreamAddCallback(stream, NULL, NULL, 0));
    WANT(cudaErrorInvalidValue,
         cudaStreamAddCallback(stream, count_result, NULL, 1));
    WANT(cudaErrorInvalidValue, cudaLaunchHostFunc(stream, NULL, NULL));
}
END_TEST

START_TEST(streams_remember_how_they_were_made)
{
    cudaStream_t plain, high;
    unsigned flags = 99;
    int least, greatest, priority, device = -1;
    unsigned long long id, other;
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    ck_assert_int_ge(least, greatest);
    OK(cudaStreamCreate(&plain));
    OK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest));
    OK(cudaStreamGetFlags(plain, &flags));
    ck_assert_uint_eq(flags, cudaStreamDefault);
    OK(cudaStreamGetFlags(high, &flags));
    ck_assert_uint_eq(flags, cudaStreamNonBlocking);
    OK(cudaStreamGetPriority(high, &priority));
    ck_assert_int_eq(priority, greatest);
    OK(cudaStreamGetId(plain, &id));
    OK(cudaStreamGetId(high, &other));
    ck_assert(id != other);
    OK(cudaStreamGetDevice(high, &device));
    ck_assert_int_eq(device, 0);
    WANT(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&plain, 77));
    WANT(cudaErrorInvalidValue, cudaStreamCreate(NULL));
}
END_TEST

START_TEST(a_destroyed_stream_is_refused)
{
    cudaStream_t stream;
    cudaEvent_t event;
    void *p;
    register_kernels();
    OK(cudaMalloc(&p, 4));
    OK(cudaStreamCreate(&stream));
    OK(cudaEventCreate(&event));
    OK(cudaStreamDestroy(stream));
    OK(cudaEventDestroy(event));
    WANT(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(stream));
    WANT(cudaErrorInvalidResourceHandle, cudaEventSynchronize(event));
    WANT(cudaErrorInvalidResourceHandle,
         launch_add(count_of(1), count_of(1), p, 1, 1, stream));
    WANT(cudaErrorInvalidResourceHandle, cudaStreamDestroy(stream));
    WANT(cudaErrorInvalidResourceHandle, cudaStreamDestroy(NULL));
}
END_TEST

static cudaStream_t busy_stream;

/* The default stream is empty again: is the busy stream? */
static void *use_default_stream(void *p)
{
#ifndef CUDA_API_PER_THREAD_DEFAULT_STREAM
    OK(launch_add(count_of(1), count_of(1), p, 1, 1, NULL));
#endif
    OK(cudaStreamSynchronize(NULL));
    return cudaStreamQuery(busy_stream) == cudaErrorNotReady ? p : NULL;
}

/* The default stream waits for the blocking ones, unless it is the thread's
 * own. */
START_TEST(the_default_stream_is_shared_or_the_threads_own)
{
    pthread_t thread;
    void *early = NULL;
    uint32_t *p;
    register_kernels();
    OK(cudaStreamCreate(&busy_stream));
    OK(cudaMalloc((void **)&p, 8));
    OK(launch_spin(p, LONG, busy_stream));
    ck_assert_int_eq(pthread_create(&thread, NULL, use_default_stream, p + 1),
                     0);
    pthread_join(thread, &early);
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    ck_assert_ptr_nonnull(early);
#else
    ck_assert_ptr_null(early);
#endif
    OK(cudaStreamSynchronize(busy_stream));
    ck_assert_uint_eq(read_back(p), LONG);
}
END_TEST

/* Both handles that name a default stream work in either build. */
START_TEST(named_default_streams_work)
{
    uint32_t *p;
    register_kernels();
    OK(cudaMalloc((void **)&p, 4));
    OK(cudaMemset(p, 0, 4));
    OK(cudaDeviceSynchronize());
    OK(launch_add(count_of(1), count_of(1), p, 1, 1, cudaStreamLegacy));
    OK(cudaStreamSynchronize(cudaStreamLegacy));
    OK(launch_add(count_of(1), count_of(1), p, 1, 2, cudaStreamPerThread));
    OK(cudaStreamSynchronize(cudaStreamPerThread));
    OK(launch_add(count_of(1), count_of(1), p, 1, 4, NULL));
    OK(cudaStreamSynchronize(NULL));
    ck_assert_uint_eq(read_back(p), 7);
}
END_TEST

SUITE_MAIN("cudart_stream", 60, a_stream_keeps_its_order,
           an_event_makes_another_stream_wait,
           events_tell_the_time_between_them,
           host_functions_run_in_stream_order,
           streams_remember_how_they_were_made, a_destroyed_stream_is_refused,
           the_default_stream_is_shared_or_the_threads_own,
           named_default_streams_work)
