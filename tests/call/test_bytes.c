/*
 * adsmFill, adsmMemset and adsmCopy: what they write, in which order, what they
 * leave alone, and what they bring to the CPU: nothing.
 */
#include "call/fixture.h"

#include "base/stats.h"
#include "common/kill_device.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 300 * 1000, MOST = 40 };

static int devices; /* 0: the processors */

/* Numbers drawn at random, by several threads. */
struct draw {
    uint64_t seed;
};

static uint32_t draw_below(struct draw *draw, uint32_t n)
{
    draw->seed ^= draw->seed << 13;
    draw->seed ^= draw->seed >> 7;
    draw->seed ^= draw->seed << 17;
    return (uint32_t)(draw->seed >> 16) % n;
}

static struct draw draw_begin(uint64_t seed)
{
    struct draw draw = {seed * 0x9e3779b97f4a7c15u + 1};
    for (int i = 0; i < 10; i++)
        (void)draw_below(&draw, 2);
    return draw;
}

/* kernels.cu's `map` for the processors. */
static void map_on_cpu(const adsmBlocks *blocks, void *const *values)
{
    long i0 = *(long *)values[0], i1 = *(long *)values[1];
    const int *x = *(const int **)values[2];
    int *y = *(int **)values[3], a = *(int *)values[4];
    long from = i0 + (long)(blocks->first * blocks->block[0]);
    long to = from + (long)(blocks->count * blocks->block[0]);
    for (long i = from; i < to && i < i1; i++)
        y[i] = (int)(2 * (unsigned)x[i] + (unsigned)y[i] + (unsigned)a);
}

static const size_t map_bytes[] = {8, 8, 8, 8, 4};
static adsmCpuCode map_code = {"map", map_on_cpu, 5, map_bytes, NULL};

/* ---- memory of each kind, and what it is to hold ------------------------------ */

struct memory {
    uint8_t *at, *model;
    size_t bytes;
};

enum { HOME_0, HOME_1, HOMELESS, PLATE, SMALL, SPLIT, KINDS };

static struct memory make(int kind)
{
    struct memory m = {NULL, NULL, BYTES};
    long n = BYTES / (long)sizeof(int);
    int home = kind == HOME_1 ? devices > 1 : kind == HOME_0 ? 0 : ADSM_NO_HOME;
    if (kind == SMALL)
        m.bytes = 3000;
    m.at = kind == SMALL   ? adsmAlloc(m.bytes)
           : kind == PLATE ? (void *)array(adsmR2(300, 250), home)
                           : (void *)array(adsmR1(n), home);
    ck_assert_msg(m.at, "%s", adsmErrorDetail());
    m.model = malloc(m.bytes);
    int *x = (int *)(void *)m.at, *model = (int *)(void *)m.model;
    for (size_t i = 0; i < m.bytes / sizeof *x; i++)
        x[i] = model[i] = (int)i * 7 + kind;
    if (kind != SPLIT)
        return m;
    must(adsmCallWith(adsmWith(.devices = ADSM_ALL_DEVICES, .parts = 3),
                      kernel("map"), adsmR1(n), adsmIn(x), adsmInOut(x),
                      adsmVal((int){5})));
    for (long i = 0; i < n; i++)
        model[i] = 3 * model[i] + 5;
    return m;
}

static void check_memory(const struct memory *m, const char *after, int seed)
{
    for (size_t i = 0; i < m->bytes; i++)
        if (m->at[i] != m->model[i])
            ck_abort_msg("byte %zu of %zu is %u and not %u after %s (%d)", i,
                         m->bytes, m->at[i], m->model[i], after, seed);
}

static void drop(struct memory *m)
{
    must(adsmFree(m->at));
    free(m->model);
}

static void model_fill(struct memory *m, size_t at, size_t bytes,
                       const void *pattern, size_t width)
{
    for (size_t i = 0; i < bytes; i++)
        m->model[at + i] = ((const uint8_t *)pattern)[i % width];
}

/* ---- what is written ------------------------------------------------------------ */

