/*
 * What one register may hold, given the others; see ptx/evaluate.h.
 *
 * Each variable has one set of values, whichever block and thread. Lock: none.
 */
#include "ptx/evaluate.h"

enum { COUNT_BITS_MOST = 48 };

static struct sc_interval below(uint64_t count)
{
    return sc_interval_of(0, count ? (sc_wide)count - 1 : 0);
}

static struct sc_interval one(uint64_t value)
{
    return sc_interval_of(value, value);
}

/* Numbers of blocks, of which there are some. */
static struct sc_interval blocks(const struct sc_geometry *g, unsigned d)
{
    struct sc_interval all = below(sc_geometry_end(g, d));
    return sc_interval_of(g->from[d] < all.hi ? g->from[d] : all.hi, all.hi);
}

static struct sc_interval special(const struct sc_geometry *g, uint32_t which)
{
    switch (which) {
    case SC_SREG_tid_x:
        return below(g->block[0]);
    case SC_SREG_tid_y:
        return below(g->block[1]);
    case SC_SREG_tid_z:
        return below(g->block[2]);
    case SC_SREG_ctaid_x:
        return blocks(g, 0);
    case SC_SREG_ctaid_y:
        return blocks(g, 1);
    case SC_SREG_ctaid_z:
        return blocks(g, 2);
    case SC_SREG_ntid_x:
        return one(g->block[0]);
    case SC_SREG_ntid_y:
        return one(g->block[1]);
    case SC_SREG_ntid_z:
        return one(g->block[2]);
    case SC_SREG_nctaid_x:
        return one(g->grid[0]);
    case SC_SREG_nctaid_y:
        return one(g->grid[1]);
    case SC_SREG_nctaid_z:
        return one(g->grid[2]);
    case SC_SREG_laneid:
        return below(32);
    default:
        return sc_interval_any(64);
    }
}

/* ---- what a step takes --------------------------------------------------- */

struct sc_interval sc_evaluate_raw(const struct sc_solve *s,
                                   const struct sc_source *source)
{
    switch (source->kind) {
    case SC_SOURCE_REG:
        return source->variable == UINT32_MAX ? sc_interval_any(64)
                                              : s->values[source->variable];
    case SC_SOURCE_NUMBER:
        return sc_interval_of(source->number, source->number);
    case SC_SOURCE_SPECIAL:
        return special(&s->geometry, source->reg);
    default:
        return sc_interval_any(64);
    }
}

/* How the value that a limit is about is related to the other. */
enum sc_relation sc_evaluate_relation(const struct sc_fact *fact,
                                      const struct sc_limit *limit)
{
    enum sc_relation is =
        limit->negated ? sc_relation_not(fact->relation) : fact->relation;
    return limit->turned ? sc_relation_turned(is) : is;
}

struct sc_interval sc_evaluate_source(const struct sc_solve *s,
                                      const struct sc_source *source)
{
    struct sc_interval v = sc_evaluate_raw(s, source);
    for (uint32_t i = 0; i < source->limit_count; i++) {
        const struct sc_limit *limit = &source->limits[i];
        const struct sc_fact *fact = &s->flow->facts[limit->fact];
        v = sc_interval_cut(v, sc_evaluate_relation(fact, limit),
                            sc_evaluate_raw(s, &fact->from[!limit->turned]),
                            fact->bits, fact->is_signed);
    }
    return v;
}

/* ---- steps --------------------------------------------------------------- */

static struct sc_interval packed(struct sc_interval low,
                                 struct sc_interval high, unsigned bits)
{
    return sc_interval_add(
        sc_interval_unsigned(low, bits),
        sc_interval_shl(sc_interval_unsigned(high, bits), one(bits), 2 * bits));
}

static struct sc_interval product(const struct sc_step *step,
                                  struct sc_interval a, struct sc_interval b)
{
    bool wide =
        step->kind == SC_STEP_MUL_WIDE || step->kind == SC_STEP_MAD_WIDE;
    if (wide) {
        a = sc_interval_typed(a, step->from_bits, step->is_signed);
        b = sc_interval_typed(b, step->from_bits, step->is_signed);
    }
    return sc_interval_mul(a, b, step->bits);
}

