/*
 * CUDA arrays: shapes, copies in all directions, what is refused.
 */
#include <stdbool.h>
#include <stddef.h>

#include "tests/driver/driver_test.h"

static CUDA_ARRAY3D_DESCRIPTOR shape(size_t width, size_t height, size_t depth,
                                     unsigned flags)
{
    return (CUDA_ARRAY3D_DESCRIPTOR){.Width = width,
                                     .Height = height,
                                     .Depth = depth,
                                     .Format = CU_AD_FORMAT_UNSIGNED_INT16,
                                     .NumChannels = 2,
                                     .Flags = flags};
}

static CUarray make(size_t width, size_t height, size_t depth, unsigned flags)
{
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR d = shape(width, height, depth, flags);
    OK(cuArray3DCreate(&array, &d));
    return array;
}

static size_t in_use(void)
{
    size_t left, all;
    OK(cuMemGetInfo(&left, &all));
    return all - left;
}

/* A copy of all of a host block into an array or back. */
static CUDA_MEMCPY3D whole(CUarray array, void *host, bool up, size_t width,
                           size_t height, size_t depth)
{
    CUDA_MEMCPY3D c = {.WidthInBytes = width * 4,
                       .Height = height,
                       .Depth = depth,
                       .srcPitch = up ? width * 4 : 0,
                       .srcHeight = up ? height : 0,
                       .dstPitch = up ? 0 : width * 4,
                       .dstHeight = up ? 0 : height};
    c.srcMemoryType = up ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    c.dstMemoryType = up ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    c.srcHost = host;
    c.dstHost = host;
    c.srcArray = c.dstArray = array;
    return c;
}

START_TEST(every_shape_keeps_what_is_copied_into_it)
{
    static const struct {
        size_t width, height, depth;
        unsigned flags;
    } shapes[] = {{1, 0, 0, 0},
                  {1001, 0, 0, 0},
                  {13, 7, 0, CUDA_ARRAY3D_SURFACE_LDST},
                  {33, 9, 5, 0},
                  {17, 0, 6, CUDA_ARRAY3D_LAYERED},
                  {17, 3, 6, CUDA_ARRAY3D_LAYERED},
                  {16, 16, 6, CUDA_ARRAY3D_CUBEMAP},
                  {8, 8, 12, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED}};
    begin();
    size_t before = in_use();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        size_t w = shapes[i].width;
        size_t h = shapes[i].height ? shapes[i].height : 1;
        size_t d = shapes[i].depth ? shapes[i].depth : 1;
        uint8_t *sent = malloc(w * h * d * 4), *back = malloc(w * h * d * 4);
        CUarray array =
            make(w, shapes[i].height, shapes[i].depth, shapes[i].flags);
        fill_random(sent, w * h * d * 4, i);
        CUDA_MEMCPY3D c = whole(array, sent, true, w, h, d);
        OK(cuMemcpy3D(&c));
        c = whole(array, back, false, w, h, d);
        OK(cuMemcpy3D(&c));
        ck_assert_mem_eq(sent, back, w * h * d * 4);
        CUDA_ARRAY3D_DESCRIPTOR got,
            want = shape(w, shapes[i].height, shapes[i].depth, shapes[i].flags);
        OK(cuArray3DGetDescriptor(&got, array));
        ck_assert_mem_eq(&got, &want, offsetof(CUDA_ARRAY3D_DESCRIPTOR, Flags));
        ck_assert_uint_eq(got.Flags, want.Flags);
        CUDA_ARRAY_DESCRIPTOR flat;
        OK(cuArrayGetDescriptor(&flat, array));
        ck_assert_uint_eq(flat.Height, shapes[i].height);
        OK(cuArrayDestroy(array));
        free(sent);
        free(back);
    }
    ck_assert_uint_eq(in_use(), before);
}
END_TEST

START_TEST(parts_go_between_arrays_and_device_memory)
{
    enum { W = 40, H = 20 };
    uint32_t host[H][W], back[6][8];
    CUdeviceptr p;
    begin();
    CUarray a = make(W, H, 0, 0), b = make(W, H, 0, 0);
    fill_random((uint8_t *)host, sizeof host, 3);
    CUDA_MEMCPY3D c = whole(a, host, true, W, H, 1);
    OK(cuMemcpy3D(&c));
    CUDA_MEMCPY2D part = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = a,
                          .srcXInBytes = 5 * 4,
                          .srcY = 7,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = b,
                          .dstXInBytes = 30 * 4,
                          .dstY = 14,
                          .WidthInBytes = 8 * 4,
                          .Height = 6};
    OK(cuMemcpy2D(&part));
    OK(cuMemAlloc(&p, 8 * 4 * 6));
    CUDA_MEMCPY2D down = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = b,
                          .srcXInBytes = 30 * 4,
                          .srcY = 14,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = p,
                          .dstPitch = 8 * 4,
                          .WidthInBytes = 8 * 4,
                          .Height = 6};
    OK(cuMemcpy2DAsync(&down, NULL));
    OK(cuMemcpyDtoH(back, p, sizeof back));
    for (int y = 0; y < 6; y++)
        ck_assert_mem_eq(back[y], &host[7 + y][5], sizeof back[y]);
}
END_TEST

