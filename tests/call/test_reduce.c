/*
 * Reductions over one to four devices: bytes are those of the tree on the CPU,
 * whatever the operator, the size and the way it is spread.
 */
#include "call/operators.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static const adsmOpts ways[] = {
    {.devices = 1},
    {.devices = 3, .parts = 2},
    {.devices = 0xf, .align = 1 << 14},
    {.devices = ADSM_ALL_DEVICES, .parts = 3, .cyclic = 1},
    {.devices = 0xe, .parts = 7},
    {.devices = 5, .tile = {5000}},
    {.devices = 0xf, .tile = {200, 1000}}, /* of two dimensions only */
};
enum { WAYS_ACROSS = sizeof ways / sizeof *ways, WAYS = WAYS_ACROSS - 1 };

#define each_way(o)   for (const adsmOpts *o = ways; o < ways + WAYS; o++)
#define each_known(k) for (struct known *k = known; k < known + KNOWNS; k++)

static struct line line_of(const struct known *k, const void *x)
{
    return (struct line){x, k->tree.elem};
}

static void same(const struct known *k, const void *got, const void *want,
                 const char *what, long n)
{
    ck_assert_msg(memcmp(got, want, k->tree.elem) == 0,
                  "%s of %s, n = %ld: not the bytes of the tree", k->name, what,
                  n);
}

/* Elements [lo, hi) of x, of which `copy` is the program's own. */
static void check_line(struct known *k, const void *x, const void *copy,
                       long lo, long hi)
{
    uint8_t want[TREE_MOST], *result = adsmAlloc(TREE_MOST);
    none_of(k);
    tree_fold(&k->tree, line_of(k, copy), lo, hi, want);
    each_way(o)
    {
        memset(result, 0x55, TREE_MOST);
        must(adsmReduce(operator_of(k), result, x, (adsmBox){1, {lo}, {hi}}, -1,
                        o));
        same(k, result, want, "a line", hi - lo);
        ck_assert_int_eq(result[k->tree.elem], 0x55);
    }
    must(adsmFree(result));
}

static void check_lines(struct known *k, const long *sizes, int count)
{
    for (int i = 0; i < count; i++) {
        long n = sizes[i];
        size_t bytes = (size_t)(n ? n : 1) * k->tree.elem;
        void *copy = malloc(bytes), *x = adsmAlloc(bytes);
        fill_random(k, copy, n);
        memcpy(x, copy, (size_t)n * k->tree.elem);
        check_line(k, x, copy, 0, n);
        must(adsmFree(x));
        free(copy);
    }
}

START_TEST(every_operator_gives_the_bytes_of_its_tree)
{
    static const long sizes[] = {0, 1, 3, 64, 257, 1009, 8193};
    each_known(k) check_lines(k, sizes, sizeof sizes / sizeof *sizes);
}
END_TEST

START_TEST(sizes_around_a_block_give_the_bytes_of_their_tree)
{
    static const long sizes[] = {65535, 65536, 65537, 99991};
    static const char *const names[] = {"sum_f32",     "product_f64", "min_i64",
                                        "longest",     "brightest",   "chain",
                                        "product_u32", "max_f32",     "wide"};
    for (int i = 0; i < 9; i++)
        check_lines(known_of(names[i]), sizes, 4);
}
END_TEST

START_TEST(millions_give_the_bytes_of_their_tree)
{
    static const long sizes[] = {(3 << 20) + 1};
    check_lines(known_of("sum_f32"), sizes, 1);
}
END_TEST

START_TEST(range_may_begin_anywhere)
{
    enum { N = 70000 };
    static const long ranges[][2] = {
        {1, N},        {255, 257},     {256, 512},     {8191, 8193},
        {8192, N},     {20000, 20001}, {65535, 65537}, {3, 3},
        {9000, 16384}, {N, N},         {12345, 54321}};
    static const char *const names[] = {"sum_f32", "chain", "wide"};
    for (int i = 0; i < 3; i++) {
        struct known *k = known_of(names[i]);
        size_t bytes = N * k->tree.elem;
        void *copy = malloc(bytes);
        void *x = adsmAllocArray(k->tree.elem, adsmR1(N), ADSM_NO_HOME);
        fill_random(k, copy, N);
        memcpy(x, copy, bytes);
        for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
            check_line(k, x, copy, ranges[r][0], ranges[r][1]);
        must(adsmFree(x));
        free(copy);
    }
}
END_TEST

