/*
 * What a kernel left and the CPU read each time comes behind the kernel. Then
 * something writes it once more before anybody looks: what is read is that. Links
 * with the driver alone; run preloaded.
 *
 * Return: 0; 1 with a line for each value that differs
 */
#include "../interpose/victims/victim.h"

#include <unistd.h>

enum { ROUNDS = 6, TIMES = 20, BYTES = 4096 };

/* Two of the same, so that what is expected of one is not of the other. */
#define PUT(name)                                                              \
    ".visible .entry " name "(.param .u64 to, .param .u32 value)\n{\n"         \
    ".reg .b32 %r<2>; .reg .b64 %d<2>;\n"                                      \
    "ld.param.u64 %d1, [to]; ld.param.u32 %r1, [value];\n"                     \
    "st.global.u32 [%d1], %r1;\nret; }\n"

static const char text[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n" PUT("put") PUT("other");

static CUmodule module;
static CUfunction put, other;
static CUdeviceptr array, source;
static CUstream stream;

static void launch(CUfunction kernel, CUstream where, unsigned value)
{
    void *params[] = {&array, &value};
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, where, params, NULL));
}

static void by_kernel(unsigned value)
{
    launch(other, stream, value);
}

static void by_the_same(unsigned value)
{
    launch(put, stream, value);
}

static void by_set(unsigned value)
{
    CHECK(cuMemsetD32Async(array, value, 1, stream));
}

static void by_copy(unsigned value)
{
    CHECK(cuMemsetD32Async(source, value, 1, stream));
    CHECK(cuMemcpyDtoDAsync(array, source, 4, stream));
}

static void by_upload(unsigned value)
{
    static unsigned from;
    from = value;
    CHECK(cuMemcpyHtoDAsync(array, &from, 4, stream));
}

static void by_wait_and_kernel(unsigned value)
{
    CHECK(cuStreamSynchronize(stream));
    launch(other, stream, value);
}

static void by_graph(unsigned value)
{
    victim_by_graph(stream, by_kernel, value);
}

static const struct {
    const char *name;
    void (*write)(unsigned value);
} ways[] = {
    {"another kernel", by_kernel},
    {"the same kernel", by_the_same},
    {"a set", by_set},
    {"a copy", by_copy},
    {"an upload", by_upload},
    {"another kernel behind a wait", by_wait_and_kernel},
    {"a graph", by_graph},
};

enum { WAYS = sizeof ways / sizeof *ways };

static int differs(const char *what, unsigned value)
{
    unsigned have = *(volatile unsigned *)array;
    if (have == value)
        return 0;
    printf("behind %s it is %u, not %u\n", what, have, value);
    return 1;
}

/* Until it comes behind the kernel. */
static int expect(unsigned value)
{
    int wrong = 0;
    for (unsigned i = 0; i < TIMES; i++) {
        launch(put, stream, value + i);
        CHECK(cuStreamSynchronize(stream));
        wrong += differs("each return", value + i);
    }
    return wrong;
}

int main(void)
{
    int wrong = 0;
    victim_start();
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&put, module, "put"));
    CHECK(cuModuleGetFunction(&other, module, "other"));
    CHECK(cuMemAlloc(&array, BYTES));
    CHECK(cuMemAlloc(&source, BYTES));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < ROUNDS * WAYS; i++) {
        wrong += expect(1000 * i);
        launch(put, stream, 7);
        usleep(2000); /* what comes behind it has come */
        ways[i % WAYS].write(1000 * i + 500);
        CHECK(cuCtxSynchronize());
        wrong += differs(ways[i % WAYS].name, 1000 * i + 500);
    }
    return wrong > 0;
}
