/*
 * Arguments whose boxes are named by a text or by a function: results, what
 * moves, and what is said of those that are wrong.
 */
#include "call/fixture.h"

#include "base/stats.h"

#include <stdlib.h>

static const adsmOpts all = {.devices = ADSM_ALL_DEVICES};

static uint64_t up(void)
{
    return adsm_stats_get(ADSM_STAT_bytes_up);
}

/* ---- the same with and without options ---------------------------------------- */

enum { NY = 47, NX = 61, LINE = 2000, MOST = 12 * LINE };

static int *first, *second, *third;

typedef void form(const adsmOpts *opts);

static void form_map(const adsmOpts *opts)
{
    int a = 3;
    must(adsmCallWith(opts, kernel("map"), adsmR1(LINE),
                      adsmBoxed(first, ADSM_IN, "[i]"),
                      adsmBoxed(second, ADSM_INOUT, "[i0:i1]"), adsmVal(a)));
}

static void form_all(const adsmOpts *opts)
{
    long n = 100;
    must(adsmCallWith(opts, kernel("all"), adsmR1(LINE),
                      adsmBoxed(first, ADSM_IN, "[:$1]", n),
                      adsmBoxed(second, ADSM_OUT, "[i]"), adsmVal(n)));
}

static void form_nothing(const adsmOpts *opts)
{
    long n = 0;
    must(adsmCallWith(opts, kernel("all"), adsmR1(LINE),
                      adsmBoxed(first, ADSM_IN, "[$1:0]", 5),
                      adsmBoxed(second, ADSM_OUT, "[i]"), adsmVal(n)));
}

static void form_near(const adsmOpts *opts)
{
    int r = 9;
    adsmBox inner = {1, {9}, {LINE - 9}};
    must(adsmCallWith(opts, kernel("near"), inner,
                      adsmBoxed(first, ADSM_IN, "[i0 - $1 : i1 + $1]", r),
                      adsmBoxed(second, ADSM_INOUT, "[i]"), adsmVal(r)));
}

static void form_before(const adsmOpts *opts)
{
    adsmBox inner = {1, {1}, {LINE}};
    must(adsmCallWith(opts, kernel("before"), inner,
                      adsmBoxed(first, ADSM_IN, "[i0-1:i1-1]"),
                      adsmBoxed(first, ADSM_IN, "[-(1-i0):i1-1]"),
                      adsmBoxed(second, ADSM_INOUT, "[i]")));
}

static void form_strided(const adsmOpts *opts)
{
    long a = 5, b = 3, c = 2, d = 11;
    must(adsmCallWith(
        opts, kernel("strided"), adsmR1(LINE / 5),
        adsmBoxed(first, ADSM_IN, "[$1*i0+$2:$1*(i1-1)+$2+1]", c, d),
        adsmBoxed(second, ADSM_INOUT, "[i0*$1 + $2 : (i1-1)*$1 + $2 + 1]", a,
                  b),
        adsmVal(a), adsmVal(b), adsmVal(c), adsmVal(d)));
}

static void form_backwards(const adsmOpts *opts)
{
    long a = -1, b = LINE - 1, c = -3, d = 3 * LINE - 1;
    must(
        adsmCallWith(opts, kernel("strided"), adsmR1(LINE),
                     adsmBoxed(first, ADSM_IN, "[$2-3*(i1-1):$2+1-3*i0]", c, d),
                     adsmBoxed(second, ADSM_INOUT, "[$1-i1:$1-i0]", LINE),
                     adsmVal(a), adsmVal(b), adsmVal(c), adsmVal(d)));
}

static void form_rows(const adsmOpts *opts)
{
    long ny = NY, nx = NX;
    adsmBox inner = {2, {1, 0}, {NY - 1, NX}};
    must(adsmCallWith(opts, kernel("rows"), inner,
                      adsmBoxed(first, ADSM_IN, "[i0-1:i1+1][:]"),
                      adsmBoxed(second, ADSM_INOUT, "[i][:N1]"), adsmVal(ny),
                      adsmVal(nx)));
}

