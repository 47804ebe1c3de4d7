/*
 * tpacf on managed memory.
 * What both sides use exists once and the driver moves its pages; nothing is
 * copied.
 */
#include "common/managed.h"
#include "tpacf/tpacf.h"

static struct tpacf sky;

/* Histogram `which` gets the pairs between two sets. */
static void count_launch(CUfunction kernel, unsigned *histograms, int which,
                         float *points, float *edge, int first, int second)
{
    unsigned *histogram = histograms + which * (sky.edges + 1);
    void *arguments[] = {&histogram, &points, &edge,     &sky.points,
                         &first,     &second, &sky.edges};
    launch(kernel, sky.grid, sky.block, arguments);
    device_wait();
}

int main(int argc, char **argv)
{
    tpacf_open(&sky, argc, argv);
    CUfunction kernel = cuda_kernel(cuda_load(), "tpacf_count");

    float *points = managed_alloc(sky.points_bytes);
    float *edge = managed_alloc(sky.edges_bytes);
    unsigned *histograms = managed_alloc(sky.histogram_bytes);

    tpacf_read(&sky, points);
    tpacf_edges(&sky, edge);
    read_mostly(points, sky.points_bytes);
    read_mostly(edge, sky.edges_bytes);
    prefer_device(histograms, sky.histogram_bytes);
    prefetch_to_device(points, sky.points_bytes);
    prefetch_to_device(edge, sky.edges_bytes);
    device_clear(histograms, sky.histogram_bytes);

    count_launch(kernel, histograms, 0, points, edge, 0, 0);
    for (int i = 1; i < sky.sets; i++) {
        count_launch(kernel, histograms, 2 * i - 1, points, edge, i, i);
        count_launch(kernel, histograms, 2 * i, points, edge, 0, i);
    }
    prefetch_to_host(histograms, sky.histogram_bytes);
    tpacf_estimate(&sky, histograms);
    tpacf_finish(&sky);

    device_free(histograms);
    device_free(edge);
    device_free(points);
    return 0;
}
