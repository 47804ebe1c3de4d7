/*
 * sad on the CUDA driver API.
 * Frames and sums exist twice, on the host and on the device, and what one
 * side needs of the other's work is copied.
 */
#include "common/cuda.h"
#include "sad/sad.h"

#include <stdlib.h>

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

    unsigned char *frame = device_alloc(sad.frame_bytes);
    unsigned char *reference = device_alloc(sad.frame_bytes);
    unsigned short *sums = device_alloc(sad.sums_bytes);
    unsigned char *host_frame = host_alloc(sad.frame_bytes);
    unsigned char *host_reference = host_alloc(sad.frame_bytes);
    unsigned short *host_sums = host_alloc(sad.sums_bytes);

    sad_read(&sad, host_frame, host_reference);
    upload(frame, host_frame, sad.frame_bytes);
    upload(reference, host_reference, sad.frame_bytes);
    smallest_launch(smallest, sums, frame, reference);
    larger_launch(larger, sad.grid_8x8, sums);
    larger_launch(largest, sad.grid_16x16, sums);
    download(host_sums, sums, sad.sums_bytes);
    sad_choose(&sad, host_sums);
    sad_finish(&sad);

    free(host_sums);
    free(host_reference);
    free(host_frame);
    device_free(sums);
    device_free(reference);
    device_free(frame);
    return 0;
}