static void form_square(const adsmOpts *opts)
{
    int ry = 2, rx = 1;
    adsmBox inner = {2, {2, 1}, {NY - 2, NX - 1}};
    must(adsmCallWith(
        opts, kernel("square"), inner,
        adsmBoxed(first, ADSM_IN, "[i0-$1:i1+$1][j0-$2:j1+$2]", ry, rx),
        adsmView(adsmBoxed(second, ADSM_INOUT, "[i][j]")), adsmVal(ry),
        adsmVal(rx)));
}

static void form_product(const adsmOpts *opts)
{
    long n = NX;
    must(adsmCallWith(opts, kernel("product"), adsmR2(NY, NX),
                      adsmBoxed(first, ADSM_IN, "[i][:]"),
                      adsmBoxed(third, ADSM_IN, "[:N1][j]"),
                      adsmBoxed(second, ADSM_OUT, "[i][j]"), adsmVal(n)));
}

static void form_cube(const adsmOpts *opts)
{
    must(adsmCallWith(opts, kernel("cube"), adsmR3(7, 11, 13),
                      adsmBoxed(second, ADSM_INOUT, "[i][j0:j1][k]")));
}

static void form_floyd(const adsmOpts *opts)
{
    long n = NY, k = 17;
    must(adsmCallWith(opts, kernel("floyd"), adsmR2(NY, NY),
                      adsmBoxed(second, ADSM_INOUT, "[i][:]"),
                      adsmBoxed(second, ADSM_IN, "[$1][:]", k), adsmVal(n),
                      adsmVal(k)));
}

static void form_mirror(const adsmOpts *opts)
{
    long n = LINE;
    must(adsmCallWith(opts, kernel("mirror"), adsmR1(LINE / 2),
                      adsmBoxed(second, ADSM_INOUT, "[i] | [N0-i1:N0-i0]"),
                      adsmVal(n)));
}

static void form_mirror2(const adsmOpts *opts)
{
    long n = NX;
    must(adsmCallWith(
        opts, kernel("mirror2"), adsmR2(NY, NX / 2),
        adsmBoxed(second, ADSM_INOUT, "[i][$1-j1:$1-j0] | [i][j]", n),
        adsmVal(n)));
}

/* Both ends of a line, whose length it is told. */
static int ends(const adsmPart *part, void *user, adsmBox *out, int most)
{
    long n = *(long *)user, i0 = part->box.lo[0], i1 = part->box.hi[0];
    ck_assert_int_eq(most, 8);
    ck_assert_int_eq(part->whole.hi[0], n / 2);
    ck_assert_int_ge(part->index, 0);
    ck_assert_int_lt(part->index, part->count);
    out[0] = (adsmBox){1, {n - i1}, {n - i0}};
    out[1] = (adsmBox){1, {i0}, {i1}};
    return 2;
}

static void form_ends(const adsmOpts *opts)
{
    long n = LINE;
    must(adsmCallWith(opts, kernel("mirror"), adsmR1(LINE / 2),
                      adsmBoxedBy(second, ADSM_INOUT, ends, &n), adsmVal(n)));
}

static const struct {
    form *call;
    adsmBox shape, table; /* of what it reads and writes; of `third` */
} forms[] = {
    {form_map, {1, {0}, {LINE}}, {1, {0}, {1}}},
    {form_all, {1, {0}, {LINE}}, {1, {0}, {1}}},
    {form_nothing, {1, {0}, {LINE}}, {1, {0}, {1}}},
    {form_near, {1, {0}, {LINE}}, {1, {0}, {1}}},
    {form_before, {1, {0}, {LINE}}, {1, {0}, {1}}},
    {form_strided, {1, {0}, {LINE}}, {1, {0}, {1}}},
    {form_backwards, {1, {0}, {3 * LINE}}, {1, {0}, {1}}},
    {form_rows, {2, {0}, {NY, NX}}, {1, {0}, {1}}},
    {form_square, {2, {0}, {NY, NX}}, {1, {0}, {1}}},
    {form_product, {2, {0}, {NY, NX}}, {2, {0}, {NX, NX}}},
    {form_cube, {3, {0}, {7, 11, 13}}, {1, {0}, {1}}},
    {form_floyd, {2, {0}, {NY, NY}}, {1, {0}, {1}}},
    {form_mirror, {1, {0}, {LINE}}, {1, {0}, {1}}},
    {form_ends, {1, {0}, {LINE}}, {1, {0}, {1}}},
    {form_mirror2, {2, {0}, {NY, NX}}, {1, {0}, {1}}},
};
enum { FORMS = sizeof forms / sizeof *forms };

