/*
 * Sets with strides against all of their numbers: each result of an operation on
 * numbers of sets is a number of the operation's result. Ranges made of them are
 * put together with all of their bytes.
 */
#include "common/suite.h"
#include "ptx/range.h"
#include "ptx/strided.h"

#include <stdlib.h>
#include <string.h>

enum { BITS = 7, ALL = 1 << BITS, ROUNDS = 3000, LIST_MOST = 4096 };

struct list {
    unsigned count;
    int number[LIST_MOST];
};

static void list_from(const struct sc_strided *a, unsigned i, sc_wide number,
                      struct list *list)
{
    if (i == a->count) {
        ck_assert_uint_lt(list->count, LIST_MOST);
        list->number[list->count++] = (int)number;
        return;
    }
    for (uint64_t k = 0; k < a->term[i].count; k++)
        list_from(a, i + 1, number + (sc_wide)(k * a->term[i].step), list);
}

/* As terms say it, and no function of the set. */
static struct list list_of(const struct sc_strided *a)
{
    struct list list = {0};
    list_from(a, 0, a->lo, &list);
    return list;
}

static bool has_pattern(const struct sc_strided *a, int number)
{
    struct list list = list_of(a);
    for (unsigned i = 0; i < list.count; i++)
        if (((list.number[i] - number) & (ALL - 1)) == 0)
            return true;
    return !a->known;
}

static bool has(const struct sc_strided *a, int number)
{
    struct list list = list_of(a);
    for (unsigned i = 0; i < list.count; i++)
        if (list.number[i] == number)
            return true;
    return !a->known;
}

static struct sc_strided sample(void)
{
    struct sc_strided set = sc_strided_of(sc_interval_of(0, rand() % 3));
    for (int terms = rand() % 3; terms; terms--) {
        struct sc_strided more = sc_strided_of(sc_interval_of(0, rand() % 4));
        more = sc_strided_times(&more, 1 + rand() % 12);
        set = sc_strided_add(&set, &more);
    }
    set.lo = rand() % (3 * ALL) - ALL;
    return set;
}

START_TEST(terms_are_in_order_and_what_they_say)
{
    srand(7);
    for (int round = 0; round < ROUNDS; round++) {
        struct sc_strided a = sample();
        struct list list = list_of(&a);
        struct sc_interval hull = sc_strided_hull(&a);
        bool there[4 * ALL] = {false};
        ck_assert(a.known && hull.hi - hull.lo < 3 * ALL);
        for (unsigned i = 0; i < a.count; i++)
            ck_assert(a.term[i].count > 1 && a.term[i].step > 0 &&
                      (!i || a.term[i - 1].step > a.term[i].step));
        for (unsigned i = 0; i < list.count; i++) {
            ck_assert(list.number[i] >= hull.lo && list.number[i] <= hull.hi);
            there[list.number[i] - (int)a.lo] = true;
        }
        ck_assert(there[0] && there[(int)(hull.hi - hull.lo)]);
        for (int n = -3; n < ALL; n++)
            ck_assert(sc_strided_has(&a, a.lo + n) == (n >= 0 && there[n]));
    }
}
END_TEST

START_TEST(sums_and_multiples_are_inside)
{
    srand(11);
    for (int round = 0; round < ROUNDS; round++) {
        struct sc_strided a = sample(), b = sample();
        int by = rand() % 9 - 4;
        struct sc_strided sum = sc_strided_add(&a, &b);
        struct sc_strided times = sc_strided_times(&a, by);
        struct sc_strided turned = sc_strided_turned(&a);
        struct sc_strided joined = sc_strided_join(&a, &b);
        struct sc_strided both = sc_strided_or(&a, &b);
        struct list one = list_of(&a), other = list_of(&b);
        ck_assert(sum.known && times.known && turned.known);
        for (unsigned i = 0; i < one.count; i++) {
            int x = one.number[i];
            ck_assert(has(&times, x * by) && has(&turned, -x));
            ck_assert(has(&joined, x));
            for (unsigned k = 0; k < other.count && i % 4 == 0; k += 3) {
                int y = other.number[k];
                ck_assert(has(&sum, x + y) && has(&joined, y));
                ck_assert(has_pattern(&both, x | y));
                ck_assert(has_pattern(&both, x ^ y));
            }
        }
    }
}
END_TEST

START_TEST(other_numbers_have_the_same_patterns)
{
    unsigned known = 0;
    srand(13);
    for (int round = 0; round < ROUNDS; round++) {
        struct sc_strided a = sample();
        bool is_signed = round % 2;
        int first = is_signed ? -ALL / 2 : 0;
        struct sc_strided typed = sc_strided_typed(&a, BITS, is_signed);
        struct list one = list_of(&a);
        known += typed.known;
        for (unsigned i = 0; i < one.count; i++)
            ck_assert(has_pattern(&typed, one.number[i]));
        struct sc_interval hull = sc_strided_hull(&typed);
        ck_assert(!typed.known || (hull.lo >= first && hull.hi < first + ALL));
    }
    ck_assert_uint_gt(known, ROUNDS / 4);
}
END_TEST

