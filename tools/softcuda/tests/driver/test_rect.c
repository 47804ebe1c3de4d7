/*
 * Rectangles and boxes between devices, against a model on the host.
 */
#include <softcuda.h>

#include "tests/driver/driver_test.h"

enum { DEVICES = 3, BYTES = 96 << 10, COPIES = 400 };

static CUcontext ctx[DEVICES];
static CUstream stream[DEVICES];
static CUdeviceptr memory[DEVICES];
static uint8_t model[DEVICES][BYTES];

static void start(void)
{
    setenv("SOFTCUDA_DEVICES", "3", 1);
    setenv("SOFTCUDA_MEMORY", "64M", 1);
    OK(cuInit(0));
    for (int i = 0; i < DEVICES; i++) {
        OK(cuCtxCreate(&ctx[i], NULL, 0, i));
        OK(cuStreamCreate(&stream[i], CU_STREAM_NON_BLOCKING));
        OK(cuMemAlloc(&memory[i], BYTES));
        fill_random(model[i], BYTES, (uint64_t)i + 1);
        OK(cuMemcpyHtoD(memory[i], model[i], BYTES));
    }
}

/* All bytes of all devices, those no copy should touch as well. */
static void check_memories(const char *what, int number)
{
    static uint8_t got[BYTES];
    for (int i = 0; i < DEVICES; i++) {
        OK(cuMemcpyDtoH(got, memory[i], BYTES));
        size_t at = 0;
        while (at < BYTES && got[at] == model[i][at])
            at++;
        ck_assert_msg(at == BYTES, "%s %d: byte %zu of device %d is wrong",
                      what, number, at, i);
    }
}

/* One side: where it begins in its memory, and its shape there. */
struct side {
    int device;
    size_t first, x, y, z, pitch, height;
};

struct box {
    struct side dst, src;
    size_t width, rows, slices;
};

static size_t below(uint64_t *seed, size_t n)
{
    return next_random(seed) % n;
}

/* Rows that follow each other, and slices, are frequent: they are joined. */
static struct side random_side(uint64_t *seed, const struct box *box,
                               size_t from, size_t to)
{
    struct side s = {.device = (int)below(seed, DEVICES), .z = below(seed, 3)};
    if (below(seed, 2))
        s.x = below(seed, 9);
    s.pitch = s.x + box->width + (s.x ? below(seed, 20) : 0);
    if (below(seed, 2))
        s.y = below(seed, 3);
    s.height = s.y + box->rows + (s.y ? below(seed, 4) : 0);
    size_t need = (s.z + box->slices) * s.height * s.pitch;
    ck_assert_uint_le(need, to - from);
    s.first = from + below(seed, to - from - need + 1);
    return s;
}

/* The halves of a memory are apart, so that a copy within one may not
 * overlap. */
static struct box random_box(uint64_t *seed)
{
    struct box box = {.width = 1 + below(seed, 100),
                      .rows = 1 + below(seed, 20),
                      .slices = 1 + below(seed, 6)};
    size_t half = below(seed, 2) * (BYTES / 2);
    box.src = random_side(seed, &box, half, half + BYTES / 2);
    half = BYTES / 2 - half;
    box.dst = random_side(seed, &box, half, half + BYTES / 2);
    return box;
}

static size_t place(const struct side *s, size_t row, size_t slice)
{
    return s->first + ((s->z + slice) * s->height + s->y + row) * s->pitch +
           s->x;
}

static void copy_model(const struct box *box)
{
    for (size_t z = 0; z < box->slices; z++)
        for (size_t y = 0; y < box->rows; y++)
            memcpy(&model[box->dst.device][place(&box->dst, y, z)],
                   &model[box->src.device][place(&box->src, y, z)], box->width);
}

static CUDA_MEMCPY3D_PEER peer_of(const struct box *box)
{
    const struct side *d = &box->dst, *s = &box->src;
    return (CUDA_MEMCPY3D_PEER){.srcXInBytes = s->x,
                                .srcY = s->y,
                                .srcZ = s->z,
                                .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = memory[s->device] + s->first,
                                .srcContext = ctx[s->device],
                                .srcPitch = s->pitch,
                                .srcHeight = s->height,
                                .dstXInBytes = d->x,
                                .dstY = d->y,
                                .dstZ = d->z,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = memory[d->device] + d->first,
                                .dstContext = ctx[d->device],
                                .dstPitch = d->pitch,
                                .dstHeight = d->height,
                                .WidthInBytes = box->width,
                                .Height = box->rows,
                                .Depth = box->slices};
}