/* Patterns of any size, from any byte on: no other byte changes. */
START_TEST(fills_write_the_pattern_and_nothing_else)
{
    static const size_t begins[] = {0, 1, 4, 1000, 4094, 65536, 131071};
    for (int kind = 0; kind < KINDS; kind++) {
        struct memory m = make(kind);
        uint8_t pattern[24];
        for (size_t width = 1; width <= sizeof pattern; width++)
            for (size_t b = 0; b < sizeof begins / sizeof *begins; b++) {
                size_t at = begins[b];
                if (at + width > m.bytes)
                    continue;
                size_t n = (m.bytes - at) / width;
                n -= n > 10 ? b : 0;
                for (size_t i = 0; i < width; i++)
                    pattern[i] = (uint8_t)(width * 16 + i * (b + 1));
                must(adsmFillV(NULL, m.at + at, n * width, pattern, width));
                model_fill(&m, at, n * width, pattern, width);
            }
        check_memory(&m, "fills", kind);
        drop(&m);
    }
}
END_TEST

START_TEST(values_get_the_type_of_the_elements)
{
    float *f = adsmAlloc(1000 * sizeof *f);
    double *d = adsmAlloc(1000 * sizeof *d);
    struct pair {
        int a;
        char b;
    } pair = {7, 'x'}, *s = adsmAlloc(1000 * sizeof *s);
    must(adsmFill(f, 1000, 1));
    must(adsmFill(d + 1, 999, 0.1f));
    must(adsmMemset(d, 0, sizeof *d));
    must(adsmFill(s, 1000, pair));
    ck_assert(f[0] == 1.0f && f[999] == 1.0f);
    ck_assert(d[0] == 0 && d[1] == (double)0.1f && d[999] == (double)0.1f);
    ck_assert(s[999].a == 7 && s[999].b == 'x');
    must(adsmFree(f));
    must(adsmFree(d));
    must(adsmFree(s));
}
END_TEST

/* Longer than what is sent at once, and than is allowed. */
START_TEST(long_patterns_are_filled_or_refused)
{
    static uint8_t pattern[4097];
    struct memory m = make(HOME_0);
    for (size_t i = 0; i < sizeof pattern; i++)
        pattern[i] = (uint8_t)(i * i);
    must(adsmFillV(NULL, m.at, 70 * 4000, pattern, 4000));
    model_fill(&m, 0, 70 * 4000, pattern, 4000);
    must(adsmFillV(NULL, m.at + 3, 100 * 2049, pattern, 2049));
    model_fill(&m, 3, 100 * 2049, pattern, 2049);
    expect(adsmFillV(NULL, m.at, 4097, pattern, 4097), ADSM_E_LIMIT, "4096");
    check_memory(&m, "long patterns", 0);
    drop(&m);
}
END_TEST

START_TEST(copies_between_all_kinds_move_what_is_named)
{
    static const size_t sizes[] = {1, 3, 511, 2999, 65536, 250001};
    for (int a = 0; a < KINDS; a++)
        for (int b = 0; b < KINDS; b++) {
            struct memory from = make(a), to = make(b);
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                size_t n = sizes[s],
                       most = to.bytes < from.bytes ? to.bytes : from.bytes;
                if (n > most)
                    continue;
                size_t f = (from.bytes - n) / 2, t = (to.bytes - n) / 3;
                must(adsmCopy(to.at + t, from.at + f, n));
                memcpy(to.model + t, from.model + f, n);
            }
            check_memory(&to, "copies to", a * 10 + b);
            check_memory(&from, "copies from", a * 10 + b);
            drop(&from);
            drop(&to);
        }
}
END_TEST

START_TEST(copies_that_overlap_are_as_of_memmove)
{
    static const long by[] = {1, 100, 4096, 100000, -1, -17, -65536, 0};
    for (int kind = 0; kind < KINDS; kind++) {
        struct memory m = make(kind);
        for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
            size_t far = (size_t)labs(by[i]);
            if (far >= m.bytes)
                continue;
            size_t f = by[i] < 0 ? far : 0, t = by[i] < 0 ? 0 : far;
            must(adsmCopyV(
                i % 2 ? adsmWith(.devices = ADSM_ALL_DEVICES, .parts = 5)
                      : NULL,
                m.at + t, m.at + f, m.bytes - far));
            memmove(m.model + t, m.model + f, m.bytes - far);
        }
        check_memory(&m, "overlapping copies", kind);
        drop(&m);
    }
}
END_TEST

