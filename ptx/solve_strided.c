/*
 * Strides of what accesses touch, with the numbers of the launch evaluated last;
 * see ptx/solve.h.
 *
 * Goes from an access back to what its address is computed by. Where nothing is
 * said of a step its interval counts, all numbers of it. Lock: none.
 */
#include "ptx/evaluate.h"
#include "ptx/strided.h"

/* Steps from an address at most, and steps that set one register. */
enum { DEPTH_MOST = 24, JOINED_MOST = 8 };

static struct sc_strided of_variable(struct sc_solve *s, uint32_t index,
                                     unsigned depth);

static struct sc_strided one(sc_wide number)
{
    return sc_strided_of(sc_interval_of(number, number));
}

static bool is_one(const struct sc_strided *a)
{
    return a->known && a->count == 0;
}

static struct sc_strided
of_source(struct sc_solve *s, const struct sc_source *source, unsigned depth)
{
    bool is_set =
        source->kind == SC_SOURCE_REG && source->variable != UINT32_MAX;
    struct sc_strided set = SC_STRIDED_ANY;
    if (source->kind == SC_SOURCE_ANY ||
        (source->kind == SC_SOURCE_REG && !is_set))
        return set;
    if (is_set)
        set = of_variable(s, source->variable, depth);
    if (set.known && !source->limit_count)
        return set;
    struct sc_interval all = sc_evaluate_source(s, source);
    return set.known ? sc_strided_cut(&set, all,
                                      s->flow->variables[source->variable].bits)
                     : sc_strided_of(all);
}

/* ---- steps --------------------------------------------------------------- */

static struct sc_strided times(const struct sc_step *step, struct sc_strided a,
                               struct sc_strided b)
{
    bool wide =
        step->kind == SC_STEP_MUL_WIDE || step->kind == SC_STEP_MAD_WIDE;
    if (wide) {
        a = sc_strided_typed(&a, step->from_bits, step->is_signed);
        b = sc_strided_typed(&b, step->from_bits, step->is_signed);
    }
    if (is_one(&a) && !is_one(&b))
        return times(step, b, a);
    if (!wide)
        b = sc_strided_typed(&b, step->bits, true);
    return is_one(&b) ? sc_strided_times(&a, b.lo) : SC_STRIDED_ANY;
}

static struct sc_strided shifted(const struct sc_step *step,
                                 const struct sc_strided *a,
                                 const struct sc_strided *by)
{
    return is_one(by) && by->lo >= 0 && by->lo < step->bits
               ? sc_strided_times(a, (sc_wide)1 << (unsigned)by->lo)
               : SC_STRIDED_ANY;
}

/* `from` are what the step takes. */
static struct sc_strided made_by(const struct sc_step *step,
                                 struct sc_strided *from)
{
    struct sc_strided minus_one = one(-1);
    switch (step->kind) {
    case SC_STEP_COPY:
        return step->from_bits == step->bits
                   ? from[0]
                   : sc_strided_typed(&from[0], step->from_bits,
                                      step->is_signed);
    case SC_STEP_SUB:
        from[1] = sc_strided_turned(&from[1]);
        return sc_strided_add(&from[0], &from[1]);
    case SC_STEP_ADD:
        return sc_strided_add(&from[0], &from[1]);
    case SC_STEP_MUL:
    case SC_STEP_MUL_WIDE:
        return times(step, from[0], from[1]);
    case SC_STEP_MAD:
    case SC_STEP_MAD_WIDE:
        from[0] = times(step, from[0], from[1]);
        return sc_strided_add(&from[0], &from[2]);
    case SC_STEP_SHL:
        return shifted(step, &from[0], &from[1]);
    case SC_STEP_OR:
        return sc_strided_or(&from[0], &from[1]);
    case SC_STEP_SELECT:
        return sc_strided_join(&from[0], &from[1]);
    case SC_STEP_NEG:
        return sc_strided_turned(&from[0]);
    case SC_STEP_NOT:
        from[0] = sc_strided_turned(&from[0]);
        return sc_strided_add(&from[0], &minus_one);
    default:
        return SC_STRIDED_ANY;
    }
}

/* How many sources of a step are looked at; 0: its interval counts. */
static unsigned taken(const struct sc_step *step)
{
    switch (step->kind) {
    case SC_STEP_COPY:
    case SC_STEP_NEG:
    case SC_STEP_NOT:
        return 1;
    case SC_STEP_ADD:
    case SC_STEP_SUB:
    case SC_STEP_MUL:
    case SC_STEP_MUL_WIDE:
    case SC_STEP_SHL:
    case SC_STEP_OR:
    case SC_STEP_SELECT:
        return 2;
    case SC_STEP_MAD:
    case SC_STEP_MAD_WIDE:
        return 3;
    default:
        return 0;
    }
}

static struct sc_strided of_step(struct sc_solve *s,
                                 const struct sc_variable *v,
                                 const struct sc_step *step, unsigned depth)
{
    struct sc_strided from[3];
    unsigned count = taken(step);
    if (step->kind == SC_STEP_PARAM && step->bits >= v->bits)
        return sc_strided_of(s->numbers[step->input]);
    if (!count || step->bits < v->bits)
        return SC_STRIDED_ANY;
    for (unsigned i = 0; i < count; i++)
        from[i] = of_source(s, &step->from[i], depth);
    return made_by(step, from);
}