START_TEST(lines_are_copied_by_their_own_calls)
{
    uint32_t host[100], back[100];
    CUdeviceptr p;
    begin();
    CUarray a = make(100, 0, 0, 0), b = make(100, 0, 0, 0);
    CUarray flat = make(100, 1, 0, 0);
    fill_random((uint8_t *)host, sizeof host, 4);
    OK(cuMemAlloc(&p, sizeof host));
    OK(cuMemcpyHtoA(a, 0, host, sizeof host));
    OK(cuMemcpyAtoA(b, 40, a, 20, 200));
    OK(cuMemcpyAtoD(p, b, 40, 200));
    OK(cuMemcpyDtoA(a, 4, p, 200));
    OK(cuMemcpyAtoHAsync(back, a, 4, 200, NULL));
    OK(cuStreamSynchronize(NULL));
    ck_assert_mem_eq(back, host + 5, 200);
    OK(cuMemcpyHtoAAsync(b, 0, host, 400, NULL));
    OK(cuMemcpyAtoH(back, b, 396, 4));
    ck_assert_mem_eq(back, host + 99, 4);
    OK(cuMemcpyAtoH(back, b, 0, 0));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyAtoH(back, a, 396, 8));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyAtoH(back, a, SIZE_MAX - 3, 8));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyAtoH(back, a, 2, 4));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyAtoH(back, a, 0, 3));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoA(a, 0, NULL, 4));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoA(flat, 0, host, 4));
    WANT(CUDA_ERROR_INVALID_HANDLE, cuMemcpyHtoA(NULL, 0, host, 4));
    WANT(CUDA_ERROR_INVALID_HANDLE, cuMemcpyAtoA(a, 0, (CUarray)host, 0, 4));
}
END_TEST

START_TEST(bad_descriptors_are_refused)
{
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR d;
    static const struct {
        size_t width, height, depth;
        unsigned flags;
    } bad[] = {{0, 0, 0, 0},
               {0, 5, 5, 0},
               {5, 0, 5, 0},
               {131073, 0, 0, 0},
               {5, 65537, 0, 0},
               {16385, 5, 5, 0},
               {SIZE_MAX, 5, 0, 0},
               {5, 5, 0, CUDA_ARRAY3D_LAYERED},
               {5, 5, 2049, CUDA_ARRAY3D_LAYERED},
               {5, 6, 6, CUDA_ARRAY3D_CUBEMAP},
               {5, 5, 12, CUDA_ARRAY3D_CUBEMAP},
               {5, 5, 7, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED},
               {5, 0, 0, CUDA_ARRAY3D_TEXTURE_GATHER}};
    begin();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        d = shape(bad[i].width, bad[i].height, bad[i].depth, bad[i].flags);
        WANT(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate(&array, &d));
    }
    d = shape(5, 5, 0, 0);
    d.NumChannels = 3;
    WANT(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate(&array, &d));
    d = shape(5, 5, 0, 0);
    d.Format = (CUarray_format)7;
    WANT(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate(&array, &d));
    d.Format = CU_AD_FORMAT_BC1_UNORM;
    WANT(CUDA_ERROR_NOT_SUPPORTED, cuArray3DCreate(&array, &d));
    d = shape(5, 5, 0, CUDA_ARRAY3D_SPARSE);
    WANT(CUDA_ERROR_NOT_SUPPORTED, cuArray3DCreate(&array, &d));
    d = shape(5, 5, 0, 0);
    WANT(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate(NULL, &d));
    WANT(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate(&array, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE, cuArrayCreate(&array, NULL));
}
END_TEST

START_TEST(an_array_that_does_not_fit_leaves_nothing_behind)
{
    CUarray array;
    setenv("SOFTCUDA_MEMORY", "64M", 1);
    begin();
    size_t before = in_use();
    CUDA_ARRAY3D_DESCRIPTOR d = shape(16384, 16384, 16384, 0);
    WANT(CUDA_ERROR_OUT_OF_MEMORY, cuArray3DCreate(&array, &d));
    d = shape(4096, 4097, 0, 0);
    WANT(CUDA_ERROR_OUT_OF_MEMORY, cuArray3DCreate(&array, &d));
    ck_assert_uint_eq(in_use(), before);
    OK(cuArrayDestroy(make(2048, 2048, 0, 0)));
}
END_TEST

START_TEST(a_destroyed_array_is_no_handle_any_more)
{
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR d;
    uint32_t word = 0;
    CUcontext ctx = begin(), other;
    array = make(8, 8, 0, 0);
    OK(cuArrayDestroy(array));
    WANT(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(array));
    WANT(CUDA_ERROR_INVALID_HANDLE, cuArray3DGetDescriptor(&d, array));
    CUDA_MEMCPY3D c = whole(array, &word, true, 1, 1, 1);
    WANT(CUDA_ERROR_INVALID_HANDLE, cuMemcpy3D(&c));
    WANT(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(NULL));
    array = make(8, 8, 0, 0);
    c = whole(array, &word, true, 1, 1, 1);
    c.dstLOD = 1;
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&c));
    c.dstLOD = 0;
    c.dstZ = 1;
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&c));
    OK(cuCtxCreate(&other, NULL, 0, 0));
    size_t before = in_use();
    OK(cuCtxDestroy(ctx));
    ck_assert_uint_lt(in_use(), before);
    WANT(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(array));
}
END_TEST

SUITE_MAIN("softcuda driver: arrays", 30,
           every_shape_keeps_what_is_copied_into_it,
           parts_go_between_arrays_and_device_memory,
           lines_are_copied_by_their_own_calls, bad_descriptors_are_refused,
           an_array_that_does_not_fit_leaves_nothing_behind,
           a_destroyed_array_is_no_handle_any_more)
