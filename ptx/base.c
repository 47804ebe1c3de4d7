/*
 * Which pointers only shift what is touched; see ptx/flow.h.
 *
 * A pointer shifts if all that comes of it is an address: copied, and something
 * added that it is not part of itself. Then the address less the pointer is the
 * same at every launch. All pointers are believed to, until one is met that is
 * compared, multiplied, cut in pieces, or mixed with another. Lock: none.
 */
#include "ptx/flow.h"

enum { UNSEEN = -2 };

struct bases {
    struct sc_flow *flow;
    const bool *relevant;
    bool changed, refuted;
};

static void refute(struct bases *b, int32_t base)
{
    if (base < 0 || !b->flow->inputs[base].shifts)
        return;
    b->flow->inputs[base].shifts = false;
    b->refuted = true;
}

static int32_t base_of(const struct bases *b, const struct sc_source *source)
{
    return source->kind == SC_SOURCE_REG && source->variable != UINT32_MAX
               ? b->flow->variables[source->variable].base
               : SC_BASE_NONE;
}

/* Here its number is looked at. */
static void refute_source(struct bases *b, const struct sc_source *source)
{
    refute(b, base_of(b, source));
}

/* Of the sum of two. */
static int32_t sum(struct bases *b, int32_t one, int32_t other)
{
    if (one >= 0 && other >= 0) {
        refute(b, one);
        refute(b, other);
    }
    if (one >= 0 || other >= 0)
        return one > other ? one : other;
    return one < other ? one : other;
}

/* Of 64 bits. */
static int32_t base_of_step(struct bases *b, const struct sc_step *step)
{
    int32_t from[3];
    for (int i = 0; i < 3; i++)
        from[i] = base_of(b, &step->from[i]);
    switch (step->kind) {
    case SC_STEP_PARAM:
        return b->flow->inputs[step->input].shifts ? (int32_t)step->input
                                                   : SC_BASE_NONE;
    case SC_STEP_COPY:
        if (step->from_bits != 64)
            refute(b, from[0]);
        return from[0];
    case SC_STEP_ADD:
        return sum(b, from[0], from[1]);
    case SC_STEP_SUB:
        refute(b, from[1]);
        return from[0];
    case SC_STEP_MAD:
    case SC_STEP_MAD_WIDE:
        refute(b, from[0]);
        refute(b, from[1]);
        return from[2];
    case SC_STEP_SELECT:
        if (from[0] == UNSEEN || from[1] == UNSEEN)
            return sum(b, from[0], from[1]);
        if (from[0] != from[1]) {
            refute(b, from[0]);
            refute(b, from[1]);
        }
        return from[0];
    default:
        for (int i = 0; i < 3; i++)
            refute(b, from[i]);
        return SC_BASE_NONE;
    }
}

static void look_at_step(struct bases *b, struct sc_variable *v,
                         const struct sc_step *step)
{
    int32_t base = SC_BASE_NONE;
    if (step->bits == 64 && v->bits == 64)
        base = base_of_step(b, step);
    else if (step->kind == SC_STEP_PARAM)
        refute(b, (int32_t)step->input);
    else
        for (int i = 0; i < 3; i++)
            refute_source(b, &step->from[i]);
    if (base == UNSEEN || base == v->base)
        return;
    if (v->base == UNSEEN) {
        v->base = base;
        b->changed = true;
        return;
    }
    refute(b, base);
    refute(b, v->base);
}

static void refute_fact(struct bases *b, uint32_t fact)
{
    for (int k = 0; k < 2; k++)
        refute_source(b, &b->flow->facts[fact].from[k]);
}

static void refute_limits(struct bases *b, const struct sc_source *source)
{
    for (uint32_t i = 0; i < source->limit_count; i++)
        refute_fact(b, source->limits[i].fact);
}

static void look_at_advance(struct bases *b, const struct sc_counter *counter)
{
    refute_source(b, &counter->advance->from[1]);
    refute_limits(b, &counter->advance->from[1]);
}

static void look_at_variable(struct bases *b, struct sc_variable *v)
{
    for (uint32_t i = 0; i < v->step_count; i++) {
        look_at_step(b, v, v->steps[i]);
        for (int k = 0; k < 3; k++)
            refute_limits(b, &v->steps[i]->from[k]);
    }
    if (!v->counter)
        return;
    const struct sc_loop *loop = v->counter->loop;
    look_at_advance(b, v->counter);
    for (size_t i = 0; i < loop->test_count; i++) {
        const struct sc_counter *counter = loop->tests[i].counter;
        refute(b, counter->variable->base);
        look_at_advance(b, counter);
        refute_fact(b, loop->tests[i].limit.fact);
    }
}

static void look_at_access(struct bases *b, size_t access)
{
    const struct sc_limits *conditions = &b->flow->conditions[access];
    refute_limits(b, &b->flow->addresses[access]);
    for (uint32_t i = 0; i < conditions->count; i++)
        refute_fact(b, conditions->list[i].fact);
}

/* Bases of all variables, if what is believed of the inputs holds. */
static void spread(struct bases *b)
{
    struct sc_flow *flow = b->flow;
    b->refuted = false;
    for (size_t i = 0; i < flow->variable_count; i++)
        flow->variables[i].base = b->relevant[i] ? UNSEEN : SC_BASE_NONE;
    do {
        b->changed = false;
        for (size_t i = 0; i < flow->variable_count && !b->refuted; i++)
            if (b->relevant[i])
                look_at_variable(b, &flow->variables[i]);
    } while (b->changed && !b->refuted);
    for (size_t i = 0; i < flow->origins.access_count && !b->refuted; i++)
        look_at_access(b, i);
}

void sc_bases_find(struct sc_flow *flow, const bool *relevant)
{
    struct bases b = {.flow = flow, .relevant = relevant};
    for (size_t i = 0; i < flow->input_count; i++)
        flow->inputs[i].shifts = flow->inputs[i].bytes == sizeof(uint64_t);
    do
        spread(&b);
    while (b.refuted);
    for (size_t i = 0; i < flow->variable_count; i++)
        if (flow->variables[i].base == UNSEEN)
            flow->variables[i].base = SC_BASE_NONE;
}
