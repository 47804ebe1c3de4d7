/*
 * sad on managed memory.
 * What both sides use exists once and the driver moves its pages; nothing is
 * copied.
 */
#include "common/managed.h"
#include "sad/sad.h"

static struct sad sad;

static void smallest_launch(CUfunction kernel, unsigned short *sums,
                            unsigned char *frame, unsigned char *reference)
{
    void *arguments[] = {&sums,      &frame,      &reference,
                         &sad.width, &sad.height, &sad.range};
    launch(kernel, sad.grid_4x4, sad.block, arguments);
    device_wait();
}

static void larger_launch(CUfunction kernel, struct bench_dim grid,
                          unsigned short *sums)
{
    void *arguments[] = {&sums, &sad.macroblocks, &sad.places};
    launch(kernel, grid, sad.block, arguments);
    device_wait();
}

int main(int argc, char **argv)
{
    sad_open(&sad, argc, argv);
    CUmodule module = cuda_load();
    CUfunction smallest = cuda_kernel(module, "sad_4x4");
    CUfunction larger = cuda_kernel(module, "sad_8x8");
    CUfunction largest = cuda_kernel(module, "sad_16x16");

    unsigned char *frame = managed_alloc(sad.frame_bytes);
    unsigned char *reference = managed_alloc(sad.frame_bytes);
    unsigned short *sums = managed_alloc(sad.sums_bytes);

    sad_read(&sad, frame, reference);
    read_mostly(frame, sad.frame_bytes);
    read_mostly(reference, sad.frame_bytes);
    prefetch_to_device(frame, sad.frame_bytes);
    prefetch_to_device(reference, sad.frame_bytes);
    prefetch_to_device(sums, sad.sums_bytes);
    smallest_launch(smallest, sums, frame, reference);
    larger_launch(larger, sad.grid_8x8, sums);
    larger_launch(largest, sad.grid_16x16, sums);
    prefetch_to_host(sums, sad.sums_bytes);
    sad_choose(&sad, sums);
    sad_finish(&sad);

    device_free(sums);
    device_free(reference);
    device_free(frame);
    return 0;
}
