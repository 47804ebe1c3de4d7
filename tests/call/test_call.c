/*
 * Calls over one to four devices: every result is that of a loop on the CPU.
 */
#include "base/sanitized.h"
#include "mm/doors/loan.h"
#include "mm/object/index.h"
#include "range/memory.h"
#include "range/state.h"
#include "call/fixture.h"

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How calls are spread: turns of each case. */
static const adsmOpts ways[] = {
    {.devices = 1},
    {.devices = 2},
    {.devices = 0xf},
    {.devices = ADSM_ALL_DEVICES, .parts = 3},
    {.devices = 5, .parts = 7},
    {.devices = 0xf, .parts = 13, .cyclic = 1},
    {.devices = 0xe, .tile = {37, 0, 0}},
    {.devices = 0xf, .align = 8},
    {.devices = 0xf, .block = {32}, .sync = 1},
    {.devices = 1, .chunks = 32, .fetch = 1},
    {.devices = 3, .parts = 3, .chunks = 4, .align = 16},
};
enum { WAYS = sizeof ways / sizeof *ways };
static const int homes[] = {ADSM_NO_HOME, 0, 3};

#define each_way(o)  for (const adsmOpts *o = ways; o < ways + WAYS; o++)
#define each_home(h) for (const int *h = homes; h < homes + 3; h++)

static void check_map(int *x, int *y, long n, const adsmOpts *o)
{
    int a = 11;
    adsmKernel *map = kernel("map");
    number(x, n, 1);
    number(y, n, 2);
    must(adsmCallWith(o, map, adsmR1(n), adsmIn(x), adsmInOut(y), adsmVal(a)));
    must(adsmCallWith(o, map, adsmR1(n), adsmIn(y), adsmInOut(x), adsmVal(a)));
    for (long i = 0; i < n; i++) {
        int p = (int)(i * 61 + 1), q = 2 * p + (int)(i * 61 + 2) + a;
        ck_assert_msg(y[i] == q && x[i] == 2 * q + p + a,
                      "y[%ld] is %d, x[%ld] %d", i, y[i], i, x[i]);
    }
}

START_TEST(map_gives_what_a_loop_gives)
{
    const long sizes[] = {1, 2, 3, 100, 70001};
    each_way(o) each_home(h) for (int s = 0; s < 5; s++)
    {
        int *x = array(adsmR1(sizes[s]), *h), *y = array(adsmR1(sizes[s]), 0);
        check_map(x, y, sizes[s], o);
        must(adsmFree(x));
        must(adsmFree(y));
    }
}
END_TEST

START_TEST(one_array_in_two_roles_is_read_and_written)
{
    int a = 5;
    each_way(o) each_home(h)
    {
        int *x = array(adsmR1(5000), *h);
        number(x, 5000, 3);
        must(adsmCallWith(o, kernel("map"), adsmR1(5000), adsmIn(x),
                          adsmInOut(x), adsmVal(a)));
        for (int i = 0; i < 5000; i++)
            ck_assert_int_eq(x[i], 3 * (i * 61 + 3) + a);
        must(adsmFree(x));
    }
}
END_TEST

START_TEST(output_may_have_an_element_for_many_indices)
{
    enum { N = 5003, PER = 24, GROUPS = (N + PER - 1) / PER };
    long per = PER;
    each_way(way) each_home(h)
    {
        adsmOpts o = *way;
        int *x = array(adsmR1(N), *h), *out = array(adsmR1(GROUPS + 1), *h);
        number(x, N, 4);
        out[GROUPS] = -5;
        o.each[0] = 5000; /* one block for a part */
        must(adsmCallWith(&o, kernel("groups"), adsmR1(N), adsmIn(x),
                          adsmPer(adsmOut(out), PER, 0, 0), adsmVal(per)));
        for (long k = 0; k < GROUPS; k++) {
            int sum = 1;
            for (long i = k * PER; i < (k + 1) * PER && i < N; i++)
                sum += (int)(i * 61 + 4);
            ck_assert_int_eq(out[k], sum);
        }
        ck_assert_int_eq(out[GROUPS], -5);
        must(adsmFree(x));
        must(adsmFree(out));
    }
}
END_TEST

