/*
 * Beside a kernel that never ends: a context can be destroyed, and what waits
 * for the kernel can be ended by a signal, as without the runtime.
 *
 * The situations run side by side, each in a process of its own: the device
 * gives kernels of a destroyed context three seconds.
 */
#include "endless.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

/* ---- contexts that are destroyed ----------------------------------------- */

static sigjmp_buf astray;

static void on_fault(int number)
{
    siglongjmp(astray, number);
}

static bool faults(CUdeviceptr at)
{
    bool astray_now = sigsetjmp(astray, 1) != 0;
    if (!astray_now)
        (void)*(volatile uint8_t *)at;
    return astray_now;
}

static void expect_freed(CUdeviceptr at)
{
    static uint8_t host[SMALL];
    CUdeviceptr base;
    size_t bytes;
    expect(cuMemcpyDtoH(host, at, SMALL) != CUDA_SUCCESS);
    expect(cuMemGetAddressRange(&base, &bytes, at) != CUDA_SUCCESS);
    expect(cuMemFree(at) == CUDA_ERROR_INVALID_VALUE);
    expect(faults(at));
}

static void expect_bytes(CUdeviceptr at, size_t bytes, uint8_t want)
{
    static uint8_t host[LARGE];
    for (size_t i = 0; i < bytes; i++)
        expect(((volatile uint8_t *)at)[i] == want);
    expect_done(cuMemcpyDtoH(host, at, bytes));
    for (size_t i = 0; i < bytes; i++)
        expect(host[i] == want);
}

/* A block of the large one and the small one are written by the CPU last. */
static void write_some(struct memory memory, uint8_t value)
{
    for (size_t i = LARGE - 100000; i < LARGE; i++)
        ((volatile uint8_t *)memory.large)[i] = value;
    for (size_t i = 0; i < SMALL; i++)
        ((volatile uint8_t *)memory.small)[i] = value;
}

typedef CUcontext begin_fn(void);
typedef void end_fn(CUcontext);

static void end_own(CUcontext context)
{
    expect_done(cuCtxDestroy(context));
}

/* Of CUDA 2; exported, and in no header. */
CUresult cuCtxDetach(CUcontext context);

static void end_detached(CUcontext context)
{
    expect_done(cuCtxDetach(context));
}

static CUcontext begin_primary(void)
{
    CUcontext context;
    expect_done(cuDevicePrimaryCtxRetain(&context, 0));
    expect_done(cuCtxPushCurrent(context));
    return context;
}

static void end_reset(CUcontext context)
{
    (void)context;
    expect_done(cuDevicePrimaryCtxReset(0));
}

static void end_release(CUcontext context)
{
    (void)context;
    expect_done(cuDevicePrimaryCtxRelease(0));
}

static void outlive(begin_fn *begin, end_fn *end)
{
    CUcontext other, doomed;
    size_t before, after, total;
    struct sigaction action = {.sa_handler = on_fault};
    expect_done(cuInit(0));
    expect_done(cuCtxCreate(&other, NULL, 0, 0));
    struct memory kept = make(5);
    write_some(kept, 5);
    sigaction(SIGSEGV, &action, NULL);
    expect_done(cuMemGetInfo(&before, &total));
    for (int round = 0; round < 2; round++) {
        doomed = begin();
        struct memory lost = make(0);
        write_some(lost, 9);
        if (round == 0)
            launch_endless(lost);
        end(doomed);
        expect_done(cuCtxSetCurrent(other));
        expect_freed(lost.large);
        expect_freed(lost.small);
        expect_done(cuMemGetInfo(&after, &total));
        expect(before == after);
    }
    expect_bytes(kept.large, LARGE, 5);
    expect_bytes(kept.small, SMALL, 5);
    expect_done(cuMemFree(kept.large));
    expect_done(cuCtxDestroy(other));
}

static void destroy(int say)
{
    (void)say;
    outlive(begin_own, end_own);
}

static void detach(int say)
{
    (void)say;
    outlive(begin_own, end_detached);
}

static void reset(int say)
{
    (void)say;
    outlive(begin_primary, end_reset);
}

static void release(int say)
{
    (void)say;
    outlive(begin_primary, end_release);
}

static void overlay(int say)
{
    setenv("ADSM_ADDRESS", "overlay", 1);
    destroy(say);
}

static void refuse(int say)
{
    CUcontext context;
    (void)say;
    expect_done(cuInit(0));
    context = begin_primary();
    struct memory kept = make(5);
    expect(cuCtxDestroy(context) != CUDA_SUCCESS);
    expect_bytes(kept.large, LARGE, 5);
    expect_bytes(kept.small, SMALL, 5);
}

static void *access_body(void *at)
{
    (void)faults((CUdeviceptr)at);
    return NULL;
}

/* A thread waits for the kernel, inside the runtime. Once the kernel is
 * stopped the thread reads what there was, or what is gone: both end. */
