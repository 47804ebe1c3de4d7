/*
 * pns on the CUDA driver API, overlapped by hand: the device is some steps
 * ahead of the counters that the CPU looks at. A step too many fires nothing,
 * since all runs are stuck before it, so that markings and history are those of
 * the program that waits.
 */
#include "common/overlap.h"
#include "pns/pns.h"

/* Steps under way. */
#define AHEAD OVERLAP_MARKS

static struct pns pns;

static void step_launch(CUfunction kernel, unsigned *marking, unsigned *random,
                        unsigned *counters, unsigned *net)
{
    void *arguments[] = {&marking, &random,          &counters,
                         &net,     &pns.transitions, &pns.runs};
    overlap_launch(kernel, pns.grid, pns.block, arguments);
}

int main(int argc, char **argv)
{
    pns_open(&pns, argc, argv);
    CUfunction kernel = cuda_kernel(cuda_load(), "pns_step");

    overlap_open(OVERLAP_PIECE_BYTES);
    unsigned *net = device_alloc(pns.net_bytes);
    unsigned *marking = device_alloc(pns.marking_bytes);
    unsigned *random = device_alloc(pns.random_bytes);
    unsigned *counters = device_alloc(pns.counters_bytes);
    unsigned *host_net = pinned_alloc(pns.net_bytes);
    unsigned *host_marking = pinned_alloc(pns.marking_bytes);
    unsigned *host_random = pinned_alloc(pns.random_bytes);
    unsigned *host_counters = pinned_alloc(AHEAD * pns.counters_bytes);

    pns_read(&pns, host_net, host_marking, host_random);
    overlap_upload(OVERLAP_WORK, net, host_net, pns.net_bytes);
    overlap_upload(OVERLAP_WORK, marking, host_marking, pns.marking_bytes);
    overlap_upload(OVERLAP_WORK, random, host_random, pns.random_bytes);
    overlap_clear(OVERLAP_WORK, counters, pns.counters_bytes);

    int begun = 0, now;
    do {
        for (; begun < pns.steps && begun < pns.steps_done + AHEAD; begun++) {
            step_launch(kernel, marking, random, counters, net);
            overlap_download(OVERLAP_WORK,
                             host_counters + begun % AHEAD * PNS_COUNTERS,
                             counters, pns.counters_bytes);
            overlap_mark(begun % AHEAD, OVERLAP_WORK);
        }
        now = pns.steps_done % AHEAD;
        overlap_reached(now);
    } while (pns_note(&pns, host_counters + now * PNS_COUNTERS));
    struct overlap_result result = overlap_output(marking);
    overlap_finish(&result, pns.marking_bytes);
    pns_show_history(&pns);
    pns_finish(&pns);

    pinned_free(host_counters);
    pinned_free(host_random);
    pinned_free(host_marking);
    pinned_free(host_net);
    device_free(counters);
    device_free(random);
    device_free(marking);
    device_free(net);
    overlap_close();
    return 0;
}
