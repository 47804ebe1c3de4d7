/*
 * Handlers of the program wait while a launch or a copy is made. For that the
 * library does not change the mask: it keeps what comes (test_kept.c). The mask is
 * the program's, before and behind it.
 *
 * Meson runs it preloaded.
 */
#include "raw_call.h"
#include "regress/interpose/preloaded.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/time.h>

enum { BYTES = 1 << 20, OBJECTS = 4, LAUNCHES = 10, LATER = 2000 };

/* count[0]++ for four counters */
static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry next(.param .u64 a, .param .u64 b, .param .u64 c, "
    ".param .u64 d)\n{\n.reg .b64 %p<4>; .reg .b32 %v<4>;\n"
    "ld.param.u64 %p0, [a]; ld.param.u64 %p1, [b];\n"
    "ld.param.u64 %p2, [c]; ld.param.u64 %p3, [d];\n"
    "ld.global.u32 %v0, [%p0]; ld.global.u32 %v1, [%p1];\n"
    "ld.global.u32 %v2, [%p2]; ld.global.u32 %v3, [%p3];\n"
    "add.u32 %v0, %v0, 1; add.u32 %v1, %v1, 1;\n"
    "add.u32 %v2, %v2, 1; add.u32 %v3, %v3, 1;\n"
    "st.global.u32 [%p0], %v0; st.global.u32 [%p1], %v1;\n"
    "st.global.u32 [%p2], %v2; st.global.u32 [%p3], %v3; ret; }\n";

static CUdeviceptr at[OBJECTS];
static CUfunction next;
static _Atomic unsigned changes;

/* What the library and the driver call. */
__attribute__((visibility("default"))) long syscall(long number, ...)
{
    long words[RAW_WORDS];
    va_list list;
    va_start(list, number);
    raw_words(words, list);
    va_end(list);
    if (number == SYS_rt_sigprocmask)
        changes++;
    return raw_call(number, words);
}

static void start(void)
{
    CUmodule module;
    device_start();
    for (int i = 0; i < OBJECTS; i++)
        at[i] = (CUdeviceptr)device_bytes(BYTES, 0);
    must(cuModuleLoadData(&module, text));
    must(cuModuleGetFunction(&next, module, "next"));
}

static CUresult launch(unsigned blocks)
{
    void *list[] = {&at[0], &at[1], &at[2], &at[3]};
    return cuLaunchKernel(next, blocks, 1, 1, 1, 1, 1, 0, NULL, list, NULL);
}

static uint32_t counter(int i)
{
    return *(volatile uint32_t *)at[i];
}

START_TEST(launch_does_not_change_the_mask)
{
    start();
    must(launch(1));
    unsigned before = changes;
    for (int i = 0; i < LAUNCHES; i++)
        must(launch(1));
    ck_assert_uint_eq(changes - before, 0);
    for (int i = 0; i < OBJECTS; i++)
        ck_assert_uint_eq(counter(i), LAUNCHES + 1);
}
END_TEST

/* Copies and sets. Plain memory is `plain`, the device's are at[0] and at[1]. */
#define NO_DEVICE_HAS ((size_t)1 << 40)

enum copy {
    UP,
    DOWN,
    INSIDE,
    UP_LATER,
    DOWN_LATER,
    INSIDE_LATER,
    ANY,
    SET,
    RECT,
    SET_RECT,
    COPIES
};

static char plain[BYTES];

static CUresult rectangle(void)
{
    const CUDA_MEMCPY2D how = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                               .srcDevice = at[0],
                               .srcPitch = 1024,
                               .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                               .dstDevice = at[1],
                               .dstPitch = 1024,
                               .WidthInBytes = 512,
                               .Height = 64};
    return cuMemcpy2D(&how);
}

static CUresult copy(enum copy which, size_t bytes)
{
    switch (which) {
    case UP:
        return cuMemcpyHtoD(at[0], plain, bytes);
    case DOWN:
        return cuMemcpyDtoH(plain, at[0], bytes);
    case INSIDE:
        return cuMemcpyDtoD(at[1], at[0], bytes);
    case UP_LATER:
        return cuMemcpyHtoDAsync(at[0], plain, bytes, NULL);
    case DOWN_LATER:
        return cuMemcpyDtoHAsync(plain, at[0], bytes, NULL);
    case INSIDE_LATER:
        return cuMemcpyDtoDAsync(at[1], at[0], bytes, NULL);
    case ANY:
        return cuMemcpy(at[1], at[0], bytes);
    case SET:
        return cuMemsetD8(at[0], 0, bytes);
    case RECT:
        return rectangle();
    default:
        return cuMemsetD2D8(at[0], 1024, 0, 512, 64);
    }
}

