/*
 * Work on memory that is shared meanwhile, for what is beside it on its page: no
 * effect of the work is lost.
 *
 * Another thread shares it while the work is submitted: he waits for what the
 * device has, and the work for him; then it is work on shared memory. Or a host
 * function does, which waits for nothing: the work, of which nobody was told, is
 * waited for by whoever else uses the memory. Links with the driver alone; run
 * preloaded.
 *
 * Return: 0; 1 with a line for each value that differs
 */
#include "../interpose/victims/victim.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum {
    BYTES = 64 << 10, /* as much as the device copies by itself */
    BUSY_NS = 100 * 1000 * 1000,
    SOON_US = 10 * 1000,
    ROUNDS = 4, /* what is quick may come before the page is looked at */
};

/* *to = value, when so much time has passed. */
static const char text[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry late(.param .u64 to, .param .u32 value, .param .u64 ns)\n"
    "{\n.reg .b32 %v; .reg .b64 %a, %n, %b, %t; .reg .pred %p;\n"
    "ld.param.u64 %a, [to]; ld.param.u32 %v, [value];\n"
    "ld.param.u64 %n, [ns]; mov.u64 %b, %globaltimer;\n"
    "L: mov.u64 %t, %globaltimer; sub.u64 %t, %t, %b;\n"
    "setp.lt.u64 %p, %t, %n; @%p bra L;\n"
    "st.global.u32 [%a], %v;\nret; }\n";

static CUcontext context;
static CUfunction late;
static CUstream busy, stream; /* neither waits for the other */
static CUdeviceptr array, source, elsewhere, other;

static void launch(CUdeviceptr to, CUstream where, unsigned value, uint64_t ns)
{
    void *params[] = {&to, &value, &ns};
    CHECK(cuLaunchKernel(late, 1, 1, 1, 1, 1, 1, 0, where, params, NULL));
}

/* ---- the work -------------------------------------------------------------- */

static void by_kernel(unsigned value)
{
    launch(array, stream, value, BUSY_NS);
}

static void by_cooperative_kernel(unsigned value)
{
    uint64_t ns = BUSY_NS;
    void *params[] = {&array, &value, &ns};
    CHECK(cuLaunchCooperativeKernel(late, 1, 1, 1, 1, 1, 1, 0, stream, params));
}

static void by_set(unsigned value)
{
    CHECK(cuMemsetD32Async(array, value, 1, stream));
}

static void by_copy(unsigned value)
{
    CHECK(cuMemcpyDtoDAsync(array, source, 4, stream));
    (void)value;
}

static void by_upload(unsigned value)
{
    CHECK(cuMemcpyHtoDAsync(array, &value, 4, stream));
    CHECK(cuStreamSynchronize(stream));
}

/* What the call has for the host's is the device's. */
static void by_download(unsigned value)
{
    CHECK(cuMemcpyDtoHAsync((void *)(uintptr_t)array, source, 4, stream));
    (void)value;
}

static void by_short_kernel(unsigned value)
{
    launch(array, stream, value, 0);
}

static void by_graph(unsigned value)
{
    victim_by_graph(stream, by_short_kernel, value);
}

static const struct {
    const char *name;
    void (*write)(unsigned value);
} ways[] = {
    {"a kernel", by_kernel},  {"a cooperative kernel", by_cooperative_kernel},
    {"a set", by_set},        {"a copy", by_copy},
    {"an upload", by_upload}, {"a download", by_download},
    {"a graph", by_graph},
};

enum { WAYS = sizeof ways / sizeof *ways };

/* ---- who shares the page --------------------------------------------------- */

static volatile unsigned *words(CUdeviceptr at)
{
    return (volatile unsigned *)(uintptr_t)at;
}

static void begin(unsigned value)
{
    CHECK(cuMemAlloc(&array, BYTES));
    CHECK(cuMemAlloc(&other, BYTES));
    CHECK(cuMemsetD32(array, 1, BYTES / 4));
    CHECK(cuMemsetD32(source, value, 1));
    CHECK(cuCtxSynchronize());
}

/* Return: 1: the work was lost */
static int end(const char *name, const char *who, unsigned have, unsigned value)
{
    CHECK(cuMemFree(array));
    CHECK(cuMemFree(other));
    if (have == value)
        return 0;
    printf("%s, %s: it is %u, not %u\n", name, who, have, value);
    return 1;
}

static _Atomic int toucher;

/* Beside what the work writes. */
static void *touch(void *unused)
{
    (void)unused;
    CHECK(cuCtxSetCurrent(context));
    atomic_store(&toucher, gettid());
    (void)words(array)[1];
    return NULL;
}

static int check_thread(unsigned way, unsigned value)
{
    pthread_t thread;
    begin(value);
    launch(elsewhere, busy, 0, BUSY_NS);
    atomic_store(&toucher, 0);
    if (pthread_create(&thread, NULL, touch, NULL) != 0)
        exit(3);
    while (!atomic_load(&toucher) || !victim_sleeps(atomic_load(&toucher)))
        usleep(100);
    usleep(SOON_US);
    ways[way].write(value);
    pthread_join(thread, NULL);
    CHECK(cuCtxSynchronize());
    return end(ways[way].name, "shared by a thread", words(array)[0], value);
}

/* For a host function, which takes a while. */
static void touch_both(void *pauses)
{
    if (pauses)
        usleep(3 * SOON_US);
    (void)words(array)[1];
    (void)words(other)[1];
}

static void work(unsigned way, unsigned value)
{
    launch(elsewhere, stream, 0, BUSY_NS);
    ways[way].write(value);
}

/* @behind  the work is submitted behind the function, in another stream */
static void share_by_function(unsigned way, unsigned value, bool behind)
{
    begin(value);
    if (!behind)
        work(way, value);
    CHECK(cuLaunchHostFunc(busy, touch_both, behind ? &context : NULL));
    if (behind)
        work(way, value);
    CHECK(cuStreamSynchronize(busy));
}

/* What is beside it is looked at, and what is made of it then. */
static int check_function(unsigned way, unsigned value, bool behind)
{
    share_by_function(way, value, behind);
    (void)words(array)[1];
    CHECK(cuStreamSynchronize(stream));
    return end(ways[way].name,
               behind ? "shared by a function ahead" : "shared by a function",
               words(array)[0], value);
}

/* By which the CPU waits for the work. */
static int check_copied(unsigned way, unsigned value)
{
    share_by_function(way, value, false);
    memcpy((void *)(uintptr_t)other, (void *)(uintptr_t)array, BYTES);
    unsigned have = words(other)[0];
    CHECK(cuCtxSynchronize());
    return end(ways[way].name, "shared by a function, and copied", have, value);
}

int main(void)
{
    CUmodule module;
    int wrong = 0;
    victim_start();
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&late, module, "late"));
    CHECK(cuMemAlloc(&elsewhere, BYTES));
    CHECK(cuMemAlloc(&source, BYTES));
    CHECK(cuStreamCreate(&busy, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (unsigned way = 0; way < WAYS; way++) {
        for (unsigned round = 0; round < ROUNDS; round++)
            wrong += check_thread(way, 1000 + 10 * round + way);
        wrong += check_function(way, 2000 + way, false);
        wrong += check_function(way, 3000 + way, true);
        wrong += check_copied(way, 4000 + way);
    }
    return wrong > 0;
}
