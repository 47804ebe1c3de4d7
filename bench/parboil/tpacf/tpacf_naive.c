/*
 * tpacf on the CUDA driver API, by somebody who is not sure what the other
 * side has seen: every array is copied to the device before every kernel and
 * back after it.
 */
#include "common/cuda.h"
#include "tpacf/tpacf.h"

#include <stdlib.h>
#include <string.h>

static struct tpacf sky;

struct arrays {
    float *points, *edge;
    unsigned *histograms;
};

static struct arrays device, host;

/* Histogram `which` gets the pairs between two sets. */
static void count_launch(CUfunction kernel, int which, int first, int second)
{
    unsigned *histogram = device.histograms + which * (sky.edges + 1);
    void *arguments[] = {&histogram, &device.points, &device.edge, &sky.points,
                         &first,     &second,        &sky.edges};
    upload(device.points, host.points, sky.points_bytes);
    upload(device.edge, host.edge, sky.edges_bytes);
    upload(device.histograms, host.histograms, sky.histogram_bytes);
    launch(kernel, sky.grid, sky.block, arguments);
    device_wait();
    download(host.points, device.points, sky.points_bytes);
    download(host.edge, device.edge, sky.edges_bytes);
    download(host.histograms, device.histograms, sky.histogram_bytes);
}

int main(int argc, char **argv)
{
    tpacf_open(&sky, argc, argv);
    CUfunction kernel = cuda_kernel(cuda_load(), "tpacf_count");

    device.points = device_alloc(sky.points_bytes);
    device.edge = device_alloc(sky.edges_bytes);
    device.histograms = device_alloc(sky.histogram_bytes);
    host.points = host_alloc(sky.points_bytes);
    host.edge = host_alloc(sky.edges_bytes);
    host.histograms = host_alloc(sky.histogram_bytes);

    tpacf_read(&sky, host.points);
    tpacf_edges(&sky, host.edge);
    memset(host.histograms, 0, sky.histogram_bytes);

    count_launch(kernel, 0, 0, 0);
    for (int i = 1; i < sky.sets; i++) {
        count_launch(kernel, 2 * i - 1, i, i);
        count_launch(kernel, 2 * i, 0, i);
    }
    tpacf_estimate(&sky, host.histograms);
    tpacf_finish(&sky);

    free(host.histograms);
    free(host.edge);
    free(host.points);
    device_free(device.histograms);
    device_free(device.edge);
    device_free(device.points);
    return 0;
}
