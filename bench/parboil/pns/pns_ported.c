/*
 * pns on the CUDA driver API.
 */
#include "common/cuda.h"
#include "pns/pns.h"

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

    pns_read(&pns, net, marking, random);
    device_clear(counters, pns.counters_bytes);

    do {
        step_launch(kernel, marking, random, counters, net);
    } while (pns_note(&pns, counters));
    pns_show(&pns, marking);
    pns_finish(&pns);

    device_free(counters);
    device_free(random);
    device_free(marking);
    device_free(net);
    return 0;
}