static struct sc_interval apply(const struct sc_solve *s,
                                const struct sc_step *step)
{
    struct sc_interval a = sc_evaluate_source(s, &step->from[0]);
    struct sc_interval b = sc_evaluate_source(s, &step->from[1]);
    unsigned bits = step->bits;
    switch (step->kind) {
    case SC_STEP_PARAM:
        return s->numbers[step->input];
    case SC_STEP_COPY:
        return step->from_bits == bits
                   ? a
                   : sc_interval_typed(a, step->from_bits, step->is_signed);
    case SC_STEP_ADD:
        return sc_interval_add(a, b);
    case SC_STEP_SUB:
        return sc_interval_sub(a, b);
    case SC_STEP_MUL:
    case SC_STEP_MUL_WIDE:
        return product(step, a, b);
    case SC_STEP_MAD:
    case SC_STEP_MAD_WIDE:
        return sc_interval_add(product(step, a, b),
                               sc_evaluate_source(s, &step->from[2]));
    case SC_STEP_SHL:
        return sc_interval_shl(a, b, bits);
    case SC_STEP_SHR:
        return sc_interval_shr(a, b, bits, step->is_signed);
    case SC_STEP_AND:
        return sc_interval_and(a, b, bits);
    case SC_STEP_OR:
        return sc_interval_or(a, b, bits);
    case SC_STEP_MIN:
        return sc_interval_min(a, b, bits, step->is_signed);
    case SC_STEP_MAX:
        return sc_interval_max(a, b, bits, step->is_signed);
    case SC_STEP_DIV:
        return sc_interval_div(a, b, bits, step->is_signed);
    case SC_STEP_REM:
        return sc_interval_rem(a, b, bits, step->is_signed);
    case SC_STEP_NEG:
        return sc_interval_sub(one(0), a);
    case SC_STEP_NOT:
        return sc_interval_sub(sc_interval_of(-1, -1), a);
    case SC_STEP_SELECT:
        return sc_interval_join(a, b, bits);
    case SC_STEP_PACK:
        return packed(a, b, step->from_bits);
    case SC_STEP_LOW:
        return sc_interval_unsigned(a, step->from_bits);
    case SC_STEP_HIGH:
        return sc_interval_shr(a, one(step->from_bits), bits, false);
    default:
        return sc_interval_any(step->from_bits);
    }
}

/* In the register, which may be wider: by zeros or by the sign. */
static struct sc_interval result(struct sc_solve *s,
                                 const struct sc_variable *variable,
                                 const struct sc_step *step)
{
    for (int i = 0; i < 3; i++)
        s->steps += 1 + step->from[i].limit_count;
    struct sc_interval v = sc_interval_trim(apply(s, step), step->bits);
    if (variable->bits > 64)
        return sc_interval_any(64);
    if (step->bits >= variable->bits)
        return sc_interval_trim(v, variable->bits);
    return sc_interval_join(sc_interval_unsigned(v, step->bits),
                            sc_interval_signed(v, step->bits), variable->bits);
}

/* ---- loops --------------------------------------------------------------- */

bool sc_evaluate_is_in(const struct sc_solve *s, const struct sc_loop *loop,
                       const struct sc_step *step)
{
    const struct sc_flow *flow = s->flow;
    uint32_t place = flow->place_of[flow->cfg.block_of[step->inst]];
    return place >= loop->first && place < loop->end;
}

static struct sc_interval before_loop(struct sc_solve *s,
                                      const struct sc_counter *counter)
{
    const struct sc_variable *v = counter->variable;
    struct sc_interval all = SC_INTERVAL_NONE;
    for (uint32_t i = 0; i < v->step_count; i++)
        if (!sc_evaluate_is_in(s, counter->loop, v->steps[i]))
            all = sc_interval_join(all, result(s, v, v->steps[i]), v->bits);
    return all;
}

struct sc_interval sc_evaluate_advance(const struct sc_solve *s,
                                       const struct sc_counter *counter)
{
    const struct sc_step *step = counter->advance;
    struct sc_interval by =
        sc_interval_signed(sc_evaluate_source(s, &step->from[1]), step->bits);
    return step->kind == SC_STEP_SUB ? sc_interval_sub(one(0), by) : by;
}

/* Numbers of one end of a loop; counting down is counting up with all signs
 * turned. */
struct trip {
    struct sc_interval from, by, to;
    enum sc_relation is;
    sc_wide largest; /* of the type */
    unsigned bits;
    bool advanced, ordered;
};

static struct sc_interval turned(struct sc_interval a)
{
    return sc_interval_sub(one(0), a);
}

