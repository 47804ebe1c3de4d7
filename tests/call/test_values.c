/*
 * Arguments as programs write them: values of any form, and arrays taken as flat.
 */
#include "call/fixture.h"

enum { NY = 40, NX = 50, N = NY * NX };

struct pair {
    double a;
    int b;
};

static int counted;

static int count(void)
{
    return ++counted;
}

/* Where it is: in the argument itself, up to 40 bytes. */
static const void *value_of(const adsmArg *arg)
{
    ck_assert_int_eq(arg->how == ADSM_KEPT, arg->bytes <= sizeof arg->param);
    return arg->how == ADSM_KEPT ? arg->param : arg->p;
}

/* As programs have them that make arguments one by one: what x was is gone. */
static adsmArg make_argument(int x)
{
    return x ? adsmVal(x) : adsmVal(x + 1);
}

#define check_value(arg_, type, value, kind_)                                  \
    do {                                                                       \
        const adsmArg made = (arg_);                                           \
        ck_assert_uint_eq(made.bytes, sizeof(type));                           \
        ck_assert_int_eq(made.edge, (kind_));                                  \
        ck_assert_int_eq(made.mode, 0);                                        \
        ck_assert(*(const type *)value_of(&made) == (value));                  \
    } while (0)

START_TEST(values_are_constants_and_expressions_too)
{
    const char c = 'x';
    int n = 3, *p = &n;
    struct pair s = {2, 4}, *of = &s;
    check_value(adsmVal(3), int, 3, ADSM_INTEGER);
    check_value(adsmVal(0.5f), float, 0.5f, ADSM_REAL);
    check_value(adsmVal(2.5), double, 2.5, ADSM_REAL);
    check_value(adsmVal(n + 2 * 3), int, 9, ADSM_INTEGER);
    check_value(adsmVal(1ull << 40), unsigned long long, 1ull << 40,
                ADSM_INTEGER);
    check_value(adsmVal(c), char, 'x', ADSM_INTEGER);
    check_value(adsmVal((unsigned char)200), unsigned char, 200, ADSM_INTEGER);
    check_value(adsmVal(p), int *, &n, ADSM_ANY_KIND);
    check_value(adsmVal(of->a), double, 2, ADSM_REAL);
    check_value(adsmVal((_Bool){1}), _Bool, 1, ADSM_INTEGER);
    check_value(adsmVal(count()), int, 1, ADSM_INTEGER);
    ck_assert_int_eq(counted, 1);
    adsmArg of_pair = adsmVal(s), in_place = adsmVal(((struct pair){6, 7}));
    s.a = 9;
    ck_assert(((const struct pair *)value_of(&of_pair))->a == 2);
    ck_assert_int_eq(((const struct pair *)value_of(&in_place))->b, 7);
    check_value(make_argument(5), int, 5, ADSM_INTEGER);
    ck_assert_uint_eq(in_place.bytes, sizeof s);
}
END_TEST

START_TEST(large_arrays_are_values_where_they_are)
{
    float m[16] = {1, 2, 3, 4};
    const int few[2] = {5, 6};
    adsmArg arg = adsmVal(m), other = adsmVal(few);
    ck_assert_ptr_eq(value_of(&arg), m);
    ck_assert_uint_eq(arg.bytes, sizeof m);
    ck_assert_int_eq(((const int *)value_of(&other))[1], 6);
    ck_assert_uint_eq(other.bytes, sizeof few);
}
END_TEST

START_TEST(calls_get_the_values)
{
    int *x = array(adsmR1(N), 0), *y = array(adsmR1(N), ADSM_NO_HOME);
    must(adsmFill(x, N, 1));
    must(adsmFill(y, N, 1));
    must(adsmCall(kernel("map"), N, adsmIn(x), adsmInOut(x), adsmVal(40)));
    must(adsmCallWith(adsmWith(.devices = ADSM_ALL_DEVICES), kernel("map"),
                      adsmR1(N), adsmIn(x), adsmInOut(y), adsmVal(N - 1)));
    ck_assert_int_eq(x[N - 1], 43);
    ck_assert_int_eq(y[0], 86 + 1 + N - 1);
    expect(adsmCall(kernel("map"), N, adsmIn(x), adsmInOut(x), adsmVal(1.5f)),
           ADSM_E_INVALID, "an integer");
    must(adsmFree(x));
    must(adsmFree(y));
}
END_TEST

/* ---- flat ------------------------------------------------------------------------ */

START_TEST(array_of_rows_is_called_as_one_row)
{
    static const int homes[] = {0, ADSM_NO_HOME};
    const adsmOpts *all = adsmWith(.devices = ADSM_ALL_DEVICES, .parts = 3);
    for (int h = 0; h < 2; h++) {
        int *u = array(adsmR2(NY, NX), homes[h]),
            *v = array(adsmR3(4, 10, NX), homes[h]);
        number(u, N, 1);
        number(v, N, 2);
        expect(adsmCallWith(all, kernel("map"), adsmR1(N), adsmIn(u),
                            adsmInOut(v), adsmVal(1)),
               ADSM_E_INVALID, "has 40 elements in dimension 0");
        must(adsmCallWith(all, kernel("map"), adsmR1(N), adsmFlat(adsmIn(u)),
                          adsmFlat(adsmInOut(v)), adsmVal(1)));
        for (int i = 0; i < N; i++)
            ck_assert_int_eq(v[i], 3 * (i * 61) + 5);
        /* A part of it that begins within a row; its shape is what it was. */
        must(adsmCallWith(all, kernel("map"), adsmR1(N - 10),
                          adsmFlat(adsmIn(v)), adsmFlat(adsmInOut(u + 10)),
                          adsmVal(3)));
        int *w = array(adsmR2(NY, NX), ADSM_NO_HOME);
        must(adsmCallWith(all, kernel("square"), adsmR2(NY, NX),
                          adsmSquare(u, 0, 0, ADSM_EDGE_CLAMP), adsmOut(w),
                          adsmVal(0), adsmVal(0)));
        for (int i = 0; i < N; i++) {
            ck_assert_int_eq(u[i], i * 61 + 1 +
                                       (i < 10 ? 0 : 6 * (i - 10) * 61 + 13));
            ck_assert_int_eq(w[i], u[i]);
        }
        must(adsmFree(w));
        must(adsmFree(u));
        must(adsmFree(v));
    }
}
END_TEST

SUITE_MAIN("values", 60, values_are_constants_and_expressions_too,
           large_arrays_are_values_where_they_are, calls_get_the_values,
           array_of_rows_is_called_as_one_row)
