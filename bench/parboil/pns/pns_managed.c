/*
 * pns on managed memory.
 * What both sides use exists once and the driver moves its pages; nothing is
 * copied.
 */
#include "common/managed.h"
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

    unsigned *net = managed_alloc(pns.net_bytes);
    unsigned *marking = managed_alloc(pns.marking_bytes);
    unsigned *random = managed_alloc(pns.random_bytes);
    unsigned *counters = managed_alloc(pns.counters_bytes);

    pns_read(&pns, net, marking, random);
    read_mostly(net, pns.net_bytes);
    prefer_device(marking, pns.marking_bytes);
    prefer_device(random, pns.random_bytes);
    prefetch_to_device(net, pns.net_bytes);
    prefetch_to_device(marking, pns.marking_bytes);
    prefetch_to_device(random, pns.random_bytes);
    device_clear(counters, pns.counters_bytes);

    do {
        prefetch_to_device(counters, pns.counters_bytes);
        step_launch(kernel, marking, random, counters, net);
        prefetch_to_host(counters, pns.counters_bytes);
    } while (pns_note(&pns, counters));
    prefetch_to_host(marking, pns.marking_bytes);
    pns_show(&pns, marking);
    pns_finish(&pns);

    device_free(counters);
    device_free(random);
    device_free(marking);
    device_free(net);
    return 0;
}