static sc_wide trips_below(const struct trip *t)
{
    sc_wide last = t->to.hi - (t->is == SC_LT);
    sc_wide first = t->from.lo + (t->advanced ? t->by.lo : 0);
    sc_wide highest = last > t->from.hi ? last : t->from.hi;
    if (highest + t->by.hi > t->largest)
        return -1;
    return first > last ? 0 : (last - first) / t->by.lo + 1;
}

/* A counter that meets its end exactly. */
static sc_wide trips_until(const struct trip *t)
{
    sc_wide by = t->by.lo, whole = (sc_wide)1 << t->bits;
    if (!t->ordered || by != t->by.hi)
        return -1;
    if (sc_interval_is_one(t->from) && sc_interval_is_one(t->to)) {
        sc_wide way = (t->to.lo - t->from.lo) & (whole - 1);
        return way % by || (t->advanced && way == 0) ? -1
                                                     : way / by - t->advanced;
    }
    return by == 1 && t->to.lo >= t->from.hi + t->advanced
               ? t->to.hi - t->from.lo - t->advanced
               : -1;
}

/* How often the test lets the loop go on at most; -1: nobody knows. */
static sc_wide trips_of(struct sc_solve *s, const struct sc_test *test)
{
    const struct sc_fact *fact = &s->flow->facts[test->limit.fact];
    unsigned bits = fact->bits;
    sc_wide half = (sc_wide)1 << (bits - 1);
    struct trip t = {.from = sc_interval_typed(before_loop(s, test->counter),
                                               bits, fact->is_signed),
                     .by = sc_evaluate_advance(s, test->counter),
                     .to = sc_interval_typed(
                         sc_evaluate_raw(s, &fact->from[!test->limit.turned]),
                         bits, fact->is_signed),
                     .is = sc_evaluate_relation(fact, &test->limit),
                     .largest = fact->is_signed ? half - 1 : 2 * half - 1,
                     .bits = bits,
                     .advanced = test->advanced,
                     .ordered = test->ordered};
    if (sc_interval_is_none(t.from) || sc_interval_is_none(t.by) ||
        sc_interval_is_none(t.to))
        return 0;
    if (t.by.hi < 0) {
        t.from = turned(t.from);
        t.by = turned(t.by);
        t.to = turned(t.to);
        t.is = sc_relation_turned(t.is);
        t.largest = fact->is_signed ? half : 0;
    }
    if (t.by.lo <= 0)
        return -1;
    if (t.is == SC_LT || t.is == SC_LE)
        return trips_below(&t);
    return t.is == SC_NE ? trips_until(&t) : -1;
}

bool sc_evaluate_counting(struct sc_solve *s, const struct sc_counter *counter,
                          struct sc_interval *by, sc_wide *most)
{
    sc_wide least = -1;
    for (size_t i = 0; i < counter->loop->test_count; i++) {
        sc_wide trips = trips_of(s, &counter->loop->tests[i]);
        if (trips >= 0 && (least < 0 || trips < least))
            least = trips;
    }
    *by = sc_evaluate_advance(s, counter);
    *most = least + 1;
    return least >= 0 && least < (sc_wide)1 << COUNT_BITS_MOST;
}

/* Values of a counter from the loop's beginning to behind it. Return: false:
 * nobody knows how often it advances. */
static bool count(struct sc_solve *s, const struct sc_counter *counter,
                  struct sc_interval *all)
{
    struct sc_interval by, from = before_loop(s, counter);
    sc_wide most;
    if (!sc_evaluate_counting(s, counter, &by, &most))
        return false;
    if (sc_interval_is_none(from) || sc_interval_is_none(by)) {
        *all = from;
        return true;
    }
    if (by.lo <= -((sc_wide)1 << 62) || by.hi >= (sc_wide)1 << 62)
        return false;
    sc_wide low = by.lo < 0 ? by.lo * most : 0;
    sc_wide high = by.hi > 0 ? by.hi * most : 0;
    *all = sc_interval_trim(sc_interval_add(from, sc_interval_of(low, high)),
                            counter->variable->bits);
    return true;
}

/* ---- variables ----------------------------------------------------------- */

struct sc_interval sc_evaluate(struct sc_solve *s, const struct sc_variable *v)
{
    struct sc_interval all = SC_INTERVAL_NONE;
    if (v->counter && count(s, v->counter, &all))
        return all;
    for (uint32_t i = 0; i < v->step_count; i++)
        all = sc_interval_join(all, result(s, v, v->steps[i]), v->bits);
    return all;
}
