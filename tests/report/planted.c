/*
 * A program with one thing to mend, or without it.
 *
 *   planted <kind>           the thing is there, at the line marked PLANTED kind
 *   planted <kind> mended    it is not
 *   planted <kind> graph     ... beside work of which nobody knows what it does,
 *   planted <kind> wild      by a graph, or a kernel that finds an address
 *
 * Prints the same sum with it and without it. Knows nothing of libadsm.
 */
#include "victim.h"

enum { WORDS = 1 << 20, ROUNDS = 8, BLOCK = 256 };
static const size_t bytes = WORDS * sizeof(uint32_t);

/* fill: p[i] = k. copy: q[i] = p[i] + k. wild: **p = 1. */
#define HEAD                                                                   \
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"    \
    "mad.lo.s32 %r5, %r2, %r3, %r4;\nmul.wide.u32 %rd3, %r5, 4;\n"
static const char ptx[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n" VICTIM_STEP
    ".visible .entry wild(.param .u64 p)\n{\n.reg .b32 %r<2>;\n"
    ".reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\n"
    "cvta.to.global.u64 %rd2, %rd1;\nld.global.u64 %rd3, [%rd2];\n"
    "mov.u32 %r1, 1;\nst.global.u32 [%rd3], %r1;\nret;\n}\n"
    ".visible .entry fill(.param .u64 p, .param .u32 k)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<6>;\n"
    "ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [k];\n" HEAD
    "cvta.to.global.u64 %rd2, %rd1;\nadd.s64 %rd4, %rd2, %rd3;\n"
    "st.global.u32 [%rd4], %r1;\nret;\n}\n"
    ".visible .entry copy(.param .u64 q, .param .u64 p, .param .u32 k)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
    "ld.param.u64 %rd1, [q];\nld.param.u64 %rd2, [p];\n"
    "ld.param.u32 %r1, [k];\n" HEAD
    "cvta.to.global.u64 %rd4, %rd1;\ncvta.to.global.u64 %rd5, %rd2;\n"
    "add.s64 %rd6, %rd4, %rd3;\nadd.s64 %rd7, %rd5, %rd3;\n"
    "ld.global.u32 %r6, [%rd7];\nadd.u32 %r6, %r6, %r1;\n"
    "st.global.u32 [%rd6], %r6;\nret;\n}\n";

static CUfunction step, fill, copy, wild;
static uint32_t *in, *out;
static bool planted, by_graph, is_wild;

static CUdeviceptr get(void)
{
    CUdeviceptr at;
    CHECK(cuMemAlloc(&at, bytes));
    return at;
}

static void run_fill(CUdeviceptr p, unsigned k)
{
    void *values[] = {&p, &k};
    CHECK(cuLaunchKernel(fill, WORDS / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL,
                         values, NULL));
}

static void launch_nothing(void)
{
    CUgraph graph;
    CUgraphExec exec;
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, NULL));
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
}

static void run_wild(void)
{
    CUdeviceptr p, to;
    void *values[] = {&p};
    CHECK(cuMemAlloc(&p, 16));
    to = p + 8;
    CHECK(cuMemcpyHtoD(p, &to, sizeof to));
    CHECK(cuLaunchKernel(wild, 1, 1, 1, 1, 1, 1, 0, NULL, values, NULL));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemFree(p));
}

static void run_copy(CUdeviceptr q, CUdeviceptr p, unsigned k, CUstream stream)
{
    void *values[] = {&q, &p, &k};
    if (by_graph)
        launch_nothing();
    if (is_wild)
        run_wild();
    CHECK(cuLaunchKernel(copy, WORDS / BLOCK, 1, 1, BLOCK, 1, 1, 0, stream,
                         values, NULL));
}

static void run_step(CUdeviceptr p, unsigned k)
{
    unsigned n = WORDS;
    void *values[] = {&p, &n, &k};
    CHECK(cuLaunchKernel(step, WORDS / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL,
                         values, NULL));
}