/* ---- rows and columns ----------------------------------------------------------- */

/* Of an array of `width` columns: what is kept, or one value by its rows. */
static void want_of(struct known *k, const uint8_t *copy, long width,
                    const adsmBox *r, int keep, uint8_t *want)
{
    size_t elem = k->tree.elem;
    uint8_t *rows = calloc((size_t)(r->hi[0] + r->hi[1]) + 1, elem);
    none_of(k);
    int d = keep < 0 ? 0 : keep;
    for (long i = r->lo[d]; i < r->hi[d]; i++) {
        size_t from = (size_t)i * (d == 0 ? (size_t)width : 1) * elem;
        struct line x = {copy + from, d == 0 ? elem : (size_t)width * elem};
        uint8_t *to = keep < 0 ? rows : want;
        tree_fold(&k->tree, x, r->lo[1 - d], r->hi[1 - d],
                  to + (size_t)i * elem);
    }
    bool any = r->lo[1] < r->hi[1];
    if (keep < 0)
        tree_fold(&k->tree, line_of(k, rows), r->lo[0], any ? r->hi[0] : 0,
                  want);
    free(rows);
}

static void check_across(struct known *k, const void *x, const uint8_t *copy,
                         long width, adsmBox r, int keep)
{
    long lo = keep < 0 ? 0 : r.lo[keep], hi = keep < 0 ? 1 : r.hi[keep];
    size_t elem = k->tree.elem, bytes = (size_t)(hi + 1) * elem;
    uint8_t *want = malloc(bytes), *result = adsmAlloc(bytes);
    for (const adsmOpts *o = ways; o < ways + WAYS_ACROSS; o++) {
        memset(want, 0x55, bytes);
        memset(result, 0x55, bytes);
        want_of(k, copy, width, &r, keep, want);
        must(adsmReduce(operator_of(k), result, x, r, keep, o));
        long i = 0;
        while (i < hi + 1 && memcmp(result + (size_t)i * elem,
                                    want + (size_t)i * elem, elem) == 0)
            i++;
        ck_assert_msg(i == hi + 1,
                      "%s, keep %d of %ld-%ld x %ld-%ld: element %ld "
                      "(written: %ld to %ld)",
                      k->name, keep, r.lo[0], r.hi[0], r.lo[1], r.hi[1], i, lo,
                      hi);
    }
    must(adsmFree(result));
    free(want);
}

/* All of an array that nobody has named, and boxes of one that has a shape. */
static void check_matrix(struct known *k, long high, long width)
{
    size_t bytes = (size_t)(high * width) * k->tree.elem;
    uint8_t *copy = malloc(bytes);
    void *plain = adsmAlloc(bytes);
    void *named =
        adsmAllocArray(k->tree.elem, adsmR2(high, width), ADSM_NO_HOME);
    fill_random(k, copy, high * width);
    memcpy(plain, copy, bytes);
    memcpy(named, copy, bytes);
    adsmBox inner = {2, {high / 3, width / 4}, {high - high / 5, width}};
    adsmBox none = {2, {high / 2, width / 2}, {high, width / 2}};
    for (int keep = -1; keep <= 1; keep++) {
        check_across(k, plain, copy, width, adsmR2(high, width), keep);
        check_across(k, named, copy, width, inner, keep);
        check_across(k, named, copy, width, none, keep);
    }
    must(adsmFree(plain));
    must(adsmFree(named));
    free(copy);
}

START_TEST(rows_and_columns_give_the_bytes_of_their_trees)
{
    static const long sizes[][2] = {{1, 1},   {1, 300},   {300, 1},  {7, 5},
                                    {65, 33}, {130, 257}, {4097, 3}, {2, 9000}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_matrix(known_of("sum_f32"), sizes[i][0], sizes[i][1]);
        check_matrix(known_of("chain"), sizes[i][0], sizes[i][1]);
    }
    check_matrix(known_of("brightest"), 100, 70);
    check_matrix(known_of("wide"), 130, 257);
    check_matrix(known_of("min_f64"), 70, 100);
}
END_TEST

