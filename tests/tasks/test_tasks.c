/*
 * Calls whose parts are tasks: what is behind what, who waits for which, and what
 * is said of those that fail. Under each policy; on several devices.
 */
#include "adsm_skeleton.h"
#include "call/fixture.h"
#include "call/lose.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N = 4096, TILE = 1024, TILES = N / TILE };
static const char *const policies[] = {"eager", "prio",  "random", "ws",
                                       "dm",    "dmda",  "dmdar",  "dmdas",
                                       "heft",  "static"};
enum { POLICIES = sizeof policies / sizeof policies[0] };

static adsmKernel *map, *late;
static const long ms = 1000000;

static void start(void)
{
    adsmModule *module;
    map = kernel("map");
    must(adsmModuleLoad(&module, STAMP_PTX, 0));
    must(adsmKernelGet(&late, module, "late", ADSM_ONLY_ARGUMENTS));
}

/* As the kernels have it. */
static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

static adsmOpts tiles(const char *policy)
{
    return *adsmWith(.devices = ADSM_ALL_DEVICES, .tile = {TILE},
                     .policy = policy);
}

static void call_map(const adsmOpts *opts, const int *x, int *y, int a)
{
    must(adsmCallWith(opts, map, adsmR1(N), adsmIn(x), adsmInOut(y),
                      adsmVal(a)));
}

/* y = x, not before `until`. */
static void call_late(const adsmOpts *opts, const int *x, int *y, long n,
                      long until)
{
    must(adsmCallWith(opts, late, adsmR1(n), adsmIn(x), adsmOut(y),
                      adsmVal(until)));
}

static bool is_done(adsmEvent event)
{
    int done = -1;
    must(adsmTest(event, &done));
    ck_assert(done == 0 || done == 1);
    return done;
}

/* ---- order ------------------------------------------------------------------- */

/* Two arrays that take turns, and the CPU's stores between. */
START_TEST(results_are_those_of_calls_in_order)
{
    adsmOpts o = tiles(policies[_i]);
    int want[2][N],
        *p[] = {array(adsmR1(N), 0), array(adsmR1(N), ADSM_NO_HOME)};
    start();
    for (int k = 0; k < 2; k++) {
        number(p[k], N, k);
        number(want[k], N, k);
    }
    for (int round = 0; round < 60; round++) {
        int *x = p[round & 1], *y = p[!(round & 1)];
        int *from = want[round & 1], *to = want[!(round & 1)];
        o.tile[0] = round % 7 == 0 ? N : TILE - round;
        call_map(&o, x, y, round);
        for (int i = 0; i < N; i++)
            to[i] = (int)(2u * (unsigned)from[i] + (unsigned)to[i] +
                          (unsigned)round);
        if (round % 5 == 0)
            y[round * 7] = to[round * 7] = -round; /* behind the call */
        if (round % 9 == 0)
            x[round * 11] = from[round * 11] = round; /* not seen by it */
    }
    for (int k = 0; k < 2; k++)
        ck_assert_int_eq(memcmp(p[k], want[k], sizeof want[k]), 0);
    must(adsmSync());
    must(adsmFree(p[0]));
    must(adsmFree(p[1]));
}
END_TEST

/* What the CPU stores into what a waiting task reads comes behind it. */
START_TEST(stores_wait_for_tasks_that_read)
{
    adsmOpts o = tiles("eager");
    int *x = array(adsmR1(N), 0), *y = array(adsmR1(N), 0),
        *z = array(adsmR1(N), 0);
    start();
    number(x, N, 1);
    number(z, N, 2);
    long until = now() + 100 * ms;
    call_late(&o, x, y, N, until); /* all devices have something to do */
    call_late(&o, z, y, N, until);
    call_late(&o, z, x, N, 0);
    call_late(&o, x, y, N, 0);
    z[N - 1] = 77;
    ck_assert_int_eq(y[N - 1], (N - 1) * 61 + 2);
    ck_assert_int_eq(x[N - 1], (N - 1) * 61 + 2);
    ck_assert_int_eq(z[N - 1], 77);
}
END_TEST

