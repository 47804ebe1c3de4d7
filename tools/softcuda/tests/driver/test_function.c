/*
 * What functions say about themselves, occupancy, limits of device code.
 */
#include "tests/driver/driver_test.h"
#include "tests/driver/kernels.h"

/* sm_75 code with 48 KiB of static shared memory, and some with none. */
static const char functions_ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".extern .shared .align 4 .b8 room[];\n"
    ".visible .entry plain()\n{\n ret;\n}\n"
    ".visible .entry small() .maxntid 128, 1, 1\n{\n ret;\n}\n"
    ".visible .entry full(.param .u64 p)\n{\n"
    " .shared .align 4 .b8 tile[49152]; .reg .b32 %r<2>; .reg .b64 %d<2>;\n"
    " ld.param.u64 %d0, [p]; st.shared.u32 [tile+49148], 7;\n"
    " ld.shared.u32 %r0, [tile+49148]; st.global.u32 [%d0], %r0; ret;\n}\n"
    /* last word of the dynamic shared memory */
    ".visible .entry last(.param .u64 p, .param .u32 n)\n{\n"
    " .reg .b32 %r<5>; .reg .b64 %d<2>;\n"
    " ld.param.u64 %d0, [p]; ld.param.u32 %r0, [n]; mov.u32 %r1, room;\n"
    " add.u32 %r2, %r1, %r0; st.shared.u32 [%r2+-4], %r0;\n"
    " ld.shared.u32 %r3, [%r2+-4]; st.global.u32 [%d0], %r3; ret;\n}\n";

/* adds the last word of its parameters to p[0] */
static const char large_ptx[] =
    ".version 8.1\n.target sm_75\n.address_size 64\n"
    ".visible .entry sum(.param .u64 p, .param .align 4 .b8 big[20000])\n{\n"
    " .reg .b32 %r<2>; .reg .b64 %d<2>;\n"
    " ld.param.u64 %d0, [p]; ld.param.u32 %r0, [big+19996];\n"
    " red.global.add.u32 [%d0], %r0; ret;\n}\n";

static CUfunction function(const char *name)
{
    static CUmodule module;
    CUfunction f;
    if (!module)
        OK(cuModuleLoadData(&module, functions_ptx));
    OK(cuModuleGetFunction(&f, module, name));
    return f;
}

static int attribute(CUfunction f, CUfunction_attribute attribute)
{
    int value = -1;
    OK(cuFuncGetAttribute(&value, attribute, f));
    return value;
}

START_TEST(versions_are_of_the_code_and_of_the_device)
{
    begin();
    CUfunction f = function("plain");
    ck_assert_int_eq(attribute(f, CU_FUNC_ATTRIBUTE_PTX_VERSION), 75);
    ck_assert_int_eq(attribute(f, CU_FUNC_ATTRIBUTE_BINARY_VERSION), 90);
    CUmodule old;
    OK(cuModuleLoadData(&old, kernels_ptx));
    OK(cuModuleGetFunction(&f, old, "add"));
    ck_assert_int_eq(attribute(f, CU_FUNC_ATTRIBUTE_PTX_VERSION), 50);
}
END_TEST

static int blocks(CUfunction f, int threads, size_t dynamic)
{
    int n = -1;
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, threads, dynamic));
    return n;
}

START_TEST(occupancy_follows_the_rules)
{
    begin();
    CUfunction plain = function("plain"), small = function("small");
    ck_assert_int_eq(blocks(plain, 32, 0), 32);
    ck_assert_int_eq(blocks(plain, 33, 0), 32);
    ck_assert_int_eq(blocks(plain, 256, 0), 8);
    ck_assert_int_eq(blocks(plain, 1024, 0), 2);
    ck_assert_int_eq(blocks(plain, 768, 0), 2);
    ck_assert_int_eq(blocks(plain, 2048, 0), 0);
    ck_assert_int_eq(blocks(plain, 32, 227 << 10), 1);
    ck_assert_int_eq(blocks(plain, 32, (227 << 10) + 1), 0);
    ck_assert_int_eq(blocks(plain, 32, SIZE_MAX), 0);
    ck_assert_int_eq(blocks(plain, 32, 56 << 10), 4);
    ck_assert_int_eq(blocks(function("full"), 32, 0), 4);
    ck_assert_int_eq(blocks(small, 128, 0), 16);
    ck_assert_int_eq(blocks(small, 129, 0), 0);
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuOccupancyMaxActiveBlocksPerMultiprocessor(&(int){0}, plain, 0, 0));
}
END_TEST

static size_t word_each(int threads)
{
    return (size_t)threads * 256;
}

