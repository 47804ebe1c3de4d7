/*
 * What a kernel finds beyond the edge of an array.
 */
#include "small/fixture.h"

#include "mm/heap.h"
#include "mm/index.h"
#include "range/edge.h"
#include "range/state.h"

enum { BYTES = 6 * PAGE, DEVICES = 2 };

static struct adsm_accel *accel[DEVICES];
static struct adsm_object *object;

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
    must(adsm_heap_alloc(accel[0], BYTES, ADSM_FROM_HOMELESS, &at));
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

/* ---- cases ------------------------------------------------------------------- */

static struct adsm_array array_at(size_t origin, adsmBox shape)
{
    return (struct adsm_array){.object = object,
                               .generation = atomic_load(&object->generation),
                               .origin = origin,
                               .elem = 1,
                               .shape = shape};
}

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

int main(void)
{
    Suite *suite = suite_create("edge");
    TCase *tcase = tcase_create("edge");
    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, byte_beyond_an_edge_comes_from_where_the_edge_says);
    tcase_add_test(tcase, store_behind_a_call_is_not_seen_in_its_margin);
    suite_add_tcase(suite, tcase);
    return suite_finish(suite);
}