/* ---- waiting ------------------------------------------------------------------ */

START_TEST(calls_return_before_their_parts_are_begun)
{
    adsmOpts o = tiles(policies[_i]);
    adsmEvent first, last;
    int *x = array(adsmR1(N), 0), *y = array(adsmR1(N), 0);
    start();
    number(x, N, 5);
    call_late(&o, x, y, N, 0);
    must(adsmSync()); /* code is built, devices are up */
    long begun = now(), until = begun + 300 * ms;
    o.event = &first;
    call_late(&o, x, y, N, until);
    for (int k = 0; k < 20; k++)
        call_late(&o, k & 1 ? x : y, k & 1 ? y : x, N, 0);
    o.event = &last;
    call_late(&o, x, y, N, 0);
    bool early = now() < until; /* a machine may be slow */
    ck_assert(!early || (!is_done(first) && !is_done(last)));
    must(adsmWait(last));
    for (int k = 0; k < 1000 && !(is_done(first) && is_done(last)); k++)
        nanosleep(&(struct timespec){0, ms}, NULL);
    ck_assert(is_done(first) && is_done(last));
    ck_assert_int_ge(now(), until);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(y[i], i * 61 + 5);
}
END_TEST

/* Tasks that cannot be begun for long use some blocks, and others not. */
START_TEST(accesses_wait_for_the_tasks_of_their_blocks)
{
    enum { BIG = 1 << 20, HALF = BIG / 2 };
    adsmOpts o = *adsmWith(.devices = 1, .tile = {HALF / 4}, .policy = "eager");
    int *x = array(adsmR1(BIG), 0), *y = array(adsmR1(BIG), 0),
        *slow = array(adsmR1(16), 0);
    start();
    number(x, BIG, 3);
    slow[0] = 1;
    call_late(&o, x, y, BIG, 0);
    must(adsmSync());
    long until = now() + 400 * ms;
    for (int k = 0; k < 4; k++) /* the device takes two */
        call_late(&o, slow, slow + 8, 8, until);
    must(adsmCallWith(&o, map, adsmR1(HALF), adsmIn(x), adsmInOut(y),
                      adsmVal((int){1})));
    ck_assert_int_eq(x[0], 3); /* a read beside reads */
    ck_assert_int_eq(y[BIG - 1], (BIG - 1) * 61 + 3);
    y[BIG - 1] = 0;
    x[BIG - 1] = 0;
    ck_assert_int_lt(now(), until);
    ck_assert_int_eq(y[0], 3 * 3 + 1);
    ck_assert_int_ge(now(), until);
}
END_TEST

START_TEST(free_waits_for_tasks)
{
    adsmOpts o = tiles(policies[_i]);
    int *x = array(adsmR1(N), 0), *y = array(adsmR1(N), ADSM_NO_HOME);
    start();
    number(x, N, 5);
    for (int k = 0; k < 30; k++)
        call_late(&o, x, y, N, now() + ms);
    must(adsmFree(x));
    ck_assert_int_eq(y[N - 1], (N - 1) * 61 + 5);
    must(adsmFree(y));
}
END_TEST

/* Calls of other kinds come behind tasks. */
START_TEST(calls_that_are_no_tasks_wait_for_those_that_are)
{
    adsmOpts o = tiles("ws");
    int *x = array(adsmR1(N), 0), *y = array(adsmR1(N), 0);
    start();
    number(x, N, 5);
    number(y, N, 9);
    for (int k = 0; k < 8; k++)
        call_late(&o, x, y, N, now() + ms);
    must(adsmCall(map, N, adsmIn(x), adsmInOut(y), adsmVal((int){4})));
    must(adsmReduce(adsmOperatorOf(ADSM_MAX, ADSM_I32), x, y, adsmR1(N), -1,
                    adsmWith(.devices = ADSM_ALL_DEVICES)));
    ck_assert_int_eq(x[0], 3 * ((N - 1) * 61 + 5) + 4);
}
END_TEST