START_TEST(potential_block_size_fits)
{
    int grid, block;
    begin();
    CUfunction plain = function("plain");
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, plain, NULL, 0, 0));
    ck_assert_int_eq(block, 1024);
    ck_assert_int_eq(grid, 2 * 4);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, plain, NULL, 0, 100));
    ck_assert_int_eq(block, 64); /* 32 of them hold more than 16 of 100 */
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, plain, word_each, 0, 0));
    ck_assert_int_gt(blocks(plain, block, word_each(block)), 0);
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuOccupancyMaxPotentialBlockSize(&grid, &block, plain, NULL, 0, -1));
}
END_TEST

START_TEST(available_shared_memory_can_be_used)
{
    size_t room;
    begin();
    CUfunction plain = function("plain"), full = function("full");
    for (int n = 1; n <= 8; n++) {
        OK(cuOccupancyAvailableDynamicSMemPerBlock(&room, plain, n, 256));
        ck_assert_int_ge(blocks(plain, 256, room), n);
        ck_assert_int_lt(n == 1 ? 0 : blocks(plain, 256, room + 1024), n);
    }
    OK(cuOccupancyAvailableDynamicSMemPerBlock(&room, full, 1, 32));
    ck_assert_uint_eq(room, (227u << 10) - 49152);
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuOccupancyAvailableDynamicSMemPerBlock(&room, plain, 9, 256));
}
END_TEST

START_TEST(much_shared_memory_has_to_be_asked_for)
{
    CUdeviceptr p;
    int optin, got;
    unsigned n = 100 << 10;
    begin();
    CUfunction f = function("last");
    void *args[] = {&p, &n};
    OK(cuDeviceGetAttribute(
        &optin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0));
    ck_assert_int_eq(optin, 227 << 10);
    OK(cuMemAlloc(&p, 4));
    ck_assert_int_eq(
        attribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
        48 << 10);
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, n, NULL, args, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                            optin + 1));
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                          optin));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, n, NULL, args, NULL));
    OK(cuMemcpyDtoH(&got, p, 4));
    ck_assert_int_eq(got, 100 << 10);
}
END_TEST

START_TEST(limits_of_device_code_are_set)
{
    size_t value;
    begin();
    OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 100001));
    OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    ck_assert_uint_eq(value, 100016);
    OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 16));
    WANT(CUDA_ERROR_INVALID_VALUE, cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1 << 20));
    OK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 64 * MIB));
    OK(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
    ck_assert_uint_eq(value, 64 * MIB);
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, SIZE_MAX));
    OK(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
    ck_assert_uint_eq(value, 64 * MIB);
}
END_TEST

/* Few commands of this size fill the ring; the rest must follow by itself. */
START_TEST(launches_of_large_parameters_all_run)
{
    enum { LAUNCHES = 300 };
    static uint32_t big[5000];
    uint32_t got = 0, want = 0;
    uint32_t turns = 1000 * 1000;
    CUmodule module;
    CUfunction sum, spin;
    CUdeviceptr p;
    begin();
    OK(cuModuleLoadData(&module, kernels_ptx));
    OK(cuModuleGetFunction(&spin, module, "spin"));
    OK(cuModuleLoadData(&module, large_ptx));
    OK(cuModuleGetFunction(&sum, module, "sum"));
    OK(cuMemAlloc(&p, 4));
    OK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&p, &turns},
                      NULL));
    OK(cuMemsetD32Async(p, 0, 1, NULL));
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        big[4999] = i;
        want += i;
        OK(cuLaunchKernel(sum, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&p, big},
                          NULL));
    }
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH(&got, p, 4));
    ck_assert_uint_eq(got, want);
}
END_TEST

