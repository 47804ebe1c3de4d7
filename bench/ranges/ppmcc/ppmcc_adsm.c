/*
 * ppmcc on every device: each gets its share of both images for the first call
 * and still has it for the second. In between the CPU reads the sums.
 */
#include "common/device.h"
#include "ppmcc/ppmcc.h"

int main(int argc, char **argv)
{
    struct images images;
    images_open(&images, argc, argv, "ppmcc");
    adsmKernel *levels = device_kernel("ppmcc_levels");
    adsmKernel *spreads = device_kernel("ppmcc_spreads");
    adsmBox all = adsmR1(images.chunks);
    struct chunk *first = device_array(sizeof *first, all);
    struct chunk *second = device_array(sizeof *second, all);
    struct ppmcc_level *level = device_array(sizeof *level, all);
    struct ppmcc_spread *spread = device_array(sizeof *spread, all);

    images_make(&images, first, second);
    device_call(levels, all, adsmIn(first), adsmIn(second), adsmOut(level));
    struct ppmcc_level mean = ppmcc_mean(&images, level);
    device_call(spreads, all, adsmIn(first), adsmIn(second), adsmOut(spread),
                adsmVal(images.pixels), adsmVal(mean));
    shared_wait();
    ppmcc_finish(&images, spread);

    shared_free(spread);
    shared_free(level);
    shared_free(second);
    shared_free(first);
    return 0;
}
