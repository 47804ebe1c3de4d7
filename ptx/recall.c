/*
 * Ranges of launches, put together and remembered; see ptx/recall.h.
 *
 * Lock: none.
 */
#include "ptx/recall.h"
#include "ptx/range.h"

#include <string.h>

void sc_recall_init(struct sc_load *load, const struct sc_flow *flow,
                    struct sc_recall *recall)
{
    *recall = (struct sc_recall){.flow = flow};
    for (int i = 0; i < SC_RECALL_LAUNCHES; i++)
        recall->launch[i].numbers =
            sc_load_alloc(load, flow->input_count, sizeof(uint64_t));
}

/* ---- launches that are alike --------------------------------------------- */

static struct sc_geometry what_matters(const struct sc_flow *flow,
                                       const struct sc_geometry *geometry)
{
    struct sc_geometry g = *geometry;
    for (unsigned i = 0; i < 3; i++) {
        if (!(flow->all_inputs >> (SC_INPUT_GRID + i) & 1))
            g.grid[i] = g.from[i] = g.to[i] = 0;
        if (!(flow->all_inputs >> (SC_INPUT_BLOCK + i) & 1))
            g.block[i] = 0;
    }
    return g;
}

static uint64_t number_of(const struct sc_input *input, const uint8_t *params)
{
    uint64_t number = 0;
    memcpy(&number, params + input->at, input->bytes);
    return number;
}

static bool is_alike(const struct sc_flow *flow,
                     const struct sc_recalled *launch,
                     const struct sc_geometry *geometry, const uint8_t *params)
{
    if (!launch->is_valid ||
        memcmp(&launch->geometry, geometry, sizeof *geometry) != 0)
        return false;
    for (size_t i = 0; i < flow->input_count; i++)
        if (!flow->inputs[i].shifts &&
            launch->numbers[i] != number_of(&flow->inputs[i], params))
            return false;
    return true;
}

/* Over the end of all addresses it would go on at their beginning. */
static void shift(struct sc_range *range, uint64_t by)
{
    if (!range->known || !by)
        return;
    range->first += by;
    range->last += by;
    if (range->first > range->last)
        sc_range_all(range, sc_interval_any(64));
}

static void tell(const struct sc_flow *flow, const struct sc_recalled *launch,
                 const uint8_t *params, struct sc_touched *touched)
{
    touched->count = launch->count;
    for (unsigned i = 0; i < launch->count; i++) {
        int32_t base = launch->base[i];
        touched->range[i] = launch->range[i];
        if (base != SC_BASE_NONE)
            shift(&touched->range[i], number_of(&flow->inputs[base], params) -
                                          launch->numbers[base]);
    }
}

/* The launch that is alike; NULL: none. `g` has what matters */
static struct sc_recalled *find(const struct sc_recall *recall,
                                const struct sc_geometry *g,
                                const uint8_t *params)
{
    const struct sc_recalled *launch = recall->launch;
    for (int i = 0; i < SC_RECALL_LAUNCHES; i++)
        if (is_alike(recall->flow, &launch[i], g, params))
            return (struct sc_recalled *)&launch[i];
    return NULL;
}

bool sc_recall(const struct sc_recall *recall,
               const struct sc_geometry *geometry, const uint8_t *params,
               bool rows, struct sc_touched *touched)
{
    const struct sc_geometry g = what_matters(recall->flow, geometry);
    const struct sc_recalled *launch = find(recall, &g, params);
    if (!launch || (rows && !launch->has_rows))
        return false;
    tell(recall->flow, launch, params, touched);
    return true;
}

/* ---- ranges put together ------------------------------------------------- */

/* Into one that is there, or behind them. Return: false: too many. */
static bool add(struct sc_recalled *launch, const struct sc_range *range,
                int32_t base)
{
    for (unsigned i = 0; i < launch->count; i++)
        if (launch->base[i] == base && sc_range_join(&launch->range[i], range))
            return true;
    if (launch->count == SC_RANGES_MOST)
        return false;
    launch->base[launch->count] = base;
    launch->range[launch->count++] = *range;
    return true;
}

/* What an access touches. Return: false: nothing, or what is not asked for */
static bool range_of(struct sc_solve *solve, size_t access, bool strided,
                     struct sc_range *range)
{
    const struct sc_access *a = &solve->flow->origins.accesses[access];
    struct sc_interval at = sc_solve_range(solve, access);
    *range =
        (struct sc_range){.places = (uint32_t)(a->origin & SC_ORIGIN_PLACES),
                          .reads = a->reads,
                          .writes = a->writes};
    if (!range->places || sc_interval_is_none(at) ||
        (a->origin & SC_ORIGIN_UNKNOWN))
        return false;
    sc_range_all(range, at);
    bool sparse = range->known && at.hi - at.lo >= SC_RANGE_NEAR_BYTES &&
                  sc_solve_is_sparse(solve, access);
    if (sparse && strided) {
        struct sc_strided set = sc_solve_strided(solve, access);
        sc_range_strided(range, &set);
    }
    range->sparse = sparse && !strided;
    return true;
}

static bool collect(struct sc_solve *solve, bool strided,
                    struct sc_recalled *launch)
{
    size_t count = solve->flow->origins.access_count;
    struct sc_range range;
    launch->count = 0;
    for (size_t i = 0; i < count; i++)
        if (range_of(solve, i, strided, &range) &&
            !add(launch, &range, sc_solve_base(solve, i)))
            return false;
    return true;
}

bool sc_recall_note(struct sc_recall *recall, struct sc_solve *solve,
                    const uint8_t *params, bool rows,
                    struct sc_touched *touched)
{
    const struct sc_flow *flow = recall->flow;
    struct sc_geometry g = what_matters(flow, &solve->geometry);
    struct sc_recalled *launch = find(recall, &g, params);
    if (!launch)
        launch = &recall->launch[recall->next++ % SC_RECALL_LAUNCHES];
    /* With rows there are more ranges; where they are too many there are no
     * rows. */
    launch->is_valid =
        (rows && collect(solve, true, launch)) || collect(solve, false, launch);
    launch->has_rows = rows;
    if (!launch->is_valid)
        return false;
    launch->geometry = g;
    for (size_t i = 0; i < flow->input_count; i++)
        launch->numbers[i] = number_of(&flow->inputs[i], params);
    tell(flow, launch, params, touched);
    return true;
}