START_TEST(copies_from_and_to_plain_memory_are_over_on_return)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct memory m = make(kind);
        uint8_t *plain = malloc(m.bytes);
        memset(plain, 3, m.bytes);
        must(adsmMemset(m.at, 9, m.bytes));
        must(adsmCopy(m.at + 5, plain, m.bytes - 10));
        memset(plain, 4, m.bytes);
        memset(m.model, 9, m.bytes);
        memset(m.model + 5, 3, m.bytes - 10);
        must(adsmCopy(plain, m.at, m.bytes));
        ck_assert_int_eq(memcmp(plain, m.model, m.bytes), 0);
        check_memory(&m, "copies of plain memory", kind);
        free(plain);
        drop(&m);
    }
}
END_TEST

/* ---- what they do not do ---------------------------------------------------------- */

static uint64_t moved(void)
{
    return adsm_stats_get(ADSM_STAT_bytes_up) +
           adsm_stats_get(ADSM_STAT_bytes_down);
}

START_TEST(nothing_comes_to_the_cpu_until_it_accesses)
{
    enum { N = 1 << 20 };
    if (devices == 0)
        return; /* the processors: they are where it is */
    uint8_t *x = adsmAlloc(N), *y = adsmAlloc(N);
    uint64_t before = moved();
    must(adsmMemset(x, 1, N));
    must(adsmFill((int *)(void *)y, N / 4, 0x01020304));
    must(adsmCopy(x + N / 2, y, N / 2));
    must(adsmSync());
    if (strcmp(getenv("ADSM_PROTOCOL") ? getenv("ADSM_PROTOCOL") : "rolling",
               "batch") != 0)
        ck_assert_uint_eq(moved(), before);
    ck_assert_uint_eq(x[N / 2 - 1], 1);
    ck_assert_uint_eq(x[N - 1], 1);
    ck_assert_uint_eq(x[N - 4], 4);
    must(adsmFree(x));
    must(adsmFree(y));
}
END_TEST

/* Nor is brought what is overwritten: not all of it is where it is filled. */
START_TEST(what_is_overwritten_is_not_brought)
{
    struct memory m = make(SPLIT);
    must(adsmSync()); /* where its parts were made as tasks, they are begun */
    uint64_t before = moved() + adsm_stats_get(ADSM_STAT_bytes_device);
    must(adsmMemset(m.at + 4000, 1, m.bytes - 8000));
    memset(m.model + 4000, 1, m.bytes - 8000);
    ck_assert_uint_le(moved() + adsm_stats_get(ADSM_STAT_bytes_device) - before,
                      m.bytes - 8000);
    check_memory(&m, "a fill", 0);
    drop(&m);
}
END_TEST

/* What the CPU has written beside them in the same block. */
START_TEST(bytes_beside_a_fill_keep_what_the_cpu_wrote)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct memory m = make(kind);
        for (size_t i = 0; i < m.bytes; i++)
            m.at[i] = m.model[i] = (uint8_t)(i % 251);
        size_t n = m.bytes / 3 * 2, at = m.bytes / 4 + 1;
        must(adsmMemset(m.at + at, 0xee, n));
        memset(m.model + at, 0xee, n);
        m.at[at - 1] = m.model[at - 1] = 1;
        m.at[at + n] = m.model[at + n] = 2;
        must(adsmCopy(m.at, m.at + m.bytes - 100, 99));
        memcpy(m.model, m.model + m.bytes - 100, 99);
        check_memory(&m, "a fill between the CPU's bytes", kind);
        drop(&m);
    }
}
END_TEST

/* ---- order -------------------------------------------------------------------------- */

/* y += 2 x + a, by a kernel. */
static void add(const adsmOpts *opts, int *y, const int *x, long n, int a)
{
    if (opts)
        must(adsmCallWith(opts, kernel("map"), adsmR1(n), adsmIn(x),
                          adsmInOut(y), adsmVal(a)));
    else
        must(adsmCall(kernel("map"), n, adsmIn(x), adsmInOut(y), adsmVal(a)));
}

