/*
 * Single stores into memory that only the device has: what is sent of them, what
 * opens, and that it is learned. Wants the engine sigsegv, ADSM_PROTOCOL=rolling
 * and the default blocks. With SCATTER_GATHERED=1 stores are gathered, as once many
 * were sent (accel/poke.h); else they are copies.
 */
#include "fixture.h"

#include "mm/doors/bulk.h"
#include "mm/doors/kept.h"
#include "mm/doors/loan.h"
#include "mm/object/block.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define BLOCK ((uint32_t)256 << 10)

enum { BYTES = 16 << 20 };

static uint64_t count(enum adsm_stat what)
{
    return adsm_stats_get(what);
}

/* Only the device has it, filled with `seed`. */
static uint8_t *make(const struct fixture *f, uint32_t bytes, uint32_t seed)
{
    uint8_t *p = adsmAlloc(bytes);
    ck_assert_ptr_nonnull(p);
    device_fill(f->fill, p, bytes, seed);
    return p;
}

static void store(uint8_t *p, size_t at, uint8_t value)
{
    ((volatile uint8_t *)p)[at] = value;
}

static bool is_open(const uint8_t *at)
{
    struct adsm_object *object = adsm_index_find(at);
    uint32_t i = adsm_block_of(object, (size_t)(at - object->host));
    return adsm_block_state(object, i) != ADSM_INVALID;
}

/* Bytes that went up and down, and stores that were served, since the last
 * time. */
struct moved {
    uint64_t up, down, stores;
};

static struct moved moved(void)
{
    static struct moved last;
    struct moved now = {count(ADSM_STAT_bytes_up), count(ADSM_STAT_bytes_down),
                        count(ADSM_STAT_stores)};
    struct moved since = {now.up - last.up, now.down - last.down,
                          now.stores - last.stores};
    last = now;
    return since;
}

static void must_have_moved(uint64_t up, uint64_t down, uint64_t stores)
{
    struct moved since = moved();
    ck_assert_uint_eq(since.stores, stores);
    ck_assert_uint_eq(since.up, up);
    ck_assert_uint_eq(since.down, down);
}

/* n stores of a byte into each block, far from one another. */
static void scatter(uint8_t *p, uint32_t n, uint8_t value)
{
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t at = 0; at < BYTES; at += BLOCK)
            store(p, at + (k * 37 + 5) * 1000, value);
}

static void launch(const struct fixture *f, uint8_t *p)
{
    must(adsmLaunch(f->mix, adsmDim1(1), adsmDim1(1), 0, adsmInOut(p),
                    adsmIn(p), adsmVal((uint32_t){0}), adsmVal((uint32_t){0})));
}

static bool is_gathered(void)
{
    const char *asked = getenv("SCATTER_GATHERED");
    return asked && *asked == '1';
}

/* As many stores and calls as it takes for the rest to be gathered. */
static struct fixture up(void)
{
    enum { ROUNDS = 4 };
    struct fixture f = fixture_up();
    uint8_t *p = is_gathered() ? make(&f, BYTES, 0) : NULL;
    uint64_t sends = 0;
    if (!p)
        return f;
    for (uint8_t round = 0; round < ROUNDS; round++) {
        sends = count(ADSM_STAT_store_sends);
        scatter(p, 4, round);
        launch(&f, p);
        must(adsmSync());
    }
    ck_assert_uint_eq(count(ADSM_STAT_store_sends), sends + 2);
    must(adsmFree(p));
    return f;
}

START_TEST(single_stores_cost_their_bytes)
{
    struct fixture f = up();
    uint8_t *p = make(&f, BYTES, 3);
    (void)moved();
    for (uint8_t round = 1; round < 10; round++) {
        scatter(p, 4, round);
        must_have_moved(4 * BYTES / BLOCK, 0, 4 * BYTES / BLOCK);
        launch(&f, p);
        must(adsmSync());
        must_have_moved(0, 0, 0);
    }
    ck_assert(!is_open(p));
    for (uint32_t at = 0; at < BYTES; at++) {
        uint32_t in = at % BLOCK;
        bool is = in % 1000 == 0 && in / 1000 % 37 == 5 && in / 1000 < 148;
        ck_assert_int_eq(p[at], is ? 9 : filled(at, 3));
    }
    must(adsmFree(p));
}
END_TEST