/* More chunks in a row than a thread folds, more groups in a column. */
START_TEST(long_rows_and_columns_take_more_passes)
{
    struct known *k = known_of("sum_f32");
    enum { N = 66 * 8192 + 5 };
    uint8_t *copy = malloc(N * 4L);
    float *x = adsmAlloc(N * 4L);
    fill_random(k, copy, N);
    memcpy(x, copy, N * 4L);
    check_across(k, x, copy, N, adsmR2(1, N), 0);
    check_across(k, x, copy, 1, adsmR2(N, 1), 1);
    must(adsmFree(x));
    free(copy);
}
END_TEST

/* Devices of parts that have read something of `x`. */
static int readers(const void *x)
{
    adsmCopyInfo copies[16];
    int n = adsmCopies(x, copies, 16), devices = 0;
    for (int i = 0; i < n && i < 16; i++)
        devices |= copies[i].valid > 0 ? 1 << copies[i].device : 0;
    return devices;
}

START_TEST(few_rows_and_columns_are_cut_between_devices)
{
    enum { LONG = 5 * 8192 };
    static const long sizes[][2] = {{1, LONG}, {2, LONG}, {LONG, 1}};
    float *result = adsmAlloc(16);
    for (int i = 0; i < 3; i++) {
        adsmBox range = adsmR2(sizes[i][0], sizes[i][1]);
        float *x = adsmAllocArray(sizeof *x, range, ADSM_NO_HOME);
        memset(x, 0, (size_t)(sizes[i][0] * sizes[i][1]) * sizeof *x);
        must(adsmReduce(adsmOperatorOf(ADSM_SUM, ADSM_F32), result, x, range,
                        i == 2, adsmWith(.devices = 0xf)));
        ck_assert(*result == 0);
        bool as_said = getenv("ADSM_PARTS") || getenv("ADSM_CHECK") ||
                       getenv("ADSM_CALL_DEVICES");
        ck_assert_msg(as_said || readers(x) == 0xf, "%d: devices %x", i,
                      readers(x));
        must(adsmFree(x));
    }
    must(adsmFree(result));
}
END_TEST

/* ---- calls ------------------------------------------------------------------------ */

START_TEST(first_of_equal_ones_is_taken)
{
    enum { N = 20000 };
    struct pair *x = adsmAlloc(N * sizeof *x), *longest = adsmAlloc(64);
    for (int i = 0; i < N; i++)
        x[i] = (struct pair){(float)i, i == 9001 || i == 17777 ? 7 : 3};
    each_way(o)
    {
        must(adsmReduce(operator_of(known_of("longest")), longest, x, adsmR1(N),
                        -1, o));
        ck_assert(longest->x == 9001 && longest->y == 7);
    }
    must(adsmFree(x));
    must(adsmFree(longest));
}
END_TEST

/* The identity in the place of what is not there would make 0 of it. */
START_TEST(sum_of_one_element_is_that_element)
{
    float *x = adsmAlloc(4000), *sum = adsmAlloc(64);
    for (int i = 0; i < 1000; i++)
        x[i] = -0.0f;
    for (int n = 1; n < 1000; n += 300)
        each_way(o)
        {
            *sum = 1;
            must(adsmReduce(adsmOperatorOf(ADSM_SUM, ADSM_F32), sum, x,
                            adsmR1(n), -1, o));
            ck_assert(*sum == 0 && signbit(*sum));
        }
    must(adsmFree(x));
    must(adsmFree(sum));
}
END_TEST

static void count(void *arg, adsmStatus status)
{
    ck_assert_int_eq(status, ADSM_OK);
    atomic_fetch_add((_Atomic int *)arg, 1);
}

