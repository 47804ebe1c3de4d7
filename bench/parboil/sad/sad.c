/*
 * sad on the CPU: frames, motion vectors, and all sums again. See sad.h.
 *
 * Tolerance: none, all is whole numbers; 0.5 stands for the division by it.
 */
#include "sad/sad.h"

#include <stdlib.h>

/* Differences of pixels; above, only every n-th macroblock is verified. */
#define SAD_WORK 1e8

const struct input_field sad_fields[SAD_FIELDS] = {
    {"width", 16, 4096},
    {"height", 16, 4096},
    {"range", 1, 64},
};

static const struct size {
    int before, width, height; /* of the size, in pixels */
} sizes[] = {{SAD_4X4, 4, 4},    {SAD_8X4, 8, 4},   {SAD_4X8, 4, 8},
             {SAD_8X8, 8, 8},    {SAD_16X8, 16, 8}, {SAD_8X16, 8, 16},
             {SAD_16X16, 16, 16}};
#define SIZES (sizeof sizes / sizeof *sizes)

/* What becomes of one partition. */
struct choice {
    int32_t x, y;   /* motion vector, pixels */
    uint32_t least; /* the sum there */
    uint32_t all;   /* all its sums added up */
};

void sad_open(struct sad *sad, int argc, char **argv)
{
    const char *path = bench_open(argc, argv, BENCH_DATA "/sad.par");
    input_open(&sad->input, path, "sad", sad_fields, SAD_FIELDS);
    sad->width = (int)sad->input.value[0];
    sad->height = (int)sad->input.value[1];
    sad->range = (int)sad->input.value[2];
    if (sad->width % SAD_MACROBLOCK || sad->height % SAD_MACROBLOCK)
        input_refuse(&sad->input, "has frames of %d by %d, not multiples of %d",
                     sad->width, sad->height, SAD_MACROBLOCK);
    int side = 2 * sad->range + 1;
    sad->places = side * side;
    sad->frame_bytes = (size_t)sad->width * (size_t)sad->height;
    sad->macroblocks = (int)sad->frame_bytes / SAD_MACROBLOCK / SAD_MACROBLOCK;
    sad->sums_bytes = (size_t)sad->macroblocks * SAD_PARTITIONS *
                      (size_t)sad->places * sizeof(unsigned short);
    if (sad->sums_bytes > INPUT_BYTES_MAX || sad->macroblocks > 65535 / 16)
        input_refuse(&sad->input, "has %d macroblocks, at most %d are searched",
                     sad->macroblocks, 65535 / 16);
    unsigned across = ((unsigned)sad->places + SAD_THREADS - 1) / SAD_THREADS;
    unsigned rows = (unsigned)sad->macroblocks;
    sad->block = (struct bench_dim){SAD_THREADS, 1, 1};
    sad->grid_4x4 = (struct bench_dim){across, rows * 16, 1};
    sad->grid_8x8 = (struct bench_dim){across, rows * 4, 1};
    sad->grid_16x16 = (struct bench_dim){across, rows, 1};
    input_expect(&sad->input, 2 * sad->frame_bytes);
}

void sad_read(struct sad *sad, unsigned char *frame, unsigned char *reference)
{
    input_read(&sad->input, frame, sad->frame_bytes);
    input_read(&sad->input, reference, sad->frame_bytes);
    input_close(&sad->input);
    bench_work();
    bench_enter(BENCH_CPU);
}

/* The place with the least sum; of equals the one nearest to no motion. */
static struct choice choose(const struct sad *sad, const unsigned short *sums)
{
    struct choice choice = {.least = UINT32_MAX};
    int side = 2 * sad->range + 1, least_motion = 0;
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            uint32_t sum = *sums++;
            int motion = abs(x - sad->range) + abs(y - sad->range);
            choice.all += sum;
            if (sum > choice.least ||
                (sum == choice.least && motion >= least_motion))
                continue;
            least_motion = motion;
            choice.least = sum;
            choice.x = x - sad->range;
            choice.y = y - sad->range;
        }
    return choice;
}