/* ---- variables ----------------------------------------------------------- */

/* What steps make of it, or those before a loop alone. */
static struct sc_strided joined(struct sc_solve *s, const struct sc_variable *v,
                                const struct sc_loop *without, unsigned depth)
{
    struct sc_strided all = SC_STRIDED_ANY;
    bool any = false;
    for (uint32_t i = 0; i < v->step_count; i++) {
        if (without && sc_evaluate_is_in(s, without, v->steps[i]))
            continue;
        struct sc_strided made = of_step(s, v, v->steps[i], depth);
        all = any ? sc_strided_join(&all, &made) : made;
        any = true;
        if (!all.known)
            break;
    }
    return all;
}

static struct sc_strided counted(struct sc_solve *s,
                                 const struct sc_variable *v, unsigned depth)
{
    struct sc_interval by;
    sc_wide most;
    if (!sc_evaluate_counting(s, v->counter, &by, &most) ||
        !sc_interval_is_one(by))
        return SC_STRIDED_ANY;
    struct sc_strided from = joined(s, v, v->counter->loop, depth);
    struct sc_strided advances = sc_strided_of(sc_interval_of(0, most));
    advances = sc_strided_times(&advances, by.lo);
    return sc_strided_add(&from, &advances);
}

static struct sc_strided of_variable(struct sc_solve *s, uint32_t index,
                                     unsigned depth)
{
    const struct sc_variable *v = &s->flow->variables[index];
    struct sc_strided *value = &s->strided[index], made = SC_STRIDED_ANY;
    if (s->noted[index] == s->launch)
        return *value;
    /* Whoever comes here again meanwhile gets its interval. */
    s->noted[index] = s->launch;
    *value = sc_strided_of(s->values[index]);
    if (depth == 0 || v->bits > 64 || v->step_count > JOINED_MOST ||
        is_one(value))
        return *value;
    if (v->counter)
        made = counted(s, v, depth - 1);
    if (!made.known)
        made = joined(s, v, NULL, depth - 1);
    if (made.known)
        *value = sc_strided_cut(&made, s->values[index], v->bits);
    return *value;
}

/* ---- accesses ------------------------------------------------------------ */

static double threads(const struct sc_geometry *g)
{
    double all = 1;
    for (unsigned d = 0; d < 3; d++)
        all *= (double)(sc_geometry_end(g, d) - g->from[d]) * g->block[d];
    return all;
}

/* How often a loop goes around; far too often where nobody knows. */
static double rounds(const struct sc_solve *s, const struct sc_loop *loop)
{
    const double often = 1e30;
    if (!loop->test_count)
        return often;
    const struct sc_counter *counter = loop->tests[0].counter;
    struct sc_interval all = s->values[counter->variable - s->flow->variables];
    struct sc_interval by = sc_evaluate_advance(s, counter);
    if (!sc_interval_is_one(by) || by.lo == 0 || sc_interval_is_none(all))
        return often;
    return (double)(all.hi - all.lo) / (double)(by.lo < 0 ? -by.lo : by.lo) + 1;
}

bool sc_solve_is_sparse(const struct sc_solve *s, size_t access)
{
    const struct sc_flow *flow = s->flow;
    const struct sc_access *a = &flow->origins.accesses[access];
    uint32_t place = flow->place_of[flow->cfg.block_of[a->inst]];
    struct sc_interval at = s->touched[access];
    double half = (double)(at.hi - at.lo + a->bytes) / 2;
    double most = threads(&s->geometry) * a->bytes;
    for (size_t i = 0; i < flow->loop_count && most <= half; i++)
        if (place >= flow->loops[i].first && place < flow->loops[i].end)
            most *= rounds(s, &flow->loops[i]);
    return most <= half;
}

struct sc_strided sc_solve_strided(struct sc_solve *s, size_t access)
{
    const struct sc_access *a = &s->flow->origins.accesses[access];
    struct sc_interval at = sc_solve_range(s, access);
    int32_t base = sc_solve_base(s, access);
    struct sc_strided shift = one((sc_wide)(int64_t)a->address->bits +
                                  (base < 0 ? 0 : s->shifts[base]));
    if (sc_interval_is_none(at) || at.hi - at.lo >= sc_interval_any(64).hi)
        return SC_STRIDED_ANY;
    struct sc_strided bytes = sc_strided_of(sc_interval_of(0, a->bytes - 1));
    struct sc_strided set =
        of_source(s, &s->flow->addresses[access], DEPTH_MOST);
    set = sc_strided_add(&set, &shift);
    set = sc_strided_add(&set, &bytes);
    set = sc_strided_cut(&set, at, 64);
    set = sc_strided_typed(&set, 64, false);
    struct sc_interval hull = sc_strided_hull(&set);
    return set.known && hull.lo >= at.lo && hull.hi <= at.hi ? set
                                                             : SC_STRIDED_ANY;
}