static _Atomic int followed;
static void follow(void *arg, adsmStatus status)
{
    int was = atomic_fetch_add(&followed, 1);
    if (status != ADSM_OK || was != (int)(intptr_t)arg)
        atomic_store(&followed, -1000);
}

START_TEST(functions_follow_calls_in_their_order)
{
    adsmOpts o = tiles(policies[_i]);
    int *x = array(adsmR1(N), 0), *y = array(adsmR1(N), 0);
    start();
    number(x, N, 5);
    for (intptr_t k = 0; k < 20; k++) {
        o.then = follow;
        o.then_arg = (void *)k;
        o.priority = (int)k;
        call_late(&o, x, k & 1 ? x : y, N, now() + ms);
    }
    must(adsmSync());
    for (int k = 0; k < 2000 && atomic_load(&followed) != 20; k++)
        nanosleep(&(struct timespec){0, ms}, NULL);
    ck_assert_int_eq(atomic_load(&followed), 20);
}
END_TEST

static _Atomic int told[2];
static void tell(void *arg, int done, int parts)
{
    (void)arg;
    atomic_store(&told[0], done);
    atomic_store(&told[1], parts);
}

START_TEST(sync_waits_and_progress_counts_tasks)
{
    adsmOpts o = tiles(policies[_i]);
    int *x = array(adsmR1(N), 0), *y = array(adsmR1(N), 0);
    start();
    number(x, N, 5);
    long until = now() + 60 * ms;
    o.sync = 1;
    o.progress = tell;
    call_late(&o, x, y, N, until);
    ck_assert_int_ge(now(), until);
    ck_assert_int_eq(atomic_load(&told[0]), TILES);
    ck_assert_int_eq(atomic_load(&told[1]), TILES);
}
END_TEST

START_TEST(after_orders_what_data_does_not)
{
    adsmOpts o = tiles(policies[_i]);
    adsmEvent first;
    int *x = array(adsmR1(N), 0), *y = array(adsmR1(N), 0),
        *z = array(adsmR1(N), 0);
    long *what = adsmAlloc(8 * sizeof *what), *began = adsmAlloc(64),
         *ended = adsmAlloc(64);
    adsmModule *module;
    adsmKernel *stamp;
    start();
    must(adsmModuleLoad(&module, STAMP_PTX, 0));
    must(adsmKernelGet(&stamp, module, "stamp", ADSM_ONLY_ARGUMENTS));
    number(x, N, 5);
    memset(what, 0, 8 * sizeof *what);
    for (int k = 0; k < 6; k++)
        call_late(&o, x, k & 1 ? y : z, N, now() + ms);
    long until = now() + 80 * ms;
    o.event = &first;
    call_late(&o, x, y, N, until);
    adsmOpts behind =
        *adsmWith(.devices = ADSM_ALL_DEVICES, .parts = 1, .after = &first,
                  .afters = 1, .policy = policies[_i], .priority = 9);
    must(adsmCallWith(&behind, stamp, adsmR1(8), adsmIn(what), adsmOut(began),
                      adsmOut(ended), adsmVal((long){0})));
    must(adsmSync());
    ck_assert_int_ge(began[0], until);
}
END_TEST

