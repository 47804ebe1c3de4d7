/*
 * Intervals against all numbers of five bits: each result of an operation on
 * members is a member of the operation's result.
 */
#include "common/suite.h"
#include "ptx/interval.h"

enum { BITS = 5, ALL = 1 << BITS, HALF = ALL / 2 };

static bool has(struct sc_interval a, int pattern)
{
    if (sc_interval_is_none(a))
        return false;
    for (sc_wide x = a.lo; x <= a.hi && x < a.lo + ALL; x++)
        if (((int)x & (ALL - 1)) == (pattern & (ALL - 1)))
            return true;
    return false;
}

static int number(int pattern, bool is_signed)
{
    pattern &= ALL - 1;
    return is_signed && pattern >= HALF ? pattern - ALL : pattern;
}

enum operation {
    ADD,
    SUB,
    MUL,
    SHL,
    SHR,
    SAR,
    UDIV,
    SDIV,
    UREM,
    SREM,
    AND,
    OR,
    XOR,
    UMIN,
    SMIN,
    UMAX,
    SMAX,
    JOIN,
    OPERATIONS
};

static struct sc_interval of_intervals(enum operation op, struct sc_interval a,
                                       struct sc_interval b)
{
    switch (op) {
    case ADD:
        return sc_interval_add(a, b);
    case SUB:
        return sc_interval_sub(a, b);
    case MUL:
        return sc_interval_mul(a, b, BITS);
    case SHL:
        return sc_interval_shl(a, b, BITS);
    case SHR:
        return sc_interval_shr(a, b, BITS, false);
    case SAR:
        return sc_interval_shr(a, b, BITS, true);
    case UDIV:
        return sc_interval_div(a, b, BITS, false);
    case SDIV:
        return sc_interval_div(a, b, BITS, true);
    case UREM:
        return sc_interval_rem(a, b, BITS, false);
    case SREM:
        return sc_interval_rem(a, b, BITS, true);
    case AND:
        return sc_interval_and(a, b, BITS);
    case OR:
    case XOR:
        return sc_interval_or(a, b, BITS);
    case UMIN:
        return sc_interval_min(a, b, BITS, false);
    case SMIN:
        return sc_interval_min(a, b, BITS, true);
    case UMAX:
        return sc_interval_max(a, b, BITS, false);
    case SMAX:
        return sc_interval_max(a, b, BITS, true);
    default:
        return sc_interval_join(a, b, BITS);
    }
}

/* Shifts go by numbers of 32 bits, which are as they are here. */
static int of_numbers(enum operation op, int x, int y)
{
    bool is_signed =
        op == SAR || op == SDIV || op == SREM || op == SMIN || op == SMAX;
    int a = number(x, is_signed), b = number(y, is_signed);
    switch (op) {
    case ADD:
        return a + b;
    case SUB:
        return a - b;
    case MUL:
        return a * b;
    case SHL:
        return y >= BITS ? 0 : a << y;
    case SHR:
    case SAR:
        return a >> (y >= BITS ? BITS : y);
    case UDIV:
    case SDIV:
        return b ? a / b : 7;
    case UREM:
    case SREM:
        return b ? a % b : 7;
    case AND:
        return a & b;
    case OR:
        return a | b;
    case XOR:
        return a ^ b;
    case UMIN:
    case SMIN:
        return a < b ? a : b;
    case UMAX:
    case SMAX:
        return a > b ? a : b;
    default:
        return a;
    }
}

/* Intervals that begin anywhere around zero, some of them over both ends. */
static struct sc_interval sample(unsigned *state, bool is_amount)
{
    *state = *state * 1103515245 + 12345;
    int lo = is_amount ? (int)(*state >> 16) % 7
                       : (int)(*state >> 16) % (3 * ALL) - ALL;
    *state = *state * 1103515245 + 12345;
    int span = (*state >> 24) % 4 ? (int)(*state >> 16) % 6
                                  : (int)(*state >> 16) % ALL;
    return sc_interval_of(lo, lo + span);
}

START_TEST(every_result_is_inside)
{
    unsigned state = 4711 + (unsigned)_i;
    bool shifts = _i == SHL || _i == SHR || _i == SAR;
    for (int round = 0; round < 4000; round++) {
        struct sc_interval a = sample(&state, false);
        struct sc_interval b = sample(&state, shifts);
        struct sc_interval c = of_intervals((enum operation)_i, a, b);
        for (sc_wide x = a.lo; x <= a.hi; x++)
            for (sc_wide y = b.lo; y <= b.hi; y++) {
                int z = of_numbers((enum operation)_i, (int)x, (int)y);
                ck_assert_msg(has(c, z) && has(sc_interval_trim(c, BITS), z) &&
                                  (_i != JOIN || has(c, (int)y)),
                              "%d: %d %d of %d..%d %d..%d", _i, (int)x, (int)y,
                              (int)a.lo, (int)a.hi, (int)b.lo, (int)b.hi);
            }
    }
}
END_TEST

static bool holds(enum sc_relation is, int a, int b)
{
    switch (is) {
    case SC_LT:
        return a < b;
    case SC_LE:
        return a <= b;
    case SC_GT:
        return a > b;
    case SC_GE:
        return a >= b;
    case SC_EQ:
        return a == b;
    default:
        return a != b;
    }
}

START_TEST(a_cut_keeps_what_fits)
{
    unsigned state = 815 + (unsigned)_i;
    enum sc_relation is = (enum sc_relation)(_i / 2);
    bool is_signed = _i % 2;
    for (int round = 0; round < 4000; round++) {
        struct sc_interval a = sample(&state, false);
        struct sc_interval b = sample(&state, false);
        struct sc_interval c = sc_interval_cut(a, is, b, BITS, is_signed);
        for (sc_wide x = a.lo; x <= a.hi; x++)
            for (sc_wide y = b.lo; y <= b.hi; y++) {
                int p = number((int)x, is_signed),
                    q = number((int)y, is_signed);
                bool so = holds(is, p, q);
                ck_assert_msg((!so || has(c, p)) &&
                                  so == holds(sc_relation_turned(is), q, p) &&
                                  so != holds(sc_relation_not(is), p, q),
                              "%d: %d %d of %d..%d %d..%d", _i, p, q, (int)a.lo,
                              (int)a.hi, (int)b.lo, (int)b.hi);
            }
    }
}
END_TEST

START_TEST(containing_means_all_patterns)
{
    unsigned state = 99;
    for (int round = 0; round < 20000; round++) {
        struct sc_interval a = sample(&state, false);
        struct sc_interval b = sample(&state, false);
        bool all = true;
        for (sc_wide y = b.lo; y <= b.hi; y++)
            all &= has(a, (int)y);
        ck_assert(!sc_interval_has(a, b, BITS) || all);
    }
    ck_assert(
        sc_interval_has(sc_interval_of(0, 9), sc_interval_of(33, 41), BITS));
    ck_assert(
        !sc_interval_has(sc_interval_of(0, 9), sc_interval_of(-1, 3), BITS));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("intervals");
    TCase *one = tcase_create("five bits");
    tcase_add_loop_test(one, every_result_is_inside, 0, OPERATIONS);
    tcase_add_loop_test(one, a_cut_keeps_what_fits, 0, 12);
    tcase_add_test(one, containing_means_all_patterns);
    suite_add_tcase(suite, one);
    return suite_finish(suite);
}