START_TEST(calls_before_and_behind_see_them_in_their_order)
{
    enum { N = 50000, STEPS = 30 };
    const adsmOpts *ways[] = {
        NULL, adsmWith(.devices = 1),
        adsmWith(.devices = ADSM_ALL_DEVICES, .parts = 5)};
    for (int home = ADSM_NO_HOME; home < 1; home++)
        for (int way = 0; way < 3; way++) {
            int *x = array(adsmR1(N), 0), *y = array(adsmR1(N), home);
            int model = 0, filled = 0;
            must(adsmFill(y, N, 0));
            for (int s = 0; s < STEPS; s++) {
                filled = s * 3;
                must(adsmFill(x, N, filled));
                add(ways[way], y, x, N, s);
                model += 2 * filled + s;
                must(adsmCopy(x, y, sizeof *x * N)); /* behind the kernel */
                add(ways[way], y, x, N, 1);
                model += 2 * model + 1;
                if (s % 7 == 6) {
                    ck_assert_int_eq(y[s], model);
                    model = 5;
                    for (int i = 0; i < N; i++)
                        y[i] = 5;
                }
                if (model > 1 << 28) {
                    must(adsmMemset(y, 0, sizeof *y * N));
                    model = 0;
                }
            }
            for (int i = 0; i < N; i++)
                ck_assert_int_eq(y[i], model);
            must(adsmFree(x));
            must(adsmFree(y));
        }
}
END_TEST

/* Any of it, from and to anywhere. */
static void step(struct memory *all, struct draw *draw, int s)
{
    struct memory *m = &all[draw_below(draw, KINDS)];
    struct memory *from = &all[draw_below(draw, KINDS)];
    size_t n = 1 + draw_below(draw, (uint32_t)m->bytes);
    if (draw_below(draw, 2))
        n = 1 + n % 97;
    size_t at = draw_below(draw, (uint32_t)(m->bytes - n + 1));
    uint8_t pattern[MOST];
    size_t width = 1 + draw_below(draw, MOST);
    for (size_t i = 0; i < width; i++)
        pattern[i] = (uint8_t)draw_below(draw, 256);
    const adsmOpts *opts =
        draw_below(draw, 4)
            ? NULL
            : adsmWith(.devices = ADSM_ALL_DEVICES, .parts = 1 + (int)(s % 5));
    switch (draw_below(draw, 5)) {
    case 0:
        n = n / width * width;
        must(adsmFillV(opts, m->at + at, n, pattern, width));
        model_fill(m, at, n, pattern, width);
        break;
    case 1:
        n = n < from->bytes ? n : from->bytes;
        size_t f = draw_below(draw, (uint32_t)(from->bytes - n + 1));
        must(adsmCopyV(opts, m->at + at, from->at + f, n));
        memmove(m->model + at, from->model + f, n);
        break;
    case 2:
        for (size_t i = at; i < at + n && i < at + 5000; i++)
            m->at[i] = m->model[i] = (uint8_t)(i + (size_t)s);
        break;
    case 3:
        for (size_t i = at; i < at + n && i < at + 5000; i++)
            ck_assert_msg(m->at[i] == m->model[i],
                          "step %d: byte %zu is %u and not %u", s, i, m->at[i],
                          m->model[i]);
        break;
    case 4: {
        long words = (long)(m->bytes / sizeof(int));
        int *x = (int *)(void *)m->at, *model = (int *)(void *)m->model;
        bool in_parts = draw_below(draw, 2) && m != &all[PLATE];
        add(in_parts ? adsmWith(.devices = ADSM_ALL_DEVICES, .parts = 3) : NULL,
            x, x, words, s);
        for (long i = 0; i < words; i++)
            model[i] = (int)(3u * (unsigned)model[i] + (unsigned)s);
        break;
    }
    }
}

START_TEST(anything_in_any_order_is_as_in_plain_memory)
{
    const char *seed = getenv("BYTES_SEED"), *steps = getenv("BYTES_STEPS");
    for (int run = 0; run < 3; run++) {
        struct draw draw =
            draw_begin((uint64_t)(seed ? atoi(seed) : 1) * 100 + (uint64_t)run);
        struct memory all[KINDS];
        for (int k = 0; k < KINDS; k++)
            all[k] = make(k);
        for (int s = 0; s < (steps ? atoi(steps) : 400); s++)
            step(all, &draw, s);
        for (int k = 0; k < KINDS; k++) {
            check_memory(&all[k], "all of it", k);
            drop(&all[k]);
        }
    }
}
END_TEST

