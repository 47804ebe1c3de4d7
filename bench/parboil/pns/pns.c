/*
 * pns on the CPU: net, history, and the runs again one by one. See pns.h.
 *
 * Tolerance: none, all is whole numbers; 0.5 stands for the division by it.
 */
#include "pns/pns.h"

#include <stdlib.h>
#include <string.h>

/* Arcs looked at; above, only every n-th run is verified, and no history. */
#define PNS_WORK 5e8

#define TOKENS_MAX (1 << 20)
#define WEIGHT_MAX 65535

const struct input_field pns_fields[PNS_FIELDS] = {
    {"places", 1, 4096},  {"transitions", 1, 4096}, {"arcs", 1, 65536},
    {"runs", 1, 1 << 24}, {"steps", 1, 10000000},   {"seed", 0, UINT32_MAX},
};

/* As in the file; arcs of one transition lie together, in rising order. */
struct arc {
    uint32_t transition, place, take, give;
};

static size_t file_bytes(const struct pns *pns)
{
    return ((size_t)pns->places + (size_t)pns->transitions) * sizeof(uint32_t) +
           (size_t)pns->arcs * sizeof(struct arc);
}

void pns_open(struct pns *pns, int argc, char **argv)
{
    const char *path = bench_open(argc, argv, BENCH_DATA "/pns.par");
    input_open(&pns->input, path, "pns", pns_fields, PNS_FIELDS);
    pns->places = (int)pns->input.value[0];
    pns->transitions = (int)pns->input.value[1];
    pns->arcs = (int)pns->input.value[2];
    pns->runs = (int)pns->input.value[3];
    pns->steps = (int)pns->input.value[4];
    pns->net_bytes = ((size_t)pns->transitions * 2 + 1 +
                      (size_t)pns->arcs * PNS_ARC_NUMBERS) *
                     sizeof(unsigned);
    pns->random_bytes = (size_t)pns->runs * sizeof(unsigned);
    pns->marking_bytes = (size_t)pns->places * pns->random_bytes;
    pns->counters_bytes = PNS_COUNTERS * sizeof(unsigned);
    if (pns->marking_bytes > INPUT_BYTES_MAX)
        input_refuse(&pns->input, "has %d runs of %d places, too many",
                     pns->runs, pns->places);
    input_expect(&pns->input, file_bytes(pns));
    pns->block = (struct bench_dim){PNS_THREADS, 1, 1};
    pns->grid = (struct bench_dim){
        ((unsigned)pns->runs + PNS_THREADS - 1) / PNS_THREADS, 1, 1};
    pns->history = bench_alloc((size_t)pns->steps * sizeof(uint32_t));
}

/* The file's own arrays, read and checked. */
struct net {
    uint32_t *tokens, *weights;
    struct arc *arcs;
};

static void net_check(const struct pns *pns, const struct net *net)
{
    const struct input *input = &pns->input;
    for (int i = 0; i < pns->places; i++)
        if (net->tokens[i] > TOKENS_MAX)
            input_refuse(input, "has %u tokens in place %d, at most %d",
                         net->tokens[i], i, TOKENS_MAX);
    for (int i = 0; i < pns->transitions; i++)
        if (net->weights[i] < 1 || net->weights[i] > WEIGHT_MAX)
            input_refuse(input,
                         "gives transition %d the weight %u, it must be "
                         "1 to %d",
                         i, net->weights[i], WEIGHT_MAX);
    uint32_t last = 0;
    for (int i = 0; i < pns->arcs; i++) {
        const struct arc *arc = &net->arcs[i];
        if (arc->transition >= (uint32_t)pns->transitions ||
            arc->place >= (uint32_t)pns->places || arc->transition < last ||
            arc->take > TOKENS_MAX || arc->give > TOKENS_MAX)
            input_refuse(input,
                         "has a wrong arc %d: transition %u, place %u, "
                         "takes %u, gives %u",
                         i, arc->transition, arc->place, arc->take, arc->give);
        last = arc->transition;
    }
}

static struct net net_read(struct pns *pns)
{
    size_t places = (size_t)pns->places, transitions = (size_t)pns->transitions;
    struct net net;
    net.tokens = bench_alloc(file_bytes(pns));
    net.weights = net.tokens + places;
    net.arcs = (struct arc *)(net.weights + transitions);
    input_read(&pns->input, net.tokens, file_bytes(pns));
    input_close(&pns->input);
    bench_work();
    bench_enter(BENCH_CPU);
    net_check(pns, &net);
    return net;
}

static void net_pack(const struct pns *pns, const struct net *net,
                     unsigned *packed)
{
    int arc = 0;
    for (int t = 0; t < pns->transitions; t++)
        *packed++ = net->weights[t];
    for (int t = 0; t <= pns->transitions; t++) {
        while (arc < pns->arcs && net->arcs[arc].transition < (uint32_t)t)
            arc++;
        *packed++ = (unsigned)arc;
    }
    for (arc = 0; arc < pns->arcs; arc++) {
        *packed++ = net->arcs[arc].place;
        *packed++ = net->arcs[arc].take;
        *packed++ = net->arcs[arc].give;
    }
}

