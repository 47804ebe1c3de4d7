/*
 * Rules of libadsm/range that need a device, or none: stretches byte by byte, whom
 * a box waits for, and which copies go when memory is short. Edges: test_edge.c.
 */
#include "small/fixture.h"

#include "accel/store.h"
#include "base/stats.h"
#include "mm/heap/heap.h"
#include "mm/object/index.h"
#include "range/box.h"
#include "range/flight.h"
#include "range/memory.h"
#include "range/order.h"
#include "range/prepare.h"
#include "range/spread.h"

/* ---- stretches -------------------------------------------------------------------- */

static void check_stretches(const adsmBox *shape, const adsmBox *box)
{
    enum { ORIGIN = 3, MOST = 4 * 5 * 6 + ORIGIN };
    uint8_t seen[MOST] = {0}, wanted[MOST] = {0};
    size_t pitch[3];
    adsm_box_pitches(shape, pitch);
    for (long z = box->lo[0]; z < box->hi[0]; z++)
        for (long y = box->lo[1]; y < box->hi[1]; y++)
            for (long x = box->lo[2]; x < box->hi[2]; x++)
                wanted[ORIGIN + (size_t)z * pitch[0] + (size_t)y * pitch[1] +
                       (size_t)x]++;
    for (struct adsm_stretches s = adsm_stretches_of(shape, box, ORIGIN);
         adsm_stretches_next(&s);)
        for (long i = s.stretch.lo[0]; i < s.stretch.hi[0]; i++)
            seen[i]++;
    ck_assert_mem_eq(seen, wanted, MOST);
}

START_TEST(stretches_of_a_box_are_its_bytes_once_each)
{
    static const adsmBox shape = {.nd = 3, .hi = {4, 5, 6}};
    adsmBox box = {.nd = 3};
    for (box.lo[0] = 0; box.lo[0] < 4; box.lo[0]++)
        for (box.hi[0] = box.lo[0]; box.hi[0] <= 4; box.hi[0]++)
            for (box.lo[1] = 0; box.lo[1] < 5; box.lo[1]++)
                for (box.hi[1] = box.lo[1]; box.hi[1] <= 5; box.hi[1]++)
                    for (box.lo[2] = 0; box.lo[2] < 6; box.lo[2] += 2)
                        for (box.hi[2] = box.lo[2]; box.hi[2] <= 6;
                             box.hi[2] += 3)
                            check_stretches(&shape, &box);
}
END_TEST

START_TEST(shape_of_an_array_covers_its_object)
{
    struct adsm_array array = {.elem = 1, .shape = {.nd = 2, .hi = {3, 7}}};
    for (size_t bytes = 21; bytes < 100; bytes++) {
        adsmBox shape = adsm_prepare_shape(&array, bytes);
        ck_assert_int_eq(shape.hi[1], 7);
        ck_assert_int_ge(shape.hi[0] * 7, (long)bytes);
        ck_assert_int_lt((shape.hi[0] - 1) * 7, (long)bytes);
    }
    array.origin = 1;
    ck_assert_int_eq(adsm_prepare_shape(&array, 50).nd, 1);
}
END_TEST

/* ---- order ------------------------------------------------------------------------ */

static adsmBox bytes_of(long lo, long hi)
{
    return (adsmBox){.nd = 1, .lo = {lo}, .hi = {hi}};
}

static struct adsm_fence new_fence(struct adsm_accel *accel, adsm_stream stream)
{
    struct adsm_fence fence;
    must(adsm_fence_record(accel, stream, &fence));
    return fence;
}

static bool waits_for(const struct adsm_waits *waits, struct adsm_fence fence)
{
    for (uint32_t i = 0; i < waits->count; i++)
        if (waits->fence[i].lane == fence.lane &&
            waits->fence[i].seq >= fence.seq)
            return true;
    return false;
}

START_TEST(reader_waits_for_writes_that_meet_its_box_and_a_writer_for_all)
{
    struct adsm_accel *accel = up("rolling", 1);
    struct adsm_order order = {.writes = 0};
    adsm_stream a, b;
    must(accel->ops->stream_create(accel, &a));
    must(accel->ops->stream_create(accel, &b));
    adsmBox low = bytes_of(0, 10), high = bytes_of(10, 20);
    struct adsm_fence wrote = new_fence(accel, a), read = new_fence(accel, b);
    adsm_order_written(&order, &low, wrote);
    adsm_order_read(&order, read);
    ck_assert(adsm_order_is_valid(&order) && !adsm_order_is_idle(&order));
    struct adsm_waits waits = {.count = 0};
    adsm_order_before_read(&order, &high, &waits);
    ck_assert_uint_eq(waits.count, 0);
    adsm_order_before_read(&order, &low, &waits);
    ck_assert(waits_for(&waits, wrote) && !waits_for(&waits, read));
    waits.count = 0;
    adsm_order_before_write(&order, &high, &waits);
    ck_assert(waits_for(&waits, read) && !waits_for(&waits, wrote));
    must(adsm_accel_synchronize(accel));
    ck_assert(adsm_order_is_idle(&order));
}
END_TEST