static void clean(void)
{
    CUdeviceptr p = get(), q = get();
    CHECK(cuMemcpyHtoD(p, in, bytes));
    run_copy(q, p, 1, NULL);
    CHECK(cuMemcpyDtoH(out, q, bytes));
    CHECK(cuMemFree(p));
    CHECK(cuMemFree(q));
}

static void duplicate(void)
{
    CUdeviceptr p = get(), q = get();
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (planted || i == 0)
            CHECK(cuMemcpyHtoD(p, in, bytes)); /* PLANTED duplicate */
        run_copy(q, p, i, NULL);
        CHECK(cuMemcpyDtoH(out, q, bytes));
    }
    CHECK(cuMemFree(p));
    CHECK(cuMemFree(q));
}

static void duplicate_down(void)
{
    CUdeviceptr p = get();
    CHECK(cuMemcpyHtoD(p, in, bytes));
    run_step(p, 1);
    CHECK(cuMemcpyDtoH(out, p, bytes));
    if (planted)
        CHECK(cuMemcpyDtoH(out, p, bytes)); /* PLANTED duplicate */
    CHECK(cuMemFree(p));
}

static void round_trip(void)
{
    CUdeviceptr p = get();
    CHECK(cuMemcpyHtoD(p, in, bytes));
    run_step(p, 1);
    CHECK(cuMemcpyDtoH(out, p, bytes));
    if (planted)
        CHECK(cuMemcpyHtoD(p, out, bytes)); /* PLANTED round_trip */
    run_step(p, 2);
    CHECK(cuMemcpyDtoH(out, p, bytes));
    CHECK(cuMemFree(p));
}

/* The same to another place. */
static void round_trip_elsewhere(void)
{
    CUdeviceptr p = get(), q = get();
    CHECK(cuMemcpyHtoD(p, in, bytes));
    run_step(p, 1);
    CHECK(cuMemcpyDtoH(out, p, bytes));
    if (planted)
        CHECK(cuMemcpyHtoD(q, out, bytes)); /* PLANTED round_trip */
    else
        CHECK(cuMemcpyDtoD(q, p, bytes));
    run_step(q, 2);
    CHECK(cuMemcpyDtoH(out, q, bytes));
    CHECK(cuMemFree(p));
    CHECK(cuMemFree(q));
}

static void overwritten(void)
{
    CUdeviceptr p = get();
    if (planted)
        CHECK(cuMemcpyHtoD(p, out, bytes)); /* PLANTED overwritten */
    CHECK(cuMemcpyHtoD(p, in, bytes));
    run_step(p, 1);
    CHECK(cuMemcpyDtoH(out, p, bytes));
    CHECK(cuMemFree(p));
}

static void freed_unread(void)
{
    CUdeviceptr p = get(), q = get();
    CHECK(cuMemcpyHtoD(p, in, bytes));
    if (planted)
        CHECK(cuMemcpyHtoD(q, in, bytes)); /* PLANTED freed_unread */
    else
        run_fill(q, 3);
    run_step(p, 1);
    if (!planted)
        CHECK(cuMemcpyDtoH(out, q, bytes));
    CHECK(cuMemcpyDtoH(out, p, bytes));
    CHECK(cuMemFree(p));
    CHECK(cuMemFree(q));
}

static void download_unread(void)
{
    CUdeviceptr p = get();
    void *locked;
    CHECK(cuMemAllocHost(&locked, bytes));
    CHECK(cuMemcpyHtoD(p, in, bytes));
    run_step(p, 1);
    if (planted)
        CHECK(cuMemcpyDtoHAsync(locked, p, bytes, /* PLANTED download_unread */
                                NULL));
    run_step(p, 2);
    CHECK(cuMemcpyDtoHAsync(locked, p, bytes, NULL));
    CHECK(cuStreamSynchronize(NULL));
    memcpy(out, locked, bytes);
    CHECK(cuMemFree(p));
    CHECK(cuMemFreeHost(locked));
}

