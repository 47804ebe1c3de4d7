/*
 * Which values accesses depend on, in which order these are evaluated, and what
 * of a launch they depend on; see ptx/flow.h.
 *
 * Groups are the strongly connected components of what looks at what (Tarjan's
 * algorithm, without recursion): without a loop in the program each is one
 * variable, evaluated once. Lock: none.
 */
#include "ptx/flow.h"

#include <stdlib.h>
#include <string.h>

typedef void sc_depend_each(void *context, const struct sc_source *read);

/* ---- what is looked at --------------------------------------------------- */

struct reads {
    const struct sc_flow *flow;
    sc_depend_each *each;
    void *context;
};

static void read_value(const struct reads *r, const struct sc_source *source)
{
    r->each(r->context, source);
    for (uint32_t i = 0; i < source->limit_count; i++) {
        const struct sc_limit *limit = &source->limits[i];
        r->each(r->context, &r->flow->facts[limit->fact].from[!limit->turned]);
    }
}

static void read_step(const struct reads *r, const struct sc_step *step)
{
    int count = step->kind == SC_STEP_SELECT ? 2 : 3;
    for (int i = 0; i < count; i++)
        read_value(r, &step->from[i]);
}

static void read_counter(const struct reads *r, const struct sc_counter *c)
{
    struct sc_source itself = {
        .kind = SC_SOURCE_REG,
        .reg = c->variable->reg,
        .variable = (uint32_t)(c->variable - r->flow->variables)};
    r->each(r->context, &itself);
    for (uint32_t i = 0; i < c->variable->step_count; i++)
        read_step(r, c->variable->steps[i]);
    read_value(r, &c->advance->from[1]);
}

void sc_depend_reads(const struct sc_flow *flow, const struct sc_variable *v,
                     sc_depend_each *each, void *context)
{
    const struct reads r = {flow, each, context};
    const struct sc_loop *loop = v->counter ? v->counter->loop : NULL;
    for (uint32_t i = 0; i < v->step_count; i++)
        read_step(&r, v->steps[i]);
    if (v->counter)
        read_counter(&r, v->counter);
    for (size_t i = 0; loop && i < loop->test_count; i++) {
        const struct sc_test *test = &loop->tests[i];
        read_counter(&r, test->counter);
        each(context, &flow->facts[test->limit.fact].from[!test->limit.turned]);
    }
}

void sc_depend_access(const struct sc_flow *flow, size_t access,
                      sc_depend_each *each, void *context)
{
    const struct reads r = {flow, each, context};
    const struct sc_limits *conditions = &flow->conditions[access];
    read_value(&r, &flow->addresses[access]);
    for (uint32_t i = 0; i < conditions->count; i++)
        for (int k = 0; k < 2; k++)
            each(context, &flow->facts[conditions->list[i].fact].from[k]);
}

/* ---- variables that matter ----------------------------------------------- */

struct matter {
    bool *relevant;
    uint32_t *stack, depth;
};

static void matter(void *context, const struct sc_source *read)
{
    struct matter *m = context;
    if (read->kind != SC_SOURCE_REG || read->variable == UINT32_MAX ||
        m->relevant[read->variable])
        return;
    m->relevant[read->variable] = true;
    m->stack[m->depth++] = read->variable;
}

static bool *find_relevant(struct sc_load *load, const struct sc_flow *flow)
{
    size_t n = flow->variable_count;
    struct matter m = {sc_load_alloc(load, n, sizeof(bool)),
                       sc_load_alloc(load, n, sizeof(uint32_t)), 0};
    for (size_t i = 0; i < flow->origins.access_count; i++)
        sc_depend_access(flow, i, matter, &m);
    while (m.depth)
        sc_depend_reads(flow, &flow->variables[m.stack[--m.depth]], matter, &m);
    return m.relevant;
}

/* ---- inputs -------------------------------------------------------------- */

static uint32_t input_of(struct sc_load *load, struct sc_flow *flow,
                         uint32_t at, uint32_t bytes)
{
    for (size_t i = 0; i < flow->input_count; i++)
        if (flow->inputs[i].at == at && flow->inputs[i].bytes == bytes)
            return (uint32_t)i;
    flow->inputs = sc_load_grow(load, flow->inputs, flow->input_count,
                                &flow->input_capacity, sizeof *flow->inputs);
    flow->inputs[flow->input_count] = (struct sc_input){at, bytes, false};
    return (uint32_t)flow->input_count++;
}

static void number_inputs(struct sc_load *load, struct sc_flow *flow,
                          const bool *relevant)
{
    size_t *of = sc_load_alloc(load, flow->func->reg_count, sizeof *of);
    for (size_t i = 0; i < flow->variable_count; i++)
        of[flow->variables[i].reg] = i;
    for (size_t i = 0; i < flow->step_count; i++) {
        struct sc_step *step = flow->steps[i];
        if (step->kind == SC_STEP_PARAM && relevant[of[step->to]])
            step->input = input_of(load, flow, step->at, step->bits / 8u);
    }
}

static sc_inputs bit(unsigned at)
{
    return (sc_inputs)1 << at;
}

static sc_inputs special_inputs(uint32_t which)
{
    switch (which) {
    case SC_SREG_ctaid_x:
    case SC_SREG_nctaid_x:
        return bit(SC_INPUT_GRID);
    case SC_SREG_ctaid_y:
    case SC_SREG_nctaid_y:
        return bit(SC_INPUT_GRID + 1);
    case SC_SREG_ctaid_z:
    case SC_SREG_nctaid_z:
        return bit(SC_INPUT_GRID + 2);
    case SC_SREG_tid_x:
    case SC_SREG_ntid_x:
        return bit(SC_INPUT_BLOCK);
    case SC_SREG_tid_y:
    case SC_SREG_ntid_y:
        return bit(SC_INPUT_BLOCK + 1);
    case SC_SREG_tid_z:
    case SC_SREG_ntid_z:
        return bit(SC_INPUT_BLOCK + 2);
    default:
        return 0;
    }
}

