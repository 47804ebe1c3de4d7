/*
 * A kernel that goes astray ends its context: what every later call answers,
 * of memory that was there before and of new memory, small and large.
 *
 *   explicit   the same bare and preloaded
 */
#include "victim.h"

static const char wild_ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                               ".visible .entry wild()\n{\n"
                               ".reg .b64 %d<2>;\n.reg .b32 %r<2>;\n"
                               "mov.u64 %d1, 16;\nmov.u32 %r1, 1;\n"
                               "st.global.u32 [%d1], %r1;\nret;\n}\n";

static CUdeviceptr make(size_t bytes)
{
    CUdeviceptr memory;
    CHECK(cuMemAlloc(&memory, bytes));
    CHECK(cuMemsetD8(memory, 1, bytes));
    return memory;
}

int main(void)
{
    static char host[64];
    static const size_t sizes[] = {64, 70000, 5 << 20};
    CUdeviceptr memory[3], more;
    CUmodule module;
    CUfunction wild;
    victim_start();
    CHECK(cuModuleLoadData(&module, wild_ptx));
    CHECK(cuModuleGetFunction(&wild, module, "wild"));
    for (int i = 0; i < 3; i++)
        memory[i] = make(sizes[i]);
    CHECK(cuCtxSynchronize());
    CHECK(cuLaunchKernel(wild, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    printf("wait %d\n", cuCtxSynchronize());
    for (int i = 0; i < 3; i++) {
        printf("copy %d\n", cuMemcpyDtoH(host, memory[i], sizeof host));
        printf("set %d\n", cuMemsetD8(memory[i], 2, 64));
        printf("alloc %d\n", cuMemAlloc(&more, sizes[i]));
        printf("free %d\n", cuMemFree(memory[i]));
    }
    printf("wait %d\n", cuCtxSynchronize());
    return 0;
}
