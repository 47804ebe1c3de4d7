/*
 * sad on the CUDA driver API, overlapped by hand: the CPU chooses the vectors
 * of some partitions while the sums of the next are on their way. The three
 * kernels need each other's sums, and take so little that the first copy waits
 * for all of them.
 */
#include "common/overlap.h"
#include "sad/sad.h"

static struct sad sad;

static void smallest_launch(CUfunction kernel, unsigned short *sums,
                            unsigned char *frame, unsigned char *reference)
{
    void *arguments[] = {&sums,      &frame,      &reference,
                         &sad.width, &sad.height, &sad.range};
    overlap_launch(kernel, sad.grid_4x4, sad.block, arguments);
}

static void larger_launch(CUfunction kernel, struct bench_dim grid,
                          unsigned short *sums)
{
    void *arguments[] = {&sums, &sad.macroblocks, &sad.places};
    overlap_launch(kernel, grid, sad.block, arguments);
}

/* Bytes of one partition's sums. */
static size_t partition_bytes(const struct sad *of)
{
    return (size_t)of->places * sizeof(unsigned short);
}

static void choose(const void *of, const void *sums, size_t bytes)
{
    sad_choose_some(of, sums, bytes / partition_bytes(of));
}

int main(int argc, char **argv)
{
    sad_open(&sad, argc, argv);
    CUmodule module = cuda_load();
    CUfunction smallest = cuda_kernel(module, "sad_4x4");
    CUfunction larger = cuda_kernel(module, "sad_8x8");
    CUfunction largest = cuda_kernel(module, "sad_16x16");

    overlap_open(OVERLAP_PIECE_BYTES -
                 OVERLAP_PIECE_BYTES % partition_bytes(&sad));
    unsigned char *frame = device_alloc(sad.frame_bytes);
    unsigned char *reference = device_alloc(sad.frame_bytes);
    unsigned short *sums = device_alloc(sad.sums_bytes);
    unsigned char *host_frame = pinned_alloc(sad.frame_bytes);
    unsigned char *host_reference = pinned_alloc(sad.frame_bytes);

    sad_read(&sad, host_frame, host_reference);
    overlap_upload(OVERLAP_WORK, frame, host_frame, sad.frame_bytes);
    overlap_upload(OVERLAP_WORK, reference, host_reference, sad.frame_bytes);
    smallest_launch(smallest, sums, frame, reference);
    larger_launch(larger, sad.grid_8x8, sums);
    larger_launch(largest, sad.grid_16x16, sums);
    struct overlap_result result = {
        .device = (const char *)sums, .use = choose, .context = &sad};
    overlap_finish(&result, sad.sums_bytes);
    sad_finish(&sad);

    pinned_free(host_reference);
    pinned_free(host_frame);
    device_free(sums);
    device_free(reference);
    device_free(frame);
    overlap_close();
    return 0;
}