struct gather {
    const struct sc_flow *flow;
    sc_inputs inputs;
};

/* Of variables in groups that are done. */
static void gather(void *context, const struct sc_source *read)
{
    struct gather *g = context;
    if (read->kind == SC_SOURCE_SPECIAL)
        g->inputs |= special_inputs(read->reg);
    if (read->kind == SC_SOURCE_REG && read->variable != UINT32_MAX)
        g->inputs |= g->flow->variables[read->variable].inputs;
}

static sc_inputs inputs_of(const struct sc_flow *flow,
                           const struct sc_variable *v)
{
    struct gather g = {flow, 0};
    sc_depend_reads(flow, v, gather, &g);
    for (uint32_t i = 0; i < v->step_count; i++) {
        uint32_t input = v->steps[i]->input;
        if (v->steps[i]->kind == SC_STEP_PARAM && !flow->inputs[input].shifts)
            g.inputs |= bit(input < SC_INPUT_MORE ? input : SC_INPUT_MORE);
    }
    return g.inputs;
}

static void note_access(struct sc_flow *flow, size_t access)
{
    struct gather g = {flow, 0};
    sc_depend_access(flow, access, gather, &g);
    flow->access_inputs[access] = g.inputs;
    flow->all_inputs |= g.inputs;
}

/* ---- groups -------------------------------------------------------------- */

/* What one variable looks at, and how far the search has come with it. */
struct node {
    uint32_t *reads;
    size_t count, capacity, next;
    uint32_t number, low; /* 0: not met yet */
    bool open, reads_itself;
};

struct search {
    struct sc_load *load;
    struct sc_flow *flow;
    struct node *nodes;
    uint32_t *open, open_count; /* met, and in no group yet */
    uint32_t *way, way_count;   /* from where the search began */
    uint32_t numbers, now;
};

static void add_read(void *context, const struct sc_source *read)
{
    struct search *s = context;
    struct node *node = &s->nodes[s->now];
    if (read->kind != SC_SOURCE_REG || read->variable == UINT32_MAX)
        return;
    node->reads_itself |= read->variable == s->now;
    node->reads = sc_load_grow(s->load, node->reads, node->count,
                               &node->capacity, sizeof *node->reads);
    node->reads[node->count++] = read->variable;
}

static void meet(struct search *s, uint32_t variable)
{
    struct node *node = &s->nodes[variable];
    s->now = variable;
    sc_depend_reads(s->flow, &s->flow->variables[variable], add_read, s);
    node->number = node->low = ++s->numbers;
    node->open = true;
    s->open[s->open_count++] = variable;
    s->way[s->way_count++] = variable;
}

static int by_number(const void *a, const void *b)
{
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return one < other ? -1 : one > other;
}

static void close_group(struct search *s, uint32_t root)
{
    struct sc_flow *flow = s->flow;
    uint32_t first = s->open_count;
    do
        s->nodes[s->open[--first]].open = false;
    while (s->open[first] != root);
    struct sc_flow_group group = {.count = s->open_count - first};
    uint32_t *list = sc_load_alloc(s->load, group.count, sizeof *list);
    memcpy(list, s->open + first, group.count * sizeof *list);
    qsort(list, group.count, sizeof *list, by_number); /* the program's */
    s->open_count = first;
    group.list = list;
    group.is_cyclic = group.count > 1 || s->nodes[root].reads_itself;
    for (uint32_t i = 0; i < group.count; i++)
        group.inputs |= inputs_of(flow, &flow->variables[list[i]]);
    for (uint32_t i = 0; i < group.count; i++)
        flow->variables[list[i]].inputs = group.inputs;
    flow->groups = sc_load_grow(s->load, flow->groups, flow->group_count,
                                &flow->group_capacity, sizeof *flow->groups);
    flow->groups[flow->group_count++] = group;
}

static void leave(struct search *s)
{
    uint32_t variable = s->way[--s->way_count];
    const struct node *node = &s->nodes[variable];
    if (node->low == node->number)
        close_group(s, variable);
    if (s->way_count) {
        struct node *before = &s->nodes[s->way[s->way_count - 1]];
        before->low = node->low < before->low ? node->low : before->low;
    }
}

static void search_from(struct search *s, uint32_t variable)
{
    meet(s, variable);
    while (s->way_count) {
        struct node *node = &s->nodes[s->way[s->way_count - 1]];
        if (node->next == node->count) {
            leave(s);
            continue;
        }
        uint32_t read = node->reads[node->next++];
        const struct node *other = &s->nodes[read];
        if (!other->number)
            meet(s, read);
        else if (other->open && other->number < node->low)
            node->low = other->number;
    }
}

void sc_depend_find(struct sc_load *load, struct sc_flow *flow)
{
    size_t n = flow->variable_count, accesses = flow->origins.access_count;
    bool *relevant = find_relevant(load, flow);
    struct search s = {.load = load, .flow = flow};
    number_inputs(load, flow, relevant);
    sc_bases_find(flow, relevant);
    s.nodes = sc_load_alloc(load, n, sizeof *s.nodes);
    s.open = sc_load_alloc(load, n, sizeof *s.open);
    s.way = sc_load_alloc(load, n, sizeof *s.way);
    for (uint32_t i = 0; i < n; i++)
        if (relevant[i] && !s.nodes[i].number)
            search_from(&s, i);
    flow->access_inputs =
        sc_load_alloc(load, accesses, sizeof *flow->access_inputs);
    for (size_t i = 0; i < accesses; i++)
        note_access(flow, i);
}