/* More than the lists have room for, some reached: nobody is forgotten. */
START_TEST(full_list_forgets_nobody)
{
    enum { LANES = 5, WRITES = 200 };
    struct adsm_accel *accel = up("rolling", 1);
    struct adsm_order order = {.writes = 0};
    struct adsm_fence fence[WRITES];
    adsm_stream stream[LANES];
    for (int i = 0; i < LANES; i++)
        must(accel->ops->stream_create(accel, &stream[i]));
    for (int i = 0; i < WRITES; i++) {
        adsmBox box = bytes_of(i * 10, i * 10 + 10);
        fence[i] = new_fence(accel, stream[i % LANES]);
        adsm_order_written(&order, &box, fence[i]);
        ck_assert(adsm_order_is_valid(&order));
        for (int k = 0; k <= i; k++) {
            struct adsm_waits waits = {.count = 0};
            box = bytes_of(k * 10, k * 10 + 10);
            adsm_order_before_read(&order, &box, &waits);
            bool known = waits_for(&waits, fence[k]);
            if (!known)
                ck_assert(adsm_fence_done(fence[k]));
        }
    }
}
END_TEST

/* ---- transfers in flight ---------------------------------------------------------- */

static struct adsm_flight upload_of(struct adsm_accel *accel,
                                    adsm_stream stream, size_t number,
                                    size_t bytes)
{
    return (struct adsm_flight){.begin = number * bytes,
                                .end = (number + 1) * bytes,
                                .fence = new_fence(accel, stream)};
}

START_TEST(rows_are_waited_for_together_and_pieces_apart)
{
    enum { ROW = 4096, PIECE_BYTES = 2 << 20, COUNT = 20 };
    struct adsm_accel *accel = up("rolling", 1);
    struct adsm_flights flights = {.count = 0};
    struct adsm_fence fence[COUNT];
    adsm_stream stream;
    must(accel->ops->stream_create(accel, &stream));
    for (size_t i = 0; i < COUNT; i++)
        adsm_flights_add(&flights, upload_of(accel, stream, i, ROW));
    ck_assert_uint_eq(flights.count, 1);
    flights.count = 0;
    for (size_t i = 0; i < COUNT; i++) {
        struct adsm_flight flight = upload_of(accel, stream, i, PIECE_BYTES);
        fence[i] = flight.fence;
        adsm_flights_add(&flights, flight);
    }
    for (size_t i = 0; i < COUNT; i++) {
        struct adsm_waits waits = {.count = 0};
        adsm_flights_before_write(&flights, i * PIECE_BYTES,
                                  (i + 1) * PIECE_BYTES, &waits);
        ck_assert_uint_eq(waits.count, 1);
        ck_assert_uint_eq(waits.fence[0].seq, fence[i].seq);
    }
}
END_TEST

/* Where there are too many, those that ended long ago are known less well. */
START_TEST(full_list_of_flights_forgets_nobody_and_knows_the_last)
{
    enum { BYTES = 2 << 20, COUNT = 3 * ADSM_FLIGHTS };
    struct adsm_accel *accel = up("rolling", 1);
    struct adsm_flights flights = {.count = 0};
    struct adsm_fence fence[COUNT];
    adsm_stream stream;
    must(accel->ops->stream_create(accel, &stream));
    for (size_t i = 0; i < COUNT; i++) {
        struct adsm_flight flight = upload_of(accel, stream, i, BYTES);
        fence[i] = flight.fence;
        adsm_flights_add(&flights, flight);
        for (size_t k = 0; k <= i; k++) {
            struct adsm_waits waits = {.count = 0};
            adsm_flights_before_write(&flights, k * BYTES, (k + 1) * BYTES,
                                      &waits);
            ck_assert(waits_for(&waits, fence[k]));
            if (k + ADSM_FLIGHTS > i + 1)
                ck_assert_uint_eq(waits.fence[0].seq, fence[k].seq);
        }
    }
}
END_TEST

/* ---- memory ----------------------------------------------------------------------- */

enum { PIECE = 64 << 10 };

