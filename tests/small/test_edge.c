/*
 * What a kernel finds where it looks: the bytes of its part of an array and,
 * beyond the array's edge, those that the edge names; also of arrays that share
 * their object with others.
 */
#include "small/fixture.h"

#include "mm/doors/loan.h"
#include "mm/heap/heap.h"
#include "mm/object/index.h"
#include "range/box.h"
#include "range/edge.h"
#include "range/spread.h"
#include "range/state.h"

enum { BYTES = 6 * PAGE, DEVICES = 2 };

static struct adsm_accel *accel[DEVICES];
static struct adsm_object *object;
static uint8_t model[BYTES];
static const uint8_t pad[] = {200, 201, 202, 203};
static unsigned chance;

static long draw(long n)
{
    return rand_r(&chance) % n;
}

/* ---- the rule --------------------------------------------------------------- */

/* Index that a byte beyond the edge comes from; -1: the padding. */
static long source_of(adsmEdge edge, long n, long unit, long x)
{
    if (x >= 0 && x < n)
        return x;
    switch (edge) {
    case ADSM_EDGE_CLAMP:
        return x < 0 ? ((x % unit) + unit) % unit : n - unit + (x - n) % unit;
    case ADSM_EDGE_WRAP:
        return ((x % n) + n) % n;
    default:
        return -1;
    }
}

static void check_edge(adsmEdge edge, long n, long unit, long before,
                       long behind)
{
    long hi = n + behind * unit;
    for (long end, x = -before * unit; x < hi; x = end) {
        long from;
        end = adsm_edge_stretch(edge, n, unit, x, hi, &from);
        ck_assert_int_gt(end, x);
        ck_assert_int_le(end, hi);
        for (long i = x; i < end; i++) {
            long wanted = source_of(edge, n, unit, i);
            long got = from < 0 ? -1 : from + i - x;
            if (got != wanted)
                ck_abort_msg("edge %d n %ld unit %ld: %ld is %ld", edge, n,
                             unit, i, got);
        }
    }
}

START_TEST(byte_beyond_an_edge_comes_from_where_the_edge_says)
{
    static const adsmEdge edges[] = {ADSM_EDGE_CLAMP, ADSM_EDGE_WRAP,
                                     ADSM_EDGE_PAD};
    for (int e = 0; e < 3; e++)
        for (long unit = 1; unit <= 4; unit++)
            for (long count = 1; count <= 4; count++)
                for (long before = 0; before <= 6; before++)
                    for (long behind = 0; behind <= 6; behind++)
                        check_edge(edges[e], count * unit, unit, before,
                                   behind);
}
END_TEST

/* ---- arrays and what is done to them ---------------------------------------- */

static void object_up(void)
{
    void *at;
    accel[0] = up("rolling", DEVICES);
    must(adsm_accel_open(1, &accel[1]));
    must(adsm_heap_alloc(accel[0], BYTES, &adsm_kind_homeless, &at));
    object = adsm_index_find(at);
}

static void object_down(void)
{
    must(adsm_heap_free(object->host));
    for (int d = 0; d < DEVICES; d++) {
        adsm_accel_forget(accel[d]);
        ck_assert_uint_eq(small.used[d], 0);
    }
}

static void write_on_host(void)
{
    struct adsm_loan loan;
    size_t begin = (size_t)draw(BYTES);
    size_t bytes = 1 + (size_t)draw((long)(BYTES - begin));
    long first = draw(190);
    must(adsm_loan_begin(object->host + begin, bytes, ADSM_WRITE, &loan));
    for (size_t i = 0; i < bytes; i++)
        model[begin + i] = (uint8_t)((first + (long)i) % 190);
    memcpy(loan.address, model + begin, bytes);
    must(adsm_loan_end(&loan, bytes));
}

static struct adsm_array some_array(bool shares)
{
    struct adsm_array array = {.object = object,
                               .generation = atomic_load(&object->generation),
                               .elem = 1 + (size_t)draw(4),
                               .shape.nd = 1 + (int)draw(3)};
    for (int d = 0; d < array.shape.nd; d++)
        array.shape.hi[d] = 1 + draw(d == 0 ? 20 : 9);
    array.shape.hi[array.shape.nd - 1] *= (long)array.elem;
    array.origin = shares ? (size_t)draw(BYTES / 2) : 0;
    return array;
}

static long unit_of(const struct adsm_array *array, int d)
{
    return d == array->shape.nd - 1 ? (long)array->elem : 1;
}

static adsmBox some_box(const struct adsm_array *array)
{
    adsmBox box = array->shape;
    for (int d = 0; d < box.nd; d++) {
        long unit = unit_of(array, d), n = box.hi[d] / unit;
        box.lo[d] = draw(n);
        box.hi[d] = (box.lo[d] + 1 + draw(n - box.lo[d])) * unit;
        box.lo[d] *= unit;
    }
    return box;
}