static long volume(adsmBox box)
{
    return box.hi[0] * (box.nd > 1 ? box.hi[1] : 1) *
           (box.nd > 2 ? box.hi[2] : 1);
}

static void fill(int *p, long n, long salt)
{
    for (long i = 0; i < n; i++)
        p[i] = (int)((i + salt) * 7919 % 10007);
}

/* What the call makes of `second`, filled anew. */
static void make(int i, int home, const adsmOpts *opts, int *result)
{
    long n = volume(forms[i].shape);
    first = array(forms[i].shape, home);
    second = array(forms[i].shape, home);
    third = array(forms[i].table, home);
    fill(first, n, 1);
    fill(second, n, 2);
    fill(third, volume(forms[i].table), 3);
    forms[i].call(opts);
    must(adsmSync());
    memcpy(result, second, (size_t)n * sizeof *result);
    must(adsmFree(first));
    must(adsmFree(second));
    must(adsmFree(third));
}

START_TEST(boxed_calls_in_parts_do_as_whole_ones)
{
    static int want[MOST], got[MOST];
    const adsmOpts cuts[] = {{.devices = 1},
                             {.devices = 0xf},
                             {.devices = 6, .parts = 7},
                             {.devices = 0xf, .parts = 9, .cyclic = 1},
                             {.devices = 0xf, .chunks = 3, .fetch = 1},
                             {.devices = 3, .tile = {11}}};
    for (int i = 0; i < FORMS; i++) {
        size_t bytes = (size_t)volume(forms[i].shape) * sizeof *want;
        make(i, 0, NULL, want);
        for (int c = 0; c < 6; c++)
            for (int home = ADSM_NO_HOME; home < 2; home += 2) {
                make(i, home, &cuts[c], got);
                ck_assert_msg(memcmp(got, want, bytes) == 0,
                              "form %d, cut %d, home %d", i, c, home);
            }
    }
}
END_TEST

/* ---- Floyd and Warshall ---------------------------------------------------------- */

static void make_paths(int *path, long n)
{
    for (long i = 0; i < n * n; i++)
        path[i] = i / n == i % n ? 0 : (int)(1 + i * 7919 % 10007);
}

static void shortest(int *path, long n)
{
    for (long k = 0; k < n; k++)
        for (long i = 0; i < n; i++)
            for (long j = 0; j < n; j++)
                if (path[i * n + k] + path[k * n + j] < path[i * n + j])
                    path[i * n + j] = path[i * n + k] + path[k * n + j];
}

static void run_floyd(const adsmOpts *opts, long n, int home)
{
    int *path = array(adsmR2(n, n), home), *want = malloc(sizeof(int[n][n]));
    make_paths(path, n);
    make_paths(want, n);
    for (long k = 0; k < n; k++)
        must(adsmCallWith(opts, kernel("floyd"), adsmR2(n, n),
                          adsmBoxed(path, ADSM_INOUT, "[i][:]"),
                          adsmBoxed(path, ADSM_IN, "[$1][:]", k), adsmVal(n),
                          adsmVal(k)));
    shortest(want, n);
    ck_assert_int_eq(memcmp(path, want, sizeof(int[n][n])), 0);
    free(want);
    must(adsmFree(path));
}

START_TEST(row_that_all_parts_read_is_the_one_before_the_step)
{
    for (int devices = 1; devices <= 4; devices++)
        for (int parts = 0; parts < 9; parts += 1 + parts / 3)
            run_floyd(adsmWith(.devices = (1u << devices) - 1, .parts = parts),
                      41, parts % 2 ? 0 : ADSM_NO_HOME);
}
END_TEST

