/*
 * Questions to the driver by a program that never touches device memory from the
 * CPU: how much there is, where it lies, what pointers are, what is refused; and
 * to the kernel, what the process has beside it. The lines are the same in every
 * run, bare and preloaded.
 *
 *   answers [ROUTE]   named.c has the routes
 */
#include "answers.h"

#include <dirent.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- lines -------------------------------------------------------------------- */

void say(const char *name, const char *format, ...)
{
    va_list list;
    printf("%s: ", name);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    putchar('\n');
}

const char *result_name(CUresult result)
{
    const char *name = NULL;
    return cuGetErrorName(result, &name) == CUDA_SUCCESS && name ? name
                                                                 : "unnamed";
}

bool say_result(const char *name, CUresult result)
{
    say(name, "%s", result_name(result));
    return result == CUDA_SUCCESS;
}

static void must(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    printf("%s: %s\n", what, result_name(result));
    exit(3);
}

#define MUST(call) must(call, #call)

/* ---- the process -------------------------------------------------------------- */

static int descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

void ask_process(const char *when, bool alone)
{
    struct sigaction action;
    stack_t stack;
    sigset_t mask;
    char name[64];
    for (int i = 1; i <= SIGRTMAX; i++) {
        int result = sigaction(i, NULL, &action);
        snprintf(name, sizeof name, "signal %d %s", i, when);
        say(name, "%d, %s", result,
            action.sa_handler == SIG_DFL   ? "nothing"
            : action.sa_handler == SIG_IGN ? "ignored"
                                           : "a handler");
    }
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (int i = 1; i <= SIGRTMAX; i++)
        if (sigismember(&mask, i) == 1)
            say("blocked", "%d %s", i, when);
    sigaltstack(NULL, &stack);
    say("stack of handlers", "%d %s", stack.ss_flags, when);
    if (alone) /* the driver opens some beside the program later */
        say("descriptors", "%d %s", descriptors(), when);
}

/* ---- capacity ----------------------------------------------------------------- */

static size_t used(void)
{
    size_t left = 0, total = 0;
    CUresult result = cuMemGetInfo(&left, &total);
    return result == CUDA_SUCCESS ? total - left : (size_t)-1;
}

static void say_used(const char *name, size_t before)
{
    say(name, "%lld", (long long)used() - (long long)before);
}

void ask_capacity(void)
{
    static const size_t sizes[] = {1,   511,     4 * KIB,     MIB - 1,
                                   MIB, 2 * MIB, 2 * MIB + 1, 70 * MIB};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    CUdeviceptr at[SIZES];
    size_t left, total, before = used(), property = 0;
    char name[64];
    MUST(cuMemGetInfo(&left, &total));
    MUST(cuDeviceTotalMem(&property, 0));
    say("capacity total", "%zu", total);
    say("capacity of the device", "%zu", property);
    say("capacity used at first", "%zu", before);
    for (int i = 0; i < SIZES; i++) {
        snprintf(name, sizeof name, "capacity used with %zu more", sizes[i]);
        MUST(cuMemAlloc(&at[i], sizes[i]));
        say_used(name, before);
    }
    for (int i = 0; i < SIZES; i++) {
        snprintf(name, sizeof name, "capacity used with %zu less", sizes[i]);
        MUST(cuMemFree(at[i]));
        say_used(name, before);
    }
    MUST(cuMemAlloc(&at[0], left / 2));
    say_used("capacity used with half of all", before);
    say_result("capacity second half", cuMemAlloc(&at[1], left / 2 + MIB));
    MUST(cuMemFree(at[0]));
    say_used("capacity used at last", before);
}

/* ---- places ------------------------------------------------------------------- */

/* From one to the next, where both are of one piece of 2 MiB. */
static void say_step(const char *name, CUdeviceptr from, CUdeviceptr to)
{
    if (from / (2 * MIB) == to / (2 * MIB))
        say(name, "%lld on, %s page", (long long)(to - from),
            from / 4096 == to / 4096 ? "same" : "another");
    else
        say(name, "apart");
}

static void ask_places_of(size_t bytes)
{
    enum { EACH = 6 };
    CUdeviceptr at[EACH];
    char name[64];
    for (int i = 0; i < EACH; i++) {
        MUST(cuMemAlloc(&at[i], bytes));
        snprintf(name, sizeof name, "place %zu/%d", bytes, i);
        say(name, "%llu over 512, %llu over 64 KiB, %llu over 2 MiB",
            at[i] % 512, at[i] % (64 * KIB), at[i] % (2 * MIB));
    }
    for (int i = 0; i + 1 < EACH; i++) {
        snprintf(name, sizeof name, "step %zu/%d", bytes, i);
        say_step(name, at[i], at[i + 1]);
    }
    CUdeviceptr gone = at[2], again;
    MUST(cuMemFree(at[2]));
    MUST(cuMemAlloc(&again, bytes));
    snprintf(name, sizeof name, "place %zu again", bytes);
    say(name, "%s", gone == again ? "the same" : "another");
    at[2] = again;
    for (int i = 0; i < EACH; i++)
        MUST(cuMemFree(at[i]));
}

static void ask_pitches(void)
{
    static const unsigned widths[] = {1, 31, 100, 512, 513, 4096, 70001};
    char name[64];
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        CUdeviceptr at;
        size_t pitch = 0;
        snprintf(name, sizeof name, "pitch of %u", widths[i]);
        MUST(cuMemAllocPitch(&at, &pitch, widths[i], 7, 4));
        say(name, "%zu, at %llu over 512", pitch, at % 512);
        MUST(cuMemFree(at));
    }
}

void ask_places(void)
{
    static const size_t sizes[] = {
        1,        256, 512,     513,           4 * KIB,
        70 * KIB, MIB, 2 * MIB, 2 * MIB + 512, 5 * MIB};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        ask_places_of(sizes[i]);
    ask_pitches();
}

/* ---- all ---------------------------------------------------------------------- */

CUfunction answers_kernel(void)
{
    static CUmodule module;
    static CUfunction kernel;
    if (!module) {
        MUST(cuModuleLoadData(
            &module, ".version 6.0\n.target sm_50\n.address_size 64\n"
                     ".visible .entry put(.param .u64 p, .param .u32 n)\n{\n"
                     ".reg .b32 %r<2>;\n.reg .b64 %rd<3>;\n"
                     "ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [n];\n"
                     "cvta.to.global.u64 %rd2, %rd1;\n"
                     "st.global.u32 [%rd2], %r1;\nret;\n}\n"));
        MUST(cuModuleGetFunction(&kernel, module, "put"));
    }
    return kernel;
}

int main(void)
{
    CUcontext context;
    ask_process("at first", true);
    say_result("before cuInit", cuCtxGetCurrent(&context));
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    ask_process("with a context", true);
    ask_capacity();
    ask_places();
    memory_make();
    ask_pointers();
    memory_end();
    ask_pools();
    ask_refusals();
    ask_contexts();
    ask_capacity();
    ask_process("at last", false);
    ask_after_fault();
    return fflush(stdout) == 0 ? 0 : 3;
}