void sad_choose(const struct sad *sad, const unsigned short *sums)
{
    sad_choose_some(sad, sums, (size_t)sad->macroblocks * SAD_PARTITIONS);
}

void sad_choose_some(const struct sad *sad, const unsigned short *sums,
                     size_t count)
{
    enum bench_phase before = bench_enter(BENCH_CPU);
    struct choice *choices = bench_alloc(count * sizeof *choices);
    for (size_t i = 0; i < count; i++)
        choices[i] = choose(sad, sums + i * (size_t)sad->places);
    bench_output(choices, count * sizeof *choices);
    free(choices);
    bench_enter(before);
}

struct frames {
    const unsigned char *frame, *reference;
};

static int clamp(int at, int size)
{
    return at < 0 ? 0 : at >= size ? size - 1 : at;
}

/* The sum of one partition at one place, straight from the pixels. */
static unsigned difference(const struct sad *sad, const struct frames *frames,
                           const struct size *size, const int at[2],
                           const int motion[2])
{
    unsigned sum = 0;
    for (int y = at[1]; y < at[1] + size->height; y++)
        for (int x = at[0]; x < at[0] + size->width; x++) {
            int there = clamp(y + motion[1], sad->height) * sad->width +
                        clamp(x + motion[0], sad->width);
            sum += (unsigned)abs(frames->frame[y * sad->width + x] -
                                 frames->reference[there]);
        }
    return sum;
}

static void partition_verify(const struct sad *sad, const struct frames *frames,
                             const struct size *size, const int at[2],
                             const struct choice *got, size_t index)
{
    uint64_t all = 0;
    unsigned least = UINT32_MAX;
    for (int y = -sad->range; y <= sad->range; y++)
        for (int x = -sad->range; x <= sad->range; x++) {
            unsigned sum = difference(sad, frames, size, at, (int[]){x, y});
            all += sum;
            least = sum < least ? sum : least;
        }
    unsigned there = difference(sad, frames, size, at, (int[]){got->x, got->y});
    bench_check("sum of the sums of partition", index, got->all,
                (double)(uint32_t)all, 0.5);
    bench_check("least sum of partition", index, got->least, least, 0.5);
    bench_check("sum at the vector of partition", index, got->least, there,
                0.5);
}

static void macroblock_verify(const struct sad *sad,
                              const struct frames *frames, int macroblock,
                              const struct choice *choices)
{
    int across = sad->width / SAD_MACROBLOCK;
    for (size_t s = 0; s < SIZES; s++) {
        const struct size *size = &sizes[s];
        int wide = SAD_MACROBLOCK / size->width;
        int each = wide * (SAD_MACROBLOCK / size->height);
        for (int i = 0; i < each; i++) {
            int at[2] = {
                macroblock % across * SAD_MACROBLOCK + i % wide * size->width,
                macroblock / across * SAD_MACROBLOCK + i / wide * size->height};
            size_t index = (size_t)(size->before * sad->macroblocks +
                                    macroblock * each + i);
            partition_verify(sad, frames, size, at, &choices[index], index);
        }
    }
}

void sad_finish(struct sad *sad)
{
    if (bench_end()) {
        const struct choice *choices = bench_result(
            (size_t)sad->macroblocks * SAD_PARTITIONS * sizeof *choices);
        unsigned char *frame = bench_alloc(2 * sad->frame_bytes);
        struct frames frames = {frame, frame + sad->frame_bytes};
        input_open(&sad->input, sad->input.path, "sad", sad_fields, SAD_FIELDS);
        sad_read(sad, frame, frame + sad->frame_bytes);
        double work = (double)sad->frame_bytes * sad->places * (double)SIZES;
        int stride = 1 + (int)(work / SAD_WORK);
        for (int i = 0; i < sad->macroblocks; i += stride)
            macroblock_verify(sad, &frames, i, choices);
        free(frame);
    }
    bench_report();
}