/* 16 MiB of paths on devices that have 8 together, whose pieces are of a row
 * more or less: what one leaves is enough for the next. */
START_TEST(paths_go_through_devices_that_are_too_small)
{
    setenv("SOFTCUDA_MEMORY", "4M", 1);
    long n = 2048;
    int *path = array(adsmR2(n, n), ADSM_NO_HOME),
        *want = malloc(sizeof(int[n][n]));
    make_paths(path, n);
    make_paths(want, n);
    for (long k = 100; k < 103; k++)
        must(adsmCallWith(adsmWith(.devices = 3), kernel("floyd"), adsmR2(n, n),
                          adsmBoxed(path, ADSM_INOUT, "[i][:]"),
                          adsmBoxed(path, ADSM_IN, "[$1][:]", k), adsmVal(n),
                          adsmVal(k)));
    for (long k = 100; k < 103; k++)
        for (long i = 0; i < n; i++)
            for (long j = 0; j < n; j++)
                if (want[i * n + k] + want[k * n + j] < want[i * n + j])
                    want[i * n + j] = want[i * n + k] + want[k * n + j];
    ck_assert_int_eq(memcmp(path, want, sizeof(int[n][n])), 0);
    free(want);
    must(adsmFree(path));
}
END_TEST

/* 32 MiB of rows of 8 on a device of 16: the first one goes, although something
 * of it is read by all. */
START_TEST(row_of_a_step_keeps_no_piece_in_memory)
{
    setenv("SOFTCUDA_MEMORY", "16M", 1);
    enum { LONG = 2 << 20 };
    int *a = array(adsmR2(4, LONG), ADSM_NO_HOME),
        *c = array(adsmR2(4, 10), ADSM_NO_HOME);
    long n = 1, k = 0;
    for (int i = 0; i < 4; i++)
        number(a + (long)i * LONG, 10, 3 + i);
    must(adsmCallWith(adsmWith(.devices = 1), kernel("product"), adsmR2(4, 10),
                      adsmBoxed(a, ADSM_IN, "[i][:]"),
                      adsmBoxed(a, ADSM_IN, "[$1][:10]", k), adsmOut(c),
                      adsmVal(n)));
    for (int i = 0; i < 40; i++)
        ck_assert_int_eq(c[i], (3 + i / 10) * (i % 10 * 61 + 3));
    must(adsmFree(a));
    must(adsmFree(c));
}
END_TEST

/* Two rows of 9 MiB are more than there is, in one piece or not. */
START_TEST(row_that_fits_beside_no_piece_is_found_before)
{
    setenv("SOFTCUDA_MEMORY", "16M", 1);
    long n = 9 << 18, k = 0;
    int *path = array(adsmR2(4, n), ADSM_NO_HOME);
    number(path, 4 * n, 1);
    path[3 * n] = -1000000;
    expect(adsmCallWith(adsmWith(.devices = 1), kernel("floyd"), adsmR2(4, n),
                        adsmBoxed(path, ADSM_INOUT, "[i][:]"),
                        adsmBoxed(path, ADSM_IN, "[$1][:]", k), adsmVal(n),
                        adsmVal(k)),
           ADSM_E_DEVICE_NOMEM, "the smallest part its range can be cut into");
    ck_assert_int_eq(path[3 * n + 7], (int)((3 * n + 7) * 61 + 1));
    must(adsmFree(path));
}
END_TEST

/* ---- what moves ------------------------------------------------------------------ */