/* ---- threads ------------------------------------------------------------------------ */

enum { THREADS = 4, SHARE = 40001 };

static struct memory shared;

/* Its own bytes, which lie in blocks that others have bytes in. */
static void *use_share(void *number)
{
    size_t t = (size_t)(uintptr_t)number, at = t * SHARE;
    struct draw draw = draw_begin(900 + t);
    for (int s = 0; s < 150; s++) {
        size_t n = 1 + draw_below(&draw, SHARE - 1);
        size_t from = at + draw_below(&draw, (uint32_t)(SHARE - n + 1));
        uint8_t byte = (uint8_t)draw_below(&draw, 256);
        if (s % 3 == 0) {
            must(adsmMemset(shared.at + from, byte, n));
            memset(shared.model + from, byte, n);
        } else if (s % 3 == 1) {
            must(adsmCopy(shared.at + at, shared.at + from, n));
            memmove(shared.model + at, shared.model + from, n);
        } else {
            for (size_t i = from; i < from + n && i < from + 500; i++)
                shared.at[i] = shared.model[i] = (uint8_t)(i + t);
        }
    }
    return NULL;
}

START_TEST(threads_beside_each_other_in_one_object_lose_nothing)
{
    static const int kinds[] = {HOME_0, HOMELESS};
    for (int k = 0; k < 2; k++) {
        pthread_t threads[THREADS];
        shared = make(kinds[k]);
        for (size_t t = 0; t < THREADS; t++)
            pthread_create(&threads[t], NULL, use_share, (void *)t);
        for (int t = 0; t < THREADS; t++)
            pthread_join(threads[t], NULL);
        check_memory(&shared, "threads", k);
        drop(&shared);
    }
}
END_TEST

/* ---- what cannot be ----------------------------------------------------------------- */

START_TEST(mistakes_are_told_and_change_nothing)
{
    struct memory m = make(HOME_0), other = make(HOMELESS);
    uint8_t plain[100] = {0}, *freed = adsmAlloc(100 * 1000);
    must(adsmFree(freed));
    expect(adsmMemset(NULL, 1, 10), ADSM_E_NOT_SHARED, "not in a shared");
    expect(adsmMemset(plain, 1, 10), ADSM_E_NOT_SHARED, "adsmFill: 0x");
    expect(adsmMemset(freed, 1, 10), ADSM_E_NOT_SHARED, "not any more");
    expect(adsmMemset(m.at + 1, 1, m.bytes), ADSM_E_INVALID, "has 299999 more");
    expect(adsmMemset(m.at, 1, SIZE_MAX), ADSM_E_INVALID, "has 300000 more");
    expect(adsmFillV(NULL, m.at, 10, plain, 0), ADSM_E_INVALID, "pattern of 0");
    expect(adsmFillV(NULL, m.at, 10, plain, 3), ADSM_E_INVALID, "multiple");
    expect(adsmFillV(NULL, m.at, 10, NULL, 1), ADSM_E_INVALID, "pattern");
    expect(adsmFillV(adsmWith(.devices = 1u << 31), m.at, 10, plain, 1),
           ADSM_E_INVALID, "device 31");
    expect(adsmFillV(adsmWith(.parts = 2, .bounds = (const long[]){0, 5, 10}),
                     m.at, 10, plain, 1),
           ADSM_E_INVALID, "`bounds`");
    expect(adsmCopy(m.at, NULL, 1), ADSM_E_INVALID, "NULL");
    expect(adsmCopy(NULL, m.at, 1), ADSM_E_INVALID, "NULL");
    expect(adsmCopy(plain, plain + 50, 10), ADSM_E_NOT_SHARED, "neither");
    expect(adsmCopy(m.at, other.at + 1, m.bytes), ADSM_E_INVALID,
           "has 299999 more");
    must(adsmCopy(NULL, NULL, 0));
    must(adsmCopy(m.at, freed, 0));
    must(adsmMemset(NULL, 1, 0));
    must(adsmCopy(m.at, m.at, m.bytes));
    check_memory(&other, "mistakes", 0);
    drop(&m);
    drop(&other);
}
END_TEST

