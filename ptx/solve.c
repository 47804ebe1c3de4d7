/*
 * The steps of a kernel with the numbers of launches; see ptx/solve.h.
 *
 * Variables that depend on each other grow until all steps give nothing new,
 * quickly where it would take long, and are made smaller afterwards as far as
 * the steps allow; all others are evaluated once. Lock: none.
 */
#include "ptx/solve.h"
#include "ptx/evaluate.h"

#include <string.h>

enum { PASSES_MOST = 64, EXACT_PASSES = 6, HASTY_PASSES = 12, SHRINKS = 3 };
/* Sources to evaluate at most, and their limits: some hundred microseconds. */
enum { STEPS_MOST = 20000 };

/* ---- numbers of the launch ----------------------------------------------- */

static sc_inputs note_sizes(uint32_t *old, const uint32_t *now, unsigned bit)
{
    sc_inputs changed = 0;
    for (unsigned i = 0; i < 3; i++)
        if (old[i] != now[i])
            changed |= (sc_inputs)1 << (bit + i);
    memcpy(old, now, 3 * sizeof *old);
    return changed;
}

static struct sc_interval number_of(const struct sc_input *input,
                                    const uint8_t *params, size_t bytes)
{
    uint64_t pattern = 0;
    if (input->at + input->bytes > bytes)
        return sc_interval_any(8 * input->bytes);
    memcpy(&pattern, params + input->at, input->bytes);
    return sc_interval_of(pattern, pattern);
}

/* Return: what differs from the launch before */
static sc_inputs note_numbers(struct sc_solve *s,
                              const struct sc_geometry *geometry,
                              const uint8_t *params, size_t bytes)
{
    sc_inputs changed =
        note_sizes(s->geometry.grid, geometry->grid, SC_INPUT_GRID) |
        note_sizes(s->geometry.from, geometry->from, SC_INPUT_GRID) |
        note_sizes(s->geometry.to, geometry->to, SC_INPUT_GRID) |
        note_sizes(s->geometry.block, geometry->block, SC_INPUT_BLOCK);
    for (size_t i = 0; i < s->flow->input_count; i++) {
        struct sc_interval now = number_of(&s->flow->inputs[i], params, bytes);
        if (s->flow->inputs[i].shifts) {
            s->shifts[i] = (uint64_t)now.lo;
            continue;
        }
        if (now.lo != s->numbers[i].lo || now.hi != s->numbers[i].hi)
            changed |= (sc_inputs)1
                       << (i < SC_INPUT_MORE ? i : (size_t)SC_INPUT_MORE);
        s->numbers[i] = now;
    }
    return s->is_valid ? changed : ~(sc_inputs)0;
}

/* ---- groups -------------------------------------------------------------- */

/* Out to numbers where types end. */
static struct sc_interval hurried(struct sc_interval old,
                                  struct sc_interval now, unsigned bits,
                                  unsigned pass)
{
    sc_wide half = (sc_wide)1 << (bits - 1);
    if (pass < EXACT_PASSES || sc_interval_is_none(old))
        return now;
    if (pass >= HASTY_PASSES)
        return sc_interval_any(bits);
    if (now.hi > old.hi)
        now.hi = now.hi < half ? half - 1 : 2 * half - 1;
    if (now.lo < old.lo)
        now.lo = now.lo >= 0 ? 0 : -half;
    return sc_interval_trim(now, bits);
}

static bool grow(struct sc_solve *s, const struct sc_flow_group *group,
                 unsigned pass)
{
    bool changed = false;
    for (uint32_t i = 0; i < group->count; i++) {
        const struct sc_variable *v = &s->flow->variables[group->list[i]];
        struct sc_interval *value = &s->values[group->list[i]];
        unsigned bits = v->bits > 64 ? 64 : v->bits;
        struct sc_interval now = sc_evaluate(s, v);
        if (sc_interval_has(*value, now, bits))
            continue;
        now = sc_interval_join(*value, now, bits);
        *value = hurried(*value, now, bits, pass);
        changed = true;
    }
    return changed;
}

/* Return: whether one became smaller */
static bool shrink(struct sc_solve *s, const struct sc_flow_group *group)
{
    bool changed = false;
    for (uint32_t i = 0; i < group->count; i++) {
        struct sc_interval *old = &s->values[group->list[i]];
        struct sc_interval now =
            sc_evaluate(s, &s->flow->variables[group->list[i]]);
        bool smaller =
            !sc_interval_is_none(*old) &&
            (sc_interval_is_none(now) || now.hi - now.lo < old->hi - old->lo);
        if (smaller)
            *old = now;
        changed |= smaller;
    }
    return changed;
}