START_TEST(only_the_boxes_are_sent)
{
    long n = 100000, a = 1, b = 0, c = 1, d = 70000;
    int *x = array(adsmR1(n), ADSM_NO_HOME),
        *y = array(adsmR1(n), ADSM_NO_HOME);
    adsmCopyInfo copies[8];
    if (getenv("ADSM_CHECK"))
        return; /* copies go with their call */
    number(x, n, 1);
    number(y, n, 2);
    uint64_t up0 = up();
    must(adsmCallWith(adsmWith(.devices = 1), kernel("strided"), adsmR1(1000),
                      adsmBoxed(x, ADSM_IN, "[$1 + i0 : $1 + i1]", d),
                      adsmBoxed(y, ADSM_INOUT, "[i] | [N0-3:]"), adsmVal(a),
                      adsmVal(b), adsmVal(c), adsmVal(d)));
    ck_assert_uint_eq(up() - up0, 2003 * sizeof(int));
    ck_assert_int_eq(adsmCopies(x, copies, 8), 1);
    ck_assert_int_eq(copies[0].box.lo[0], d);
    ck_assert_int_eq(copies[0].box.hi[0], d + 1000);
    /* One copy, of which the boxes are current. */
    ck_assert_int_eq(adsmCopies(y, copies, 8), 1);
    ck_assert_int_eq(copies[0].box.hi[0], n);
    ck_assert_uint_eq(copies[0].valid, 1003 * sizeof(int));
    ck_assert_int_eq(y[999], 999 * 61 + 2 + 3 * (70999 * 61 + 1) + 999);
    ck_assert_int_eq(y[5000], 5000 * 61 + 2);
    must(adsmFree(x));
    must(adsmFree(y));
}
END_TEST

/* Rows of steps that are over are not kept. */
START_TEST(copies_of_past_steps_go)
{
    long n = 200;
    int *path = array(adsmR2(n, n), ADSM_NO_HOME);
    adsmCopyInfo copies[64];
    make_paths(path, n);
    uint64_t up0 = up(), made0 = adsm_stats_get(ADSM_STAT_store_bytes);
    for (long k = 0; k < n; k++)
        must(adsmCallWith(adsmWith(.devices = 0xf, .parts = 4), kernel("floyd"),
                          adsmR2(n, n), adsmBoxed(path, ADSM_INOUT, "[i][:]"),
                          adsmBoxed(path, ADSM_IN, "[$1][:]", k), adsmVal(n),
                          adsmVal(k)));
    if (getenv("ADSM_CHECK"))
        return; /* none is kept there */
    ck_assert_int_le(adsmCopies(path, copies, 64), 4 * 5);
    ck_assert_uint_le(adsm_stats_get(ADSM_STAT_store_bytes) - made0,
                      4 * 8 * 65536);
    ck_assert_uint_lt(up() - up0, (size_t)(n + 4) * n * sizeof(int));
    must(adsmFree(path));
}
END_TEST

/* ---- what is wrong ---------------------------------------------------------------- */

START_TEST(bad_boxes_say_what_would_be_right)
{
    int a = 1, *x = array(adsmR1(101), 0), *y = array(adsmR1(101), 1);
    number(y, 101, 1);
#define bad(words, ...)                                                        \
    expect(adsmCallWith(&all, kernel("map"), adsmR1(100),                      \
                        adsmBoxed(x, ADSM_IN, "[i]"), __VA_ARGS__,             \
                        adsmVal(a)),                                           \
           ADSM_E_INVALID, words)
    bad("argument 1 of kernel 'map', \"[i0:j1]\", column 5: expected a "
        "dimension that the range has; the array has 1 dimensions, the range "
        "1, parameters are 0",
        adsmBoxed(y, ADSM_INOUT, "[i0:j1]"));
    bad("column 4: expected the number of a parameter that is given",
        adsmBoxed(y, ADSM_INOUT, "[ $2]", 1));
    bad("argument 1 of kernel 'map': box 0 of part 0 of 4 goes from -1 to 24 "
        "in dimension 0, its array from 0 to 101",
        adsmBoxed(y, ADSM_INOUT, "[i0-1:i1-1]"));
    bad("box 1 of part 3 of 4 goes from 77 to 102 in dimension 0",
        adsmBoxed(y, ADSM_INOUT, "[i] | [i0+2:i1+2]"));
    bad("parts 0 and 1 of kernel 'map' would write the same bytes of argument "
        "1: [0:26] and [25:51]",
        adsmBoxed(y, ADSM_INOUT, "[i0:i1+1]"));
    bad("parts 0 and 1 of kernel 'map' would write the same bytes of argument "
        "1: [100:101] and [100:101]",
        adsmBoxed(y, ADSM_INOUT, "[i]|[N0-1]"));
    bad("does not follow dimension 0 of the range",
        adsmBoxed(y, ADSM_INOUT, "[:]"));
    bad("is boxed and has an edge, or follows dimensions",
        adsmAlong(adsmBoxed(y, ADSM_INOUT, "[i]"), 1, 0, 0));
    bad("is boxed with no text and 0 parameters",
        adsmBoxed(y, ADSM_INOUT, NULL));
#undef bad
    expect(adsmCallWith(&all, kernel("map"), adsmR1(100),
                        adsmBoxed(y, ADSM_INOUT, "[N0-i1:N0-i0]"), adsmInOut(y),
                        adsmVal(a)),
           ADSM_E_INVALID,
           "arguments 0 and 1 of kernel 'map' lie in one object, where parts 3 "
           "and 0 would write the same bytes: [1:26] and [0:25]");
    for (int i = 0; i < 101; i++)
        ck_assert_int_eq(y[i], i * 61 + 1);
    must(adsmFree(x));
    must(adsmFree(y));
}
END_TEST

