/*
 * pns on the CUDA driver API, by somebody who is not sure what the other side
 * has seen: every array is copied to the device before every kernel and back
 * after it.
 */
#include "common/cuda.h"
#include "pns/pns.h"

#include <stdlib.h>
#include <string.h>

static struct pns pns;

static void step_launch(CUfunction kernel, unsigned *marking, unsigned *random,
                        unsigned *counters, unsigned *net)
{
    void *arguments[] = {&marking, &random,          &counters,
                         &net,     &pns.transitions, &pns.runs};
    launch(kernel, pns.grid, pns.block, arguments);
    device_wait();
}

int main(int argc, char **argv)
{
    pns_open(&pns, argc, argv);
    CUfunction kernel = cuda_kernel(cuda_load(), "pns_step");

    unsigned *net = device_alloc(pns.net_bytes);
    unsigned *marking = device_alloc(pns.marking_bytes);
    unsigned *random = device_alloc(pns.random_bytes);
    unsigned *counters = device_alloc(pns.counters_bytes);
    unsigned *host_net = host_alloc(pns.net_bytes);
    unsigned *host_marking = host_alloc(pns.marking_bytes);
    unsigned *host_random = host_alloc(pns.random_bytes);
    unsigned *host_counters = host_alloc(pns.counters_bytes);

    pns_read(&pns, host_net, host_marking, host_random);
    memset(host_counters, 0, pns.counters_bytes);

    do {
        upload(net, host_net, pns.net_bytes);
        upload(marking, host_marking, pns.marking_bytes);
        upload(random, host_random, pns.random_bytes);
        upload(counters, host_counters, pns.counters_bytes);
        step_launch(kernel, marking, random, counters, net);
        download(host_net, net, pns.net_bytes);
        download(host_marking, marking, pns.marking_bytes);
        download(host_random, random, pns.random_bytes);
        download(host_counters, counters, pns.counters_bytes);
    } while (pns_note(&pns, host_counters));
    pns_show(&pns, host_marking);
    pns_finish(&pns);

    free(host_counters);
    free(host_random);
    free(host_marking);
    free(host_net);
    device_free(counters);
    device_free(random);
    device_free(marking);
    device_free(net);
    return 0;
}