/* Of those that wait for the one device. */
START_TEST(higher_priorities_go_first)
{
    enum { CALLS = 6 };
    long *what = adsmAlloc(8 * sizeof *what), *began[CALLS];
    int *x = array(adsmR1(N), 0), *y = array(adsmR1(N), 0),
        *z = array(adsmR1(N), 0);
    adsmModule *module;
    adsmKernel *stamp;
    adsmOpts o = *adsmWith(.devices = 1, .parts = 1, .policy = "prio");
    start();
    must(adsmModuleLoad(&module, STAMP_PTX, 0));
    must(adsmKernelGet(&stamp, module, "stamp", ADSM_ONLY_ARGUMENTS));
    number(x, N, 5);
    memset(what, 0, 8 * sizeof *what);
    call_late(&o, x, y, N, 0);
    must(adsmSync());
    long until = now() + 800 * ms;
    call_late(&o, x, y, N, until);
    call_late(&o, x, z, N, 0);
    nanosleep(&(struct timespec){0, 200 * ms}, NULL); /* both are begun */
    for (int k = 0; k < CALLS; k++) {
        began[k] = adsmAlloc(2 * 64);
        o.priority = k;
        must(adsmCallWith(&o, stamp, adsmR1(8), adsmIn(what), adsmOut(began[k]),
                          adsmOut(began[k] + 8), adsmVal((long){0})));
    }
    bool early = now() < until; /* a machine may be slow */
    must(adsmSync());
    for (int k = 1; k < CALLS && early; k++)
        ck_assert_int_lt(began[k][0], began[k - 1][0]);
}
END_TEST

/* ---- who runs what ------------------------------------------------------------ */

static unsigned devices_of(const int *array)
{
    adsmCopyInfo info[64];
    unsigned set = 0;
    int n = adsmCopies(array, info, 64);
    for (int i = 0; i < n && i < 64; i++)
        if (info[i].only > 0)
            set |= 1u << info[i].device;
    return set;
}

/* One device is kept busy: the others do the rest. */
START_TEST(others_run_what_waits_for_a_busy_device)
{
    int *x = array(adsmR1(N), 0), *slow = array(adsmR1(8), 0),
        *y = array(adsmR1(N), ADSM_NO_HOME);
    adsmOpts busy = *adsmWith(.devices = 1, .parts = 1, .policy = policies[_i]),
             o = tiles(policies[_i]);
    start();
    number(x, N, 5);
    slow[0] = 1;
    adsmOpts all = tiles("static");
    call_late(&all, x, y, N, 0);
    must(adsmSync()); /* code is built on all */
    long until = now() + 1500 * ms;
    for (int k = 0; k < 2; k++)
        call_late(&busy, slow, slow + 4, 4, until);
    nanosleep(&(struct timespec){0, 200 * ms}, NULL); /* both are begun */
    o.tile[0] = N / 64;
    call_late(&o, x, y, N, 0);
    ck_assert_int_eq(y[0], 5);
    ck_assert(now() < until);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(y[i], i * 61 + 5);
    ck_assert(now() < until);
}
END_TEST

START_TEST(random_uses_all_devices)
{
    int *x = array(adsmR1(N), 0), *y = array(adsmR1(N), ADSM_NO_HOME);
    adsmOpts o = tiles("random");
    start();
    number(x, N, 5);
    o.tile[0] = N / 64;
    call_late(&o, x, y, N, 0);
    must(adsmSync());
    ck_assert_uint_eq(devices_of(y), 3);
}
END_TEST

/* The second device is a little faster, and links are slow (Meson): tasks stay
 * where their data is. */
START_TEST(bytes_count_under_dmda)
{
    enum { BIG = 1 << 19 };
    const char *policy = policies[_i];
    adsmOpts o = *adsmWith(.devices = 3, .parts = 1, .policy = policy),
             first = *adsmWith(.devices = 1, .policy = "static");
    int *x = array(adsmR1(BIG), ADSM_NO_HOME),
        *y = array(adsmR1(BIG), ADSM_NO_HOME);
    start();
    number(x, BIG, 1);
    adsmOpts both = *adsmWith(.devices = 3);
    for (int round = 0; round < 8; round++) {
        call_late(&both, x, y, BIG, 0);
        must(adsmSync()); /* what it took is known to the next one */
    }
    y[0] = 0; /* the other device has what is old by now */
    call_late(&first, x, y, BIG, 0);
    for (int round = 0; round < 6; round++) {
        call_late(&o, round & 1 ? x : y, round & 1 ? y : x, BIG, 0);
        must(adsmSync());
    }
    ck_assert_uint_eq(devices_of(y), 1);
    ck_assert_uint_eq(devices_of(x), 1);
    ck_assert_int_eq(y[BIG - 1], (BIG - 1) * 61 + 1);
}
END_TEST

