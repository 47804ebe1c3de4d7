/*
 * Texture and surface objects: the descriptors kernels will read, and what is
 * refused.  What a fetch makes of them is the business of other suites.
 */
#include "tests/driver/driver_test.h"
#include "base/texture.h"

static CUarray make(CUarray_format format, unsigned channels, size_t width,
                    size_t height, size_t depth, unsigned flags)
{
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR d = {width, height, depth, format, channels, flags};
    OK(cuArray3DCreate(&array, &d));
    return array;
}

static CUDA_RESOURCE_DESC of_array(CUarray array)
{
    return (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY,
                                .res.array.hArray = array};
}

/* The descriptor behind a handle. */
static struct sc_texture behind(unsigned long long handle)
{
    struct sc_texture t;
    OK(cuMemcpyDtoH(&t, handle, sizeof t));
    return t;
}

START_TEST(descriptor_says_what_the_array_is)
{
    static const struct {
        size_t width, height, depth;
        unsigned flags;
        int kind;
        unsigned layers;
    } shapes[] = {
        {9, 0, 0, 0, SC_TEXTURE_1D, 1},
        {9, 5, 0, 0, SC_TEXTURE_2D, 1},
        {9, 5, 3, 0, SC_TEXTURE_3D, 1},
        {9, 0, 3, CUDA_ARRAY3D_LAYERED, SC_TEXTURE_1D_LAYERED, 3},
        {9, 5, 3, CUDA_ARRAY3D_LAYERED, SC_TEXTURE_2D_LAYERED, 3},
        {8, 8, 6, CUDA_ARRAY3D_CUBEMAP, SC_TEXTURE_CUBE, 6},
        {8, 8, 12, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED,
         SC_TEXTURE_CUBE_LAYERED, 12},
    };
    CUtexObject texture;
    CUDA_TEXTURE_DESC how = {.addressMode = {CU_TR_ADDRESS_MODE_BORDER,
                                             CU_TR_ADDRESS_MODE_WRAP,
                                             CU_TR_ADDRESS_MODE_MIRROR},
                             .filterMode = CU_TR_FILTER_MODE_LINEAR,
                             .flags = CU_TRSF_NORMALIZED_COORDINATES,
                             .borderColor = {1, 2, 3, 4}};
    begin();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        CUarray array =
            make(CU_AD_FORMAT_SIGNED_INT16, 2, shapes[i].width,
                 shapes[i].height, shapes[i].depth, shapes[i].flags);
        CUDA_RESOURCE_DESC what = of_array(array), got;
        OK(cuTexObjectCreate(&texture, &what, &how, NULL));
        struct sc_texture t = behind(texture);
        ck_assert_uint_eq(t.magic, SC_TEXTURE_MAGIC);
        ck_assert_int_eq(t.kind, shapes[i].kind);
        ck_assert_uint_eq(t.width, shapes[i].width);
        ck_assert_uint_eq(t.height, shapes[i].height ? shapes[i].height : 1);
        ck_assert_uint_eq(t.depth, t.kind == SC_TEXTURE_3D ? 3 : 1);
        ck_assert_uint_eq(t.layers, shapes[i].layers);
        ck_assert_int_eq(t.format, CU_AD_FORMAT_SIGNED_INT16);
        ck_assert_int_eq(t.channels, 2);
        ck_assert_int_eq(t.read, SC_TEXTURE_READ_NORMALIZED);
        ck_assert(t.linear && t.normalized && t.border[3] == 4);
        ck_assert_int_eq(t.address_mode[2], CU_TR_ADDRESS_MODE_MIRROR);
        ck_assert_uint_eq(texture % SC_TEXTURE_ALIGN, 0);
        OK(cuTexObjectGetResourceDesc(&got, texture));
        ck_assert_ptr_eq(got.res.array.hArray, array);
        OK(cuTexObjectDestroy(texture));
        OK(cuArrayDestroy(array));
    }
}
END_TEST

START_TEST(texels_lie_where_the_descriptor_says)
{
    enum { W = 11, H = 6, D = 4 };
    uint8_t host[D][H][W], texel;
    CUtexObject texture;
    CUDA_TEXTURE_DESC how = {.flags = CU_TRSF_READ_AS_INTEGER};
    begin();
    CUarray array = make(CU_AD_FORMAT_UNSIGNED_INT8, 1, W, H, D, 0);
    fill_random((uint8_t *)host, sizeof host, 1);
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = host,
                       .srcPitch = W,
                       .srcHeight = H,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = array,
                       .WidthInBytes = W,
                       .Height = H,
                       .Depth = D};
    OK(cuMemcpy3D(&c));
    CUDA_RESOURCE_DESC what = of_array(array);
    OK(cuTexObjectCreate(&texture, &what, &how, NULL));
    struct sc_texture t = behind(texture);
    ck_assert_int_eq(t.read, SC_TEXTURE_READ_ELEMENT);
    for (unsigned z = 0; z < D; z++)
        for (unsigned y = 0; y < H; y++) {
            OK(cuMemcpyDtoH(&texel, t.base + 7 + y * t.pitch + z * t.slice, 1));
            ck_assert_uint_eq(texel, host[z][y][7]);
        }
}
END_TEST