START_TEST(kernel_sees_what_was_stored)
{
    struct fixture f = up();
    uint8_t *p = make(&f, BYTES, 3), *q = make(&f, BYTES, 4);
    uint32_t n = BYTES, s = 7;
    store(q, 5, 1);
    store(q, 9 * BLOCK + 77, 2);
    store(q, BYTES - 1, 3);
    must(adsmLaunch(f.mix_only, adsmDim1(BYTES / 256), adsmDim1(256), 0,
                    adsmInOut(p), adsmIn(q), adsmVal(n), adsmVal(s)));
    for (uint32_t at = 0; at < BYTES; at++) {
        uint8_t there = at == 5                ? 1
                        : at == 9 * BLOCK + 77 ? 2
                        : at == BYTES - 1      ? 3
                                               : filled(at, 4);
        ck_assert_int_eq(p[at], (uint8_t)(filled(at, 3) * 5 + there + s));
    }
    must(adsmFree(p));
    must(adsmFree(q));
}
END_TEST

/* Other sizes than a byte, one store over another, and a read between them. */
START_TEST(read_sees_what_was_stored)
{
    struct fixture f = up();
    uint8_t *p = make(&f, BYTES, 3);
    *(volatile uint64_t *)(p + BLOCK + 16) = 0x1112131415161718;
    *(volatile uint16_t *)(p + BLOCK + 18) = 0x2122;
    ck_assert(!is_open(p + BLOCK));
    ck_assert_uint_eq(*(volatile uint64_t *)(p + BLOCK + 16),
                      0x1112131421221718);
    ck_assert(is_open(p + BLOCK));
    ck_assert_int_eq(p[BLOCK + 15], filled(BLOCK + 15, 3));
    ck_assert_int_eq(p[BLOCK + 24], filled(BLOCK + 24, 3));
    *(volatile uint64_t *)(p + BLOCK + 16) = 5;
    ck_assert_uint_eq(*(volatile uint64_t *)(p + BLOCK + 16), 5);
    must(adsmFree(p));
}
END_TEST

START_TEST(what_reads_first_opens)
{
    struct fixture f = up();
    uint8_t *p = make(&f, BYTES, 3);
    (void)moved();
    (void)atomic_fetch_add((_Atomic uint8_t *)p + 100, 1);
    ck_assert(is_open(p));
    must_have_moved(0, BLOCK, 0);
    ck_assert_int_eq(p[100], filled(100, 3) + 1);
    must(adsmFree(p));
}
END_TEST

/* A word that begins anywhere. */
struct __attribute__((packed)) anywhere {
    uint64_t word;
};

START_TEST(store_over_a_border_opens)
{
    struct fixture f = up();
    uint8_t *p = make(&f, BYTES, 3);
    (void)moved();
    ((volatile struct anywhere *)(p + BLOCK - 3))->word = 0;
    ck_assert(is_open(p) && is_open(p + BLOCK));
    ck_assert_uint_eq(moved().stores, 0);
    ck_assert_int_eq(p[BLOCK - 4], filled(BLOCK - 4, 3));
    ck_assert_int_eq(p[BLOCK + 5], filled(BLOCK + 5, 3));
    must(adsmFree(p));
}
END_TEST

/* What goes on is opened at the third, and from then on almost always at the
 * first. */
