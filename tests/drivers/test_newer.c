/*
 * Calls of newer drivers, and of the first ones: what they read is what the CPU
 * wrote last, and the CPU reads what they wrote.
 *
 * Meson runs it bare, where the CPU's part is done by copies, and preloaded.
 */
#include "common/suite.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define must(call) ck_assert_int_eq((call), CUDA_SUCCESS)
#define FIND(name, parameters)                                                 \
    CUresult(*name) parameters = find(#name);                                  \
    ck_assert_msg(name != NULL, #name)

enum { WORDS = 300007, BYTES = WORDS * 4 };

static void *driver;
static uint32_t plain[WORDS];

static void *find(const char *name)
{
    return dlsym(driver, name);
}

static bool is_preloaded(void)
{
    return dlsym(RTLD_DEFAULT, "adsm_hooks_list") != NULL;
}

static void start(void)
{
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    ck_assert_msg(driver != NULL, "%s", dlerror());
    FIND(cuInit, (unsigned));
    FIND(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice));
    FIND(cuCtxSetCurrent, (CUcontext));
    CUcontext context;
    must(cuInit(0));
    must(cuDevicePrimaryCtxRetain(&context, 0));
    must(cuCtxSetCurrent(context));
}

static CUdeviceptr make(void)
{
    FIND(cuMemAlloc_v2, (CUdeviceptr *, size_t));
    FIND(cuMemsetD8_v2, (CUdeviceptr, unsigned char, size_t));
    CUdeviceptr at;
    must(cuMemAlloc_v2(&at, BYTES));
    must(cuMemsetD8_v2(at, 0, BYTES));
    return at;
}

static void fill(CUdeviceptr at, uint32_t seed)
{
    FIND(cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t));
    volatile uint32_t *words = is_preloaded() ? (uint32_t *)at : plain;
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = i * 7 + seed;
    if (!is_preloaded())
        must(cuMemcpyHtoD_v2(at, plain, BYTES));
}

static void expect(CUdeviceptr at, uint32_t seed)
{
    FIND(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t));
    volatile uint32_t *words = is_preloaded() ? (uint32_t *)at : plain;
    if (!is_preloaded())
        must(cuMemcpyDtoH_v2(plain, at, BYTES));
    uint32_t same = 0;
    while (same < WORDS && words[same] == same * 7 + seed)
        same++;
    ck_assert_uint_eq(same, WORDS);
}

/* As tests/drivers/newer.c describes any copy. */
struct copy {
    CUdeviceptr to, from;
    size_t bytes;
};

static void with_attributes(struct copy *what)
{
    FIND(cuMemcpyWithAttributesAsync,
         (CUdeviceptr, CUdeviceptr, size_t, void *, CUstream));
    must(cuMemcpyWithAttributesAsync(what->to, what->from, what->bytes, NULL,
                                     NULL));
}

static void with_attributes_3d(struct copy *what)
{
    FIND(cuMemcpy3DWithAttributesAsync, (void *, unsigned long long, CUstream));
    must(cuMemcpy3DWithAttributesAsync(what, 0, NULL));
}

static void fabric(struct copy *what)
{
    FIND(cuFabricCpyBatchAsync, (size_t, void *, unsigned long long, CUstream));
    must(cuFabricCpyBatchAsync(1, what, 0, NULL));
}

static void decompress(struct copy *what)
{
    FIND(cuMemBatchDecompressAsync,
         (void *, size_t, unsigned, size_t *, CUstream));
    must(cuMemBatchDecompressAsync(what, 1, 0, NULL, NULL));
}

static void batch(struct copy *what)
{
    FIND(cuMemcpyBatchAsync_v2, (CUdeviceptr *, CUdeviceptr *, size_t *, size_t,
                                 void *, size_t *, size_t, CUstream));
    must(cuMemcpyBatchAsync_v2(&what->to, &what->from, &what->bytes, 1, NULL,
                               NULL, 0, NULL));
}

START_TEST(copies_of_every_form_take_what_the_cpu_wrote)
{
    static void (*const copies[])(struct copy *) = {
        with_attributes, with_attributes_3d, fabric, decompress, batch};
    start();
    struct copy what = {make(), make(), BYTES};
    for (uint32_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        fill(what.from, i * 100 + 1);
        fill(what.to, 5);
        copies[i](&what);
        expect(what.to, i * 100 + 1);
        expect(what.from, i * 100 + 1);
    }
}
END_TEST