START_TEST(linear_and_pitched_memory_is_checked)
{
    CUdeviceptr p;
    CUtexObject texture;
    CUDA_TEXTURE_DESC how = {0};
    begin();
    OK(cuMemAlloc(&p, 64 << 10));
    CUDA_RESOURCE_DESC line = {
        .resType = CU_RESOURCE_TYPE_LINEAR,
        .res.linear = {p, CU_AD_FORMAT_FLOAT, 4, (64 << 10) - 8}};
    OK(cuTexObjectCreate(&texture, &line, &how, NULL));
    struct sc_texture t = behind(texture);
    ck_assert_int_eq(t.kind, SC_TEXTURE_BUFFER);
    ck_assert_uint_eq(t.width, 4095);
    ck_assert_uint_eq(t.base, p);
    line.res.linear.sizeInBytes = 256 << 10;
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuTexObjectCreate(&texture, &line, &how, NULL));
    line.res.linear.sizeInBytes = 15;
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuTexObjectCreate(&texture, &line, &how, NULL));
    line.res.linear.sizeInBytes = 1024;
    line.res.linear.devPtr = p + 16;
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuTexObjectCreate(&texture, &line, &how, NULL));
    line.res.linear.devPtr = 512;
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuTexObjectCreate(&texture, &line, &how, NULL));
    CUDA_RESOURCE_DESC flat = {
        .resType = CU_RESOURCE_TYPE_PITCH2D,
        .res.pitch2D = {p, CU_AD_FORMAT_HALF, 2, 10, 20, 64}};
    OK(cuTexObjectCreate(&texture, &flat, &how, NULL));
    t = behind(texture);
    ck_assert_int_eq(t.kind, SC_TEXTURE_2D);
    ck_assert_uint_eq(t.pitch, 64);
    for (int i = 0; i < 5; i++) {
        CUDA_RESOURCE_DESC bad = flat;
        if (i == 0)
            bad.res.pitch2D.pitchInBytes = 32;
        else if (i == 1)
            bad.res.pitch2D.pitchInBytes = 50;
        else if (i == 2)
            bad.res.pitch2D.width = 0;
        else if (i == 3)
            bad.res.pitch2D.height = 2000;
        else
            bad.res.pitch2D.width = SIZE_MAX / 2;
        WANT(CUDA_ERROR_INVALID_VALUE,
             cuTexObjectCreate(&texture, &bad, &how, NULL));
    }
}
END_TEST

START_TEST(a_view_changes_format_and_layers)
{
    CUtexObject texture;
    CUDA_TEXTURE_DESC how = {.flags = CU_TRSF_READ_AS_INTEGER};
    begin();
    CUarray array =
        make(CU_AD_FORMAT_UNSIGNED_INT32, 1, 16, 16, 8, CUDA_ARRAY3D_LAYERED);
    CUDA_RESOURCE_DESC what = of_array(array);
    CUDA_RESOURCE_VIEW_DESC view = {.format = CU_RES_VIEW_FORMAT_UINT_4X8,
                                    .width = 16,
                                    .height = 16,
                                    .depth = 8,
                                    .firstLayer = 2,
                                    .lastLayer = 4};
    OK(cuTexObjectCreate(&texture, &what, &how, &view));
    struct sc_texture t = behind(texture);
    ck_assert_int_eq(t.format, CU_AD_FORMAT_UNSIGNED_INT8);
    ck_assert_int_eq(t.channels, 4);
    ck_assert_uint_eq(t.layers, 3);
    CUDA_RESOURCE_VIEW_DESC back;
    OK(cuTexObjectGetResourceViewDesc(&back, texture));
    ck_assert_mem_eq(&back, &view, sizeof back);
    view.lastLayer = 8;
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuTexObjectCreate(&texture, &what, &how, &view));
    view.lastLayer = 4;
    view.format = CU_RES_VIEW_FORMAT_FLOAT_2X32;
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuTexObjectCreate(&texture, &what, &how, &view));
    view.format = CU_RES_VIEW_FORMAT_UNSIGNED_BC1;
    WANT(CUDA_ERROR_NOT_SUPPORTED,
         cuTexObjectCreate(&texture, &what, &how, &view));
    OK(cuTexObjectCreate(&texture, &what, &how, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuTexObjectGetResourceViewDesc(&back, texture));
}
END_TEST