START_TEST(forked_child_is_told_so)
{
    struct memory m = make(HOME_0);
    pid_t child = fork();
    if (child == 0)
        _exit((adsmMemset(m.at, 1, 10) == ADSM_E_FORKED) +
              (adsmCopy(m.at, m.at + 10, 10) == ADSM_E_FORKED));
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 2 << 8);
    drop(&m);
}
END_TEST

START_TEST(events_and_options_are_those_of_calls)
{
    struct memory m = make(HOMELESS);
    adsmEvent event = {0};
    int done = 0;
    must(adsmFillV(
        adsmWith(.devices = ADSM_ALL_DEVICES, .parts = 4, .event = &event),
        m.at, m.bytes, "abc", 3));
    model_fill(&m, 0, m.bytes, "abc", 3);
    ck_assert_uint_gt(event.id, 0);
    must(adsmWait(event));
    must(adsmTest(event, &done));
    ck_assert_int_eq(done, 1);
    must(adsmDefaults(adsmWith(.devices = ADSM_ALL_DEVICES, .sync = 1)));
    must(adsmCopy(m.at + 200 * 1000, m.at + 1, 99999));
    memcpy(m.model + 200 * 1000, m.model + 1, 99999);
    must(adsmDefaults(NULL));
    check_memory(&m, "a fill in parts", 0);
    drop(&m);
}
END_TEST

START_TEST(array_larger_than_the_device_is_filled_and_copied)
{
    enum { LARGE = 24 << 20 };
    if (devices == 0)
        return;
    setenv("SOFTCUDA_MEMORY", "16M", 1);
    int n = LARGE / (int)sizeof(int);
    int *x = array(adsmR1(n), ADSM_NO_HOME),
        *y = array(adsmR1(n), ADSM_NO_HOME);
    must(adsmFill(x, n, 77));
    x[5] = 6;
    must(adsmCopy(y, x, LARGE));
    ck_assert_int_eq(y[5], 6);
    for (int i = 6; i < n; i++)
        ck_assert_int_eq(y[i], 77);
    must(adsmFree(x));
    must(adsmFree(y));
}
END_TEST

START_TEST(lost_device_is_told)
{
    if (devices < 3)
        return;
    int *x = array(adsmR1(1000), 2), *y = array(adsmR1(1000), 0);
    must(adsmFill(x, 1000, 4));
    must(adsmFill(y, 1000, 5));
    must(adsmSync());
    ck_assert_int_eq(kill_device(2), 1);
    while (adsmDeviceMemory(2, NULL, NULL) == ADSM_OK)
        usleep(1000);
    ck_assert_int_ne(adsmFill(x, 1000, 6), ADSM_OK);
    must(adsmFill(y + 1, 999, 6));
    ck_assert_int_eq(y[0] * 10 + y[999], 56);
}
END_TEST

int main(void)
{
    const TTest *const cases[] = {
        fills_write_the_pattern_and_nothing_else,
        values_get_the_type_of_the_elements,
        long_patterns_are_filled_or_refused,
        copies_between_all_kinds_move_what_is_named,
        copies_that_overlap_are_as_of_memmove,
        copies_from_and_to_plain_memory_are_over_on_return,
        nothing_comes_to_the_cpu_until_it_accesses,
        what_is_overwritten_is_not_brought,
        bytes_beside_a_fill_keep_what_the_cpu_wrote,
        calls_before_and_behind_see_them_in_their_order,
        anything_in_any_order_is_as_in_plain_memory,
        threads_beside_each_other_in_one_object_lose_nothing,
        mistakes_are_told_and_change_nothing,
        forked_child_is_told_so,
        events_and_options_are_those_of_calls,
        array_larger_than_the_device_is_filled_and_copied,
        lost_device_is_told,
    };
    devices = getenv("ADSM_DEVICES") ? 0 : 4;
    if (adsmCpuAdd(&map_code) != ADSM_OK)
        return 1;
    return suite_run("bytes", cases, sizeof cases / sizeof *cases, 120);
}
