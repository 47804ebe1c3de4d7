/*
 * A storm (common/storm.h) whose handler reads and writes shared memory, that which the
 * interrupted call works on included, while the thread that it interrupts
 * launches, copies, sets, waits, allocates, loads code and reads files.
 */
#include "preloaded.h"
#include "common/storm.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    BYTES = 1 << 20,
    HALF = BYTES / 2, /* of `counter`: from here on the handler's */
    PAGE = 4096,
    SIGNALS_LEAST = 50,
};

static const char bump_ptx[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry bump(.param .u64 p)\n{\n"
    ".reg .b32 %r<3>;\n.reg .b64 %rd<3>;\n"
    "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\n"
    "ld.global.u32 %r1, [%rd2];\nadd.u32 %r2, %r1, 1;\n"
    "st.global.u32 [%rd2], %r2;\nret;\n}\n";

static volatile uint8_t *fours, *fives;
static uint8_t *counter, plain[BYTES];
static CUfunction bump;
static CUstream stream;
static CUevent event;
static volatile long signals, wrong;
static volatile uint8_t touched[HALF / PAGE];
static uint32_t launches;

static void on_timer(int number)
{
    size_t page = (size_t)++signals % (HALF / PAGE);
    volatile uint8_t *same = counter + HALF + page * PAGE;
    (void)number;
    wrong += fours[page * PAGE] != 4;
    fives[page * PAGE] = 5;
    wrong += *same != (touched[page] ? 6 : 0);
    *same = 6;
    touched[page] = 1;
}

/* ---- what is interrupted -------------------------------------------------- */

static void launch(void)
{
    void *params[] = {&counter};
    must(cuLaunchKernel(bump, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    if (++launches % 16 == 0)
        ck_assert_uint_eq(*(volatile uint32_t *)counter, launches);
}

static void launch_and(CUresult waited)
{
    must(waited);
    launch();
}

static void wait_for_context(void)
{
    launch_and(cuCtxSynchronize());
}

static void wait_after_capture(void)
{
    static CUgraph graph;
    if (!graph) {
        must(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
        must(cuStreamEndCapture(stream, &graph));
    }
    launch_and(cuCtxSynchronize());
}

static void wait_for_stream(void)
{
    launch_and(cuStreamSynchronize(stream));
}

static void wait_for_event(void)
{
    must(cuEventRecord(event, stream));
    launch_and(cuEventSynchronize(event));
}

static void upload(void)
{
    must(cuMemcpyHtoD((CUdeviceptr)counter, plain, HALF));
}

static void download(void)
{
    must(cuMemcpyDtoH(plain, (CUdeviceptr)fours, BYTES));
    ck_assert_int_eq(plain[777], 4);
}

static void copy_on_device(void)
{
    must(cuMemcpyDtoD((CUdeviceptr)counter, (CUdeviceptr)fours, HALF));
}

static void copy_by_stream(void)
{
    CUdeviceptr to = (CUdeviceptr)counter;
    must(cuMemcpyHtoDAsync(to, plain, HALF, stream));
    must(cuMemcpyDtoHAsync(plain, to, HALF, stream));
    must(cuMemcpyDtoDAsync(to, (CUdeviceptr)fours, HALF, stream));
}

static void set(void)
{
    must(cuMemsetD8((CUdeviceptr)counter, 9, HALF));
    must(cuMemsetD32((CUdeviceptr)counter, 9, HALF / 4));
}

static void ask(void)
{
    size_t bytes, all;
    must(cuMemGetInfo(&bytes, &all));
    must(cuEventRecord(event, stream));
    must(cuStreamWaitEvent(stream, event, 0));
    ck_assert_int_ne(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
    ck_assert_int_ne(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
}

static void load_code(void)
{
    CUmodule module;
    CUfunction function;
    must(cuModuleLoadData(&module, bump_ptx));
    must(cuModuleGetFunction(&function, module, "bump"));
    must(cuModuleUnload(module));
}

static void read_file(void)
{
    static int zeros;
    if (!zeros)
        zeros = open("/dev/zero", O_RDONLY);
    ck_assert_int_gt(read(zeros, counter, HALF), 0);
}

static void copy_on_cpu(void)
{
    void *(*volatile copy)(void *, const void *, size_t) = memcpy;
    copy(plain, (void *)fours, BYTES);
    ck_assert_int_eq(plain[777], 4);
}

static void allocate(void)
{
    uint8_t *fresh = device_bytes(70000, 9);
    ck_assert_int_eq(((volatile uint8_t *)fresh)[69999], 9);
    must(cuMemFree((CUdeviceptr)fresh));
}

/* ---- the storm ------------------------------------------------------------- */

static void start(void)
{
    CUmodule module;
    device_start();
    counter = device_bytes(BYTES, 0);
    fours = device_bytes(BYTES, 4);
    fives = device_bytes(BYTES, 5);
    must(cuModuleLoadData(&module, bump_ptx));
    must(cuModuleGetFunction(&bump, module, "bump"));
    must(cuStreamCreate(&stream, 0));
    must(cuEventCreate(&event, 0));
}

static void must_weather(void (*work)(void))
{
    start();
    storm(work, on_timer);
    for (size_t i = 0; i < HALF / PAGE; i++)
        ck_assert_int_eq(counter[HALF + i * PAGE], touched[i] ? 6 : 0);
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_gt(signals, SIGNALS_LEAST);
}

#define STORM(name)                                                            \
    START_TEST(handlers_touch_memory_beside_##name)                            \
    {                                                                          \
        must_weather(name);                                                    \
    }                                                                          \
    END_TEST

STORM(launch)
STORM(wait_for_context)
STORM(wait_after_capture)
STORM(wait_for_stream)
STORM(wait_for_event)
STORM(upload)
STORM(download)
STORM(copy_on_device)
STORM(copy_by_stream)
STORM(set)
STORM(ask)
STORM(load_code)
STORM(read_file)
STORM(copy_on_cpu)
STORM(allocate)

SUITE_MAIN("regress-interpose-storm", 20, handlers_touch_memory_beside_launch,
           handlers_touch_memory_beside_wait_for_context,
           handlers_touch_memory_beside_wait_after_capture,
           handlers_touch_memory_beside_wait_for_stream,
           handlers_touch_memory_beside_wait_for_event,
           handlers_touch_memory_beside_upload,
           handlers_touch_memory_beside_download,
           handlers_touch_memory_beside_copy_on_device,
           handlers_touch_memory_beside_copy_by_stream,
           handlers_touch_memory_beside_set, handlers_touch_memory_beside_ask,
           handlers_touch_memory_beside_load_code,
           handlers_touch_memory_beside_read_file,
           handlers_touch_memory_beside_copy_on_cpu,
           handlers_touch_memory_beside_allocate)
