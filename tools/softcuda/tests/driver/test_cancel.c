/*
 * Kernels that never end: destroying their context stops them, and nobody
 * else's kernels; the process may end beside them.
 */
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "tests/driver/driver_test.h"

static const char text[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry endless(.param .u64 p)\n{\n"
    "\t.reg .b64 %d<3>;\n\t.reg .b32 %r<3>;\n\t.reg .pred %q;\n"
    "\tld.param.u64 %d1, [p];\n"
    "\tcvta.to.global.u64 %d2, %d1;\n"
    "\tmov.u32 %r1, 0;\n"
    "LOOP:\n"
    "\tadd.s32 %r1, %r1, 1;\n"
    "\tst.volatile.global.u32 [%d2], %r1;\n"
    "\tsetp.ne.u32 %q, %r1, 0xffffffff;\n"
    "\t@%q bra LOOP;\n"
    "\tmov.u32 %r1, 1;\n"
    "\tbra LOOP;\n"
    "}\n"
    ".visible .entry store(.param .u64 p, .param .u32 v)\n{\n"
    "\t.reg .b64 %d<3>;\n\t.reg .b32 %r<2>;\n"
    "\tld.param.u64 %d1, [p];\n"
    "\tcvta.to.global.u64 %d2, %d1;\n"
    "\tld.param.u32 %r1, [v];\n"
    "\tst.global.u32 [%d2], %r1;\n"
    "\tret;\n"
    "}\n";

struct side {
    CUcontext ctx;
    CUfunction endless, store;
    CUdeviceptr word;
};

static void make_side(struct side *side)
{
    CUmodule module;
    OK(cuCtxCreate(&side->ctx, NULL, 0, 0));
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&side->endless, module, "endless"));
    OK(cuModuleGetFunction(&side->store, module, "store"));
    OK(cuMemAlloc(&side->word, 4));
}

static void launch_endless(struct side *side)
{
    void *params[] = {&side->word};
    OK(cuLaunchKernel(side->endless, 4, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
}

static void launch_store(struct side *side, uint32_t value)
{
    void *params[] = {&side->word, &value};
    OK(cuLaunchKernel(side->store, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
}

static void check_stopped(const char *native)
{
    struct side gone, other;
    uint32_t got = 0;
    setenv("SOFTCUDA_NATIVE", native, 1);
    OK(cuInit(0));
    make_side(&other);
    make_side(&gone);
    for (int i = 0; i < 3; i++)
        launch_endless(&gone);
    OK(cuCtxSetCurrent(other.ctx));
    launch_store(&other, 17); /* queued behind the ones that never end */
    double begin = now_ms();
    OK(cuCtxDestroy(gone.ctx));
    ck_assert_double_lt(now_ms() - begin, 20e3);
    OK(cuMemcpyDtoH(&got, other.word, 4));
    ck_assert_uint_eq(got, 17);
    launch_store(&other, 18);
    OK(cuMemcpyDtoH(&got, other.word, 4));
    ck_assert_uint_eq(got, 18);
    OK(cuCtxDestroy(other.ctx));
}

START_TEST(destroying_a_context_stops_its_endless_kernels)
{
    check_stopped("off");
}
END_TEST

START_TEST(destroying_a_context_stops_endless_native_code)
{
    check_stopped("wait");
}
END_TEST

START_TEST(kernel_that_ends_in_time_is_not_stopped)
{
    struct side side;
    OK(cuInit(0));
    make_side(&side);
    uint32_t *seen;
    OK(cuMemHostAlloc((void **)&seen, 4, CU_MEMHOSTALLOC_PORTABLE));
    *seen = 0;
    side.word = (CUdeviceptr)(uintptr_t)seen;
    for (uint32_t i = 1; i <= 1000; i++)
        launch_store(&side, i);
    CUcontext other;
    OK(cuCtxCreate(&other, NULL, 0, 0));
    OK(cuCtxDestroy(side.ctx));
    ck_assert_uint_eq(*seen, 1000);
}
END_TEST

/* A child runs `body` and exits: within 20 s, or the case fails. */
static void check_exit(void (*body)(void))
{
    pid_t child = fork();
    if (child == 0) {
        body();
        exit(0);
    }
    int status = -1;
    double until = now_ms() + 20e3;
    while (waitpid(child, &status, WNOHANG) == 0 && now_ms() < until)
        usleep(10000);
    kill(child, SIGKILL);
    ck_assert_int_eq(status, 0);
}

static void run_endless(void)
{
    struct side side;
    OK(cuInit(0));
    make_side(&side);
    launch_endless(&side);
    usleep(50000);
}

START_TEST(process_ends_beside_an_endless_kernel)
{
    check_exit(run_endless);
}
END_TEST

static struct {
    CUlibrary library;
    CUdeviceptr memory;
    void *pinned;
} late;

/* A context whose kernel was stopped says so to what is called next. */
static void free_late(void)
{
    OK(cuLibraryUnload(late.library));
    WANT(CUDA_ERROR_LAUNCH_TIMEOUT, cuMemFree(late.memory));
    cuMemFreeHost(late.pinned);
}

static void wait_for_ever(void *unused)
{
    (void)unused;
    pause();
}

/* What compiled programs and global objects have: a handler from before main.
 * Of three streams one runs a kernel, one waits for a value that nobody
 * writes, and one for a host function that does not return. */
static void free_in_a_handler(bool stuck)
{
    struct side side;
    CUstream waits, calls;
    CUfunction f;
    CUkernel kernel;
    ck_assert_int_eq(atexit(free_late), 0);
    OK(cuInit(0));
    make_side(&side);
    OK(cuMemAlloc(&late.memory, 4096));
    OK(cuMemHostAlloc(&late.pinned, 4096, 0));
    OK(cuLibraryLoadData(&late.library, text, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, late.library, "endless"));
    OK(cuKernelGetFunction(&f, kernel));
    OK(cuMemsetD32(late.memory, 0, 4));
    OK(cuStreamCreate(&waits, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&calls, CU_STREAM_NON_BLOCKING));
    OK(cuStreamWaitValue32(waits, late.memory + 4, 1, CU_STREAM_WAIT_VALUE_EQ));
    if (stuck)
        OK(cuLaunchHostFunc(calls, wait_for_ever, NULL));
    side.endless = f;
    launch_endless(&side);
    usleep(50000);
}

static void free_beside_a_kernel(void)
{
    free_in_a_handler(false);
}

static void free_beside_a_host_function(void)
{
    free_in_a_handler(true);
}

START_TEST(exit_handlers_free_what_an_endless_kernel_uses)
{
    check_exit(free_beside_a_kernel);
}
END_TEST

START_TEST(exit_handlers_give_up_on_a_host_function_that_stays)
{
    check_exit(free_beside_a_host_function);
}
END_TEST

SUITE_MAIN("softcuda driver: endless kernels", 60,
           destroying_a_context_stops_its_endless_kernels,
           destroying_a_context_stops_endless_native_code,
           kernel_that_ends_in_time_is_not_stopped,
           process_ends_beside_an_endless_kernel,
           exit_handlers_free_what_an_endless_kernel_uses,
           exit_handlers_give_up_on_a_host_function_that_stays)
