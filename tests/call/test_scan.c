/*
 * Scans over one to four devices: every element has the bytes that going down
 * the tree on the CPU gives.
 */
#include "call/operators.h"

#include <stdlib.h>

static const adsmOpts ways[] = {
    {.devices = 2},
    {.devices = ADSM_ALL_DEVICES},
    {.devices = 0xf, .parts = 7, .cyclic = 1},
    {.devices = 5, .tile = {3000}},
    {.devices = 0xe, .parts = 3, .align = 4096, .sync = 1},
};
enum { WAYS = sizeof ways / sizeof *ways };

#define each_way(o)   for (const adsmOpts *o = ways; o < ways + WAYS; o++)
#define each_known(k) for (struct known *k = known; k < known + KNOWNS; k++)

/* Elements of x as they were, and a scan of them. */
struct wanted {
    struct known *known;
    long n;
    uint8_t *in, *out[2]; /* inclusive, exclusive */
};

static struct wanted want(struct known *k, long n)
{
    size_t bytes = (size_t)n * k->tree.elem + 1;
    struct wanted w = {k, n, malloc(bytes), {malloc(bytes), malloc(bytes)}};
    struct line line = {w.in, k->tree.elem};
    none_of(k);
    fill_random(k, w.in, n);
    for (int exclusive = 0; exclusive < 2; exclusive++)
        tree_scan(&k->tree, line, n, exclusive, w.out[exclusive]);
    return w;
}

static void forget(struct wanted *w)
{
    free(w->in);
    free(w->out[0]);
    free(w->out[1]);
}

/* One assertion for all: each of them tells the suite's process. */
static void same(const struct wanted *w, const uint8_t *got, int exclusive)
{
    size_t elem = w->known->tree.elem;
    long i = 0;
    while (i < w->n && memcmp(got + (size_t)i * elem,
                              w->out[exclusive] + (size_t)i * elem, elem) == 0)
        i++;
    ck_assert_msg(i == w->n, "%s, n = %ld, exclusive %d: element %ld",
                  w->known->name, w->n, exclusive, i);
}

/* The element behind the last one stays as it was. */
static void check_way(const struct wanted *w, const adsmOpts *o)
{
    size_t elem = w->known->tree.elem, bytes = (size_t)w->n * elem;
    uint8_t *x = adsmAlloc(bytes + elem), *y = adsmAlloc(bytes + elem);
    memcpy(x, w->in, bytes);
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        memset(y, 0x55, bytes + elem);
        must(adsmScan(operator_of(w->known), y, x, w->n, exclusive, o));
        same(w, y, exclusive);
        ck_assert_int_eq(y[bytes], 0x55);
        ck_assert_int_eq(memcmp(x, w->in, bytes), 0);
    }
    must(adsmFree(x));
    must(adsmFree(y));
}

static void check_scan(struct known *k, long n, int first, int count)
{
    struct wanted w = want(k, n);
    for (int i = 0; i < count; i++)
        check_way(&w, &ways[(first + i) % WAYS]);
    forget(&w);
}

START_TEST(every_operator_gives_the_bytes_of_its_tree)
{
    static const long sizes[] = {0, 1, 2, 9, 255, 257, 1023, 1025, 3001};
    int i = 0;
    each_known(k) for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        check_scan(k, sizes[s], i++, 1);
}
END_TEST

START_TEST(sizes_around_a_block_give_the_bytes_of_their_tree)
{
    static const long sizes[] = {1024, 65535, 65536, 65537};
    static const char *const names[] = {"sum_f32", "chain", "product_f64",
                                        "wide"};
    for (int i = 0; i < 4; i++)
        for (int s = 0; s < 4; s++)
            check_scan(known_of(names[i]), sizes[s], 0, WAYS);
}
END_TEST

START_TEST(millions_give_the_bytes_of_their_tree)
{
    check_scan(known_of("sum_f32"), (1 << 20) + 1, 1, 2);
}
END_TEST

