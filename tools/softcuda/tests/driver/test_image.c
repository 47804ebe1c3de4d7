/*
 * What the driver makes of images that are no good, and of fat binaries.
 */
#include <stdio.h>

#include "tests/driver/driver_test.h"
#include "tests/driver/kernels.h"

struct fat {
    struct {
        uint32_t magic;
        uint16_t version, header_bytes;
        uint64_t bytes;
    } head;
    struct {
        uint16_t kind, version;
        uint32_t header_bytes;
        uint64_t payload_bytes;
        uint32_t compressed_bytes, unknown;
        uint32_t minor, sm;
        uint32_t name[2];
        uint64_t flags, reserved, uncompressed_bytes;
    } entry;
    char text[sizeof kernels_ptx + 7];
};

static struct fat make_fat(int kind, unsigned sm)
{
    struct fat fat = {.head = {0xba55ed50, 1, 16, sizeof fat - 16},
                      .entry = {.kind = (uint16_t)kind,
                                .version = 0x101,
                                .header_bytes = sizeof fat.entry,
                                .payload_bytes = sizeof fat.text,
                                .sm = sm}};
    memcpy(fat.text, kernels_ptx, sizeof kernels_ptx);
    return fat;
}

START_TEST(ptx_in_a_fat_binary_is_found)
{
    CUmodule module;
    struct fat fat = make_fat(1, 70);
    struct {
        uint32_t magic, version;
        const void *data, *parts;
    } wrapper = {0x466243b1, 1, &fat, NULL};
    ck_assert_uint_eq(sizeof fat.entry, 64);
    begin();
    OK(cuModuleLoadFatBinary(&module, &fat));
    OK(cuModuleLoadData(&module, &wrapper));
    OK(cuModuleGetFunction(&(CUfunction){0}, module, "add"));
}
END_TEST

START_TEST(fat_binaries_without_usable_ptx_are_refused)
{
    CUmodule module;
    begin();
    struct fat fat = make_fat(2, 70);
    WANT(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, &fat));
    fat = make_fat(1, 100);
    WANT(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, &fat));
    fat = make_fat(1, 70);
    fat.entry.compressed_bytes = 100;
    WANT(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, &fat));
    fat = make_fat(1, 70);
    fat.entry.payload_bytes = UINT64_MAX - 10;
    WANT(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, &fat));
    fat = make_fat(1, 70);
    fat.entry.header_bytes = 0;
    WANT(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, &fat));
    fat = make_fat(1, 70);
    fat.head.bytes = 0;
    WANT(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, &fat));
    WANT(CUDA_ERROR_NO_BINARY_FOR_GPU,
         cuModuleLoadData(&module, "\177ELF\2\1\1"));
}
END_TEST

START_TEST(garbage_is_refused_and_the_device_lives)
{
    CUmodule module;
    CUdeviceptr p;
    uint64_t seed = 99;
    begin();
    WANT(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(&module, NULL));
    WANT(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/dev/null/file"));
    WANT(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, "hello"));
    WANT(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, ""));
    for (int i = 0; i < 300; i++) {
        char text[sizeof kernels_ptx];
        memcpy(text, kernels_ptx, sizeof text);
        for (int k = 0; k < 1 + i % 5; k++)
            text[next_random(&seed) % (sizeof text - 1)] =
                (char)(next_random(&seed) % 255 + 1);
        if (i % 7 == 0)
            text[next_random(&seed) % sizeof text] = '\0';
        CUresult result = cuModuleLoadData(&module, text);
        ck_assert(result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_PTX);
        if (result == CUDA_SUCCESS)
            OK(cuModuleUnload(module));
    }
    OK(cuMemAlloc(&p, 4));
    OK(cuCtxSynchronize());
}
END_TEST

START_TEST(error_log_names_the_line)
{
    CUmodule module;
    char error[400] = "", info[100] = "x";
    CUjit_option options[] = {
        CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {error, (void *)sizeof error, info, (void *)sizeof info};
    begin();
    WANT(CUDA_ERROR_INVALID_PTX,
         cuModuleLoadDataEx(&module,
                            ".version 6.0\n.target sm_50\n.address_size 64\n"
                            ".entry k()\n{\n frobnicate.u32 %r1, %r2;\n}\n",
                            4, options, values));
    ck_assert_ptr_nonnull(strstr(error, "6"));
    ck_assert_ptr_nonnull(strstr(error, "frobnicate"));
    ck_assert_uint_eq((size_t)values[1], strlen(error));
    ck_assert_str_eq(info, "");
    /* an image that holds no PTX is told in the same place */
    values[1] = (void *)sizeof error;
    WANT(CUDA_ERROR_NO_BINARY_FOR_GPU,
         cuModuleLoadDataEx(&module, "\x50\xed\x55\xba\1\0\x10\0\0\0\0\0\0\0\0",
                            4, options, values));
    ck_assert_ptr_nonnull(strstr(error, "empty"));
    ck_assert_uint_eq((size_t)values[1], strlen(error));
    /* one that loads leaves nothing behind */
    values[1] = (void *)sizeof error;
    OK(cuModuleLoadDataEx(&module, kernels_ptx, 4, options, values));
    ck_assert_str_eq(error, "");
    ck_assert_ptr_null(values[1]);
    /* a short buffer is filled as far as it goes */
    values[1] = (void *)8;
    WANT(CUDA_ERROR_INVALID_PTX,
         cuModuleLoadDataEx(&module, "hello", 2, options, values));
    ck_assert_uint_eq(strlen(error), 7);
}
END_TEST

START_TEST(modules_come_and_go_without_eating_memory)
{
    CUmodule module;
    size_t before, now, total;
    begin();
    OK(cuMemGetInfo(&before, &total));
    for (int i = 0; i < 200; i++) {
        OK(cuModuleLoadData(&module, kernels_ptx));
        OK(cuModuleUnload(module));
    }
    OK(cuMemGetInfo(&now, &total));
    ck_assert_uint_eq(before, now);
}
END_TEST

SUITE_MAIN("softcuda driver: images", 30, ptx_in_a_fat_binary_is_found,
           fat_binaries_without_usable_ptx_are_refused,
           garbage_is_refused_and_the_device_lives, error_log_names_the_line,
           modules_come_and_go_without_eating_memory)