static const char old_ptx[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".extern .shared .align 4 .b8 room[];\n"
    /* p[block] += threads * i + f, by way of the last word of 1,000 bytes */
    ".visible .entry mark(.param .u64 p, .param .u32 i, .param .f32 f)\n{\n"
    " .reg .b32 %r<9>; .reg .f32 %f<2>; .reg .b64 %d<4>;\n"
    " ld.param.u64 %d0, [p]; ld.param.u32 %r0, [i]; ld.param.f32 %f0, [f];\n"
    " cvt.rzi.u32.f32 %r1, %f0;\n mov.u32 %r2, %ntid.x;\n"
    " mov.u32 %r3, %ntid.y; mul.lo.u32 %r2, %r2, %r3;\n"
    " mad.lo.u32 %r1, %r2, %r0, %r1;\n mov.u32 %r4, room;\n"
    " st.shared.u32 [%r4+996], %r1; ld.shared.u32 %r1, [%r4+996];\n"
    " mov.u32 %r5, %ctaid.y; mov.u32 %r6, %nctaid.x; mov.u32 %r7, %ctaid.x;\n"
    " mad.lo.u32 %r5, %r5, %r6, %r7; mul.wide.u32 %d1, %r5, 4;\n"
    " add.s64 %d2, %d0, %d1; mov.u32 %r7, %tid.x; mov.u32 %r8, %tid.y;\n"
    " or.b32 %r7, %r7, %r8;\n .reg .pred %q; setp.ne.u32 %q, %r7, 0;\n"
    " @%q ret; red.global.add.u32 [%d2], %r1; ret;\n}\n";

START_TEST(names_and_modules_are_asked_for_as_documented)
{
    CUlibrary library;
    CUkernel kernel;
    CUmodule module;
    const char *name;
    void *p;
    begin();
    CUfunction f = function("plain");
    OK(cuFuncGetName(&name, f));
    ck_assert_str_eq(name, "plain");
    WANT(CUDA_ERROR_INVALID_VALUE, cuFuncGetName(&name, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE, cuFuncGetName(NULL, f));
    WANT(CUDA_ERROR_INVALID_HANDLE, cuFuncGetName(&name, (CUfunction)&name));
    OK(cuLibraryLoadData(&library, functions_ptx, NULL, NULL, 0, NULL, NULL,
                         0));
    OK(cuLibraryGetKernel(&kernel, library, "plain"));
    WANT(CUDA_ERROR_INVALID_VALUE, cuKernelGetName(&name, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE, cuKernelGetName(NULL, kernel));
    OK(cuLibraryGetModule(&module, library));
    WANT(CUDA_ERROR_NOT_PERMITTED, cuModuleUnload(module));
    WANT(CUDA_ERROR_NOT_FOUND,
         cuLibraryGetUnifiedFunction(&p, library, "plain"));
    OK(cuLibraryUnload(library));
    WANT(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
}
END_TEST

START_TEST(old_launches_take_what_was_set_before)
{
    CUdeviceptr p;
    CUmodule module;
    CUfunction f;
    CUstream stream;
    unsigned got[6] = {0};
    begin();
    OK(cuModuleLoadData(&module, old_ptx));
    OK(cuModuleGetFunction(&f, module, "mark"));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&p, sizeof got));
    OK(cuMemsetD32(p, 0, 6));
    WANT(CUDA_ERROR_INVALID_VALUE, cuLaunch(f)); /* no shape yet */
    WANT(CUDA_ERROR_INVALID_VALUE, cuFuncSetBlockShape(f, 0, 1, 1));
    OK(cuFuncSetBlockShape(f, 8, 4, 1));
    OK(cuFuncSetSharedSize(f, 1000));
    OK(cuParamSetv(f, 0, &p, sizeof p));
    OK(cuParamSeti(f, 8, 10));
    OK(cuParamSetf(f, 12, 5.5f));
    WANT(CUDA_ERROR_INVALID_VALUE, cuLaunch(f)); /* no parameters yet */
    OK(cuParamSetSize(f, 16));
    WANT(CUDA_ERROR_INVALID_VALUE, cuParamSeti(f, 13, 1));
    WANT(CUDA_ERROR_INVALID_VALUE, cuParamSeti(f, -4, 1));
    WANT(CUDA_ERROR_INVALID_VALUE, cuParamSetv(f, 0, NULL, 8));
    WANT(CUDA_ERROR_INVALID_VALUE, cuParamSetv(f, 8, got, ~0u));
    WANT(CUDA_ERROR_INVALID_VALUE, cuLaunchGrid(f, 0, 1));
    WANT(CUDA_ERROR_INVALID_VALUE, cuLaunchGrid(f, 1, -1));
    WANT(CUDA_ERROR_INVALID_HANDLE, cuLaunch((CUfunction)got));
    OK(cuLaunch(f));
    OK(cuLaunchGrid(f, 3, 2));
    OK(cuCtxSynchronize());
    OK(cuParamSeti(f, 8, 100)); /* the rest stays */
    OK(cuLaunchGridAsync(f, 2, 1, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH(got, p, sizeof got));
    ck_assert_uint_eq(got[0], 325 + 325 + 3205);
    ck_assert_uint_eq(got[1], 325 + 3205);
    ck_assert_uint_eq(got[5], 325);
    OK(cuModuleUnload(module));
    WANT(CUDA_ERROR_INVALID_HANDLE, cuLaunch(f));
}
END_TEST

SUITE_MAIN("softcuda driver: functions", 30,
           versions_are_of_the_code_and_of_the_device,
           occupancy_follows_the_rules, potential_block_size_fits,
           available_shared_memory_can_be_used,
           much_shared_memory_has_to_be_asked_for,
           limits_of_device_code_are_set, launches_of_large_parameters_all_run,
           names_and_modules_are_asked_for_as_documented,
           old_launches_take_what_was_set_before)