/* Adds 1 to its word; the grid is as many. */
static const char add_ptx[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry add(.param .u64 p)\n{\n"
    ".reg .b32 %r<3>;\n.reg .b64 %d<4>;\n"
    "ld.param.u64 %d1, [p];\nmov.u32 %r1, %ctaid.x;\n"
    "mul.wide.u32 %d2, %r1, 4;\nadd.s64 %d3, %d1, %d2;\n"
    "ld.global.u32 %r2, [%d3];\nadd.u32 %r2, %r2, 1;\n"
    "st.global.u32 [%d3], %r2;\nret;\n}\n";

static CUfunction add_kernel(void)
{
    FIND(cuModuleLoadData, (CUmodule *, const void *));
    FIND(cuModuleGetFunction, (CUfunction *, CUmodule, const char *));
    CUmodule module;
    CUfunction kernel;
    must(cuModuleLoadData(&module, add_ptx));
    must(cuModuleGetFunction(&kernel, module, "add"));
    return kernel;
}

START_TEST(launches_of_the_first_drivers_are_launches)
{
    start();
    FIND(cuFuncSetBlockShape, (CUfunction, int, int, int));
    FIND(cuParamSetSize, (CUfunction, unsigned));
    FIND(cuParamSeti, (CUfunction, int, unsigned));
    FIND(cuLaunch, (CUfunction));
    FIND(cuLaunchGrid, (CUfunction, int, int));
    FIND(cuLaunchGridAsync, (CUfunction, int, int, CUstream));
    CUdeviceptr at = make();
    CUfunction kernel = add_kernel();
    must(cuFuncSetBlockShape(kernel, 1, 1, 1));
    must(cuParamSetSize(kernel, 8));
    must(cuParamSeti(kernel, 0, (unsigned)at));
    must(cuParamSeti(kernel, 4, (unsigned)(at >> 32)));
    fill(at, 10);
    must(cuLaunchGrid(kernel, WORDS, 1));
    expect(at, 11);
    fill(at, 20);
    must(cuLaunchGridAsync(kernel, WORDS, 1, NULL));
    expect(at, 21);
    for (int i = 0; i < 2; i++) {
        fill(at, 30);
        must(cuLaunch(kernel));
        FIND(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t));
        must(cuMemcpyDtoH_v2(plain, at, BYTES));
        ck_assert_uint_eq(plain[0], 31);
        ck_assert_uint_eq(plain[1], 37);
    }
}
END_TEST

START_TEST(parameters_of_the_first_drivers_may_lie_in_shared_memory)
{
    start();
    FIND(cuFuncSetBlockShape, (CUfunction, int, int, int));
    FIND(cuParamSetSize, (CUfunction, unsigned));
    FIND(cuParamSetv, (CUfunction, int, void *, unsigned));
    FIND(cuLaunchGrid, (CUfunction, int, int));
    CUdeviceptr at = make(), parameter = make();
    CUfunction kernel = add_kernel();
    void *from = is_preloaded() ? (void *)parameter : &at;
    if (is_preloaded())
        *(CUdeviceptr *)parameter = at;
    must(cuFuncSetBlockShape(kernel, 1, 1, 1));
    must(cuParamSetSize(kernel, sizeof at));
    fill(at, 40);
    must(cuParamSetv(kernel, 0, from, sizeof at));
    must(cuLaunchGrid(kernel, WORDS, 1));
    expect(at, 41);
}
END_TEST

START_TEST(recaptured_work_is_released_when_it_is_launched)
{
    start();
    FIND(cuStreamCreate, (CUstream *, unsigned));
    FIND(cuStreamBeginRecaptureToGraph,
         (CUstream, int, CUgraph, void *, void *));
    FIND(cuStreamEndCapture, (CUstream, CUgraph *));
    FIND(cuGraphInstantiateWithFlags,
         (CUgraphExec *, CUgraph, unsigned long long));
    FIND(cuGraphLaunch, (CUgraphExec, CUstream));
    FIND(cuStreamSynchronize, (CUstream));
    FIND(cuMemcpyDtoDAsync_v2, (CUdeviceptr, CUdeviceptr, size_t, CUstream));
    CUdeviceptr to = make(), from = make();
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    must(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    fill(from, 1);
    must(cuStreamBeginRecaptureToGraph(stream, CU_STREAM_CAPTURE_MODE_GLOBAL,
                                       NULL, NULL, NULL));
    must(cuMemcpyDtoDAsync_v2(to, from, BYTES, stream));
    must(cuStreamEndCapture(stream, &graph));
    must(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (uint32_t i = 2; i < 5; i++) {
        fill(from, i);
        must(cuGraphLaunch(exec, stream));
        must(cuStreamSynchronize(stream));
        expect(to, i);
    }
}
END_TEST

struct node {
    int type, reserved[3];
    CUhostFn function;
    void *data;
    long long more[30];
};

static void store(void *data)
{
    volatile uint32_t *words = is_preloaded() ? data : plain;
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] += 9;
}

START_TEST(host_nodes_of_the_newest_form_may_touch_shared_memory)
{
    start();
    FIND(cuGraphCreate, (CUgraph *, unsigned));
    FIND(cuGraphAddNode_v3, (CUgraphNode *, CUgraph, const CUgraphNode *,
                             const void *, size_t, struct node *));
    FIND(cuGraphNodeSetParams_v2, (CUgraphNode, struct node *));
    FIND(cuGraphNodeGetParams, (CUgraphNode, struct node *));
    FIND(cuGraphInstantiateWithFlags,
         (CUgraphExec *, CUgraph, unsigned long long));
    FIND(cuGraphLaunch, (CUgraphExec, CUstream));
    FIND(cuStreamSynchronize, (CUstream));
    CUdeviceptr at = make();
    struct node node = {CU_GRAPH_NODE_TYPE_HOST, {0}, NULL, NULL, {0}};
    struct node got;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode made;
    node.function = store;
    node.data = &node;
    must(cuGraphCreate(&graph, 0));
    must(cuGraphAddNode_v3(&made, graph, NULL, NULL, 0, &node));
    node.data = (void *)at;
    must(cuGraphNodeSetParams_v2(made, &node));
    must(cuGraphNodeGetParams(made, &got));
    ck_assert_ptr_eq(got.data, (void *)at);
    ck_assert(got.function == store);
    must(cuGraphInstantiateWithFlags(&exec, graph, 0));
    fill(at, 100);
    /* The first must not wait for the second, which waits for it. */
    must(cuGraphLaunch(exec, NULL));
    must(cuGraphLaunch(exec, NULL));
    must(cuStreamSynchronize(NULL));
    if (is_preloaded())
        expect(at, 118);
    else
        ck_assert_uint_eq(plain[1], 125);
}
END_TEST

SUITE_MAIN("drivers-newer", 60, copies_of_every_form_take_what_the_cpu_wrote,
           launches_of_the_first_drivers_are_launches,
           parameters_of_the_first_drivers_may_lie_in_shared_memory,
           recaptured_work_is_released_when_it_is_launched,
           host_nodes_of_the_newest_form_may_touch_shared_memory)