/* The same copy, its sides told apart by their addresses alone. */
static CUDA_MEMCPY3D unified_of(const struct box *box)
{
    const struct side *d = &box->dst, *s = &box->src;
    return (CUDA_MEMCPY3D){.srcXInBytes = s->x,
                           .srcY = s->y,
                           .srcZ = s->z,
                           .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                           .srcDevice = memory[s->device] + s->first,
                           .srcPitch = s->pitch,
                           .srcHeight = s->height,
                           .dstXInBytes = d->x,
                           .dstY = d->y,
                           .dstZ = d->z,
                           .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                           .dstDevice = memory[d->device] + d->first,
                           .dstPitch = d->pitch,
                           .dstHeight = d->height,
                           .WidthInBytes = box->width,
                           .Height = box->rows,
                           .Depth = box->slices};
}

START_TEST(random_boxes_between_devices_match_the_model)
{
    uint64_t seed = 7;
    start();
    for (int i = 0; i < COPIES; i++) {
        struct box box = random_box(&seed);
        CUDA_MEMCPY3D_PEER copy = peer_of(&box);
        OK(cuCtxSetCurrent(ctx[below(&seed, DEVICES)]));
        OK(cuMemcpy3DPeer(&copy));
        copy_model(&box);
        check_memories("copy", i);
    }
}
END_TEST

/* A stream keeps the order of copies whatever devices they are between. */
START_TEST(random_boxes_in_a_stream_match_the_model)
{
    uint64_t seed = 8;
    start();
    for (int i = 0; i < COPIES; i += 8) {
        int by = (int)below(&seed, DEVICES);
        OK(cuCtxSetCurrent(ctx[by]));
        for (int k = 0; k < 8; k++) {
            struct box box = random_box(&seed);
            CUDA_MEMCPY3D_PEER peer = peer_of(&box);
            CUDA_MEMCPY3D unified = unified_of(&box);
            OK(k % 2 ? cuMemcpy3DPeerAsync(&peer, stream[by])
                     : cuMemcpy3DAsync(&unified, stream[by]));
            copy_model(&box);
        }
        OK(cuStreamSynchronize(stream[by]));
        check_memories("copies from", i);
    }
}
END_TEST

START_TEST(missing_pitch_and_height_are_those_of_the_copy)
{
    start();
    struct box box = {
        .src = {.device = 1, .first = 5, .pitch = 33, .height = 7},
        .dst = {.device = 0, .first = 9, .pitch = 33, .height = 7},
        .width = 33,
        .rows = 7,
        .slices = 4};
    CUDA_MEMCPY3D_PEER copy = peer_of(&box);
    copy.srcPitch = copy.dstPitch = copy.srcHeight = copy.dstHeight = 0;
    OK(cuMemcpy3DPeer(&copy));
    copy_model(&box);
    check_memories("copy", 0);
}
END_TEST

START_TEST(bytes_of_a_box_cross_the_links_of_both_devices)
{
    struct softcuda_stats before[DEVICES], after[DEVICES];
    start();
    struct box box = {.src = {.device = 2, .pitch = 50, .height = 10},
                      .dst = {.device = 1, .pitch = 41, .height = 12},
                      .width = 40,
                      .rows = 9,
                      .slices = 3};
    CUDA_MEMCPY3D_PEER copy = peer_of(&box);
    for (int i = 0; i < DEVICES; i++)
        ck_assert_int_eq(softcudaStats(i, &before[i]), 0);
    OK(cuMemcpy3DPeer(&copy));
    OK(cuMemcpyPeer(memory[1], ctx[1], memory[2], ctx[2], 1000));
    for (int i = 0; i < DEVICES; i++) {
        ck_assert_int_eq(softcudaStats(i, &after[i]), 0);
        after[i].upload_bytes -= before[i].upload_bytes;
        after[i].download_bytes -= before[i].download_bytes;
    }
    ck_assert_uint_eq(after[0].upload_bytes + after[0].download_bytes, 0);
    ck_assert_uint_eq(after[1].upload_bytes, 40 * 9 * 3 + 1000);
    ck_assert_uint_eq(after[1].download_bytes, 0);
    ck_assert_uint_eq(after[2].upload_bytes, 0);
    ck_assert_uint_eq(after[2].download_bytes, 40 * 9 * 3 + 1000);
}
END_TEST