/* Signals end the program, however the test was started (nohup) and whatever
 * Check has for them. */
static void have_no_handlers(void)
{
    for (int i = 1; i <= SIGRTMAX; i++)
        signal(i, SIG_DFL);
}

/* What the CPU has written is sent by the copies that read it. */
START_TEST(copy_does_not_change_the_mask)
{
    start();
    have_no_handlers();
    for (int which = 0; which < COPIES; which++)
        for (int round = 0; round < LAUNCHES; round++) {
            for (int i = 0; i < 2 && round % 2; i++)
                for (size_t k = 0; k < BYTES; k += 4096)
                    *(volatile uint32_t *)(at[i] + k) = (uint32_t)round;
            unsigned before = changes;
            must(copy((enum copy)which, BYTES - 100));
            ck_assert_msg(changes == before, "copy %d of round %d: %u", which,
                          round, changes - before);
        }
}
END_TEST

static void on_signal(int number)
{
    (void)number;
}

/* Beside a handler the wait before a copy asks, with signals held: here it is over
 * before it begins. */
START_TEST(copy_beside_a_handler_does_not_change_the_mask)
{
    start();
    signal(SIGUSR1, on_signal);
    must(cuCtxSynchronize());
    for (int i = 0; i < LAUNCHES; i++) {
        unsigned before = changes;
        must(copy(UP, BYTES));
        ck_assert_uint_eq(changes - before, 0);
        must(cuCtxSynchronize());
    }
}
END_TEST

/* What is asked of a context or a kernel between launches. */
static CUresult ask(int which)
{
    static CUcontext context;
    CUdevice device;
    int value;
    switch (which) {
    case 0:
        return cuCtxGetCurrent(&context);
    case 1:
        return cuCtxSetCurrent(context);
    case 2:
        return cuCtxPushCurrent(context);
    case 3:
        return cuCtxPopCurrent(&context);
    case 4:
        return cuCtxGetDevice(&device);
    default:
        return cuFuncGetAttribute(
            &value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, next);
    }
}

/* The driver holds its locks there, which the answer to a handler's access may
 * need. */
START_TEST(calls_about_contexts_do_not_change_the_mask)
{
    start();
    have_no_handlers();
    for (int handlers = 0; handlers < 2; handlers++) {
        for (int which = 0; which < 6; which++) {
            unsigned before = changes;
            must(ask(which));
            ck_assert_msg(changes == before, "call %d, handlers %d: %u", which,
                          handlers, changes - before);
        }
        signal(SIGUSR1, on_signal);
    }
}
END_TEST

static void check_mask(const sigset_t *before)
{
    sigset_t now;
    ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, NULL, &now), 0);
    for (int i = 1; i < SIGRTMAX; i++)
        ck_assert_int_eq(sigismember(&now, i), sigismember(before, i));
}

/* One that succeeds, and one that the driver refuses. */
START_TEST(mask_is_the_programs_behind_it)
{
    sigset_t before;
    start();
    sigemptyset(&before);
    sigaddset(&before, SIGUSR1);
    ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    must(launch(1));
    check_mask(&before);
    ck_assert_int_eq(launch(0), CUDA_ERROR_INVALID_VALUE);
    check_mask(&before);
    must(launch(1));
    check_mask(&before);
    ck_assert_uint_eq(counter(0), 2);
    for (int which = 0; which < COPIES; which++) {
        must(copy((enum copy)which, BYTES));
        check_mask(&before);
        ck_assert(copy((enum copy)which, NO_DEVICE_HAS) || which >= RECT);
        check_mask(&before);
    }
}
END_TEST

static volatile sig_atomic_t handled;

/* It faults nearly always: a launch has just taken the object away. */
static void touch(int number)
{
    (void)number;
    handled += 1;
    ((volatile uint32_t *)at[0])[handled] = (uint32_t)handled;
}

START_TEST(handler_between_launches_may_touch_everything)
{
    struct sigaction action = {.sa_handler = touch};
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    int count = 0;
    start();
    ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
    for (; count < LATER; count++)
        must(launch(1));
    ck_assert_int_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
    ck_assert_int_gt(handled, 0);
    ck_assert_uint_eq(counter(0), count);
    for (int i = 1; i <= handled; i++)
        ck_assert_uint_eq(((volatile uint32_t *)at[0])[i], i);
}
END_TEST

SUITE_MAIN("launches and signals", 60, launch_does_not_change_the_mask,
           copy_does_not_change_the_mask,
           copy_beside_a_handler_does_not_change_the_mask,
           calls_about_contexts_do_not_change_the_mask,
           mask_is_the_programs_behind_it,
           handler_between_launches_may_touch_everything)
