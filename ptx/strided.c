/* Sets of numbers with strides; see ptx/strided.h. */
#include "ptx/strided.h"

#define ONE ((sc_wide)1)

/* From the lowest to the highest number, at most; and numbers that products are
 * made of: what is made of both fits. */
#define WIDTH_MOST  (ONE << 62)
#define FACTOR_MOST (ONE << 40)
#define LOWEST_MOST (ONE << 80)

/* Terms while they are put together. */
struct terms {
    unsigned count;
    struct sc_term term[2 * SC_TERMS_MOST + 1];
};

static sc_wide reach_of(const struct sc_term *term)
{
    return (sc_wide)(term->count - 1) * term->step;
}

static bool is_far(sc_wide number)
{
    return number <= -LOWEST_MOST || number >= LOWEST_MOST;
}

/* In its place by its step. */
static void insert(struct terms *t, struct sc_term term)
{
    unsigned i = t->count;
    if (term.count < 2 || term.step == 0)
        return;
    for (; i > 0 && t->term[i - 1].step < term.step; i--)
        t->term[i] = t->term[i - 1];
    t->term[i] = term;
    t->count++;
}

static void insert_all(struct terms *t, const struct sc_strided *a)
{
    for (unsigned i = 0; i < a->count; i++)
        insert(t, a->term[i]);
}

static void take_out(struct terms *t, unsigned i)
{
    for (t->count--; i < t->count; i++)
        t->term[i] = t->term[i + 1];
}

static uint64_t divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Terms i and i + 1 as one: all multiples of a step up to where both reach. */
static void unite(struct terms *t, unsigned i, uint64_t step)
{
    sc_wide reach = reach_of(&t->term[i]) + reach_of(&t->term[i + 1]);
    t->term[i] = (struct sc_term){step, (uint64_t)reach / step + 1};
    take_out(t, i + 1);
}

/* Do the small steps fill the way of a large one? */
static bool is_filled(const struct sc_term *large, const struct sc_term *small)
{
    return large->step % small->step == 0 &&
           large->step / small->step <= small->count;
}

/* A set of these terms, of which none reaches far. */
static struct sc_strided made(sc_wide lo, struct terms *t)
{
    struct sc_strided set = {.lo = lo, .known = !is_far(lo)};
    sc_wide width = 0;
    for (unsigned i = 0; i < t->count; i++)
        width += reach_of(&t->term[i]);
    if (!set.known || width >= WIDTH_MOST)
        return SC_STRIDED_ANY;
    for (unsigned i = t->count; i-- > 1;)
        if (is_filled(&t->term[i - 1], &t->term[i]))
            unite(t, i - 1, t->term[i].step);
    while (t->count > SC_TERMS_MOST)
        unite(t, t->count - 2,
              divisor(t->term[t->count - 2].step, t->term[t->count - 1].step));
    set.count = (uint8_t)t->count;
    for (unsigned i = 0; i < t->count; i++)
        set.term[i] = t->term[i];
    return set;
}

struct sc_strided sc_strided_of(struct sc_interval a)
{
    struct terms t = {0};
    sc_wide width = a.hi - a.lo;
    if (sc_interval_is_none(a) || width >= WIDTH_MOST)
        return SC_STRIDED_ANY;
    insert(&t, (struct sc_term){1, (uint64_t)width + 1});
    return made(a.lo, &t);
}

struct sc_interval sc_strided_hull(const struct sc_strided *a)
{
    struct sc_interval hull = {a->lo, a->lo};
    for (unsigned i = 0; i < a->count; i++)
        hull.hi += reach_of(&a->term[i]);
    return hull;
}

static uint64_t rounded_up(uint64_t a, uint64_t by)
{
    return (a + by - 1) / by;
}

/* Is it a sum of the terms from `i` on? */
static bool is_sum(const struct sc_strided *a, unsigned i, sc_wide number)
{
    sc_wide rest = 0;
    if (i == a->count)
        return number == 0;
    for (unsigned k = i + 1; k < a->count; k++)
        rest += reach_of(&a->term[k]);
    const struct sc_term *term = &a->term[i];
    if (number > rest + reach_of(term))
        return false;
    sc_wide n =
        number > rest ? rounded_up((uint64_t)(number - rest), term->step) : 0;
    for (; n < term->count && n * term->step <= number; n++)
        if (is_sum(a, i + 1, number - n * term->step))
            return true;
    return false;
}

bool sc_strided_has(const struct sc_strided *a, sc_wide number)
{
    return number >= a->lo && is_sum(a, 0, number - a->lo);
}

struct sc_strided sc_strided_add(const struct sc_strided *a,
                                 const struct sc_strided *b)
{
    struct terms t = {0};
    if (!a->known || !b->known)
        return SC_STRIDED_ANY;
    insert_all(&t, a);
    insert_all(&t, b);
    return made(a->lo + b->lo, &t);
}