static struct adsm_want some_want(const struct adsm_array *array)
{
    static const adsmBox none;
    adsmBox box = some_box(array);
    struct adsm_want want = {.array = *array,
                             .read = box,
                             .write = none,
                             .around = box,
                             .edge = (adsmEdge)draw(4),
                             .pad = pad,
                             .rows = draw(3) == 0};
    want.write.nd = box.nd;
    for (int d = 0; d < box.nd && want.edge != ADSM_EDGE_NONE; d++) {
        long radius = want.rows && d > 0 ? 0 : draw(8) * unit_of(array, d);
        want.around.lo[d] -= radius;
        want.around.hi[d] += radius;
        long lo = want.around.lo[d], hi = want.around.hi[d];
        want.read.lo[d] = lo < 0 ? 0 : lo;
        want.read.hi[d] = hi > array->shape.hi[d] ? array->shape.hi[d] : hi;
    }
    return want;
}

/* Where a kernel looks for a byte, and where the object has it. */
static uint8_t *looks_at(const struct adsm_want *want, const long at[3])
{
    size_t pitch[2];
    struct adsm_daddr base = adsm_spread_base(want, pitch);
    int nd = want->array.shape.nd;
    long offset = at[nd - 1];
    for (int d = 0; d < nd - 1; d++)
        offset += at[d] * (long)pitch[nd - 2 - d];
    return small_at((struct adsm_daddr){base.at + (uint64_t)offset});
}

static long place_of(const struct adsm_want *want, const long at[3])
{
    const struct adsm_array *array = &want->array;
    long place = 0;
    for (int d = 0; d < array->shape.nd; d++) {
        long n = array->shape.hi[d];
        long from = source_of(want->edge, n, unit_of(array, d), at[d]);
        if (from < 0)
            return -1;
        place = place * n + from;
    }
    return place + (long)array->origin;
}

static bool step(const adsmBox *box, long at[3])
{
    for (int d = box->nd - 1; d >= 0; d--) {
        if (++at[d] < box->hi[d])
            return true;
        at[d] = box->lo[d];
    }
    return false;
}

/* A kernel that takes a pointer knows how long the array's rows are. */
static void check_rows(const struct adsm_want *want)
{
    size_t pitch[2], natural[3];
    int nd = want->array.shape.nd;
    (void)adsm_spread_base(want, pitch);
    adsm_box_pitches(&want->array.shape, natural);
    for (int d = 0; d < nd - 1; d++)
        ck_assert_uint_eq(pitch[nd - 2 - d], natural[d]);
}

static void check_want(const struct adsm_want *want)
{
    long at[3], unit = (long)want->array.elem;
    if (want->rows)
        check_rows(want);
    memcpy(at, want->around.lo, sizeof at);
    do {
        long place = place_of(want, at);
        long x = at[want->around.nd - 1];
        uint8_t wanted =
            place < 0 ? pad[((x % unit) + unit) % unit] : model[place];
        if (*looks_at(want, at) != wanted) /* check writes each assertion */
            ck_abort_msg("edge %d of %d dimensions from %zu: (%ld %ld %ld) is "
                         "%d, not %d",
                         want->edge, want->around.nd, want->array.origin, at[0],
                         at[1], at[2], *looks_at(want, at), wanted);
    } while (step(&want->around, at));
}

/* What a kernel would do behind all that the call has enqueued for it. */
static void launch(struct adsm_part *part, struct adsm_want *want)
{
    adsm_stream stream = adsm_accel_launch_stream(part->accel);
    struct adsm_fence fence;
    must(adsm_spread_order(part, stream));
    must(adsm_fence_record(part->accel, stream, &fence));
    must(adsm_fence_wait(fence));
    if (want->write.hi[0] == 0) {
        check_want(want);
    } else {
        long at[3];
        memcpy(at, want->write.lo, sizeof at);
        do
            model[place_of(want, at)] = *looks_at(want, at) =
                (uint8_t)draw(190);
        while (step(&want->write, at));
    }
    adsm_spread_launched(part, fence);
}

static void call(struct adsm_want want)
{
    int failed;
    struct adsm_part part = {
        .accel = accel[draw(DEVICES)], .wants = &want, .count = 1};
    must(adsm_spread_begin(&part, 1, &failed));
    launch(&part, &want);
    adsm_spread_end(&part, 1);
    adsm_rwlock_acquire(&object->lock);
    ck_assert(adsm_ranged_is_valid(object));
    adsm_rwlock_release(&object->lock);
}