static void pageable_async(void)
{
    CUdeviceptr p = get();
    void *locked;
    CHECK(cuMemAllocHost(&locked, bytes));
    memcpy(locked, in, bytes);
    if (planted)
        CHECK(cuMemcpyHtoDAsync(p, in, bytes, /* PLANTED pageable_async */
                                NULL));
    else
        CHECK(cuMemcpyHtoDAsync(p, locked, bytes, NULL));
    run_step(p, 1);
    CHECK(cuMemcpyDtoH(out, p, bytes));
    CHECK(cuMemFree(p));
    CHECK(cuMemFreeHost(locked));
}

static void needless_sync(void)
{
    CUdeviceptr p = get();
    CHECK(cuMemcpyHtoD(p, in, bytes));
    run_step(p, 1);
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH(out, p, bytes));
    if (planted)
        CHECK(cuCtxSynchronize()); /* PLANTED needless_sync */
    CHECK(cuMemFree(p));
}

/* The second one of two waits. */
static void needless_twice(void)
{
    CUdeviceptr p = get();
    CHECK(cuMemcpyHtoD(p, in, bytes));
    run_step(p, 1);
    CHECK(cuStreamSynchronize(NULL));
    if (planted)
        CHECK(cuStreamSynchronize(NULL)); /* PLANTED needless_sync */
    CHECK(cuMemcpyDtoH(out, p, bytes));
    CHECK(cuMemFree(p));
}

static void repeated_alloc(void)
{
    CUdeviceptr p = planted ? 0 : get();
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (planted)
            CHECK(cuMemAlloc(&p, bytes)); /* PLANTED repeated_alloc */
        run_fill(p, i);
        run_step(p, 1);
        CHECK(cuMemcpyDtoH(out, p, bytes));
        if (planted)
            CHECK(cuMemFree(p));
    }
    if (!planted)
        CHECK(cuMemFree(p));
}

static void unused_alloc(void)
{
    CUdeviceptr p = get(), q = 0;
    if (planted)
        CHECK(cuMemAlloc(&q, bytes)); /* PLANTED unused_alloc */
    CHECK(cuMemcpyHtoD(p, in, bytes));
    run_step(p, 1);
    CHECK(cuMemcpyDtoH(out, p, bytes));
    CHECK(cuMemFree(p));
    if (planted)
        CHECK(cuMemFree(q));
}

static void early_alloc(void)
{
    CUdeviceptr p, q = 0;
    if (planted)
        CHECK(cuMemAlloc(&q, bytes)); /* PLANTED early_alloc */
    p = get();
    CHECK(cuMemcpyHtoD(p, in, bytes));
    run_step(p, 1);
    CHECK(cuMemcpyDtoH(out, p, bytes));
    CHECK(cuMemFree(p));
    if (!planted)
        CHECK(cuMemAlloc(&q, bytes));
    run_fill(q, out[1]);
    CHECK(cuMemcpyDtoH(out, q, bytes));
    CHECK(cuMemFree(q));
}

static void late_free(void)
{
    CUdeviceptr p = get(), q;
    CHECK(cuMemcpyHtoD(p, in, bytes));
    run_step(p, 1);
    CHECK(cuMemcpyDtoH(out, p, bytes));
    if (!planted)
        CHECK(cuMemFree(p));
    q = get();
    run_fill(q, out[1]);
    CHECK(cuMemcpyDtoH(out, q, bytes));
    if (planted)
        CHECK(cuMemFree(p)); /* PLANTED late_free */
    CHECK(cuMemFree(q));
}

static void leak(void)
{
    CUdeviceptr p;
    CHECK(cuMemAlloc(&p, bytes)); /* PLANTED leak */
    CHECK(cuMemcpyHtoD(p, in, bytes));
    run_step(p, 1);
    CHECK(cuMemcpyDtoH(out, p, bytes));
    if (!planted)
        CHECK(cuMemFree(p));
}