/* ---- what fails ---------------------------------------------------------------- */

START_TEST(failures_are_told_once_and_stop_nobody)
{
    adsmOpts o = tiles(policies[_i]), bad = o;
    adsmEvent event;
    int *x = array(adsmR1(N), 0), *y = array(adsmR1(N), 0);
    start();
    number(x, N, 5);
    bad.block[0] = 4096;
    bad.event = &event;
    must(adsmCallWith(&bad, late, adsmR1(N), adsmIn(x), adsmOut(y),
                      adsmVal((long){0})));
    call_late(&o, x, y, N, 0);
    ck_assert_int_ne(adsmWait(event), ADSM_OK);
    ck_assert_int_eq(adsmSync(), ADSM_E_INVALID);
    ck_assert_ptr_nonnull(strstr(adsmErrorDetail(), "kernel 'late'"));
    ck_assert_int_eq(adsmSync(), ADSM_OK);
    ck_assert_int_eq(y[N - 1], (N - 1) * 61 + 5);
    bad.event = NULL;
    bad.sync = 1;
    ck_assert_int_eq(adsmCallWith(&bad, late, adsmR1(N), adsmIn(x), adsmOut(y),
                                  adsmVal((long){0})),
                     ADSM_E_INVALID);
    ck_assert_ptr_nonnull(strstr(adsmErrorDetail(), "kernel 'late'"));
    ck_assert_int_eq(adsmSync(), ADSM_OK);
}
END_TEST

/* It refuses everything at once, and gets nothing. */
START_TEST(lost_devices_get_no_tasks)
{
    int *x = array(adsmR1(N), ADSM_NO_HOME),
        *y = array(adsmR1(N), ADSM_NO_HOME);
    adsmOpts o = tiles(policies[_i]);
    start();
    number(x, N, 5);
    call_late(&o, x, y, N, 0);
    must(adsmSync());
    lose(1);
    number(x, N, 6);
    o.tile[0] = N / 64;
    for (int k = 0; k < 4; k++)
        call_late(&o, x, y, N, 0);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(y[i], i * 61 + 6);
}
END_TEST

START_TEST(unknown_policies_are_told_the_nearest)
{
    int *x = array(adsmR1(N), 0);
    start();
    static const char *const wrong[][2] = {{"eagr", "'eager'"},
                                           {"dmd", "'dm'"},
                                           {"", "'ws'"},
                                           {"dmdaa", "'dmda'"},
                                           {"rnadom", "'random'"}};
    for (int k = 0; k < 5; k++) {
        adsmOpts o = tiles(wrong[k][0]);
        ck_assert_int_eq(adsmCallWith(&o, map, adsmR1(N), adsmIn(x),
                                      adsmInOut(x), adsmVal((int){4})),
                         ADSM_E_INVALID);
        ck_assert_msg(strstr(adsmErrorDetail(), "nearest name is") &&
                          (k == 1 || strstr(adsmErrorDetail(), wrong[k][1])),
                      "%s", adsmErrorDetail());
    }
}
END_TEST

START_TEST(more_tasks_than_there_is_room_for)
{
    adsmOpts o = *adsmWith(.devices = ADSM_ALL_DEVICES, .parts = 1,
                           .policy = policies[_i]);
    int *x = array(adsmR1(64), 0), *y = array(adsmR1(64), 0);
    start();
    memset(x, 0, 64 * sizeof *x);
    memset(y, 0, 64 * sizeof *y);
    for (int k = 0; k < 6000; k++)
        must(adsmCallWith(&o, map, adsmR1(64), adsmIn(x), adsmInOut(y),
                          adsmVal((int){1})));
    ck_assert_int_eq(y[63], 6000);
}
END_TEST