START_TEST(sequence_opens_and_is_learned)
{
    struct fixture f = up();
    uint8_t *p = make(&f, BYTES, 3);
    (void)moved();
    store(p, 8, 1);
    store(p, 9, 1);
    ck_assert(!is_open(p));
    store(p, 10, 1);
    ck_assert(is_open(p));
    must_have_moved(2, BLOCK, 2);
    for (uint32_t round = 0; round < 20; round++) {
        device_fill(f.fill, p, BYTES, round);
        for (uint32_t at = 0; at < BYTES; at++)
            store(p, at, (uint8_t)(at + round));
    }
    ck_assert_uint_le(moved().stores, 2 * 20 * BYTES / BLOCK / 8);
    for (uint32_t at = 0; at < BYTES; at++)
        ck_assert_int_eq(p[at], (uint8_t)(at + 19));
    must(adsmFree(p));
}
END_TEST

/* Many stores into a block are worth its transfers; and a program that stops
 * doing so is noticed. */
START_TEST(many_open_and_few_are_served_again)
{
    struct fixture f = up();
    uint8_t *p = make(&f, BYTES, 3);
    (void)moved();
    for (uint32_t k = 0; k < 200; k++)
        store(p, k * 1001 % BLOCK, 1);
    ck_assert(is_open(p));
    ck_assert_uint_eq(moved().stores, 16);
    for (uint32_t round = 0; round < 40; round++) {
        device_fill(f.fill, p, BYTES, round);
        store(p, 3 * BLOCK + 99, 5);
        store(p, 8 * BLOCK + 99, 5);
    }
    device_fill(f.fill, p, BYTES, 40);
    (void)moved();
    scatter(p, 1, 6);
    must_have_moved(BYTES / BLOCK, 0, BYTES / BLOCK);
    must(adsmFree(p));
}
END_TEST

/* A few blocks that get many do not stop it for the others. */
START_TEST(some_in_vain_do_not_end_it)
{
    struct fixture f = up();
    uint8_t *p = make(&f, BYTES, 3);
    (void)moved();
    for (uint32_t at = 0; at < BYTES; at += 2 * BLOCK)
        store(p, at + 5, 1);
    for (uint32_t k = 0; k < 30; k++)
        store(p, 8 * BLOCK + (k * 1001 + 9) % BLOCK, 1);
    ck_assert(is_open(p + 8 * BLOCK));
    (void)moved();
    store(p, 9 * BLOCK + 1, 1);
    must_have_moved(1, 0, 1);
    must(adsmFree(p));
}
END_TEST

START_TEST(bytes_that_stay_with_the_cpu_are_not_sent)
{
    struct fixture f = up();
    uint8_t *p = make(&f, BYTES, 3);
    void *place;
    must(adsm_keep(p + 64, 4, &place));
    memset(place, 1, 4);
    device_fill(f.fill, p, BYTES, 4);
    (void)moved();
    store(p, 100, 9);
    ck_assert_uint_eq(moved().stores, 0);
    ck_assert_int_eq(p[63], filled(63, 4));
    ck_assert_int_eq(p[100], 9);
    must(adsmFree(p));
}
END_TEST

/* A call that fills a block overwrites what is on its way there. */
START_TEST(what_is_read_in_comes_behind)
{
    struct fixture f = up();
    uint8_t *p = make(&f, BYTES, 3);
    struct adsm_loan loan;
    store(p, 3 * BLOCK + 7, 1);
    must(adsm_loan_begin(p + 3 * BLOCK, BLOCK, ADSM_WRITE, &loan));
    memset(loan.address, 2, BLOCK);
    must(adsm_loan_end(&loan, BLOCK));
    device_fill(f.fill, p, 1, 3);
    for (uint32_t at = 3 * BLOCK; at < 4 * BLOCK; at++)
        ck_assert_int_eq(p[at], 2);
    must(adsmFree(p));
}
END_TEST