static void destroy_beside(bool touched)
{
    pthread_t thread;
    struct sigaction action = {.sa_handler = on_fault};
    expect_done(cuInit(0));
    sigaction(SIGSEGV, &action, NULL);
    CUcontext context = begin_own();
    struct memory memory = make(0);
    if (touched)
        (void)*(volatile uint8_t *)memory.large;
    launch_endless(memory);
    expect(pthread_create(&thread, NULL, access_body,
                          (void *)(memory.large + LARGE - 1)) == 0);
    nanosleep(&(struct timespec){0, 200000000}, NULL);
    end_own(context);
    pthread_join(thread, NULL);
}

static void destroy_beside_wait(int say)
{
    (void)say;
    destroy_beside(false);
}

/* It holds the object then, which was shared before. */
static void destroy_beside_fetch(int say)
{
    (void)say;
    destroy_beside(true);
}

static void overlay_beside_fetch(int say)
{
    (void)say;
    setenv("ADSM_ADDRESS", "overlay", 1);
    destroy_beside(true);
}

/* ---- waits that are ended ------------------------------------------------- */

static struct memory wait_begin(int say)
{
    expect_done(cuInit(0));
    (void)begin_own();
    struct memory memory = make(0);
    launch_endless(memory);
    expect(write(say, "w", 1) == 1);
    return memory;
}

static void wait_in_free(int say)
{
    (void)cuMemFree(wait_begin(say).large);
}

static void wait_in_free_of_small(int say)
{
    (void)cuMemFree(wait_begin(say).small);
}

static void wait_in_access(int say)
{
    (void)*(volatile uint8_t *)wait_begin(say).large;
}

static void wait_in_copy(int say)
{
    static uint8_t host[LARGE];
    memcpy(host, (void *)wait_begin(say).large, LARGE);
}

static void wait_in_device_copy(int say)
{
    static uint8_t host[LARGE];
    (void)cuMemcpyDtoH(host, wait_begin(say).large, LARGE);
}

static void wait_in_rows(int say)
{
    static uint8_t host[LARGE];
    CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = host,
                          .srcPitch = 100,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstPitch = 200,
                          .WidthInBytes = 77,
                          .Height = 50};
    rows.dstDevice = wait_begin(say).large;
    (void)cuMemcpy2D(&rows);
}

static void wait_in_copy_later(int say)
{
    static uint8_t host[LARGE];
    struct memory memory = wait_begin(say);
    (void)cuMemcpyHtoDAsync(memory.large, host, LARGE, NULL);
}

static void wait_in_read_later(int say)
{
    static uint8_t host[LARGE];
    struct memory memory = wait_begin(say);
    (void)cuMemcpyAsync((CUdeviceptr)host, memory.large, LARGE, NULL);
}

static void wait_in_rows_later(int say)
{
    static uint8_t host[LARGE];
    CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcPitch = 200,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = host,
                          .dstPitch = 100,
                          .WidthInBytes = 77,
                          .Height = 50};
    rows.srcDevice = wait_begin(say).large;
    (void)cuMemcpy2DAsync(&rows, NULL);
}

static void wait_in_write(int say)
{
    int full = open("/dev/null", O_WRONLY);
    (void)!write(full, (void *)wait_begin(say).large, LARGE);
}

/* ---- the processes --------------------------------------------------------- */

START_TEST(endless_kernel_does_not_outlive_its_context)
{
    static situation_fn *const situations[] = {destroy,
                                               detach,
                                               reset,
                                               release,
                                               overlay,
                                               refuse,
                                               destroy_beside_wait,
                                               destroy_beside_fetch,
                                               overlay_beside_fetch};
    enum { COUNT = sizeof situations / sizeof *situations };
    struct child child[COUNT];
    for (int i = 0; i < COUNT; i++)
        child[i] = start(situations[i]);
    for (int i = 0; i < COUNT; i++) {
        int status = end_of(child[i]);
        ck_assert_msg(status == 0, "situation %d: %x", i, (unsigned)status);
    }
}
END_TEST

START_TEST(wait_for_endless_kernel_ends_with_signal)
{
    static situation_fn *const situations[] = {
        wait_in_free,      wait_in_free_of_small, wait_in_access,
        wait_in_copy,      wait_in_device_copy,   wait_in_rows,
        wait_in_write,     wait_in_copy_later,    wait_in_read_later,
        wait_in_rows_later};
    enum { COUNT = sizeof situations / sizeof *situations };
    struct child child[COUNT];
    char said;
    for (int i = 0; i < COUNT; i++)
        child[i] = start(situations[i]);
    for (int i = 0; i < COUNT; i++)
        ck_assert_int_eq(read(child[i].said, &said, 1), 1);
    pause_ms(500);
    for (int i = 0; i < COUNT; i++)
        ck_assert_int_eq(waitpid(child[i].id, NULL, WNOHANG), 0);
    for (int i = 0; i < COUNT; i++)
        kill(child[i].id, i % 2 ? SIGINT : SIGTERM);
    for (int i = 0; i < COUNT; i++) {
        int status = end_of(child[i]);
        ck_assert_msg(status != -1 && WIFSIGNALED(status) &&
                          WTERMSIG(status) == (i % 2 ? SIGINT : SIGTERM),
                      "situation %d: %x", i, (unsigned)status);
    }
}
END_TEST

SUITE_MAIN("regress-interpose-endless", 200,
           endless_kernel_does_not_outlive_its_context,
           wait_for_endless_kernel_ends_with_signal)