static uint32_t state_of(const struct pns *pns, int run)
{
    return ((uint32_t)run + 1) * 2654435769u ^ pns->input.value[5];
}

void pns_read(struct pns *pns, unsigned *packed, unsigned *marking,
              unsigned *random)
{
    struct net net = net_read(pns);
    net_pack(pns, &net, packed);
    for (int place = 0; place < pns->places; place++)
        for (int run = 0; run < pns->runs; run++)
            *marking++ = net.tokens[place];
    for (int run = 0; run < pns->runs; run++)
        random[run] = state_of(pns, run);
    free(net.tokens);
}

bool pns_note(struct pns *pns, const unsigned *counters)
{
    uint32_t fired = counters[PNS_FIRED];
    int step = pns->steps_done++;
    uint32_t before = step > 0 ? pns->history[step - 1] : 0;
    pns->history[step] = fired;
    return fired != before && pns->steps_done < pns->steps;
}

void pns_show(struct pns *pns, const unsigned *marking)
{
    bench_output(marking, pns->marking_bytes);
    pns_show_history(pns);
}

void pns_show_history(struct pns *pns)
{
    bench_output(pns->history, (size_t)pns->steps_done * sizeof(uint32_t));
}

static uint32_t draw(uint32_t *state)
{
    uint32_t x = *state;
    *state = x * 747796405u + 2891336453u;
    x = ((x >> ((x >> 28) + 4)) ^ x) * 277803737u;
    return (x >> 22) ^ x;
}

/* One step of one run, transition by transition: what may fire is known from
 * what no arc forbids. Return: whether one fired. */
static bool step(const struct pns *pns, const struct net *net, uint32_t *tokens,
                 uint32_t *state, uint32_t *odds)
{
    uint64_t total = 0;
    memcpy(odds, net->weights, (size_t)pns->transitions * sizeof *odds);
    for (int i = 0; i < pns->arcs; i++)
        if (tokens[net->arcs[i].place] < net->arcs[i].take)
            odds[net->arcs[i].transition] = 0;
    for (int t = 0; t < pns->transitions; t++)
        total += odds[t];
    uint64_t drawn = draw(state) * total >> 32;
    if (total == 0)
        return false;
    uint32_t chosen = 0;
    while (drawn >= odds[chosen])
        drawn -= odds[chosen++];
    for (int i = 0; i < pns->arcs; i++)
        if (net->arcs[i].transition == chosen)
            tokens[net->arcs[i].place] += net->arcs[i].give - net->arcs[i].take;
    return true;
}

/* All steps of one run against its marking; adds to the history. */
static void run_verify(const struct pns *pns, const struct net *net, int run,
                       const unsigned *marking, uint32_t *fired)
{
    uint32_t *tokens = bench_alloc((size_t)pns->places * sizeof *tokens);
    uint32_t *odds = bench_alloc((size_t)pns->transitions * sizeof *odds);
    uint32_t state = state_of(pns, run);
    memcpy(tokens, net->tokens, (size_t)pns->places * sizeof *tokens);
    for (int i = 0; i < pns->steps_done; i++)
        fired[i] += step(pns, net, tokens, &state, odds);
    for (int place = 0; place < pns->places; place++) {
        size_t index = (size_t)place * (size_t)pns->runs + (size_t)run;
        bench_check("marking", index, marking[index], tokens[place], 0.5);
    }
    free(tokens);
    free(odds);
}

static void verify(struct pns *pns)
{
    size_t history_bytes = (size_t)pns->steps_done * sizeof(uint32_t);
    const unsigned *marking = bench_result(pns->marking_bytes + history_bytes);
    const uint32_t *history = marking + pns->marking_bytes / sizeof *marking;
    uint32_t *fired = bench_alloc(history_bytes);
    memset(fired, 0, history_bytes);
    input_open(&pns->input, pns->input.path, "pns", pns_fields, PNS_FIELDS);
    struct net net = net_read(pns);
    double work = (double)pns->runs * pns->steps_done * pns->arcs;
    int stride = 1 + (int)(work / PNS_WORK);
    for (int run = 0; run < pns->runs; run += stride)
        run_verify(pns, &net, run, marking, fired);
    uint32_t sum = 0;
    for (int i = 0; i < pns->steps_done && stride == 1; i++) {
        sum += fired[i];
        bench_check("transitions fired up to step", (size_t)i, history[i], sum,
                    0.5);
    }
    free(net.tokens);
    free(fired);
}

void pns_finish(struct pns *pns)
{
    if (bench_end())
        verify(pns);
    bench_report();
    free(pns->history);
}