START_TEST(scan_in_place_is_a_scan)
{
    static const char *const names[] = {"sum_f32", "longest", "wide"};
    for (int i = 0; i < 3; i++) {
        struct known *k = known_of(names[i]);
        struct wanted w = want(k, 40001);
        each_way(o) for (int exclusive = 0; exclusive < 2; exclusive++)
        {
            uint8_t *x =
                adsmAllocArray(k->tree.elem, adsmR1(w.n), ADSM_NO_HOME);
            memcpy(x, w.in, (size_t)w.n * k->tree.elem);
            must(adsmScan(operator_of(k), x, x, w.n, exclusive, o));
            same(&w, x, exclusive);
            must(adsmFree(x));
        }
        forget(&w);
    }
}
END_TEST

START_TEST(scan_of_a_scan_waits_for_nothing_but_its_data)
{
    enum { N = 20000 };
    int *x = array(adsmR1(N), ADSM_NO_HOME), *y = array(adsmR1(N), 3);
    const adsmOperator *op = adsmOperatorOf(ADSM_SUM, ADSM_I32);
    uint32_t once = 0, twice = 0;
    for (int i = 0; i < N; i++)
        x[i] = i % 7;
    each_way(o)
    {
        must(adsmScan(op, y, x, N, 0, o));
        must(adsmScan(op, y, y, N, 1, o));
    }
    int wrong = 0;
    for (int i = 0; i < N; i++) {
        wrong += (uint32_t)y[i] != twice;
        once += (uint32_t)i % 7;
        twice += once;
    }
    ck_assert_int_eq(wrong, 0);
    must(adsmFree(x));
    must(adsmFree(y));
}
END_TEST

START_TEST(bad_scans_say_what_would_be_right)
{
    float *x = adsmAlloc(400), *y = adsmAlloc(400), here;
    double *wide = adsmAllocArray(8, adsmR1(100), 0);
    int *plate = array(adsmR2(10, 10), 0);
    const adsmOperator *op = adsmOperatorOf(ADSM_SUM, ADSM_F32);
#define bad(status, words, ...) expect(adsmScan(__VA_ARGS__), status, words)
    bad(ADSM_E_INVALID, "op must not be NULL", NULL, y, x, 100, 0, NULL);
    bad(ADSM_E_INVALID, "a scan of -1 elements", op, y, x, -1, 0, NULL);
    bad(ADSM_E_INVALID, "`in` has 100 elements, the range is of 101", op, y, x,
        101, 0, NULL);
    bad(ADSM_E_INVALID, "`out` has room for 90 elements", op, y + 10, x, 100, 0,
        NULL);
    bad(ADSM_E_NOT_SHARED, "`in` (", op, y, &here, 1, 0, NULL);
    bad(ADSM_E_NOT_SHARED, "`out` (", op, &here, x, 1, 0, NULL);
    bad(ADSM_E_NOT_SHARED, "`out` (", op, NULL, x, 1, 0, NULL);
    bad(ADSM_E_INVALID, "`out` has elements of 8 bytes", op, wide, x, 100, 0,
        NULL);
    bad(ADSM_E_INVALID, "`out` is an array of 2 dimensions", op, plate, x, 100,
        0, NULL);
    bad(ADSM_E_INVALID, "`in` is an array of 2 dimensions", op, x, plate, 10, 0,
        NULL);
    bad(ADSM_E_INVALID, "lies in what is read of `in`", op, x + 1, x, 99, 0,
        NULL);
    bad(ADSM_E_INVALID, "lies in what is read of `in`", op, x, x + 10, 50, 0,
        NULL);
    must(adsmScan(op, x + 50, x, 50, 0, NULL)); /* apart */
    must(adsmFree(x));
    must(adsmFree(y));
    must(adsmFree(wide));
    must(adsmFree(plate));
}
END_TEST

SUITE_MAIN("scan", 240, every_operator_gives_the_bytes_of_its_tree,
           sizes_around_a_block_give_the_bytes_of_their_tree,
           millions_give_the_bytes_of_their_tree, scan_in_place_is_a_scan,
           scan_of_a_scan_waits_for_nothing_but_its_data,
           bad_scans_say_what_would_be_right)
