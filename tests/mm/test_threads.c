/*
 * Threads: many may fault, call, allocate and free at once.
 *
 * The hammer: two threads write counters without pause while the object is
 * invalidated again and again; with the double mapping no write is lost.
 */
#include "fixture.h"
#include "mm/doors/boundary.h"
#include "mm/doors/bulk.h"
#include "mm/object/block.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { OBJECT_BYTES = 1 << 20, INVALIDATIONS = 10000 };

struct hammer {
    volatile uint64_t *cell;
    _Atomic bool *stop;
    uint64_t lost;
    _Atomic uint64_t writes;
};

static void *hammer(void *argument)
{
    struct hammer *h = argument;
    uint64_t value = *h->cell;
    while (!atomic_load_explicit(h->stop, memory_order_relaxed)) {
        if (*h->cell != value)
            h->lost++;
        *h->cell = ++value;
        if (*h->cell != value)
            h->lost++;
        atomic_fetch_add_explicit(&h->writes, 1, memory_order_relaxed);
    }
    return NULL;
}

/* A call that may touch every object, but changes only `other`. */
static void invalidate(struct fixture *f, uint8_t *other)
{
    uint32_t one = 1, seed = 3;
    must(adsmLaunch(f->fill, adsmDim1(1), adsmDim1(32), 0, adsmInOut(other),
                    adsmVal(one), adsmVal(seed)));
}

START_TEST(two_hammering_threads_during_invalidations_lose_no_write)
{
    struct fixture f = fixture_up();
    uint8_t *object = adsmAlloc(OBJECT_BYTES);
    uint8_t *other = adsmAlloc(OBJECT_BYTES);
    _Atomic bool stop = false;
    memset(object, 0, OBJECT_BYTES);
    /* Two cells in one block, and the page between them. */
    struct hammer h[2] = {
        {.cell = (uint64_t *)(object + 64), .stop = &stop},
        {.cell = (uint64_t *)(object + 8192), .stop = &stop},
    };
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, hammer, &h[i]);
    /* On a machine with others on it some of them may not have begun. */
    for (int i = 0; i < INVALIDATIONS || !h[0].writes || !h[1].writes; i++)
        invalidate(&f, other);
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    must(adsmSync());
    printf("hammer: %d invalidations, %llu and %llu writes, %llu lost\n",
           INVALIDATIONS, (unsigned long long)atomic_load(&h[0].writes),
           (unsigned long long)atomic_load(&h[1].writes),
           (unsigned long long)(h[0].lost + h[1].lost));
    ck_assert_uint_eq(h[0].lost + h[1].lost, 0);
    must(adsmFree(object));
    must(adsmFree(other));
}
END_TEST

/* Each thread owns every fourth byte of all objects and checks what it wrote
 * on both sides of launches that other threads make. */
enum { SHARERS = 4, SHARED_BYTES = 600000, ROUNDS = 60 };

struct sharer {
    uint8_t *object;
    int id;
    uint64_t wrong;
};

static void *sharer(void *argument)
{
    struct sharer *s = argument;
    uint8_t value = (uint8_t)s->id;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = (size_t)s->id; i < SHARED_BYTES; i += SHARERS * 64)
            s->object[i] = (uint8_t)(value + round);
        for (size_t i = (size_t)s->id; i < SHARED_BYTES; i += SHARERS * 64)
            s->wrong += s->object[i] != (uint8_t)(value + round);
    }
    return NULL;
}

START_TEST(threads_writing_neighbouring_bytes_while_calls_run_keep_them)
{
    struct fixture f = fixture_up();
    uint8_t *object = adsmAlloc(SHARED_BYTES);
    uint8_t *other = adsmAlloc(OBJECT_BYTES);
    memset(object, 0, SHARED_BYTES);
    struct sharer s[SHARERS];
    pthread_t threads[SHARERS];
    for (int i = 0; i < SHARERS; i++) {
        s[i] = (struct sharer){object, i, 0};
        pthread_create(&threads[i], NULL, sharer, &s[i]);
    }
    for (int i = 0; i < 300; i++)
        invalidate(&f, other);
    uint64_t wrong = 0;
    for (int i = 0; i < SHARERS; i++) {
        pthread_join(threads[i], NULL);
        wrong += s[i].wrong;
    }
    ck_assert_uint_eq(wrong, 0);
    must(adsmFree(object));
    must(adsmFree(other));
}
END_TEST

/* Allocation, first touch, call, bulk and free from every thread. */
struct worker {
    struct fixture *f;
    unsigned seed;
    uint64_t wrong;
};