START_TEST(whole_array_is_there_for_every_part)
{
    enum { N = 300 };
    long n = N;
    each_way(o) each_home(h)
    {
        int *x = array(adsmR1(N), *h), *out = array(adsmR1(N), *h);
        number(x, N, 4);
        must(adsmCallWith(o, kernel("all"), adsmR1(N), adsmAll(x), adsmOut(out),
                          adsmVal(n)));
        for (long i = 0; i < N; i++) {
            int sum = 0;
            for (long k = 0; k < N; k++)
                sum += x[k] * (int)(1 + (k > i ? k - i : i - k) % 7);
            ck_assert_int_eq(out[i], sum);
        }
        must(adsmFree(x));
        must(adsmFree(out));
    }
}
END_TEST

static long clamped(long i, long n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* What is at `i` of an array of n, which may lie outside. */
static int at_edge(const int *x, long i, long n, int edge, int pad)
{
    if (i >= 0 && i < n)
        return x[i];
    if (edge == ADSM_EDGE_CLAMP)
        return x[clamped(i, n)];
    return edge == ADSM_EDGE_WRAP ? x[(i % n + n) % n] : pad;
}

/* Radii beyond a neighbour's part, and beyond the array. */
START_TEST(surroundings_are_there_with_every_edge)
{
    const int radii[] = {1, 3, 40, 130}, pad = -77;
    enum { N = 101 };
    each_way(o) for (int edge = ADSM_EDGE_CLAMP; edge <= ADSM_EDGE_PAD;
                     edge++) for (int k = 0; k < 4; k++)
    {
        int r = radii[k];
        int *x = array(adsmR1(N), ADSM_NO_HOME), *out = array(adsmR1(N), 1);
        number(x, N, 5);
        adsmArg arg = adsmHalo(x, r, edge);
        if (edge == ADSM_EDGE_PAD)
            arg = adsmPad(arg, &pad);
        must(adsmCallWith(o, kernel("near"), adsmR1(N), arg, adsmOut(out),
                          adsmVal(r)));
        for (long i = 0; i < N; i++) {
            int sum = 0;
            for (int d = -r; d <= r; d++)
                sum += (d + r + 1) * at_edge(x, i + d, N, edge, pad);
            ck_assert_int_eq(out[i], sum);
        }
        must(adsmFree(x));
        must(adsmFree(out));
    }
}
END_TEST

static int at_edge2(const int *u, long y, long x, long ny, long nx, int edge,
                    int pad)
{
    bool inside = y >= 0 && y < ny && x >= 0 && x < nx;
    if (edge == ADSM_EDGE_PAD && !inside)
        return pad;
    if (edge == ADSM_EDGE_WRAP)
        return u[(y % ny + ny) % ny * nx + (x % nx + nx) % nx];
    return u[clamped(y, ny) * nx + clamped(x, nx)];
}

enum { NY = 37, NX = 29 };

static void check_square_in(const adsmOpts *o, int edge, int ry, int rx, int *u,
                            int *w)
{
    const int pad = 1000003;
    adsmBox shape = adsmR2(NY, NX);
    number(u, NY * NX, 6);
    adsmArg arg = adsmSquare(u, ry, rx, edge);
    if (edge == ADSM_EDGE_PAD)
        arg = adsmPad(arg, &pad);
    must(adsmCallWith(o, kernel("square"), shape, arg, adsmOut(w), adsmVal(ry),
                      adsmVal(rx)));
    for (long y = 0; y < NY; y++)
        for (long x = 0; x < NX; x++) {
            int sum = 0, weight = 1;
            for (int dy = -ry; dy <= ry; dy++)
                for (int dx = -rx; dx <= rx; dx++)
                    sum += weight++ *
                           at_edge2(u, y + dy, x + dx, NY, NX, edge, pad);
            ck_assert_msg(w[y * NX + x] == sum,
                          "edge %d radius %d %d at %ld %ld: %d, not %d", edge,
                          ry, rx, y, x, w[y * NX + x], sum);
        }
}

static void check_square(const adsmOpts *o, int edge, int ry, int rx)
{
    int *u = array(adsmR2(NY, NX), ADSM_NO_HOME);
    int *w = array(adsmR2(NY, NX), ADSM_NO_HOME);
    check_square_in(o, edge, ry, rx, u, w);
    must(adsmFree(u));
    must(adsmFree(w));
}

START_TEST(two_edges_of_one_array_are_two)
{
    enum { N = 101 };
    each_way(o)
    {
        int *x = array(adsmR1(N), ADSM_NO_HOME), *out = array(adsmR1(N), 1);
        number(x, N, 5);
        must(adsmCallWith(o, kernel("before"), adsmR1(N),
                          adsmHalo(x, 1, ADSM_EDGE_CLAMP),
                          adsmHalo(x, 1, ADSM_EDGE_WRAP), adsmOut(out)));
        for (long i = 0; i < N; i++)
            ck_assert_int_eq(out[i],
                             3 * x[i ? i - 1 : 0] + x[i ? i - 1 : N - 1]);
        must(adsmCallWith(o, kernel("before"), adsmR1(N),
                          adsmHalo(x, 1, ADSM_EDGE_WRAP),
                          adsmHalo(x, 1, ADSM_EDGE_CLAMP), adsmOut(out)));
        ck_assert_int_eq(out[0], 3 * x[N - 1] + x[0]);
        must(adsmFree(x));
        must(adsmFree(out));
    }
}
END_TEST

START_TEST(views_are_cut_by_rows_by_columns_and_into_squares)
{
    const adsmOpts tiles = {.devices = 0xf, .tile = {10, 7}};
    for (int edge = ADSM_EDGE_CLAMP; edge <= ADSM_EDGE_PAD; edge++) {
        check_square(&tiles, edge, 1, 2);
        each_way(o)
        {
            check_square(o, edge, 1, 1);
            check_square(o, edge, 3, 0);
            check_square(o, edge, 0, 2);
        }
    }
}
END_TEST

START_TEST(pointers_get_whole_rows)
{
    long ny = 23, nx = 17;
    adsmBox shape = adsmR2(23, 17);
    each_way(o) each_home(h)
    {
        int *u = array(shape, *h), *w = array(shape, 0);
        number(u, ny * nx, 7);
        must(adsmCallWith(o, kernel("rows"), shape,
                          adsmColumn(u, 1, ADSM_EDGE_NONE), adsmOut(w),
                          adsmVal(ny), adsmVal(nx)));
        for (long y = 0; y < ny; y++)
            for (long x = 0; x < nx; x++) {
                int sum = u[y * nx + x];
                sum += y > 0 ? 2 * u[(y - 1) * nx + x] : 0;
                sum += y + 1 < ny ? 3 * u[(y + 1) * nx + x] : 0;
                ck_assert_int_eq(w[y * nx + x], sum);
            }
        must(adsmFree(u));
        must(adsmFree(w));
    }
}
END_TEST

START_TEST(rows_and_columns_follow_what_they_are_told)
{
    enum { M = 19, K = 11, N = 23 };
    long depth = K;
    const adsmOpts tiles = {.devices = 0xf, .tile = {6, 8}};
    for (int turn = 0; turn <= WAYS; turn++) {
        const adsmOpts *o = turn < WAYS ? &ways[turn] : &tiles;
        int *a = array(adsmR2(M, K), 0), *b = array(adsmR2(K, N), 2);
        int *c = array(adsmR2(M, N), ADSM_NO_HOME);
        number(a, M * K, 8);
        number(b, K * N, 9);
        must(adsmCallWith(o, kernel("product"), adsmR2(M, N),
                          adsmRows(adsmIn(a)), adsmCols(adsmIn(b)), adsmOut(c),
                          adsmVal(depth)));
        for (int y = 0; y < M; y++)
            for (int x = 0; x < N; x++) {
                int sum = 0;
                for (int k = 0; k < K; k++)
                    sum += a[y * K + k] * b[k * N + x];
                ck_assert_int_eq(c[y * N + x], sum);
            }
        must(adsmFree(a));
        must(adsmFree(b));
        must(adsmFree(c));
    }
}
END_TEST

START_TEST(arrays_of_three_dimensions_are_cut_anywhere)
{
    adsmBox shape = adsmR3(6, 7, 9);
    const adsmOpts tiles = {.devices = 0xf, .tile = {4, 3, 5}, .cyclic = 1};
    for (int turn = 0; turn <= WAYS; turn++) {
        const adsmOpts *o = turn < WAYS ? &ways[turn] : &tiles;
        int *v = array(shape, ADSM_NO_HOME);
        number(v, 6 * 7 * 9, 10);
        must(adsmCallWith(o, kernel("cube"), shape, adsmInOut(v)));
        must(adsmCallWith(o, kernel("cube"), shape, adsmInOut(v)));
        for (int i = 0; i < 6 * 7 * 9; i++) {
            int add = i / 63 * 10000 + i / 9 % 7 * 100 + i % 9;
            ck_assert_int_eq(v[i], 9 * (i * 61 + 10) + 4 * add);
        }
        must(adsmFree(v));
    }
}
END_TEST

START_TEST(range_may_be_a_part_of_the_array)
{
    int a = 1;
    each_way(o)
    {
        int *x = array(adsmR1(100), 0), *y = array(adsmR1(100), 1);
        adsmBox middle = {1, {10}, {90}};
        number(x, 100, 1);
        number(y, 100, 2);
        must(adsmCallWith(o, kernel("map"), middle, adsmIn(x), adsmInOut(y),
                          adsmVal(a)));
        for (int i = 0; i < 100; i++)
            ck_assert_int_eq(y[i], i < 10 || i >= 90 ? i * 61 + 2
                                                     : 3 * i * 61 + 2 + 2 + 1);
        must(adsmFree(x));
        must(adsmFree(y));
    }
}
END_TEST

START_TEST(array_may_begin_inside_an_object_or_in_a_slab)
{
    each_way(o) for (int large = 0; large < 2; large++)
    {
        long n = large ? 60000 : 300;
        int *x = adsmAlloc((size_t)(n + 33) * sizeof *x);
        int *y = adsmAlloc((size_t)(n + 50) * sizeof *y);
        number(x, n + 33, 20);
        number(y, n + 50, 20);
        check_map(x + 33, y + 50, n, o);
        ck_assert_int_eq(x[32], 32 * 61 + 20);
        ck_assert_int_eq(y[49], 49 * 61 + 20);
        must(adsmFree(x));
        must(adsmFree(y));
    }
}
END_TEST

/* Two in an object of which they are no rows, two in a slab, and one in each. */
START_TEST(array_inside_an_object_or_in_a_slab_has_edges)
{
    const adsmOpts tiles = {.devices = 0xf, .tile = {10, 7}};
    const size_t bytes = NY * NX * sizeof(int);
    int *object = adsmAlloc(50 * bytes);
    int *slots[] = {adsmAlloc(bytes), adsmAlloc(bytes)};
    int *first[] = {object + 33, slots[0], object + 5};
    int *second[] = {object + 33 + NY * NX, slots[1], slots[1]};
    for (int i = 0; i < 3; i++) {
        must(adsmShape(first[i], sizeof(int), adsmR2(NY, NX)));
        must(adsmShape(second[i], sizeof(int), adsmR2(NY, NX)));
        for (int edge = ADSM_EDGE_CLAMP; edge <= ADSM_EDGE_PAD; edge++) {
            check_square_in(&tiles, edge, 1, 2, first[i], second[i]);
            each_way(o) check_square_in(o, edge, 3, 1, first[i], second[i]);
        }
    }
    must(adsmFree(object));
    must(adsmFree(slots[0]));
    must(adsmFree(slots[1]));
}
END_TEST

START_TEST(no_indices_do_nothing_and_few_make_few_parts)
{
    int *x = array(adsmR1(2), 0), a = 1;
    adsmEvent event = {7};
    number(x, 2, 1);
    each_way(o)
    {
        adsmOpts opts = *o;
        opts.event = &event;
        must(adsmCallWith(&opts, kernel("map"), adsmR1(0), adsmIn(x),
                          adsmInOut(x), adsmVal(a)));
        must(adsmWait(event));
    }
    ck_assert_int_eq(x[1], 62);
    must(adsmCall(kernel("map"), 0, adsmIn(x), adsmInOut(x), adsmVal(a)));
    ck_assert_int_eq(x[1], 62);
    must(adsmFree(x));
}
END_TEST

START_TEST(forked_child_is_told_that_it_is_one)
{
    int *x = array(adsmR1(100), 0);
    number(x, 100, 1);
    adsmKernel *map = kernel("map");
    pid_t child = fork();
    if (child == 0) {
        const int done[] = {
            adsmCallWith(adsmWith(.devices = 3), map, adsmR1(100), adsmIn(x),
                         adsmInOut(x), adsmVal((int){1})),
            adsmCall(map, 100, adsmIn(x), adsmInOut(x), adsmVal((int){1})),
            adsmPrefetch(x, NULL, ADSM_HOST), adsmWaitFor(x, NULL, ADSM_IN)};
        int told = 0;
        for (int i = 0; i < 4; i++)
            told += done[i] == ADSM_E_FORKED;
        _exit(told);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 4 << 8);
    must(adsmFree(x));
}
END_TEST

/* A copy of an object at home, made by a call on another device; its lock is
 * held. With ADSM_CHECK none is left: NULL. */
static struct adsm_copy *copy_abroad(struct adsm_object **object, int *x)
{
    must(adsmCallWith(adsmWith(.devices = 2, .sync = 1), kernel("map"),
                      adsmR1(500), adsmIn(x), adsmInOut(x), adsmVal((int){1})));
    *object = adsm_index_acquire_alone(x);
    ck_assert_ptr_nonnull(*object);
    ck_assert(!adsm_object_is_gathered(*object));
    return adsm_ranged(*object)->held.copies[ADSM_HOLDER_HOME + 1];
}

/* What copy_abroad has made of the array; the object's lock is not held. */
static void free_mapped(int *x)
{
    for (int i = 0; i < 5000; i++)
        ck_assert_int_eq(x[i], (i < 500 ? 3 : 1) * (i * 61 + 1) + (i < 500));
    must(adsmFree(x));
}

START_TEST(copy_of_a_gathered_object_goes_and_does_not_spread_it)
{
    struct adsm_object *object;
    int *x = array(adsmR1(5000), 0);
    number(x, 5000, 1);
    struct adsm_copy *copy = copy_abroad(&object, x);
    if (!copy) {
        adsm_rwlock_release(&object->lock);
        return;
    }
    must(adsm_object_gather(object, ADSM_CAUSE(call)));
    must(adsm_memory_evict_this(object, copy));
    ck_assert(adsm_object_is_gathered(object));
    ck_assert(adsm_ranged_is_valid(object));
    adsm_rwlock_release(&object->lock);
    free_mapped(x);
}
END_TEST

/* Another thread has taken the copy for an eviction, and waits for the lock. */
START_TEST(object_whose_copy_is_being_evicted_gets_another_shape)
{
    struct adsm_object *object;
    const adsmBox shape = adsmR2(50, 400);
    int *x = array(adsmR1(5000), 0);
    number(x, 5000, 1);
    struct adsm_copy *copy = copy_abroad(&object, x);
    if (!copy) {
        adsm_rwlock_release(&object->lock);
        return;
    }
    copy->leaving = true;
    must(adsm_ranged_update(object, &shape, ADSM_CAUSE(part)));
    ck_assert_uint_eq(copy->holder, ADSM_HOLDER_HOST);
    ck_assert(adsm_ranged_is_valid(object));
    copy->leaving = false;
    adsm_ranged_drop(copy);
    adsm_rwlock_release(&object->lock);
    free_mapped(x);
}
END_TEST

START_TEST(launch_and_plain_call_take_objects_of_any_home)
{
    int n = 3000, a = 2;
    each_home(hp) each_home(hq)
    {
        int *p = array(adsmR1(n), *hp), *q = array(adsmR1(n), *hq);
        number(p, n, 1);
        number(q, n, 2);
        must(adsmLaunch(kernel("add"), adsmDim1(12), adsmDim1(256), 0,
                        adsmInOut(p), adsmIn(q), adsmVal(n)));
        must(adsmCall(kernel("map"), n, adsmIn(p), adsmInOut(q), adsmVal(a)));
        for (int i = 0; i < n; i++) {
            ck_assert_int_eq(p[i], 2 * i * 61 + 3);
            ck_assert_int_eq(q[i], 2 * p[i] + i * 61 + 2 + a);
        }
        must(adsmFree(p));
        must(adsmFree(q));
    }
}
END_TEST

START_TEST(array_in_a_slot_of_one_that_was_freed_has_no_shape)
{
    int a = 1;
    int *x = adsmAlloc(100 * sizeof *x);
    must(adsmShape(x, sizeof(double), adsmR2(5, 10)));
    must(adsmShape(x + 50, sizeof(double), adsmR1(5)));
    must(adsmFree(x));
    int *y = adsmAlloc(100 * sizeof *y);
    ck_assert_ptr_eq(x, y); /* else this tests nothing */
    number(y, 100, 1);
    must(adsmCallWith(adsmWith(.devices = 3), kernel("map"), adsmR1(100),
                      adsmIn(y), adsmInOut(y), adsmVal(a)));
    must(adsmCallWith(adsmWith(.devices = 3), kernel("map"), adsmR1(50),
                      adsmIn(y + 50), adsmInOut(y + 50), adsmVal(a)));
    ck_assert_int_eq(y[99], 9 * (99 * 61 + 1) + 4);
    must(adsmFree(y));
}
END_TEST

/* Else what a kernel loads at once would not be aligned in some parts. */
START_TEST(parts_get_bases_that_are_aligned_as_allocations_are)
{
    enum { N = 1003 };
    const int radii[] = {0, 1, 5};
    for (int r = 0; r < 3; r++) {
        int *x = array(adsmR1(N), ADSM_NO_HOME), *out = array(adsmR1(N), 0);
        number(x, N, 1);
        must(adsmCallWith(adsmWith(.devices = 0xf, .parts = 7), kernel("skew"),
                          adsmR1(N), adsmHalo(x, radii[r], ADSM_EDGE_CLAMP),
                          adsmOut(out)));
        for (int i = 0; i < N; i++)
            ck_assert_int_eq(out[i], 0);
        must(adsmFree(x));
        must(adsmFree(out));
    }
}
END_TEST

/* What read(2) has put into closed blocks, which then are brought to the host. */
static void check_loan(int *x, int n, adsmOpts *o)
{
    struct adsm_loan loan;
    int a = 1;
    if (o)
        must(adsmCallWith(o, kernel("map"), adsmR1(n), adsmIn(x), adsmInOut(x),
                          adsmVal(a)));
    else
        must(adsmCall(kernel("map"), n, adsmIn(x), adsmInOut(x), adsmVal(a)));
    must(adsm_loan_begin(x, (size_t)n * sizeof *x, ADSM_WRITE, &loan));
    memset(loan.address, 0x11, 10000);
    must(adsmPrefetch(x, NULL, 1));
    must(adsmPrefetch(x, NULL, ADSM_HOST));
    must(adsmWaitFor(x, NULL, ADSM_INOUT));
    must(adsm_loan_end(&loan, 10000));
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(x[i], i < 2500 ? 0x11111111 : 3 * (i * 61 + 1) + 1);
}

START_TEST(bytes_that_a_system_call_writes_are_not_brought_again)
{
    setenv("ADSM_BLOCK_SIZE", "4K", 1);
    for (int k = 0; k < 3; k++) {
        int *x = array(adsmR1(30000), k == 0 ? ADSM_NO_HOME : 0);
        number(x, 30000, 1);
        check_loan(x, 30000, k == 2 ? NULL : adsmWith(.devices = 0xe));
        must(adsmFree(x));
    }
}
END_TEST

/* 254 at most: one more takes the place of the oldest, or where a system call
 * is at work in that one, of the next. */
START_TEST(copies_that_are_too_many_leave_around_a_loan)
{
    enum { EACH = 3 * 1024, CALLS = 100, N = CALLS * EACH };
    setenv("ADSM_BLOCK_SIZE", "4K", 1);
    int *x = array(adsmR1(N), ADSM_NO_HOME), a = 1;
    struct adsm_loan loan;
    number(x, N, 1);
    for (int i = 0; i < CALLS; i++) {
        int *some = x + i * EACH;
        must(adsmCallWith(adsmWith(.devices = 0xe), kernel("map"), adsmR1(EACH),
                          adsmIn(some), adsmInOut(some), adsmVal(a)));
        if (i == 0)
            must(adsm_loan_begin(x, 100, ADSM_WRITE, &loan));
    }
    must(adsm_loan_end(&loan, 0));
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(x[i], 3 * (i * 61 + 1) + 1);
    must(adsmFree(x));
}
END_TEST

static _Atomic bool lent;

static void *lend_a_while(void *end)
{
    struct adsm_loan loan;
    must(adsm_loan_begin(end, 100, ADSM_WRITE, &loan));
    atomic_store(&lent, true);
    nanosleep(&(struct timespec){0, 200 * 1000 * 1000}, NULL);
    must(adsm_loan_end(&loan, 0));
    return NULL;
}

/* An array that is one block is lent whole. */
START_TEST(copies_that_are_too_many_wait_for_a_loan_of_all)
{
    enum { EACH = 3 * 1024, CALLS = 100, BEFORE = 80, N = CALLS * EACH };
    setenv("ADSM_BLOCK_SIZE", "2M", 1);
    int *x = array(adsmR1(N + 1024), ADSM_NO_HOME), a = 1;
    pthread_t thread;
    number(x, N, 1);
    for (int i = 0; i < CALLS; i++) {
        int *some = x + i * EACH;
        must(adsmCallWith(adsmWith(.devices = 0xe), kernel("map"), adsmR1(EACH),
                          adsmIn(some), adsmInOut(some), adsmVal(a)));
        if (i == BEFORE)
            ck_assert_int_eq(pthread_create(&thread, NULL, lend_a_while, x + N),
                             0);
        while (i == BEFORE && !atomic_load(&lent))
            sched_yield();
    }
    pthread_join(thread, NULL);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(x[i], 3 * (i * 61 + 1) + 1);
    must(adsmFree(x));
}
END_TEST

/* Whether something beside the library allocates what it works with here: the
 * sanitizers, and copies that calls are checked on. */
static bool needs_mappings(void)
{
    return SANITIZED || getenv("ADSM_CHECK");
}

static void *call_both_ways(void *failed)
{
    int n = 1000, a = 3, *x = adsmAlloc(sizeof(int[n]));
    adsmKernel *map = kernel("map");
    number(x, n, 1);
    int rc = adsmCall(map, n, adsmIn(x), adsmInOut(x), adsmVal(a));
    if (rc == ADSM_OK)
        rc = adsmCallWith(adsmWith(.devices = 0xf, .chunks = 2, .fetch = 1),
                          map, adsmR1(n), adsmIn(x), adsmInOut(x), adsmVal(a));
    *(int *)failed = rc != ADSM_OK || x[7] != 9 * (7 * 61 + 1) + 4 * a;
    return NULL;
}

START_TEST(thread_with_a_small_stack_makes_calls)
{
    pthread_t thread;
    pthread_attr_t small;
    int failed = 1;
    if (needs_mappings()) /* sanitizers need more of the stack, too */
        return;
    (void)kernel("map"); /* loads the module */
    ck_assert_int_eq(pthread_attr_init(&small), 0);
    ck_assert_int_eq(pthread_attr_setstacksize(&small, 32 << 10), 0);
    /* So that nothing is hit behind it. */
    ck_assert_int_eq(pthread_attr_setguardsize(&small, 1 << 20), 0);
    ck_assert_int_eq(pthread_create(&thread, &small, call_both_ways, &failed),
                     0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(failed, 0);
}
END_TEST

/* Leave the process no mapping, but memory of malloc's: that calls need some is
 * not what is looked at. */
static void take_mappings(void)
{
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    free(malloc(16 << 20));
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = 200000;
    char *p = mmap(NULL, pages * page, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(p, MAP_FAILED);
    for (size_t i = 1; i < pages; i += 2)
        if (mprotect(p + i * page, page, PROT_READ) != 0)
            return;
    ck_abort_msg("%zu mappings are too few", pages);
}

START_TEST(parts_close_blocks_where_no_mapping_is_left)
{
    enum { N = 200000 };
    const int homes[] = {ADSM_NO_HOME, 0};
    int a = 3, *x[2];
    if (needs_mappings())
        return;
    setenv("ADSM_BLOCK_SIZE", "4K", 1);
    for (int k = 0; k < 2; k++) {
        x[k] = array(adsmR1(N), homes[k]);
        number(x[k], N, k);
        must(adsmCallWith(adsmWith(.devices = 0xf), kernel("map"), adsmR1(N),
                          adsmIn(x[k]), adsmInOut(x[k]), adsmVal(a)));
        number(x[k], N, k);
    }
    take_mappings();
    for (int k = 0; k < 2; k++) {
        adsmBox some = {1, {70000}, {90000}};
        must(adsmCallWith(adsmWith(.devices = 0xf), kernel("map"), some,
                          adsmIn(x[k]), adsmInOut(x[k]), adsmVal(a)));
        for (int i = 0; i < N; i++)
            ck_assert_int_eq(x[k][i], i < 70000 || i >= 90000
                                          ? i * 61 + k
                                          : 3 * (i * 61 + k) + a);
    }
}
END_TEST

/* In the middle of what parts have written; the block cannot be opened. */
START_TEST(loan_is_kept_where_no_mapping_is_left)
{
    enum { N = 200000, AT = 100000, SOME = 300 };
    const int homes[] = {ADSM_NO_HOME, 0, 0};
    int *x[3];
    if (needs_mappings())
        return;
    setenv("ADSM_BLOCK_SIZE", "4K", 1);
    for (int k = 0; k < 3; k++) {
        x[k] = array(adsmR1(N), homes[k]);
        number(x[k], N, k);
        must(adsmCallWith(k == 2 ? NULL : adsmWith(.devices = 0xf),
                          kernel("map"), adsmR1(N), adsmIn(x[k]),
                          adsmInOut(x[k]), adsmVal((int){3})));
    }
    must(adsmSync());
    take_mappings();
    for (int k = 0; k < 3; k++) {
        struct adsm_loan loan;
        must(adsm_loan_begin(x[k] + AT, SOME * sizeof(int), ADSM_WRITE, &loan));
        for (int i = 0; i < SOME; i++)
            ((int *)loan.address)[i] = -i;
        must(adsm_loan_end(&loan, SOME * sizeof(int)));
        must(adsmCallWith(k == 2 ? NULL : adsmWith(.devices = 0xf),
                          kernel("map"), adsmR1(N), adsmIn(x[k]),
                          adsmInOut(x[k]), adsmVal((int){3})));
        for (int i = 0; i < N; i++)
            ck_assert_int_eq(x[k][i], i >= AT && i < AT + SOME
                                          ? -3 * (i - AT) + 3
                                          : 9 * (i * 61 + k) + 12);
    }
}
END_TEST

SUITE_MAIN("call", 120, map_gives_what_a_loop_gives,
           one_array_in_two_roles_is_read_and_written,
           output_may_have_an_element_for_many_indices,
           whole_array_is_there_for_every_part,
           surroundings_are_there_with_every_edge,
           two_edges_of_one_array_are_two,
           views_are_cut_by_rows_by_columns_and_into_squares,
           pointers_get_whole_rows, rows_and_columns_follow_what_they_are_told,
           arrays_of_three_dimensions_are_cut_anywhere,
           range_may_be_a_part_of_the_array,
           array_may_begin_inside_an_object_or_in_a_slab,
           array_inside_an_object_or_in_a_slab_has_edges,
           no_indices_do_nothing_and_few_make_few_parts,
           parts_get_bases_that_are_aligned_as_allocations_are,
           parts_close_blocks_where_no_mapping_is_left,
           loan_is_kept_where_no_mapping_is_left,
           bytes_that_a_system_call_writes_are_not_brought_again,
           copies_that_are_too_many_leave_around_a_loan,
           copies_that_are_too_many_wait_for_a_loan_of_all,
           array_in_a_slot_of_one_that_was_freed_has_no_shape,
           forked_child_is_told_that_it_is_one,
           copy_of_a_gathered_object_goes_and_does_not_spread_it,
           object_whose_copy_is_being_evicted_gets_another_shape,
           thread_with_a_small_stack_makes_calls,
           launch_and_plain_call_take_objects_of_any_home)