static struct adsm_copy *new_copy(struct adsm_accel *accel, size_t bytes)
{
    struct adsm_copy *copy = calloc(1, sizeof *copy);
    ck_assert_ptr_nonnull(copy);
    copy->accel = accel;
    copy->bytes = bytes;
    copy->box = copy->room = bytes_of(0, (long)bytes);
    copy->uses = 1;
    return copy;
}

START_TEST(copies_that_cannot_fit_are_refused_before_any_is_given_up)
{
    struct adsm_accel *accel = up("rolling", 1);
    struct adsm_copy *some[] = {new_copy(accel, PIECE), new_copy(accel, PIECE),
                                new_copy(accel, PIECE)};
    small.memory[0] = 2 * PIECE;
    ck_assert_int_eq(adsm_memory_get(accel, some, 3), ADSM_E_DEVICE_NOMEM);
    for (int i = 0; i < 3; i++)
        ck_assert_ptr_null(some[i]->range);
    ck_assert_uint_eq(adsm_store_kept(accel), 0); /* none was asked for */
    must(adsm_memory_get(accel, some, 2));
    for (int i = 0; i < 3; i++) {
        if (some[i]->range)
            adsm_memory_put(some[i]);
        free(some[i]);
    }
    adsm_accel_forget(accel);
    ck_assert_uint_eq(small.used[0], 0);
}
END_TEST

START_TEST(memory_that_fails_leaves_no_copy_with_some)
{
    struct adsm_accel *accel = up("rolling", 1);
    for (unsigned n = 1; n <= 3; n++) {
        struct adsm_copy *some[] = {new_copy(accel, n * 3 * PIECE),
                                    new_copy(accel, n * 11 * PIECE)};
        small_fail("memory_alloc", n, ADSM_E_DEVICE);
        int rc = adsm_memory_get(accel, some, 2);
        ck_assert_int_eq(rc, n <= 2 ? ADSM_E_DEVICE : ADSM_OK);
        for (int i = 0; i < 2; i++) {
            ck_assert_int_eq(some[i]->range != NULL, rc == ADSM_OK);
            if (some[i]->range)
                adsm_memory_put(some[i]);
            free(some[i]);
        }
        (void)small_has_failed();
    }
    adsm_accel_forget(accel);
    ck_assert_uint_eq(small.used[0], 0);
}
END_TEST

static int prefetch(struct adsm_accel *accel, void *at, long begin, long bytes)
{
    struct adsm_object *object = adsm_index_find(at);
    struct adsm_array array = {.object = object,
                               .generation = atomic_load(&object->generation),
                               .elem = 1,
                               .shape = bytes_of(0, (long)object->bytes)};
    adsmBox box = bytes_of(begin, begin + bytes);
    return adsm_spread_prefetch(&array, &box, accel);
}

/* Each has what memory is given in, whatever it needs of that. */
START_TEST(small_copies_make_room_for_as_much_as_they_have)
{
    enum { LEAST = ADSM_STORE_LEAST };
    struct adsm_accel *accel = up("rolling", 1);
    void *at;
    small.memory[0] = 2 * LEAST;
    must(adsm_heap_alloc(accel, 8 * PIECE, &adsm_kind_homeless, &at));
    must(prefetch(accel, at, 0, 100));
    must(prefetch(accel, at, PIECE, 100));
    ck_assert_uint_eq(small.used[0], 2 * LEAST);
    ck_assert_int_eq(prefetch(accel, at, 2 * PIECE, 2 * LEAST + 1),
                     ADSM_E_DEVICE_NOMEM);
    struct adsm_copy *some[] = {new_copy(accel, 100), new_copy(accel, 100),
                                new_copy(accel, 100)};
    ck_assert_int_eq(adsm_memory_get(accel, some, 3), ADSM_E_DEVICE_NOMEM);
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_copies_evicted), 0);
    must(prefetch(accel, at, 2 * PIECE, LEAST + 1));
    ck_assert_uint_eq(small.used[0], 2 * LEAST);
    for (int i = 0; i < 3; i++)
        free(some[i]);
    must(adsm_heap_free(at));
}
END_TEST

SUITE_MAIN("range", 30, stretches_of_a_box_are_its_bytes_once_each,
           shape_of_an_array_covers_its_object,
           reader_waits_for_writes_that_meet_its_box_and_a_writer_for_all,
           full_list_forgets_nobody,
           rows_are_waited_for_together_and_pieces_apart,
           full_list_of_flights_forgets_nobody_and_knows_the_last,
           copies_that_cannot_fit_are_refused_before_any_is_given_up,
           memory_that_fails_leaves_no_copy_with_some,
           small_copies_make_room_for_as_much_as_they_have)
