/*
 * mse on every device: each gets its share of both images once, and the CPU
 * the sums.
 */
#include "common/device.h"
#include "mse/mse.h"

int main(int argc, char **argv)
{
    struct images images;
    images_open(&images, argc, argv, "mse");
    adsmKernel *sum = device_kernel("mse_sums");
    adsmBox all = adsmR1(images.chunks);
    struct chunk *first = device_array(sizeof *first, all);
    struct chunk *second = device_array(sizeof *second, all);
    float *sums = device_array(sizeof *sums, all);

    images_make(&images, first, second);
    device_call(sum, all, adsmIn(first), adsmIn(second), adsmOut(sums));
    shared_wait();
    mse_finish(&images, sums);

    shared_free(sums);
    shared_free(second);
    shared_free(first);
    return 0;
}