/* ---- cases ------------------------------------------------------------------- */

START_TEST(kernel_finds_what_the_edge_names_around_any_array)
{
    object_up();
    chance = (unsigned)_i;
    small.apart = _i % 3 == 0;
    for (int d = 0; d < DEVICES && _i % 4 > 1; d++)
        small.memory[d] = 256 << 10;
    for (int i = 0; i < 60; i++) {
        struct adsm_array array = some_array(_i % 2);
        struct adsm_want want = some_want(&array);
        write_on_host();
        if (draw(2)) {
            want.write = want.around = some_box(&array);
            want.read = (adsmBox){.nd = array.shape.nd};
            want.edge = ADSM_EDGE_NONE;
        }
        for (long times = 1 + draw(2); times > 0; times--)
            call(want);
        if (draw(8) == 0)
            must(adsm_spread_drop(&array, &array.shape, accel[draw(DEVICES)]));
    }
    object_down();
}
END_TEST

static struct adsm_array array_at(size_t origin, adsmBox shape)
{
    return (struct adsm_array){.object = object,
                               .generation = atomic_load(&object->generation),
                               .origin = origin,
                               .elem = 1,
                               .shape = shape};
}

/* Ten bytes from 3 on, and ten rows from 3 on. */
START_TEST(room_of_an_array_is_none_for_one_with_more_dimensions)
{
    object_up();
    write_on_host();
    call((struct adsm_want){.array = array_at(4, (adsmBox){.nd = 1, .hi = {8}}),
                            .read = {.nd = 1, .hi = {8}},
                            .write = {.nd = 1},
                            .around = {.nd = 1, .lo = {-1}, .hi = {9}},
                            .edge = ADSM_EDGE_CLAMP});
    for (int i = 0; i < DEVICES * 4; i++) /* on some device */
        call((struct adsm_want){
            .array = array_at(4, (adsmBox){.nd = 2, .hi = {20, 8}}),
            .read = {.nd = 2, .lo = {3}, .hi = {13, 8}},
            .write = {.nd = 2},
            .around = {.nd = 2, .lo = {3, -1}, .hi = {13, 9}},
            .edge = ADSM_EDGE_CLAMP});
    object_down();
}
END_TEST

/* The margin comes from a block that the part does not read. */
START_TEST(store_behind_a_call_is_not_seen_in_its_margin)
{
    enum { N = BYTES };
    int failed;
    object_up();
    struct adsm_want want = {.array = array_at(0, (adsmBox){1, {0}, {N}}),
                             .read = {.nd = 1, .hi = {10}},
                             .write = {.nd = 1},
                             .around = {.nd = 1, .lo = {-1}, .hi = {10}},
                             .edge = ADSM_EDGE_WRAP};
    struct adsm_part part = {.accel = accel[0], .wants = &want, .count = 1};
    volatile uint8_t *last = &object->host[N - 1];
    *last = 'a';
    must(adsm_spread_begin(&part, 1, &failed));
    const uint8_t *margin = looks_at(&want, want.around.lo);
    adsm_spread_end(&part, 1);
    *last = 'b';
    small_run();
    ck_assert_int_eq(*margin, 'a');
    object_down();
}
END_TEST

/* Said before anything has moved. */
START_TEST(array_inside_an_object_is_not_written_where_it_has_an_edge)
{
    int failed;
    object_up();
    adsmBox box = {.nd = 2, .hi = {8, 8}};
    adsmBox around = {.nd = 2, .lo = {-1}, .hi = {9, 8}};
    struct adsm_want want = {.array = array_at(4, box),
                             .read = box,
                             .write = box,
                             .around = around,
                             .edge = ADSM_EDGE_CLAMP};
    struct adsm_part part = {.accel = accel[0], .wants = &want, .count = 1};
    write_on_host();
    ck_assert_int_eq(adsm_spread_begin(&part, 1, &failed), ADSM_E_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(adsm_accel_error_text(), "adsmAllocArray"));
    ck_assert_uint_eq(small.used[0], 0);
    object_down();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("edge");
    TCase *tcase = tcase_create("edge");
    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, byte_beyond_an_edge_comes_from_where_the_edge_says);
    tcase_add_loop_test(
        tcase, kernel_finds_what_the_edge_names_around_any_array, 0, 12);
    tcase_add_test(tcase,
                   room_of_an_array_is_none_for_one_with_more_dimensions);
    tcase_add_test(tcase, store_behind_a_call_is_not_seen_in_its_margin);
    tcase_add_test(tcase,
                   array_inside_an_object_is_not_written_where_it_has_an_edge);
    suite_add_tcase(suite, tcase);
    return suite_finish(suite);
}
