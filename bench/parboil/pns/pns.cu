/*
 * One step of a stochastic Petri net in many independent runs, one thread per
 * run: of the transitions that may fire one is drawn, by weight, and fires.
 */
#include "adsm_device.h"
#include "pns_kernel.h"

/* The next random number of a run (a permuted congruential generator). */
static __device__ inline unsigned draw(unsigned *state)
{
    unsigned old = *state;
    *state = old * 747796405u + 2891336453u;
    unsigned word = ((old >> ((old >> 28) + 4)) ^ old) * 277803737u;
    return (word >> 22) ^ word;
}

/* Whether every place has the tokens that the arcs take. */
static __device__ inline bool may_fire(const unsigned *marking, int runs,
                                       const unsigned *arcs, unsigned first,
                                       unsigned end)
{
    bool may = true;
    for (unsigned i = first; i < end; i++) {
        const unsigned *arc = arcs + i * PNS_ARC_NUMBERS;
        may = may && marking[(long)arc[0] * runs] >= arc[1];
    }
    return may;
}

/*
 * marking   tokens: for every place those of all runs
 * random    state of each run's generator
 * counters  PNS_COUNTERS, added to
 */
extern "C" __global__ void pns_step(unsigned *__restrict__ marking,
                                    unsigned *__restrict__ random,
                                    unsigned *__restrict__ counters,
                                    const unsigned *__restrict__ net,
                                    int transitions, int runs)
{
    static __shared__ unsigned counter[PNS_COUNTERS];
    long run = adsm_thread_x();
    if (threadIdx.x < PNS_COUNTERS)
        counter[threadIdx.x] = 0;
    __syncthreads();
    if (run < runs) {
        const unsigned *first = net + transitions;
        const unsigned *arcs = first + transitions + 1;
        unsigned *mine = marking + run;
        unsigned total = 0;
        for (int t = 0; t < transitions; t++)
            if (may_fire(mine, runs, arcs, first[t], first[t + 1]))
                total += net[t];
        unsigned state = random[run];
        unsigned drawn = (unsigned)((unsigned long)draw(&state) * total >> 32);
        random[run] = state;
        int chosen = -1;
        for (int t = 0; t < transitions && chosen < 0 && total > 0; t++) {
            if (!may_fire(mine, runs, arcs, first[t], first[t + 1]))
                continue;
            if (drawn < net[t])
                chosen = t;
            drawn -= net[t];
        }
        if (chosen >= 0)
            for (unsigned i = first[chosen]; i < first[chosen + 1]; i++) {
                const unsigned *arc = arcs + i * PNS_ARC_NUMBERS;
                mine[(long)arc[0] * runs] += arc[2] - arc[1];
            }
        adsm_atomic_add(&counter[chosen >= 0 ? PNS_FIRED : PNS_STUCK], 1);
    }
    __syncthreads();
    if (threadIdx.x < PNS_COUNTERS && counter[threadIdx.x] > 0)
        adsm_atomic_add(&counters[threadIdx.x], counter[threadIdx.x]);
}