/* Return: false: no end was found */
static bool solve_group(struct sc_solve *s, const struct sc_flow_group *group)
{
    unsigned pass = 0;
    if (!group->is_cyclic) {
        s->values[group->list[0]] =
            sc_evaluate(s, &s->flow->variables[group->list[0]]);
        return s->steps < STEPS_MOST;
    }
    for (uint32_t i = 0; i < group->count; i++)
        s->values[group->list[i]] = SC_INTERVAL_NONE;
    while (s->steps < STEPS_MOST && pass < PASSES_MOST && grow(s, group, pass))
        pass++;
    for (unsigned i = 0; i < SHRINKS && shrink(s, group); i++)
        ;
    return s->steps < STEPS_MOST && pass < PASSES_MOST;
}

/* ---- accesses ------------------------------------------------------------ */

/* Can all hold that holds there? */
static bool is_possible(const struct sc_solve *s,
                        const struct sc_limits *limits)
{
    for (uint32_t i = 0; i < limits->count; i++) {
        struct sc_limit limit = limits->list[i];
        const struct sc_fact *fact = &s->flow->facts[limit.fact];
        limit.turned = false;
        if (sc_interval_is_none(
                sc_interval_cut(sc_evaluate_raw(s, &fact->from[0]),
                                sc_evaluate_relation(fact, &limit),
                                sc_evaluate_raw(s, &fact->from[1]), fact->bits,
                                fact->is_signed)))
            return false;
    }
    return true;
}

static struct sc_interval reached(const struct sc_solve *s, size_t access)
{
    const struct sc_flow *flow = s->flow;
    const struct sc_access *a = &flow->origins.accesses[access];
    int64_t offset = (int64_t)a->address->bits;
    if (flow->place_of[flow->cfg.block_of[a->inst]] == UINT32_MAX ||
        !is_possible(s, &flow->conditions[access]))
        return SC_INTERVAL_NONE;
    return sc_interval_add(sc_evaluate_source(s, &flow->addresses[access]),
                           sc_interval_of(offset, offset));
}

void sc_solve_init(struct sc_load *load, const struct sc_flow *flow,
                   struct sc_solve *solve)
{
    *solve = (struct sc_solve){
        .flow = flow,
        .numbers =
            sc_load_alloc(load, flow->input_count, sizeof *solve->numbers),
        .shifts = sc_load_alloc(load, flow->input_count, sizeof *solve->shifts),
        .values =
            sc_load_alloc(load, flow->variable_count, sizeof *solve->values),
        .touched = sc_load_alloc(load, flow->origins.access_count,
                                 sizeof *solve->touched),
        .strided =
            sc_load_alloc(load, flow->variable_count, sizeof *solve->strided),
        .noted =
            sc_load_alloc(load, flow->variable_count, sizeof *solve->noted)};
}

bool sc_solve(struct sc_solve *s, const struct sc_geometry *geometry,
              const uint8_t *params, size_t bytes)
{
    const struct sc_flow *flow = s->flow;
    sc_inputs changed = note_numbers(s, geometry, params, bytes);
    bool all = !s->is_valid;
    s->is_valid = false;
    s->steps = 0;
    s->launch++;
    for (size_t i = 0; i < flow->group_count; i++)
        if ((all || flow->groups[i].inputs & changed) &&
            !solve_group(s, &flow->groups[i]))
            return false;
    for (size_t i = 0; i < flow->origins.access_count; i++)
        if (all || flow->access_inputs[i] & changed)
            s->touched[i] = reached(s, i);
    s->is_valid = true;
    return true;
}

int32_t sc_solve_base(const struct sc_solve *s, size_t access)
{
    const struct sc_source *address = &s->flow->addresses[access];
    return address->kind == SC_SOURCE_REG && address->variable != UINT32_MAX
               ? s->flow->variables[address->variable].base
               : SC_BASE_NONE;
}

struct sc_interval sc_solve_range(const struct sc_solve *s, size_t access)
{
    struct sc_interval any = sc_interval_any(64), at = s->touched[access];
    uint32_t bytes = s->flow->origins.accesses[access].bytes;
    int32_t base = sc_solve_base(s, access);
    uint64_t shift = base < 0 ? 0 : s->shifts[base];
    if (sc_interval_is_none(at))
        return at;
    at = sc_interval_unsigned(sc_interval_add(at, sc_interval_of(shift, shift)),
                              64);
    at.hi += (sc_wide)bytes - 1;
    return bytes && at.hi <= any.hi ? at : any;
}
