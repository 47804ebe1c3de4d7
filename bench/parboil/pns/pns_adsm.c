/*
 * pns on adsm.h, which also says what the kernel reads and writes.
 */
#include "common/shared.h"
#include "pns/pns.h"

#include <string.h>

static struct pns pns;

static void step_launch(adsmKernel *kernel, unsigned *marking, unsigned *random,
                        unsigned *counters, const unsigned *net)
{
    shared_launch(kernel, pns.grid, pns.block, adsmInOut(marking),
                  adsmInOut(random), adsmInOut(counters), adsmIn(net),
                  adsmVal(pns.transitions), adsmVal(pns.runs));
    shared_wait();
}

int main(int argc, char **argv)
{
    pns_open(&pns, argc, argv);
    adsmKernel *kernel = shared_kernel(shared_load(), "pns_step");

    unsigned *net = shared_alloc(pns.net_bytes);
    unsigned *marking = shared_alloc(pns.marking_bytes);
    unsigned *random = shared_alloc(pns.random_bytes);
    unsigned *counters = shared_alloc(pns.counters_bytes);

    pns_read(&pns, net, marking, random);
    memset(counters, 0, pns.counters_bytes);

    do {
        step_launch(kernel, marking, random, counters, net);
    } while (pns_note(&pns, counters));
    pns_show(&pns, marking);
    pns_finish(&pns);

    shared_free(counters);
    shared_free(random);
    shared_free(marking);
    shared_free(net);
    return 0;
}