START_TEST(bad_textures_are_refused)
{
    CUtexObject texture;
    CUDA_TEXTURE_DESC how = {0}, bad;
    begin();
    CUarray array = make(CU_AD_FORMAT_UNSIGNED_INT8, 1, 16, 16, 0, 0);
    CUarray gone = make(CU_AD_FORMAT_UNSIGNED_INT8, 1, 16, 16, 0, 0);
    OK(cuArrayDestroy(gone));
    CUDA_RESOURCE_DESC what = of_array(gone);
    WANT(CUDA_ERROR_INVALID_HANDLE,
         cuTexObjectCreate(&texture, &what, &how, NULL));
    what = of_array(array);
    bad = how;
    bad.addressMode[1] = (CUaddress_mode)4;
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuTexObjectCreate(&texture, &what, &bad, NULL));
    bad = how;
    bad.filterMode = (CUfilter_mode)2;
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuTexObjectCreate(&texture, &what, &bad, NULL));
    bad = how;
    bad.flags = 0x1000;
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuTexObjectCreate(&texture, &what, &bad, NULL));
    bad = how;
    bad.flags = CU_TRSF_READ_AS_INTEGER;
    bad.filterMode = CU_TR_FILTER_MODE_LINEAR;
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuTexObjectCreate(&texture, &what, &bad, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(NULL, &what, &how, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuTexObjectCreate(&texture, NULL, &how, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuTexObjectCreate(&texture, &what, NULL, NULL));
    what.resType = (CUresourcetype)9;
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuTexObjectCreate(&texture, &what, &how, NULL));
    what = of_array(array);
    what.flags = 1;
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuTexObjectCreate(&texture, &what, &how, NULL));
}
END_TEST

START_TEST(objects_end_once_and_with_their_context)
{
    CUtexObject texture;
    CUsurfObject surface;
    CUDA_RESOURCE_DESC got;
    CUDA_TEXTURE_DESC how = {0};
    CUcontext ctx = begin();
    CUarray plain = make(CU_AD_FORMAT_FLOAT, 1, 16, 16, 0, 0);
    CUarray array =
        make(CU_AD_FORMAT_FLOAT, 1, 16, 16, 0, CUDA_ARRAY3D_SURFACE_LDST);
    CUDA_RESOURCE_DESC what = of_array(plain);
    WANT(CUDA_ERROR_INVALID_VALUE, cuSurfObjectCreate(&surface, &what));
    what = of_array(array);
    OK(cuSurfObjectCreate(&surface, &what));
    ck_assert_uint_eq(behind(surface).magic, SC_SURFACE_MAGIC);
    OK(cuSurfObjectGetResourceDesc(&got, surface));
    ck_assert_ptr_eq(got.res.array.hArray, array);
    WANT(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(surface));
    OK(cuSurfObjectDestroy(surface));
    WANT(CUDA_ERROR_INVALID_VALUE, cuSurfObjectDestroy(surface));
    WANT(CUDA_ERROR_INVALID_VALUE, cuSurfObjectGetResourceDesc(&got, surface));
    WANT(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(0));
    for (int i = 0; i < 2000; i++) {
        OK(cuTexObjectCreate(&texture, &what, &how, NULL));
        if (i % 2)
            OK(cuTexObjectDestroy(texture));
    }
    OK(cuTexObjectCreate(&texture, &what, &how, NULL));
    OK(cuCtxDestroy(ctx));
    WANT(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(texture));
}
END_TEST

START_TEST(mipmaps_and_references_are_refused)
{
    CUmipmappedArray mipmap;
    CUtexref reference;
    CUDA_ARRAY3D_DESCRIPTOR d = {16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    CUtexObject texture;
    CUDA_TEXTURE_DESC how = {0};
    CUDA_RESOURCE_DESC what = {.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY};
    begin();
    WANT(CUDA_ERROR_NOT_SUPPORTED, cuMipmappedArrayCreate(&mipmap, &d, 2));
    WANT(CUDA_ERROR_NOT_SUPPORTED, cuTexRefCreate(&reference));
    WANT(CUDA_ERROR_INVALID_HANDLE,
         cuTexObjectCreate(&texture, &what, &how, NULL));
}
END_TEST

SUITE_MAIN("softcuda driver: textures", 30, descriptor_says_what_the_array_is,
           texels_lie_where_the_descriptor_says,
           linear_and_pitched_memory_is_checked,
           a_view_changes_format_and_layers, bad_textures_are_refused,
           objects_end_once_and_with_their_context,
           mipmaps_and_references_are_refused)