static void *worker(void *argument)
{
    struct worker *w = argument;
    for (int round = 0; round < 60; round++) {
        static const size_t sizes[] = {64, 5000, 70000, 300000};
        size_t bytes = sizes[rand_r(&w->seed) % 4];
        uint8_t *p = adsmAlloc(bytes);
        uint8_t *q = adsmAlloc(bytes);
        uint32_t n = (uint32_t)(bytes < 2000 ? bytes : 2000);
        uint32_t s = (uint32_t)rand_r(&w->seed) % 256;
        if (!p || !q) {
            w->wrong++;
            continue;
        }
        memset(p, 1, bytes);
        w->wrong += adsm_bulk_set(q, 2, bytes) != ADSM_OK;
        w->wrong += adsmLaunch(w->f->mix, adsmDim1((n + 63) / 64), adsmDim1(64),
                               0, adsmInOut(p), adsmIn(q), adsmVal(n),
                               adsmVal(s)) != ADSM_OK;
        for (uint32_t i = 0; i < n; i++)
            w->wrong += p[i] != (uint8_t)(1 * 5 + 2 + s);
        w->wrong += bytes > n && p[bytes - 1] != 1;
        w->wrong += q[bytes - 1] != 2;
        w->wrong += adsmFree(p) != ADSM_OK;
        w->wrong += adsmFree(q) != ADSM_OK;
    }
    return NULL;
}

START_TEST(threads_that_allocate_call_and_free_see_their_own_data)
{
    struct fixture f = fixture_up();
    struct worker w[6];
    pthread_t threads[6];
    uint64_t wrong = 0;
    for (int i = 0; i < 6; i++) {
        w[i] = (struct worker){&f, (unsigned)i + 1, 0};
        pthread_create(&threads[i], NULL, worker, &w[i]);
    }
    for (int i = 0; i < 6; i++) {
        pthread_join(threads[i], NULL);
        wrong += w[i].wrong;
    }
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

/* One thread reads while another moves the same bytes in: what is there in the
 * end is what was moved, whoever fetched the block in between. */
static void *reader(void *argument)
{
    struct sharer *s = argument;
    volatile uint8_t *p = s->object;
    for (int i = 0; i < 20000; i++)
        (void)p[(i * 4096) % SHARED_BYTES];
    return NULL;
}

START_TEST(move_into_blocks_that_others_read_is_not_lost)
{
    struct fixture f = fixture_up();
    uint8_t *object = adsmAlloc(SHARED_BYTES);
    uint8_t *source = malloc(SHARED_BYTES);
    for (int round = 0; round < 30; round++) {
        struct sharer s = {object, 0, 0};
        pthread_t thread;
        device_fill(f.fill, object, 1000, (uint32_t)round);
        memset(source, round + 1, SHARED_BYTES);
        pthread_create(&thread, NULL, reader, &s);
        must(adsm_bulk_move(object, source, SHARED_BYTES));
        pthread_join(thread, NULL);
        ck_assert_int_eq(memcmp(object, source, SHARED_BYTES), 0);
    }
    free(source);
    must(adsmFree(object));
}
END_TEST

/* Two threads store to the same block at once; the one that the other opens it
 * for may go on before the other does. */
enum { RACERS = 2, RACES = 8, RACE_BYTES = 32 << 20 };

struct racer {
    pthread_t thread;
    struct adsm_object *object;
    _Atomic uint32_t *arrived; /* at blocks, of all racers */
    uint32_t id, far;
};

static void *race(void *argument)
{
    struct racer *r = argument;
    struct adsm_object *object = r->object;
    for (uint32_t i = 0; i < object->block_count; i++) {
        volatile uint8_t *p = object->host + adsm_block_begin(object, i);
        atomic_fetch_add(r->arrived, 1);
        while (atomic_load(r->arrived) < (i + 1) * RACERS)
            sched_yield();
        /* One that is not sent alone. */
        (void)atomic_exchange((_Atomic uint8_t *)&p[r->id], 1);
        r->far += adsm_boundary_is_far((const uint8_t *)p, 1);
    }
    return NULL;
}

START_TEST(what_one_has_stored_is_not_on_the_device_alone)
{
    struct fixture f = fixture_up();
    uint8_t *p = adsmAlloc(RACE_BYTES);
    uint32_t far = 0;
    for (uint32_t round = 0; round < RACES; round++) {
        _Atomic uint32_t arrived = 0;
        struct racer racers[RACERS];
        device_fill(f.fill, p, 1, round);
        for (uint32_t k = 0; k < RACERS; k++) {
            racers[k] = (struct racer){
                .object = adsm_index_find(p), .arrived = &arrived, .id = k};
            pthread_create(&racers[k].thread, NULL, race, &racers[k]);
        }
        for (uint32_t k = 0; k < RACERS; k++) {
            pthread_join(racers[k].thread, NULL);
            far += racers[k].far;
        }
    }
    ck_assert_uint_eq(far, 0);
    must(adsmFree(p));
}
END_TEST

SUITE_MAIN("threads", 120, what_one_has_stored_is_not_on_the_device_alone,
           two_hammering_threads_during_invalidations_lose_no_write,
           threads_writing_neighbouring_bytes_while_calls_run_keep_them,
           threads_that_allocate_call_and_free_see_their_own_data,
           move_into_blocks_that_others_read_is_not_lost)