START_TEST(box_and_line_of_the_same_bytes_take_the_link_the_same_time)
{
    enum { ROWS = 256, WIDTH = 300 };
    setenv("SOFTCUDA_LINK", "1MB/s", 1);
    setenv("SOFTCUDA_MEMORY", "64M", 1);
    setenv("SOFTCUDA_DEVICES", "2", 1);
    OK(cuInit(0));
    for (int i = 0; i < 2; i++) {
        OK(cuCtxCreate(&ctx[i], NULL, 0, i));
        OK(cuMemAlloc(&memory[i], ROWS * 320));
    }
    struct box box = {.src = {.device = 0, .pitch = 310, .height = ROWS},
                      .dst = {.device = 1, .pitch = 320, .height = ROWS},
                      .width = WIDTH,
                      .rows = ROWS,
                      .slices = 1};
    CUDA_MEMCPY3D_PEER copy = peer_of(&box);
    double want = ROWS * WIDTH / 1e6 * 1e3, begin = now_ms();
    OK(cuMemcpy3DPeer(&copy));
    double shaped = now_ms() - begin;
    begin = now_ms();
    OK(cuMemcpyPeer(memory[0], ctx[0], memory[1], ctx[1], ROWS * WIDTH));
    double line = now_ms() - begin;
    ck_assert_msg(shaped > want * 0.95 && shaped < want * 1.5 &&
                      line > want * 0.95 && line < want * 1.5,
                  "%g and %g ms, not %g", shaped, line, want);
}
END_TEST

START_TEST(wrong_boxes_are_refused_and_move_nothing)
{
    start();
    struct box box = {.src = {.device = 0, .pitch = 64, .height = 8},
                      .dst = {.device = 1, .pitch = 64, .height = 8},
                      .width = 64,
                      .rows = 8,
                      .slices = 2};
    const CUDA_MEMCPY3D_PEER good = peer_of(&box);
    CUDA_MEMCPY3D_PEER wrong[9];
    for (int i = 0; i < 9; i++)
        wrong[i] = good;
    wrong[0].srcPitch = 63;
    wrong[1].dstPitch = 63;
    wrong[2].srcLOD = 1;
    wrong[3].dstLOD = 1;
    wrong[4].srcMemoryType = (CUmemorytype)9;
    wrong[5].dstDevice = 4096; /* no device memory */
    wrong[6].srcY = BYTES;     /* behind the allocation */
    wrong[7].Depth = BYTES;
    wrong[8].dstPitch = SIZE_MAX / 4; /* overflows */
    for (int i = 0; i < 9; i++) {
        WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DPeer(&wrong[i]));
        WANT(CUDA_ERROR_INVALID_VALUE,
             cuMemcpy3DPeerAsync(&wrong[i], stream[DEVICES - 1]));
    }
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DPeer(NULL));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DPeerAsync(NULL, NULL));
    wrong[0] = good;
    wrong[0].srcContext = (CUcontext)(void *)wrong;
    WANT(CUDA_ERROR_INVALID_CONTEXT, cuMemcpy3DPeer(&wrong[0]));
    wrong[0] = good;
    wrong[0].Height = 0; /* nothing to move, as the neighbours see it */
    OK(cuMemcpy3DPeer(&wrong[0]));
    check_memories("refused", 0);
}
END_TEST

START_TEST(call_without_a_stream_follows_the_work_of_both_devices)
{
    start();
    static uint8_t want[BYTES], got[BYTES];
    struct box box = {.src = {.device = 1, .pitch = 64, .height = 64},
                      .dst = {.device = 2, .pitch = 64, .height = 64},
                      .width = 64,
                      .rows = 64,
                      .slices = 1};
    CUDA_MEMCPY3D_PEER copy = peer_of(&box);
    memset(want, 3, sizeof want);
    OK(cuCtxSetCurrent(ctx[1]));
    for (int i = 0; i < 2000; i++) /* keeps the device busy for a while */
        OK(cuMemsetD8Async(memory[1], (unsigned char)i, BYTES, NULL));
    OK(cuMemsetD8Async(memory[1], 3, BYTES, NULL));
    OK(cuCtxSetCurrent(ctx[0]));
    OK(cuMemcpy3DPeer(&copy));
    OK(cuMemcpyDtoH(got, memory[2], BYTES));
    ck_assert_mem_eq(got, want, 64 * 64);
    ck_assert_mem_eq(got + 64 * 64, model[2] + 64 * 64, BYTES - 64 * 64);
}
END_TEST

SUITE_MAIN("softcuda driver: boxes between devices", 60,
           random_boxes_between_devices_match_the_model,
           random_boxes_in_a_stream_match_the_model,
           missing_pitch_and_height_are_those_of_the_copy,
           bytes_of_a_box_cross_the_links_of_both_devices,
           box_and_line_of_the_same_bytes_take_the_link_the_same_time,
           wrong_boxes_are_refused_and_move_nothing,
           call_without_a_stream_follows_the_work_of_both_devices)
