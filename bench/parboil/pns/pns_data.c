/*
 * A factory for pns: stages of machines with a store behind each. A machine
 * needs a part from the store before and a tool; it may break while it works;
 * a part that has come through goes back to the beginning.
 */
#include "common/data.h"
#include "pns/pns.h"

/* Places: parts, tools, and for each stage STAGE_PLACES. */
enum { PARTS, TOOLS, STAGES };
enum { IDLE, BUSY, BROKEN, STORE, STAGE_PLACES };
#define STAGE_TRANSITIONS 4
#define STAGE_ARCS        12

static const uint32_t small[] = {34, 33, 98, 512, 150, 1};
static const uint32_t medium[] = {34, 33, 98, 2048, 500, 1};
static const uint32_t large[] = {66, 65, 194, 16384, 5000, 1};
static const uint32_t gpu[] = {66, 65, 194, 524288, 5000, 1};

static void arc_write(FILE *file, uint32_t transition, uint32_t place,
                      uint32_t take, uint32_t give)
{
    uint32_t arc[] = {transition, place, take, give};
    data_write(file, arc, sizeof arc);
}

static void stage_write(FILE *file, uint32_t stage)
{
    uint32_t place = STAGES + stage * STAGE_PLACES;
    uint32_t from = stage == 0 ? PARTS : place - STAGE_PLACES + STORE;
    uint32_t begin = stage * STAGE_TRANSITIONS, end = begin + 1;
    arc_write(file, begin, from, 1, 0);
    arc_write(file, begin, TOOLS, 1, 0);
    arc_write(file, begin, place + IDLE, 1, 0);
    arc_write(file, begin, place + BUSY, 0, 1);
    arc_write(file, end, place + BUSY, 1, 0);
    arc_write(file, end, TOOLS, 0, 1);
    arc_write(file, end, place + IDLE, 0, 1);
    arc_write(file, end, place + STORE, 0, 1);
    arc_write(file, begin + 2, place + BUSY, 1, 0);
    arc_write(file, begin + 2, place + BROKEN, 0, 1);
    arc_write(file, begin + 3, place + BROKEN, 1, 0);
    arc_write(file, begin + 3, place + BUSY, 0, 1);
}

static void pns_write(const struct data_request *request)
{
    uint64_t seed = request->seed;
    struct data_request it = *request;
    uint32_t stages =
        it.value[0] > 6 ? (it.value[0] - STAGES) / STAGE_PLACES : 1;
    it.value[0] = STAGES + stages * STAGE_PLACES;
    it.value[1] = stages * STAGE_TRANSITIONS + 1;
    it.value[2] = stages * STAGE_ARCS + 2;
    it.value[5] = (uint32_t)data_random(&seed);
    FILE *file = data_create(it.path, &pns_data, it.value);
    for (uint32_t i = 0; i < it.value[0]; i++) {
        uint32_t tokens = i == PARTS   ? 4 * stages
                          : i == TOOLS ? 2 + stages / 2
                          : (i - STAGES) % STAGE_PLACES == IDLE
                              ? 1 + (uint32_t)(data_random(&seed) % 3)
                              : 0;
        data_write(file, &tokens, sizeof tokens);
    }
    for (uint32_t i = 0; i < it.value[1]; i++) {
        static const uint32_t usual[STAGE_TRANSITIONS] = {400, 300, 10, 60};
        uint32_t weight =
            usual[i % STAGE_TRANSITIONS] + (uint32_t)(data_random(&seed) % 40);
        data_write(file, &weight, sizeof weight);
    }
    for (uint32_t stage = 0; stage < stages; stage++)
        stage_write(file, stage);
    uint32_t last = STAGES + (stages - 1) * STAGE_PLACES + STORE;
    arc_write(file, it.value[1] - 1, PARTS, 0, 1);
    arc_write(file, it.value[1] - 1, last, 1, 0);
    data_close(file, it.path);
}

const struct data_kind pns_data = {"pns",  pns_fields, PNS_FIELDS, small,
                                   medium, large,      gpu,        pns_write};