START_TEST(a_cut_keeps_what_the_interval_has)
{
    unsigned smaller = 0;
    srand(17);
    for (int round = 0; round < ROUNDS; round++) {
        struct sc_strided a = sample();
        struct sc_interval to = {rand() % (3 * ALL) - ALL, 0};
        to.hi = to.lo + rand() % 40;
        struct sc_strided cut = sc_strided_cut(&a, to, BITS);
        struct list one = list_of(&a), left = list_of(&cut);
        smaller += left.count < one.count;
        for (unsigned i = 0; i < one.count; i++)
            ck_assert(
                !sc_interval_has(
                    to, sc_interval_of(one.number[i], one.number[i]), BITS) ||
                has_pattern(&cut, one.number[i]));
    }
    ck_assert_uint_gt(smaller, ROUNDS / 20);
}
END_TEST

/* Rows of a matrix stay rows, whatever comes first. */
START_TEST(what_is_exact_stays_so)
{
    struct sc_strided x = sc_strided_of(sc_interval_of(0, 31));
    struct sc_strided y = sc_strided_of(sc_interval_of(0, 7));
    struct sc_strided blocks = sc_strided_of(sc_interval_of(2, 5));
    blocks = sc_strided_times(&blocks, 32);
    x = sc_strided_add(&x, &blocks);
    ck_assert(x.lo == 64 && x.count == 1 && x.term[0].count == 128);
    y = sc_strided_times(&y, 1000);
    y = sc_strided_add(&y, &x);
    ck_assert(y.lo == 64 && y.count == 2);
    ck_assert(y.term[0].step == 1000 && y.term[0].count == 8);
    ck_assert(y.term[1].step == 1 && y.term[1].count == 128);
    y = sc_strided_cut(&y, sc_interval_of(0, 2063), 32);
    ck_assert(y.count == 2 && y.term[0].count == 2);
    /* anything stays anything, and so does what is too large */
    struct sc_strided any = SC_STRIDED_ANY;
    ck_assert(!sc_strided_add(&any, &x).known);
    ck_assert(!sc_strided_of(sc_interval_any(64)).known);
    struct sc_strided wide = sc_strided_of(sc_interval_of(0, INT64_MAX / 4));
    ck_assert(wide.known && !sc_strided_times(&wide, 16).known);
}
END_TEST

/* ---- ranges -------------------------------------------------------------- */

enum { SPAN = 4 * SC_RANGE_NEAR_BYTES, AT = 1 << 20 };

static void mark_from(const struct sc_range *r, unsigned i, uint64_t at,
                      bool *there)
{
    if (i == r->stride_count) {
        ck_assert(at >= r->first && at + r->row - 1 <= r->last);
        ck_assert(at >= AT && at + r->row <= AT + 8 * SPAN);
        memset(&there[at - AT], true, r->row);
        return;
    }
    for (uint64_t k = 0; k < r->stride[i].count; k++)
        mark_from(r, i + 1, at + k * r->stride[i].bytes, there);
}

/* Rows of few bytes, with strides that others have, too. */
static struct sc_range sample_range(void)
{
    static const int steps[] = {8, 100, 2048, 6000};
    struct sc_range range = {.places = 1};
    struct sc_strided set = sc_strided_of(sc_interval_of(0, rand() % 30));
    set.lo = AT + rand() % SPAN;
    for (int i = 0; i < 4; i++) {
        struct sc_strided more = sc_strided_of(sc_interval_of(0, rand() % 3));
        more = sc_strided_times(&more, rand() % 3 ? steps[i] : 0);
        set = sc_strided_add(&set, &more);
    }
    sc_range_all(&range, sc_strided_hull(&set));
    sc_range_strided(&range, rand() % 5 ? &set : &(struct sc_strided){0});
    return range;
}

START_TEST(two_ranges_become_one_with_all_of_both)
{
    static bool before[8 * SPAN], after[8 * SPAN];
    unsigned joined = 0, strided = 0;
    srand(19);
    for (int round = 0; round < ROUNDS; round++) {
        struct sc_range a = sample_range(), b = sample_range();
        memset(before, 0, sizeof before);
        memset(after, 0, sizeof after);
        mark_from(&a, 0, a.first, before);
        mark_from(&b, 0, b.first, before);
        bool is_one = sc_range_join(&a, &b);
        joined += is_one;
        strided += is_one && a.stride_count;
        mark_from(&a, 0, a.first, after);
        if (!is_one)
            mark_from(&b, 0, b.first, after);
        for (int i = 0; i < 8 * SPAN; i++)
            ck_assert(before[i] <= after[i]);
    }
    ck_assert_uint_gt(joined, ROUNDS / 20);
    ck_assert_uint_gt(strided, 20);
}
END_TEST

SUITE_MAIN("sets with strides", 60, terms_are_in_order_and_what_they_say,
           sums_and_multiples_are_inside, other_numbers_have_the_same_patterns,
           a_cut_keeps_what_the_interval_has, what_is_exact_stays_so,
           two_ranges_become_one_with_all_of_both)