static void dead_write(void)
{
    CUdeviceptr p = get();
    if (planted)
        CHECK(cuMemsetD32(p, 7, WORDS)); /* PLANTED dead_write */
    CHECK(cuMemcpyHtoD(p, in, bytes));
    run_step(p, 1);
    CHECK(cuMemcpyDtoH(out, p, bytes));
    CHECK(cuMemFree(p));
}

/* By a kernel, which nobody reads. */
static void dead_kernel(void)
{
    CUdeviceptr p = get(), q = get();
    void *values[] = {&q, &(unsigned){5}};
    CHECK(cuMemcpyHtoD(p, in, bytes));
    run_copy(q, p, 1, NULL);
    CHECK(cuMemcpyDtoH(out, q, bytes));
    if (planted)
        CHECK(cuLaunchKernel(fill, WORDS / BLOCK, 1, 1, /* PLANTED dead_write */
                             BLOCK, 1, 1, 0, NULL, values, NULL));
    CHECK(cuMemFree(p));
    CHECK(cuMemFree(q));
}

/* By a function that makes all copies. */
static __attribute__((noinline)) void send(CUdeviceptr to)
{
    CHECK(cuMemcpyHtoD(to, in, bytes)); /* SENDS */
}

static void wrapped(void)
{
    CUdeviceptr p = get(), q = get();
    send(p);
    run_copy(q, p, 1, NULL);
    CHECK(cuMemcpyDtoH(out, q, bytes));
    if (planted)
        send(p); /* SENDS AGAIN */
    run_step(p, 1);
    CHECK(cuMemcpyDtoH(out, p, bytes));
    CHECK(cuMemFree(p));
    CHECK(cuMemFree(q));
}

/* Asynchronous copies as they should be. */
static void async(void)
{
    CUdeviceptr p = get(), q = get();
    CUstream stream;
    void *locked;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAllocHost(&locked, bytes));
    memcpy(locked, in, bytes);
    for (unsigned i = 0; i < ROUNDS; i++) {
        *(uint32_t *)locked = 7777 * (i + 1);
        CHECK(cuMemcpyHtoDAsync(p, locked, bytes, stream));
        run_copy(q, p, i, stream);
        CHECK(cuMemcpyDtoHAsync(locked, q, bytes, stream));
        CHECK(cuStreamSynchronize(stream));
    }
    memcpy(out, locked, bytes);
    CHECK(cuMemFreeHost(locked));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuMemFree(p));
    CHECK(cuMemFree(q));
}

/* The CPU looks whether a copy down is over, and uses it; and two streams. */
static void polled(void)
{
    CUdeviceptr p = get();
    CUstream stream;
    uint32_t *locked;
    void *memory;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAllocHost(&memory, bytes));
    locked = memory;
    CHECK(cuMemcpyHtoD(p, in, bytes));
    for (unsigned i = 1; i < 3; i++) {
        run_step(p, i);
        CHECK(cuStreamSynchronize(NULL));
        CHECK(cuMemcpyDtoHAsync(locked, p, bytes, stream));
        while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
            ;
        out[0] += locked[7];
    }
    run_step(p, 3);
    CHECK(cuMemcpyDtoHAsync(locked, p, bytes, stream));
    CHECK(cuStreamSynchronize(NULL));
    CHECK(cuStreamSynchronize(stream));
    out[1] = locked[8];
    CHECK(cuMemFreeHost(memory));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuMemFree(p));
}

/* The CPU changes what came down, and has it brought again. */
static void restored(void)
{
    CUdeviceptr p = get();
    CHECK(cuMemcpyHtoD(p, in, bytes));
    run_step(p, 1);
    CHECK(cuMemcpyDtoH(out, p, bytes));
    out[WORDS / 2] ^= 1;
    CHECK(cuMemcpyDtoH(out, p, bytes));
    CHECK(cuMemFree(p));
}

/* A kernel changes what a copy down has brought before that is waited for; and
 * freeing memory is a wait as well. */