/* More than there is room for, behind a kernel that has not ended. */
START_TEST(more_than_can_be_on_their_way)
{
    enum { LARGE = 64 << 20 };
    struct fixture f = up();
    uint8_t *p = make(&f, LARGE, 3);
    (void)moved();
    for (uint32_t k = 0; k < 12; k++)
        for (uint32_t at = 0; at < LARGE; at += BLOCK)
            store(p, at + (k * 13 + 1) * 1024, (uint8_t)(k + 1));
    for (uint32_t k = 0; k < 12; k++)
        for (uint32_t at = 0; at < LARGE; at += BLOCK) {
            uint32_t where = at + (k * 13 + 1) * 1024;
            ck_assert_int_eq(p[where], k + 1);
            ck_assert_int_eq(p[where + 1], filled(where + 1, 3));
        }
    must(adsmFree(p));
}
END_TEST

/* Each is seen by what comes next, whatever that is. */
START_TEST(copies_see_what_was_stored)
{
    struct fixture f = up();
    uint8_t *p = make(&f, BYTES, 3), *q = make(&f, BYTES, 4);
    uint8_t *host = malloc(BYTES);
    store(p, 5, 1);
    store(p, 9 * BLOCK + 77, 2);
    must(adsm_bulk_move(host, p, BYTES));
    ck_assert_int_eq(host[5], 1);
    ck_assert_int_eq(host[9 * BLOCK + 77], 2);
    store(p, 2 * BLOCK + 9, 3);
    store(p, 3 * BLOCK + 9, 4);
    must(adsm_bulk_move(q, p, BYTES));
    store(p, 2 * BLOCK + 9, 5);
    store(p, 4 * BLOCK + 9, 6);
    must(adsm_bulk_set(p + 4 * BLOCK, 7, BLOCK));
    device_fill(f.fill, q, 1, 0);
    ck_assert_int_eq(q[5], 1);
    ck_assert_int_eq(q[2 * BLOCK + 9], 3);
    ck_assert_int_eq(q[3 * BLOCK + 9], 4);
    ck_assert_int_eq(p[2 * BLOCK + 9], 5);
    ck_assert_int_eq(p[4 * BLOCK + 9], 7);
    must(adsmFree(p));
    must(adsmFree(q));
    free(host);
}
END_TEST

/* What was stored into memory that was given back is not in what comes there. */
START_TEST(next_owner_of_the_memory_sees_none)
{
    struct fixture f = up();
    uint8_t *q = make(&f, BYTES, 4);
    for (uint32_t round = 0; round < 8; round++) {
        uint8_t *p = make(&f, BYTES, round);
        scatter(p, 2, 200);
        must(adsmFree(p));
        /* Nor sent to where there is none. */
        device_fill(f.fill_only, q, BYTES, round);
        must(adsmSync());
        p = make(&f, BYTES, round + 1);
        for (uint32_t at = 0; at < BYTES; at += 1000)
            ck_assert_int_eq(p[at], filled(at, round + 1));
        must(adsmFree(p));
    }
    must(adsmFree(q));
}
END_TEST

/* Of all sizes, over one another, and into the last bytes of a block. */
START_TEST(last_store_wins)
{
    struct fixture f = up();
    uint8_t *p = make(&f, BYTES, 3);
    typedef uint64_t wide __attribute__((vector_size(16), aligned(1)));
    for (uint32_t at = 0; at < BYTES; at += 4 * BLOCK) {
        *(volatile uint64_t *)(p + at + 16) = 0x1112131415161718;
        *(volatile wide *)(p + at + 13) = (wide){1, 2};
        *(volatile uint16_t *)(p + at + 18) = 0x2122;
        ((volatile struct anywhere *)(p + at + 21))->word = 0x3132333435363738;
        store(p, at + 18, 0x41);
        *(volatile uint64_t *)(p + at + BLOCK - 8) = 0x5152535455565758;
        store(p, at + BLOCK - 1, 0x61);
        ck_assert(!is_open(p + at));
    }
    launch(&f, p);
    must(adsmSync());
    for (uint32_t at = 0; at < BYTES; at += 4 * BLOCK) {
        static const uint8_t want[] = {1,    0,    0,    0,    0,    0x41,
                                       0x21, 0,    0x38, 0x37, 0x36, 0x35,
                                       0x34, 0x33, 0x32, 0x31};
        uint8_t last[] = {0x58, 0x57, 0x56, 0x55, 0x54, 0x53, 0x52, 0x61};
        ck_assert_int_eq(memcmp(p + at + 13, want, sizeof want), 0);
        ck_assert_int_eq(memcmp(p + at + BLOCK - 8, last, sizeof last), 0);
        ck_assert_int_eq(p[at + 12], filled(at + 12, 3));
        ck_assert_int_eq(p[at + 29], filled(at + 29, 3));
        ck_assert_int_eq(p[at + BLOCK], filled(at + BLOCK, 3));
    }
    must(adsmFree(p));
}
END_TEST