struct sc_strided sc_strided_turned(const struct sc_strided *a)
{
    struct sc_strided set = *a;
    if (a->known)
        set.lo = -sc_strided_hull(a).hi;
    return set;
}

struct sc_strided sc_strided_times(const struct sc_strided *a, sc_wide number)
{
    struct terms t = {0};
    if (!a->known || number >= FACTOR_MOST)
        return SC_STRIDED_ANY;
    if (number < 0) {
        struct sc_strided turned = sc_strided_turned(a);
        return number > -FACTOR_MOST ? sc_strided_times(&turned, -number)
                                     : SC_STRIDED_ANY;
    }
    for (unsigned i = 0; i < a->count; i++) {
        if (reach_of(&a->term[i]) * number >= WIDTH_MOST)
            return SC_STRIDED_ANY;
        insert(&t, (struct sc_term){a->term[i].step * (uint64_t)number,
                                    a->term[i].count});
    }
    return made(a->lo * number, &t);
}

/* The largest power of two that divides all numbers of a set; at most 2^62. */
static sc_wide grain(const struct sc_strided *a)
{
    uint64_t bits = (uint64_t)a->lo | (UINT64_C(1) << 62);
    for (unsigned i = 0; i < a->count; i++)
        bits |= a->term[i].step;
    return (sc_wide)(bits & -bits);
}

static bool lies_below(const struct sc_strided *a, sc_wide end)
{
    return a->lo >= 0 && sc_strided_hull(a).hi < end;
}

/* Where no bit may be in both it is the sum. */
struct sc_strided sc_strided_or(const struct sc_strided *a,
                                const struct sc_strided *b)
{
    if (a->known && b->known &&
        (lies_below(a, grain(b)) || lies_below(b, grain(a))))
        return sc_strided_add(a, b);
    return SC_STRIDED_ANY;
}

static bool has_same_terms(const struct sc_strided *a,
                           const struct sc_strided *b)
{
    bool same = a->count == b->count;
    for (unsigned i = 0; same && i < a->count; i++)
        same = a->term[i].step == b->term[i].step &&
               a->term[i].count == b->term[i].count;
    return same;
}

struct sc_strided sc_strided_join(const struct sc_strided *a,
                                  const struct sc_strided *b)
{
    struct terms t = {0};
    if (!a->known || !b->known || !has_same_terms(a, b))
        return SC_STRIDED_ANY;
    sc_wide apart = a->lo < b->lo ? b->lo - a->lo : a->lo - b->lo;
    if (apart >= WIDTH_MOST)
        return SC_STRIDED_ANY;
    insert_all(&t, a);
    insert(&t, (struct sc_term){(uint64_t)apart, 2});
    return made(a->lo < b->lo ? a->lo : b->lo, &t);
}

struct sc_strided sc_strided_typed(const struct sc_strided *a, unsigned bits,
                                   bool is_signed)
{
    sc_wide first = is_signed ? -(ONE << (bits - 1)) : 0;
    struct sc_strided set = *a;
    if (!a->known)
        return SC_STRIDED_ANY;
    set.lo -= ((set.lo - first) >> bits) * (ONE << bits);
    return sc_strided_hull(&set).hi < first + (ONE << bits) ? set
                                                            : SC_STRIDED_ANY;
}

/* Take from each term what is too low, whatever the others add. */
static void raise(struct sc_strided *a, sc_wide lowest)
{
    for (unsigned i = 0; i < a->count; i++) {
        struct sc_term *term = &a->term[i];
        sc_wide lacks = lowest - sc_strided_hull(a).hi + reach_of(term);
        if (lacks <= 0)
            continue;
        if (lacks > reach_of(term)) { /* there is no number left */
            *a = SC_STRIDED_ANY;
            return;
        }
        uint64_t few = rounded_up((uint64_t)lacks, term->step);
        a->lo += (sc_wide)few * term->step;
        term->count -= few;
    }
}

/* The same with what is too high. */
static void lower(struct sc_strided *a, sc_wide highest)
{
    for (unsigned i = 0; i < a->count; i++) {
        struct sc_term *term = &a->term[i];
        sc_wide room = highest - a->lo;
        if (room < reach_of(term))
            term->count = (uint64_t)room / term->step + 1;
    }
}

struct sc_strided sc_strided_cut(const struct sc_strided *a,
                                 struct sc_interval to, unsigned bits)
{
    struct sc_strided set = *a;
    struct terms t = {0};
    if (!a->known || sc_interval_is_none(to))
        return *a;
    struct sc_interval hull = sc_strided_hull(a);
    /* As often as the interval can be moved to meet the set. */
    sc_wide last = (hull.hi - to.lo) >> bits;
    sc_wide first = -((to.hi - hull.lo) >> bits);
    if (first != last)
        return *a;
    sc_wide by = first * (ONE << bits);
    raise(&set, to.lo + by);
    if (!set.known || set.lo > to.hi + by)
        return *a;
    lower(&set, to.hi + by);
    insert_all(&t, &set);
    return made(set.lo, &t);
}
