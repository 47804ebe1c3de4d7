/*
 * Variables of a module that the CPU touches and kernels use by their names, with
 * no argument that leads to them. Links with the driver alone; run preloaded.
 *
 * Return: 0; 1 with a line for each value that differs
 */
#include "../interpose/victims/victim.h"

enum { ROUNDS = 40, BYTES = 1 << 20 };

/* Each adds one to `in`, of another space; and writes the sum to its argument, and
 * to `out` as well. */
#define KERNEL(name, from, writes)                                             \
    ".visible .entry " name "(.param .u64 to)\n{\n"                            \
    ".reg .b32 %r<2>; .reg .b64 %d<4>;\n"                                      \
    "ld.param.u64 %d1, [to];\n" from "add.u32 %r1, %r1, 1;\n"                  \
    "st.global.u32 [%d1], %r1;\n" writes "ret; }\n"

static const char text[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".visible .global .align 4 .u32 in;\n"
    ".visible .const .align 4 .u32 fixed;\n"
    ".visible .global .align 4 .u32 out;\n" KERNEL(
        "direct", "ld.global.u32 %r1, [in];\n", "st.global.u32 [out], %r1;\n")
        KERNEL("moved", "mov.u64 %d2, in; ld.global.u32 %r1, [%d2];\n",
               "mov.u64 %d3, out; st.global.u32 [%d3], %r1;\n")
            KERNEL("reads", "ld.global.u32 %r1, [in];\n", "")
                KERNEL("constant", "ld.const.u32 %r1, [fixed];\n", "");

static const struct {
    const char *name, *from;
    bool writes;
} kernels[] = {
    {"direct", "in", true},
    {"moved", "in", true},
    {"reads", "in", false},
    {"constant", "fixed", false},
};

enum { KERNELS = sizeof kernels / sizeof *kernels };

static CUmodule module;

static volatile unsigned *variable(const char *name)
{
    CUdeviceptr at;
    size_t bytes;
    CHECK(cuModuleGetGlobal(&at, &bytes, module, name));
    return (volatile unsigned *)at;
}

static int differs(const char *kernel, const char *what, unsigned have,
                   unsigned want)
{
    if (have == want)
        return 0;
    printf("%s: %s is %u, not %u\n", kernel, what, have, want);
    return 1;
}

int main(void)
{
    CUfunction functions[KERNELS];
    volatile unsigned *from[KERNELS];
    CUdeviceptr to;
    int wrong = 0;
    victim_start();
    CHECK(cuModuleLoadData(&module, text));
    for (int k = 0; k < KERNELS; k++) {
        CHECK(cuModuleGetFunction(&functions[k], module, kernels[k].name));
        from[k] = variable(kernels[k].from);
    }
    volatile unsigned *out = variable("out");
    CHECK(cuMemAlloc(&to, BYTES));
    volatile unsigned *sum = (volatile unsigned *)to;
    void *params[] = {&to};
    for (unsigned i = 0; i < ROUNDS; i++) {
        int k = (int)(i % KERNELS);
        unsigned value = 10 * i;
        *from[k] = value;
        *out = sum[1] = i;
        for (unsigned again = 0; again <= i % 2; again++)
            CHECK(cuLaunchKernel(functions[k], 1, 1, 1, 1, 1, 1, 0, NULL,
                                 params, NULL));
        CHECK(cuCtxSynchronize());
        wrong += differs(kernels[k].name, "the sum", sum[0], value + 1);
        wrong += differs(kernels[k].name, "out", *out,
                         kernels[k].writes ? value + 1 : i);
        wrong += differs(kernels[k].name, "what was beside", sum[1], i);
    }
    return wrong > 0;
}