static void *make_calls(void *policy)
{
    adsmOpts o = tiles(policy);
    int *x = array(adsmR1(N), 0), *y = array(adsmR1(N), ADSM_NO_HOME), want = 0;
    memset(x, 0, N * sizeof *x);
    memset(y, 0, N * sizeof *y);
    for (int k = 0; k < 100; k++) {
        call_map(&o, x, y, k);
        want += k;
        if (k % 10 == 0)
            ck_assert_int_eq(y[k], want);
    }
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(y[i], want);
    must(adsmFree(x));
    must(adsmFree(y));
    return NULL;
}

START_TEST(threads_make_calls_at_once)
{
    pthread_t thread[POLICIES];
    start();
    for (int k = 0; k < POLICIES; k++)
        pthread_create(&thread[k], NULL, make_calls, (void *)policies[k]);
    for (int k = 0; k < POLICIES; k++)
        pthread_join(thread[k], NULL);
}
END_TEST

START_TEST(forked_children_have_no_tasks)
{
    adsmOpts o = tiles("eager");
    int *x = array(adsmR1(N), 0), *y = array(adsmR1(N), 0), status = 1;
    start();
    number(x, N, 5);
    for (int k = 0; k < 20; k++)
        call_late(&o, x, y, N, now() + 5 * ms);
    pid_t child = fork();
    if (child == 0)
        exit(adsmSync() == ADSM_E_FORKED &&
                     adsmCallWith(&o, map, adsmR1(N), adsmIn(x), adsmInOut(y),
                                  adsmVal((int){1})) == ADSM_E_FORKED
                 ? 0
                 : 1);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(y[N - 1], (N - 1) * 61 + 5);
}
END_TEST

/* The program ends: what is not begun never is, and nobody hangs. */
START_TEST(processes_end_with_tasks_in_every_state)
{
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        adsmOpts o = tiles(policies[_i]);
        int *x = array(adsmR1(N), 0), *y = array(adsmR1(N), 0);
        start();
        number(x, N, 5);
        for (int k = 0; k < 200; k++)
            call_late(&o, k & 1 ? x : y, k & 1 ? y : x, N, now() + ms);
        exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tasks");
    TCase *tasks = tcase_create("tasks");
    tcase_set_timeout(tasks, 60);
#define EACH(name) tcase_add_loop_test(tasks, name, 0, POLICIES - 1)
    tcase_add_loop_test(tasks, results_are_those_of_calls_in_order, 0,
                        POLICIES);
    tcase_add_test(tasks, stores_wait_for_tasks_that_read);
    EACH(calls_return_before_their_parts_are_begun);
    tcase_add_test(tasks, accesses_wait_for_the_tasks_of_their_blocks);
    EACH(free_waits_for_tasks);
    tcase_add_test(tasks, calls_that_are_no_tasks_wait_for_those_that_are);
    EACH(functions_follow_calls_in_their_order);
    EACH(sync_waits_and_progress_counts_tasks);
    EACH(after_orders_what_data_does_not);
    tcase_add_test(tasks, higher_priorities_go_first);
    /* eager, prio and ws: no measurement is needed */
    tcase_add_loop_test(tasks, others_run_what_waits_for_a_busy_device, 0, 2);
    tcase_add_loop_test(tasks, others_run_what_waits_for_a_busy_device, 3, 4);
    tcase_add_test(tasks, random_uses_all_devices);
    EACH(failures_are_told_once_and_stop_nobody);
    EACH(lost_devices_get_no_tasks);
    tcase_add_test(tasks, unknown_policies_are_told_the_nearest);
    EACH(more_tasks_than_there_is_room_for);
    tcase_add_test(tasks, threads_make_calls_at_once);
    tcase_add_test(tasks, forked_children_have_no_tasks);
    EACH(processes_end_with_tasks_in_every_state);
    suite_add_tcase(suite, tasks);
    if (getenv("SOFTCUDA_PACE")) {
        TCase *bytes = tcase_create("bytes");
        tcase_set_timeout(bytes, 60);
        tcase_add_loop_test(bytes, bytes_count_under_dmda, 5, 8);
        suite_add_tcase(suite, bytes);
    }
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
