/*
 * Which copies are evicted, and what is moved for it: random calls over pieces
 * of arrays that are larger together than the device, beside a list ordered by
 * last use. Calls are the first word's number of them, 4,000 without one.
 */
#include "call/fixture.h"

#include "base/stats.h"
#include "common/draw.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    ARRAYS = 6,
    PIECES = 100,
    ALL = ARRAYS * PIECES,
    INTS = 16 << 10, /* of a piece: 64 KiB, a block of the CPU */
    BYTES = INTS * (int)sizeof(int),
};

struct piece {
    bool there;       /* the device has a copy */
    bool current;     /* of the value */
    bool host;        /* the host has the value */
    unsigned long at; /* of its last use */
    int value;        /* of its first element, as it must be */
};

static struct piece pieces[ALL];
static int *arrays[ARRAYS];
static unsigned long now, resident, room, up, down, saved, evicted;

static int *address(int p)
{
    return arrays[p / PIECES] + (long)(p % PIECES) * INTS;
}

/* ---- the model --------------------------------------------------------------- */

static void evict_oldest(int but, int and)
{
    int oldest = -1;
    for (int p = 0; p < ALL; p++)
        if (pieces[p].there && p != but &&
            p != and&&(oldest < 0 || pieces[p].at < pieces[oldest].at))
            oldest = p;
    struct piece *piece = &pieces[oldest];
    if (piece->current && !piece->host) {
        saved += BYTES;
        piece->host = true;
    }
    piece->there = piece->current = false;
    resident--;
    evicted++;
}

static void use(int p)
{
    if (pieces[p].there)
        pieces[p].at = ++now;
}

static void bring(int p, int other)
{
    if (!pieces[p].there) {
        if (resident == room)
            evict_oldest(p, other);
        resident++;
        pieces[p].there = true;
        pieces[p].at = ++now;
    }
    if (!pieces[p].current)
        up += BYTES;
    pieces[p].current = true;
}

static void model_call(int x, int y, int a)
{
    use(x);
    use(y);
    bring(x, y);
    bring(y, x);
    pieces[y].host = false;
    /* Unsigned: it wraps around, as in the kernel. */
    pieces[y].value = (int)((unsigned)pieces[y].value +
                            2 * (unsigned)pieces[x].value + (unsigned)a);
}

static void model_read(int p)
{
    if (!pieces[p].host)
        down += BYTES;
    pieces[p].host = true;
}

static void model_write(int p, int value)
{
    model_read(p); /* the block is completed first */
    pieces[p].current = false;
    pieces[p].value = value;
}

/* ---- the library --------------------------------------------------------------- */

static void call(int x, int y, int a)
{
    static adsmKernel *map;
    if (!map)
        map = kernel("map");
    long lo = (long)(y % PIECES) * INTS;
    adsmBox range = {1, {lo}, {lo + INTS}};
    /* The kernel adds x[i] and y[i]: x is cut where y is. */
    must(adsmCallWith(adsmWith(.devices = 1, .chunks = 1), map, range,
                      adsmIn(arrays[x / PIECES]), adsmInOut(arrays[y / PIECES]),
                      adsmVal(a)));
}

static void compare(int step)
{
    ck_assert_msg(adsm_stats_get(ADSM_STAT_bytes_up) == up &&
                      adsm_stats_get(ADSM_STAT_up_part) == up &&
                      adsm_stats_get(ADSM_STAT_bytes_down) == down + saved &&
                      adsm_stats_get(ADSM_STAT_down_fault) == down &&
                      adsm_stats_get(ADSM_STAT_down_evict) == saved &&
                      adsm_stats_get(ADSM_STAT_copies_evicted) == evicted,
                  "after %d steps: up %lu not %lu, down %lu not %lu and "
                  "%lu saved, evicted %lu not %lu",
                  step, adsm_stats_get(ADSM_STAT_bytes_up), up,
                  adsm_stats_get(ADSM_STAT_bytes_down), down, saved,
                  adsm_stats_get(ADSM_STAT_copies_evicted), evicted);
}

/* ---- both ------------------------------------------------------------------------ */

static void start(void)
{
    size_t free_bytes, total;
    setenv("SOFTCUDA_MEMORY", "16M", 1);
    setenv("ADSM_BLOCK_SIZE", "64K", 1);
    for (int i = 0; i < ARRAYS; i++)
        arrays[i] = array(adsmR1((long)PIECES * INTS), ADSM_NO_HOME);
    for (int p = 0; p < ALL; p++) {
        for (int k = 0; k < INTS; k++)
            address(p)[k] = p;
        pieces[p] = (struct piece){.host = true, .value = p};
    }
    (void)kernel("map");
    must(adsmDeviceMemory(0, &free_bytes, &total));
    room = free_bytes / BYTES;
    adsm_stats_reset();
}

/* Mostly near the last one, so that some are there still. */
static int draw(void)
{
    static int last;
    last = (int)(below(3) ? (last + below(20)) % ALL : below(ALL));
    return last;
}

static void step(void)
{
    int p = draw(), x = (int)below(ARRAYS) * PIECES + p % PIECES;
    int value = (int)below(1000);
    switch (below(10)) {
    case 0:
        ck_assert_int_eq(address(p)[5], pieces[p].value);
        model_read(p);
        break;
    case 1:
        for (int k = 0; k < INTS; k++)
            address(p)[k] = value;
        model_write(p, value);
        break;
    default:
        if (x == p)
            return;
        call(x, p, value % 7);
        model_call(x, p, value % 7);
    }
}

static int steps = 4000;

START_TEST(oldest_copy_goes_and_only_what_it_alone_has_is_moved)
{
    start();
    for (int i = 0; i < steps; i++) {
        step();
        compare(i);
    }
    ck_assert_uint_gt(evicted, (unsigned)steps / 20);
    for (int p = 0; p < ALL; p++)
        ck_assert_int_eq(address(p)[INTS - 1], pieces[p].value);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc > 1)
        steps = atoi(argv[1]);
    Suite *suite = suite_create("lru");
    TCase *tcase = tcase_create("lru");
    tcase_set_timeout(tcase, 900);
    tcase_add_test(tcase, oldest_copy_goes_and_only_what_it_alone_has_is_moved);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
