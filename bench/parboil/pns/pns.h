/*
 * pns: simulation of a stochastic Petri net, many runs of many steps.
 *
 * Owns the input, the CPU's part of the work and the verification. Does not
 * own net, markings and counters: each form allocates its own. One thread.
 */
#ifndef BENCH_PARBOIL_PNS_H
#define BENCH_PARBOIL_PNS_H

#include "common/bench.h"
#include "common/input.h"
#include "pns/pns_kernel.h"

#define PNS_FIELDS 6
extern const struct input_field pns_fields[PNS_FIELDS];

struct pns {
    struct input input;
    int places, transitions, arcs, runs, steps;
    size_t net_bytes, marking_bytes, random_bytes, counters_bytes;
    struct bench_dim grid, block;

    uint32_t *history; /* transitions fired up to each step, all runs */
    int steps_done;
};

/** Command line and header of the input. */
void pns_open(struct pns *pns, int argc, char **argv);

/**
 * Read the net and put every run at its beginning.
 *
 * @net  laid out as pns_kernel.h says; @random one state for each run
 */
void pns_read(struct pns *pns, unsigned *net, unsigned *marking,
              unsigned *random);

/**
 * Take note of a step.
 *
 * @counters  after it
 * Return: whether another one is due: not all runs are stuck
 */
bool pns_note(struct pns *pns, const unsigned *counters);

/** Give history and markings to bench_output. */
void pns_show(struct pns *pns, const unsigned *marking);

/** The history alone, behind markings that were given in pieces. */
void pns_show_history(struct pns *pns);

/** Stop the clock, verify, report. */
void pns_finish(struct pns *pns);

#endif