START_TEST(options_hold_for_all_passes_together)
{
    enum { N = 100000 };
    int *x = array(adsmR1(N), ADSM_NO_HOME), *sum = adsmAlloc(4);
    const adsmOperator *op = adsmOperatorOf(ADSM_SUM, ADSM_I32);
    static _Atomic int ended, later;
    adsmEvent first, all;
    number(x, N, 1);
    must(adsmCallWith(adsmWith(.devices = 2, .event = &first), kernel("map"),
                      adsmR1(N), adsmIn(x), adsmInOut(x), adsmVal((int){5})));
    adsmOpts o = {.devices = ADSM_ALL_DEVICES,
                  .after = &first,
                  .afters = 1,
                  .event = &all,
                  .then = count,
                  .then_arg = &ended};
    must(adsmReduce(op, sum, x, adsmR1(N), -1, &o));
    ck_assert(all.id > first.id);
    must(adsmWait(all));
    int want = 0;
    for (int i = 0; i < N; i++)
        want = (int)((unsigned)want + 3u * (unsigned)(i * 61 + 1) + 5u);
    ck_assert_int_eq(*sum, want);
    /* What follows calls runs in their order. */
    o.then_arg = &later;
    must(adsmReduce(op, sum, x, adsmR1(1), -1, &o));
    for (int i = 0; i < 10000 && !atomic_load(&later); i++)
        usleep(1000);
    ck_assert_int_eq(atomic_load(&later), 1);
    ck_assert_int_eq(atomic_load(&ended), 1);
    must(adsmFree(x));
    must(adsmFree(sum));
}
END_TEST

START_TEST(bad_reductions_say_what_would_be_right)
{
    float *x = adsmAlloc(400), *sum = adsmAlloc(64), here;
    float *rows = adsmAlloc(4000);
    int *whole = array(adsmR2(10, 10), 0);
    double *wide = adsmAllocArray(8, adsmR1(10), 0);
    const adsmOperator *op = adsmOperatorOf(ADSM_SUM, ADSM_F32), *none;
#define bad(status, words, ...)                                                \
    expect(adsmReduce(__VA_ARGS__, NULL), status, words)
    bad(ADSM_E_INVALID, "op must not be NULL", NULL, sum, x, adsmR1(100), -1);
    bad(ADSM_E_INVALID, "is no operator: adsmOperatorOf",
        (const adsmOperator *)x, sum, x, adsmR1(100), -1);
    bad(ADSM_E_NOT_SHARED, "`result` (", op, &here, x, adsmR1(100), -1);
    bad(ADSM_E_NOT_SHARED, "`result` (", op, NULL, x, adsmR1(100), -1);
    bad(ADSM_E_NOT_SHARED, "`in` (", op, sum, &here, adsmR1(1), -1);
    bad(ADSM_E_INVALID, "`in` has 100 elements, the range is of 101", op, sum,
        x, adsmR1(101), -1);
    bad(ADSM_E_INVALID, "`in` has 100 elements, the range is of 110", op, sum,
        x, adsmR2(11, 10), -1);
    bad(ADSM_E_INVALID, "from -1 to 4 in dimension 0", op, sum, x,
        ((adsmBox){1, {-1}, {4}}), -1);
    bad(ADSM_E_INVALID, "from 4 to 3 in dimension 1", op, sum, x,
        ((adsmBox){2, {0, 4}, {2, 3}}), -1);
    bad(ADSM_E_INVALID, "a range of 3 dimensions", op, sum, x, adsmR3(1, 1, 1),
        -1);
    bad(ADSM_E_INVALID, "a range of 0 dimensions", op, sum, x, (adsmBox){0},
        -1);
    bad(ADSM_E_INVALID, "keep 0 of a range of 1 dimensions", op, sum, x,
        adsmR1(100), 0);
    bad(ADSM_E_INVALID, "keep 2 of a range of 2", op, sum, x, adsmR2(10, 10),
        2);
    bad(ADSM_E_INVALID, "keep -2", op, sum, x, adsmR1(100), -2);
    bad(ADSM_E_INVALID, "`result` has room for 16 elements of 4 bytes", op, sum,
        x, adsmR2(20, 5), 0);
    bad(ADSM_E_INVALID, "is not aligned to 4 bytes, as elements", op,
        (char *)(sum + 16) - 3, x, adsmR1(5), -1);
    bad(ADSM_E_INVALID, "`in` has elements of 8 bytes, operator 'sum_f32'", op,
        sum, wide, adsmR1(10), -1);
    bad(ADSM_E_INVALID, "`result` has elements of 8 bytes", op, wide, x,
        adsmR1(10), -1);
    bad(ADSM_E_INVALID, "`in` is an array of 2 dimensions, the range has 1", op,
        sum, whole, adsmR1(10), -1);
    bad(ADSM_E_INVALID,
        "`in` has 10 elements in dimension 1, the range goes to"
        " 11",
        op, sum, whole, adsmR2(9, 11), -1);
    bad(ADSM_E_INVALID, "`result` is an array of 2 dimensions", op, whole, x,
        adsmR1(10), -1);
    bad(ADSM_E_INVALID, "say with adsmShape", op, sum, x,
        ((adsmBox){2, {1, 0}, {2, 2}}), -1);
    bad(ADSM_E_INVALID, "lies in what is read of `in`", op, rows + 50, rows,
        adsmR2(10, 10), 0);
    expect(adsmReduce(op, sum, x, adsmR1(100), -1, adsmWith(.afters = 1)),
           ADSM_E_INVALID, "no array of them");
    expect(adsmReduce(op, sum, x, adsmR1(100), -1, adsmWith(.align = -1)),
           ADSM_E_INVALID, "aligned to -1");
    expect(adsmOperatorGet(&none, own_module(), "shortest"), ADSM_E_NOT_FOUND,
           "the module has no operator 'shortest'");
    expect(adsmOperatorGet(&none, NULL, "shortest"), ADSM_E_INVALID,
           "not a loaded module");
    ck_assert(adsmOperatorOf(ADSM_AND, ADSM_F32) == NULL);
    ck_assert_int_eq(adsmLastStatus(), ADSM_E_INVALID);
    ck_assert(adsmOperatorOf((adsmOp)7, ADSM_I32) == NULL);
    ck_assert(adsmOperatorOf(ADSM_SUM, (adsmType)-1) == NULL);
    must(adsmFree(x));
    bad(ADSM_E_NOT_SHARED, "`in` (", op, sum, x, adsmR1(100), -1);
    must(adsmFree(sum));
    must(adsmFree(rows));
    must(adsmFree(whole));
    must(adsmFree(wide));
}
END_TEST