static void overtaken(void)
{
    CUdeviceptr p = get(), q = get();
    void *locked;
    CHECK(cuMemAllocHost(&locked, bytes));
    CHECK(cuMemcpyHtoD(p, in, bytes));
    CHECK(cuMemcpyDtoHAsync(locked, p, bytes, NULL));
    run_step(p, 1);
    CHECK(cuStreamSynchronize(NULL));
    run_copy(q, p, 1, NULL);
    CHECK(cuMemcpyDtoH(out, q, bytes));
    CHECK(cuMemcpyHtoD(p, locked, bytes));
    run_copy(q, p, 1, NULL);
    CHECK(cuMemcpyDtoH(out, q, bytes));
    CHECK(cuMemcpyDtoHAsync(locked, p, bytes, NULL));
    CHECK(cuMemFree(q));
    out[1] += *(uint32_t *)locked;
    run_step(p, 2);
    CHECK(cuMemcpyDtoHAsync(locked, p, bytes, NULL));
    CHECK(cuStreamSynchronize(NULL));
    out[2] += *(uint32_t *)locked;
    CHECK(cuMemFree(p));
    CHECK(cuMemFreeHost(locked));
}

/* A copy and a free that the driver refuses are none. */
static void refused(void)
{
    CUdeviceptr p = get();
    if (cuMemcpyHtoD(1 << 20, in, bytes) == CUDA_SUCCESS ||
        cuMemFree(1 << 20) == CUDA_SUCCESS)
        exit(4);
    CHECK(cuMemcpyHtoD(p, in, bytes));
    run_step(p, 1);
    CHECK(cuMemcpyDtoH(out, p, bytes));
    CHECK(cuMemFree(p));
}

/* A copy down at the end, for which nobody waits; freeing would. */
static void unwaited(void)
{
    CUdeviceptr p;
    void *locked;
    CHECK(cuMemAllocHost(&locked, bytes));
    CHECK(cuMemAlloc(&p, bytes));
    CHECK(cuMemcpyHtoD(p, in, bytes));
    CHECK(cuMemcpyDtoHAsync(locked, p, bytes, NULL)); /* UNWAITED */
}

static const struct {
    const char *name;
    void (*run)(void);
} kinds[] = {
    {"clean", clean},
    {"async", async},
    {"duplicate", duplicate},
    {"duplicate_down", duplicate_down},
    {"round_trip", round_trip},
    {"round_trip_elsewhere", round_trip_elsewhere},
    {"overwritten", overwritten},
    {"freed_unread", freed_unread},
    {"download_unread", download_unread},
    {"pageable_async", pageable_async},
    {"needless_sync", needless_sync},
    {"needless_twice", needless_twice},
    {"polled", polled},
    {"restored", restored},
    {"overtaken", overtaken},
    {"refused", refused},
    {"unwaited", unwaited},
    {"repeated_alloc", repeated_alloc},
    {"unused_alloc", unused_alloc},
    {"early_alloc", early_alloc},
    {"late_free", late_free},
    {"leak", leak},
    {"dead_write", dead_write},
    {"dead_kernel", dead_kernel},
    {"wrapped", wrapped},
};

static void begin(void)
{
    CUmodule module;
    victim_start();
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&step, module, "step"));
    CHECK(cuModuleGetFunction(&fill, module, "fill"));
    CHECK(cuModuleGetFunction(&copy, module, "copy"));
    CHECK(cuModuleGetFunction(&wild, module, "wild"));
    in = malloc(bytes);
    out = calloc(1, bytes);
    for (unsigned i = 0; i < WORDS; i++)
        in[i] = i * 2654435761u;
}

int main(int argc, char **argv)
{
    by_graph = argc > 2 && strcmp(argv[2], "graph") == 0;
    is_wild = argc > 2 && strcmp(argv[2], "wild") == 0;
    planted = argc < 3 || by_graph || is_wild;
    for (size_t i = 0; argc > 1 && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(argv[1], kinds[i].name) != 0)
            continue;
        begin();
        kinds[i].run();
        printf("%016llx\n",
               (unsigned long long)victim_hash((uint8_t *)out, bytes));
        return 0;
    }
    return 2;
}
