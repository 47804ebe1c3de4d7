/*
 * What a program may expect of the address of device memory, whoever gives it.
 *
 * Meson runs it bare and preloaded.
 */
#include "common/suite.h"

#include <cuda.h>
#include <string.h>

#define must(call) ck_assert_int_eq((call), CUDA_SUCCESS)

static void device_start(void)
{
    CUdevice device;
    CUcontext context;
    must(cuInit(0));
    must(cuDeviceGet(&device, 0));
    must(cuDevicePrimaryCtxRetain(&context, device));
    must(cuCtxSetCurrent(context));
}

START_TEST(every_size_is_aligned_to_512_bytes)
{
    enum { SIZES = 120, EACH = 3 };
    CUdeviceptr at[SIZES][EACH];
    device_start();
    for (int i = 0; i < SIZES; i++)
        for (int k = 0; k < EACH; k++) {
            size_t bytes = (size_t)(i + 1) * (size_t)(i + 1) * 7;
            must(cuMemAlloc(&at[i][k], bytes));
            ck_assert_msg(at[i][k] % 512 == 0, "%zu bytes at %llx", bytes,
                          (unsigned long long)at[i][k]);
        }
    for (int i = 0; i < SIZES; i++)
        for (int k = 0; k < EACH; k++)
            must(cuMemFree(at[i][k]));
}
END_TEST

START_TEST(rows_with_a_pitch_are_aligned_as_the_first)
{
    device_start();
    for (size_t width = 1; width < 5000; width = width * 3 + 1) {
        CUdeviceptr at[3];
        size_t pitch;
        for (int k = 0; k < 3; k++) {
            must(cuMemAllocPitch(&at[k], &pitch, width, 5, 4));
            ck_assert_uint_ge(pitch, width);
            ck_assert_uint_eq(pitch % 512, 0);
            ck_assert_uint_eq(at[k] % 512, 0);
        }
        for (int k = 0; k < 3; k++)
            must(cuMemFree(at[k]));
    }
}
END_TEST

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry look(.param .u64 t, .param .u64 to)\n"
    "{ .reg .b64 %t, %to; .reg .b32 %i, %v<4>;\n"
    "  ld.param.u64 %t, [t]; ld.param.u64 %to, [to]; mov.u32 %i, 9;\n"
    "  tex.1d.v4.u32.s32 {%v0, %v1, %v2, %v3}, [%t, {%i}];\n"
    "  st.global.u32 [%to], %v0; ret; }\n";

START_TEST(texture_over_a_small_allocation_shows_its_bytes)
{
    enum { TEXTURES = 5, WORDS = 60 };
    CUmodule module;
    CUfunction look;
    CUdeviceptr to;
    CUtexObject texture[TEXTURES];
    CUDA_TEXTURE_DESC how = {.flags = CU_TRSF_READ_AS_INTEGER};
    device_start();
    must(cuModuleLoadData(&module, text));
    must(cuModuleGetFunction(&look, module, "look"));
    must(cuMemAlloc(&to, 4));
    for (unsigned i = 0; i < TEXTURES; i++) {
        unsigned words[WORDS] = {[9] = 100 + i};
        CUDA_RESOURCE_DESC what = {
            .resType = CU_RESOURCE_TYPE_LINEAR,
            .res.linear = {0, CU_AD_FORMAT_UNSIGNED_INT32, 1, sizeof words}};
        must(cuMemAlloc(&what.res.linear.devPtr, sizeof words));
        must(cuMemcpyHtoD(what.res.linear.devPtr, words, sizeof words));
        must(cuTexObjectCreate(&texture[i], &what, &how, NULL));
    }
    for (unsigned i = 0; i < TEXTURES; i++) {
        void *params[] = {&texture[i], &to};
        unsigned seen = 0;
        must(cuLaunchKernel(look, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
        must(cuMemcpyDtoH(&seen, to, 4));
        ck_assert_uint_eq(seen, 100 + i);
        must(cuTexObjectDestroy(texture[i]));
    }
}
END_TEST

/* Nobody can be given memory that only this process keeps equal. */
START_TEST(no_other_process_is_given_shared_memory)
{
    const char *preloaded = getenv("LD_PRELOAD");
    CUipcMemHandle handle;
    CUdeviceptr shared;
    device_start();
    must(cuMemAlloc(&shared, 4 << 20));
    ck_assert_int_eq(cuIpcGetMemHandle(&handle, shared),
                     preloaded && *preloaded ? CUDA_ERROR_NOT_SUPPORTED
                                             : CUDA_SUCCESS);
}
END_TEST

SUITE_MAIN("interpose-memory", 60, every_size_is_aligned_to_512_bytes,
           rows_with_a_pitch_are_aligned_as_the_first,
           texture_over_a_small_allocation_shows_its_bytes,
           no_other_process_is_given_shared_memory)
