/*
 * Values written and waited for in the order of streams.
 */
#include "tests/driver/driver_test.h"

static void count(void *calls)
{
    ++*(int *)calls;
}

static void sleep_ms(void *ms)
{
    usleep((useconds_t)(uintptr_t)ms * 1000);
}

START_TEST(a_value_one_stream_writes_lets_another_go)
{
    CUstream s, t;
    CUdeviceptr p;
    int calls = 0;
    uint64_t got;
    begin();
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&p, 16));
    OK(cuMemsetD32(p, 0, 4));
    OK(cuCtxSynchronize());
    for (unsigned i = 1; i <= 20; i++) {
        OK(cuStreamWaitValue32(s, p, i, CU_STREAM_WAIT_VALUE_EQ));
        OK(cuLaunchHostFunc(s, count, &calls));
        WANT(CUDA_ERROR_NOT_READY, cuStreamQuery(s));
        ck_assert_int_eq(calls, (int)i - 1);
        OK(cuStreamWriteValue32(t, p, i, 0));
        OK(cuStreamSynchronize(s));
        ck_assert_int_eq(calls, (int)i);
    }
    OK(cuStreamWriteValue64(t, p + 8, 0x123456789abcdefull, 0));
    OK(cuStreamWaitValue64(s, p + 8, 0x123456789abcdeeull,
                           CU_STREAM_WAIT_VALUE_GEQ));
    OK(cuStreamSynchronize(s));
    OK(cuMemcpyDtoH(&got, p + 8, 8));
    ck_assert_uint_eq(got, 0x123456789abcdefull);
}
END_TEST

START_TEST(the_host_can_write_what_is_waited_for)
{
    volatile uint32_t *flag;
    CUdeviceptr p;
    void *host;
    begin();
    OK(cuMemHostAlloc(&host, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    OK(cuMemHostGetDevicePointer(&p, host, 0));
    flag = host;
    flag[0] = 0;
    flag[1] = UINT32_MAX;
    OK(cuStreamWaitValue32(NULL, p, 4, CU_STREAM_WAIT_VALUE_AND));
    OK(cuStreamWaitValue32(NULL, p + 4, 0, CU_STREAM_WAIT_VALUE_NOR));
    usleep(5000);
    WANT(CUDA_ERROR_NOT_READY, cuStreamQuery(NULL));
    flag[0] = 12;
    usleep(5000);
    WANT(CUDA_ERROR_NOT_READY, cuStreamQuery(NULL));
    flag[1] = 1;
    OK(cuStreamSynchronize(NULL));
}
END_TEST

START_TEST(a_wait_looks_when_its_turn_comes)
{
    CUstream s, t;
    CUdeviceptr p;
    CUstreamBatchMemOpParams ops[2] = {0};
    begin();
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&p, 4));
    OK(cuMemsetD32(p, 1, 1)); /* as waited for, but not for long */
    OK(cuCtxSynchronize());
    OK(cuLaunchHostFunc(s, sleep_ms, (void *)20));
    ops[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    ops[0].writeValue.address = p;
    ops[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    ops[1].waitValue.address = p;
    ops[1].waitValue.value = 1;
    ops[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    OK(cuStreamBatchMemOp(s, 2, ops, 0));
    usleep(40000);
    WANT(CUDA_ERROR_NOT_READY, cuStreamQuery(s));
    OK(cuStreamWriteValue32(t, p, 1, 0));
    OK(cuStreamSynchronize(s));
}
END_TEST

START_TEST(bad_waits_are_refused)
{
    CUdeviceptr p;
    CUgraph graph;
    CUstream s;
    begin();
    OK(cuMemAlloc(&p, 64));
    OK(cuStreamCreate(&s, 0));
    WANT(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(s, 0, 1, 0));
    WANT(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(s, p + 2, 1, 0));
    WANT(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue64(s, p + 4, 1, 0));
    WANT(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(s, p, 1, 4));
    WANT(CUDA_ERROR_NOT_SUPPORTED,
         cuStreamWaitValue32(s, p, 1, CU_STREAM_WAIT_VALUE_FLUSH));
    WANT(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(s, p, 1, 2));
    WANT(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(s, 1, NULL, 0));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    WANT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
         cuStreamWriteValue32(s, p, 1, 0));
    WANT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(s, &graph));
}
END_TEST

START_TEST(a_context_that_ends_waits_no_longer)
{
    CUdeviceptr p;
    CUcontext ctx = begin();
    OK(cuMemAlloc(&p, 4));
    OK(cuMemsetD32(p, 0, 1));
    OK(cuStreamWaitValue32(NULL, p, 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuCtxDestroy(ctx));
}
END_TEST

SUITE_MAIN("softcuda driver: values in memory", 30,
           a_value_one_stream_writes_lets_another_go,
           the_host_can_write_what_is_waited_for,
           a_wait_looks_when_its_turn_comes, bad_waits_are_refused,
           a_context_that_ends_waits_no_longer)
