/*
 * sad on adsm.h, which also says what the kernels read and write.
 */
#include "common/shared.h"
#include "sad/sad.h"

static struct sad sad;

static void smallest_launch(adsmKernel *kernel, unsigned short *sums,
                            const unsigned char *frame,
                            const unsigned char *reference)
{
    /* Not adsmOut: the sums of larger partitions are written later. */
    shared_launch(kernel, sad.grid_4x4, sad.block, adsmInOut(sums),
                  adsmIn(frame), adsmIn(reference), adsmVal(sad.width),
                  adsmVal(sad.height), adsmVal(sad.range));
    shared_wait();
}

static void larger_launch(adsmKernel *kernel, struct bench_dim grid,
                          unsigned short *sums)
{
    shared_launch(kernel, grid, sad.block, adsmInOut(sums),
                  adsmVal(sad.macroblocks), adsmVal(sad.places));
    shared_wait();
}

int main(int argc, char **argv)
{
    sad_open(&sad, argc, argv);
    adsmModule *module = shared_load();
    adsmKernel *smallest = shared_kernel(module, "sad_4x4");
    adsmKernel *larger = shared_kernel(module, "sad_8x8");
    adsmKernel *largest = shared_kernel(module, "sad_16x16");

    unsigned char *frame = shared_alloc(sad.frame_bytes);
    unsigned char *reference = shared_alloc(sad.frame_bytes);
    unsigned short *sums = shared_alloc(sad.sums_bytes);

    sad_read(&sad, frame, reference);
    smallest_launch(smallest, sums, frame, reference);
    larger_launch(larger, sad.grid_8x8, sums);
    larger_launch(largest, sad.grid_16x16, sums);
    sad_choose(&sad, sums);
    sad_finish(&sad);

    shared_free(sums);
    shared_free(reference);
    shared_free(frame);
    return 0;
}
