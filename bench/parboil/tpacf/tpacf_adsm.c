/*
 * tpacf on adsm.h, which also says what the kernel reads and writes.
 */
#include "common/shared.h"
#include "tpacf/tpacf.h"

#include <string.h>

static struct tpacf sky;

/* Histogram `which` gets the pairs between two sets. */
static void count_launch(adsmKernel *kernel, unsigned *histograms, int which,
                         const float *points, const float *edge, int first,
                         int second)
{
    unsigned *histogram = histograms + which * (sky.edges + 1);
    shared_launch(kernel, sky.grid, sky.block, adsmInOut(histogram),
                  adsmIn(points), adsmIn(edge), adsmVal(sky.points),
                  adsmVal(first), adsmVal(second), adsmVal(sky.edges));
    shared_wait();
}

int main(int argc, char **argv)
{
    tpacf_open(&sky, argc, argv);
    adsmKernel *kernel = shared_kernel(shared_load(), "tpacf_count");

    float *points = shared_alloc(sky.points_bytes);
    float *edge = shared_alloc(sky.edges_bytes);
    unsigned *histograms = shared_alloc(sky.histogram_bytes);

    tpacf_read(&sky, points);
    tpacf_edges(&sky, edge);
    memset(histograms, 0, sky.histogram_bytes);

    count_launch(kernel, histograms, 0, points, edge, 0, 0);
    for (int i = 1; i < sky.sets; i++) {
        count_launch(kernel, histograms, 2 * i - 1, points, edge, i, i);
        count_launch(kernel, histograms, 2 * i, points, edge, 0, i);
    }
    tpacf_estimate(&sky, histograms);
    tpacf_finish(&sky);

    shared_free(histograms);
    shared_free(edge);
    shared_free(points);
    return 0;
}