START_TEST(operator_of_an_unloaded_module_is_refused)
{
    float *x = adsmAlloc(800);
    adsmModule *module;
    const adsmOperator *op, *again;
    must(adsmModuleLoad(&module, OPERATORS_PTX, 0));
    must(adsmOperatorGet(&op, module, "longest"));
    must(adsmOperatorGet(&again, module, "longest"));
    ck_assert_ptr_eq(op, again);
    must(adsmModuleUnload(module));
    expect(adsmReduce(op, x, x + 2, adsmR1(9), -1, NULL), ADSM_E_INVALID,
           "not a loaded module");
    must(adsmFree(x));
}
END_TEST

static void *reduce_often(void *arg)
{
    enum { N = 30000 };
    int salt = (int)(intptr_t)arg, *x = array(adsmR1(N), ADSM_NO_HOME);
    int *sums = adsmAlloc(200 * sizeof *sums);
    const adsmOperator *op = adsmOperatorOf(ADSM_XOR, ADSM_I32);
    number(x, N, salt);
    int want = 0;
    for (int i = 0; i < N; i++)
        want ^= x[i];
    for (int i = 0; i < 200; i++)
        must(adsmReduce(op, sums + i, x, adsmR1(N), -1, &ways[i % WAYS]));
    for (int i = 0; i < 200; i++)
        ck_assert_int_eq(sums[i], want);
    must(adsmFree(x));
    must(adsmFree(sums));
    return NULL;
}

START_TEST(threads_reduce_at_the_same_time)
{
    pthread_t threads[3];
    for (intptr_t i = 0; i < 3; i++)
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, reduce_often, (void *)(i + 1)),
            0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}
END_TEST

SUITE_MAIN("reduce", 240, every_operator_gives_the_bytes_of_its_tree,
           sizes_around_a_block_give_the_bytes_of_their_tree,
           millions_give_the_bytes_of_their_tree, range_may_begin_anywhere,
           rows_and_columns_give_the_bytes_of_their_trees,
           long_rows_and_columns_take_more_passes,
           few_rows_and_columns_are_cut_between_devices,
           first_of_equal_ones_is_taken, sum_of_one_element_is_that_element,
           bad_reductions_say_what_would_be_right,
           operator_of_an_unloaded_module_is_refused,
           options_hold_for_all_passes_together,
           threads_reduce_at_the_same_time)
