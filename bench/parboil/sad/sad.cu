/*
 * Sums of absolute differences between the blocks of a frame and the places
 * around them in a reference frame. The smallest blocks are compared pixel by
 * pixel; sums of larger ones are sums of those.
 *
 * Everywhere one thread per place of the search window along x, and along y
 * what the kernel says.
 */
#include "adsm_device.h"
#include "sad_kernel.h"

typedef unsigned char pixel;
typedef unsigned short sum;

static __device__ inline int within(int at, int size)
{
    return at < 0 ? 0 : at < size ? at : size - 1;
}

/* First sum of a partition: `before` partitions of smaller sizes and `each`
 * of this one in a macroblock. */
static __device__ inline long row_of(int before, int each, int macroblocks,
                                     int macroblock, int partition, int places)
{
    long partitions = (long)before * macroblocks + (long)macroblock * each;
    return (partitions + partition) * places;
}

/* 4x4: y is macroblock * 16 + partition. Beyond its edge the reference goes on
 * as its last pixel. */
extern "C" __global__ void sad_4x4(sum *__restrict__ sums,
                                   const pixel *__restrict__ frame,
                                   const pixel *__restrict__ reference,
                                   int width, int height, int range)
{
    int side = 2 * range + 1, place = adsm_thread_x();
    if (place >= side * side)
        return;
    int macroblock = (int)blockIdx.y / 16, partition = (int)blockIdx.y % 16;
    int across = width / SAD_MACROBLOCK;
    int x = macroblock % across * SAD_MACROBLOCK + partition % 4 * 4;
    int y = macroblock / across * SAD_MACROBLOCK + partition / 4 * 4;
    int x_there = x + place % side - range, y_there = y + place / side - range;
    int total = 0;
    for (int row = 0; row < 4; row++) {
        const pixel *here = frame + (y + row) * width + x;
        const pixel *there = reference + within(y_there + row, height) * width;
        for (int i = 0; i < 4; i++) {
            int difference = here[i] - there[within(x_there + i, width)];
            total += difference < 0 ? -difference : difference;
        }
    }
    sums[(long)blockIdx.y * side * side + place] = (sum)total;
}

/* 8x4, 4x8 and 8x8 from 4x4: y is macroblock * 4 + quarter. */
extern "C" __global__ void sad_8x8(sum *sums, int macroblocks, int places)
{
    long place = adsm_thread_x();
    if (place >= places)
        return;
    int macroblock = (int)blockIdx.y / 4, quarter = (int)blockIdx.y % 4;
    int corner = quarter / 2 * 8 + quarter % 2 * 2;
    const sum *from =
        sums + row_of(SAD_4X4, 16, macroblocks, macroblock, corner, places) +
        place;
    int a = from[0], b = from[places], c = from[4L * places];
    int d = from[5L * places];
    int wide = quarter / 2 * 4 + quarter % 2;     /* of 2 by 4 */
    int tall = quarter / 2 * 4 + quarter % 2 * 2; /* of 4 by 2 */
    sum *to = sums + place;
    to[row_of(SAD_8X4, 8, macroblocks, macroblock, wide, places)] =
        (sum)(a + b);
    to[row_of(SAD_8X4, 8, macroblocks, macroblock, wide + 2, places)] =
        (sum)(c + d);
    to[row_of(SAD_4X8, 8, macroblocks, macroblock, tall, places)] =
        (sum)(a + c);
    to[row_of(SAD_4X8, 8, macroblocks, macroblock, tall + 1, places)] =
        (sum)(b + d);
    to[row_of(SAD_8X8, 4, macroblocks, macroblock, quarter, places)] =
        (sum)(a + b + c + d);
}

/* 16x8, 8x16 and 16x16 from 8x8: y is the macroblock. */
extern "C" __global__ void sad_16x16(sum *sums, int macroblocks, int places)
{
    long place = adsm_thread_x();
    int macroblock = (int)blockIdx.y;
    if (place >= places)
        return;
    const sum *from =
        sums + row_of(SAD_8X8, 4, macroblocks, macroblock, 0, places) + place;
    int a = from[0], b = from[places], c = from[2L * places];
    int d = from[3L * places];
    sum *to = sums + place;
    to[row_of(SAD_16X8, 2, macroblocks, macroblock, 0, places)] = (sum)(a + b);
    to[row_of(SAD_16X8, 2, macroblocks, macroblock, 1, places)] = (sum)(c + d);
    to[row_of(SAD_8X16, 2, macroblocks, macroblock, 0, places)] = (sum)(a + c);
    to[row_of(SAD_8X16, 2, macroblocks, macroblock, 1, places)] = (sum)(b + d);
    to[row_of(SAD_16X16, 1, macroblocks, macroblock, 0, places)] =
        (sum)(a + b + c + d);
}