enum { STORERS = 3, STORES = 400 };

struct storer {
    uint8_t *p;
    uint32_t self;
    pthread_t thread;
};

/* Its own bytes of words that the others store into as well. */
static void *store_beside(void *arg)
{
    const struct storer *me = arg;
    for (uint32_t i = 0; i < STORES; i++)
        store(me->p, i * 37 % 64 * BLOCK + i * 640 + me->self, (uint8_t)i);
    return NULL;
}

START_TEST(threads_store_side_by_side_while_one_launches)
{
    struct fixture f = up();
    uint8_t *p = make(&f, BYTES, 3), *q = make(&f, BYTES, 4);
    struct storer storers[STORERS];
    for (uint32_t t = 0; t < STORERS; t++) {
        storers[t] = (struct storer){.p = p, .self = t};
        ck_assert_int_eq(
            pthread_create(&storers[t].thread, NULL, store_beside, &storers[t]),
            0);
    }
    for (uint32_t i = 0; i < 60; i++) {
        device_fill(f.fill_only, q, 4096, i);
        if (i % 8 == 0)
            must(adsmSync());
    }
    for (uint32_t t = 0; t < STORERS; t++)
        pthread_join(storers[t].thread, NULL);
    for (uint32_t i = 0; i < STORES; i++)
        for (uint32_t t = 0; t < STORERS; t++)
            ck_assert_int_eq(p[i * 37 % 64 * BLOCK + i * 640 + t], (uint8_t)i);
    must(adsmFree(p));
    must(adsmFree(q));
}
END_TEST

START_TEST(option_turns_it_off)
{
    setenv("ADSM_SERVE_STORES", "0", 1);
    struct fixture f = fixture_up();
    uint8_t *p = make(&f, BYTES, 3);
    (void)moved();
    store(p, 100, 1);
    ck_assert(is_open(p));
    must_have_moved(0, BLOCK, 0);
    must(adsmFree(p));
}
END_TEST

/* The device is lost: the program goes on with what the host has. */
START_TEST(store_to_a_lost_device_goes_on)
{
    struct fixture f = up();
    uint8_t *p = make(&f, BYTES, 3);
    ck_assert_int_gt(kill_children(), 0);
    store(p, 100, 1);
    ck_assert_int_eq(p[100], 1);
    (void)adsmFree(p);
}
END_TEST

SUITE_MAIN("scatter", 120, single_stores_cost_their_bytes,
           kernel_sees_what_was_stored, read_sees_what_was_stored,
           what_reads_first_opens, store_over_a_border_opens,
           sequence_opens_and_is_learned, many_open_and_few_are_served_again,
           some_in_vain_do_not_end_it,
           bytes_that_stay_with_the_cpu_are_not_sent,
           what_is_read_in_comes_behind, more_than_can_be_on_their_way,
           copies_see_what_was_stored, next_owner_of_the_memory_sees_none,
           last_store_wins, threads_store_side_by_side_while_one_launches,
           option_turns_it_off, store_to_a_lost_device_goes_on)