/* What it says is in `user`: how many boxes, and of how many dimensions. */
static int wrong(const adsmPart *part, void *user, adsmBox *out, int most)
{
    const int *say = user;
    for (int i = 0; i < most; i++) {
        out[i] = part->box;
        out[i].nd = say[1];
    }
    return part->index == say[2] ? say[0] : 1;
}

START_TEST(bad_box_functions_say_what_would_be_right)
{
    const struct {
        int say[3];
        const char *words;
    } cases[] = {
        {{-7, 1, 2},
         "argument 0 of kernel 'mirror': its function refused part "
         "2 of 4 with -7"},
        {{9, 1, 3}, "its function has 9 boxes of part 3 of 4, 8 are possible"},
        {{2, 2, 0}, "box 0 of part 0 of 4 has 2 dimensions, its array 1"},
    };
    int *y = array(adsmR1(100), ADSM_NO_HOME);
    long n = 0;
    number(y, 100, 1);
    for (int i = 0; i < 3; i++)
        expect(adsmCallWith(
                   &all, kernel("mirror"), adsmR1(100),
                   adsmBoxedBy(y, ADSM_INOUT, wrong, (void *)cases[i].say),
                   adsmVal(n)),
               ADSM_E_INVALID, cases[i].words);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(y[i], i * 61 + 1);
    must(adsmFree(y));
}
END_TEST

/* Pieces are asked for as what they are pieces of. */
static int by_number(const adsmPart *part, void *user, adsmBox *out, int most)
{
    int *seen = user;
    ck_assert_int_eq(part->count, 3);
    ck_assert_int_eq(part->device, part->index + 1);
    ck_assert_int_eq(most, 8);
    seen[part->index] |= part->box.hi[0] - part->box.lo[0] < 300 ? 2 : 1;
    out[0] = part->box;
    return 1;
}

START_TEST(box_functions_know_part_and_device)
{
    int a = 1, *x = array(adsmR1(900), 0), *y = array(adsmR1(900), 0);
    int seen[3] = {0};
    number(x, 900, 1);
    number(y, 900, 2);
    must(adsmCallWith(adsmWith(.devices = 0xe, .chunks = 4), kernel("map"),
                      adsmR1(900), adsmIn(x),
                      adsmBoxedBy(y, ADSM_INOUT, by_number, seen), adsmVal(a)));
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(seen[i], 3);
    for (int i = 0; i < 900; i++)
        ck_assert_int_eq(y[i], 2 * (i * 61 + 1) + i * 61 + 2 + 1);
    must(adsmFree(x));
    must(adsmFree(y));
}
END_TEST

SUITE_MAIN("boxed", 120, boxed_calls_in_parts_do_as_whole_ones,
           row_that_all_parts_read_is_the_one_before_the_step,
           paths_go_through_devices_that_are_too_small,
           row_of_a_step_keeps_no_piece_in_memory,
           row_that_fits_beside_no_piece_is_found_before,
           only_the_boxes_are_sent, copies_of_past_steps_go,
           bad_boxes_say_what_would_be_right,
           bad_box_functions_say_what_would_be_right,
           box_functions_know_part_and_device)
