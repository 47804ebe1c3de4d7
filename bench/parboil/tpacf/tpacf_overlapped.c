/*
 * tpacf on the CUDA driver API, overlapped by hand: a set is turned into points
 * and sent while pairs of those before are counted, and no count is waited for.
 */
#include "common/overlap.h"
#include "tpacf/tpacf.h"

static struct tpacf sky;

/* Histogram `which` gets the pairs between two sets. */
static void count_launch(CUfunction kernel, unsigned *histograms, int which,
                         float *points, float *edge, int first, int second)
{
    unsigned *histogram = histograms + which * (sky.edges + 1);
    void *arguments[] = {&histogram, &points, &edge,     &sky.points,
                         &first,     &second, &sky.edges};
    overlap_launch(kernel, sky.grid, sky.block, arguments);
}

/* The kernels that come behind have set `i`. */
static void set_send(float *points, float *host_points, int i)
{
    size_t at = (size_t)i * sky.set_bytes / sizeof *points;
    tpacf_turn(&sky, host_points + at, 1);
    overlap_upload(OVERLAP_ASIDE, points + at, host_points + at, sky.set_bytes);
    overlap_follow(OVERLAP_WORK, OVERLAP_ASIDE);
}

int main(int argc, char **argv)
{
    tpacf_open(&sky, argc, argv);
    CUfunction kernel = cuda_kernel(cuda_load(), "tpacf_count");

    overlap_open(0);
    float *points = device_alloc(sky.points_bytes);
    float *edge = device_alloc(sky.edges_bytes);
    unsigned *histograms = device_alloc(sky.histogram_bytes);
    float *host_points = pinned_alloc(sky.points_bytes);
    float *host_edge = pinned_alloc(sky.edges_bytes);
    unsigned *host_histograms = pinned_alloc(sky.histogram_bytes);

    tpacf_load(&sky, host_points);
    tpacf_edges(&sky, host_edge);
    overlap_upload(OVERLAP_WORK, edge, host_edge, sky.edges_bytes);
    overlap_clear(OVERLAP_WORK, histograms, sky.histogram_bytes);

    set_send(points, host_points, 0);
    count_launch(kernel, histograms, 0, points, edge, 0, 0);
    for (int i = 1; i < sky.sets; i++) {
        set_send(points, host_points, i);
        count_launch(kernel, histograms, 2 * i - 1, points, edge, i, i);
        count_launch(kernel, histograms, 2 * i, points, edge, 0, i);
    }
    overlap_download(OVERLAP_WORK, host_histograms, histograms,
                     sky.histogram_bytes);
    overlap_wait(OVERLAP_WORK);
    tpacf_estimate(&sky, host_histograms);
    tpacf_finish(&sky);

    pinned_free(host_histograms);
    pinned_free(host_edge);
    pinned_free(host_points);
    device_free(histograms);
    device_free(edge);
    device_free(points);
    overlap_close();
    return 0;
}
