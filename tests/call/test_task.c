/*
 * Calls as objects: they own what they were given, go on in other threads, are
 * freed in any state, need little of a stack and nothing of malloc(), and lose
 * nothing where memory runs out.
 *
 * Linked with malloc() and regions that count, and fail when they are told to;
 * so what counts are the calls alone, for Check asks for memory, too.
 */
#include "call/task.h"

#include "call/fixture.h"

#include "base/sanitized.h"

#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { N = 4096, NEVER = -1 };

/* ---- memory that fails ------------------------------------------------------------ */

static __thread int asked = 0, of_malloc = 0, fail_at = NEVER;

static bool fails(void)
{
    return asked++ == fail_at;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__real_adsm_region_get(struct adsm_region *region, size_t count,
                             size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_adsm_region_get(struct adsm_region *region, size_t count,
                             size_t bytes);

void *__wrap_malloc(size_t bytes)
{
    of_malloc++;
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    of_malloc++;
    return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    of_malloc++;
    return fails() ? NULL : __real_realloc(old, bytes);
}

void *__wrap_adsm_region_get(struct adsm_region *region, size_t count,
                             size_t bytes)
{
    return fails() ? NULL : __real_adsm_region_get(region, count, bytes);
}

/* ---- calls of all kinds -------------------------------------------------------------- */

static int *x, *y;
static adsmKernel *map;

static void make_arrays(void)
{
    map = kernel("map");
    x = array(adsmR1(N), ADSM_NO_HOME);
    y = array(adsmR1(N), 0);
}

static void fill(void)
{
    number(x, N, 1);
    number(y, N, 2);
}

static int mapped(long i, int a)
{
    return 2 * (int)(i * 61 + 1) + (int)(i * 61 + 2) + a;
}

static adsmStatus map_with(const adsmOpts *opts, int a)
{
    return adsmCallWith(opts, map, adsmR1(N), adsmIn(x), adsmInOut(y),
                        adsmVal(a));
}

static adsmStatus plain(void)
{
    int a = 5;
    return adsmCall(map, N, adsmIn(x), adsmInOut(y), adsmVal(a));
}

static adsmStatus spread(void)
{
    return map_with(adsmWith(.devices = 7), 5);
}

static adsmStatus in_chunks(void)
{
    return map_with(adsmWith(.devices = 3, .chunks = 3, .fetch = 1), 5);
}

static adsmStatus with_an_event(void)
{
    adsmEvent event;
    adsmStatus rc = map_with(adsmWith(.devices = 3, .event = &event), 5);
    return rc == ADSM_OK ? adsmWait(event) : rc;
}

static adsmStatus boxed(void)
{
    int a = 5;
    return adsmCallWith(adsmWith(.devices = 3), map, adsmR1(N),
                        adsmBoxed(x, ADSM_IN, "[i0:i1] | [0:$1]", 7),
                        adsmBoxed(y, ADSM_INOUT, "[i0:i1]"), adsmVal(a));
}

static void look(void *arg, int done, int parts)
{
    (void)arg;
    ck_assert_int_le(done, parts);
}

static adsmStatus watched(void)
{
    return map_with(adsmWith(.devices = 3, .progress = look, .sync = 1), 5);
}

static const struct {
    const char *name;
    adsmStatus (*make)(void);
    bool moves; /* each time: lists of what moves are malloc()ed */
} kinds[] = {
    {"plain", plain, false},        {"spread", spread, false},
    {"in chunks", in_chunks, true}, {"with an event", with_an_event, false},
    {"boxed", boxed, false},        {"watched", watched, false},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bool all_mapped(int a)
{
    for (long i = 0; i < N; i++)
        if (y[i] != mapped(i, a))
            return false;
    return true;
}

START_TEST(call_without_memory_says_so_and_changes_nothing)
{
    int k = _i, n, rc = ADSM_E_NOMEM;
    for (n = 0; rc != ADSM_OK; n++) {
        make_arrays();
        fill();
        asked = 0;
        fail_at = n;
        rc = kinds[k].make();
        fail_at = NEVER;
        ck_assert_uint_eq(adsm_region_sheets(), 0);
        if (rc != ADSM_OK) {
            ck_assert_msg(rc == ADSM_E_NOMEM, "%s, allocation %d: %s: %s",
                          kinds[k].name, n, adsmErrorName(rc),
                          adsmErrorDetail());
            ck_assert_str_ne(adsmErrorDetail(), "");
            must(adsmSync());
            fill();
            must(kinds[k].make());
        }
        ck_assert_msg(all_mapped(5), "%s, allocation %d", kinds[k].name, n);
        ck_assert_int_lt(n, 1000);
        must(adsmFree(x));
        must(adsmFree(y));
    }
    ck_assert_int_gt(n, 1); /* it did ask */
}
END_TEST

/* Of some calls of a kind, what the one asks for that asks for least. */
static int least_of(adsmStatus (*make)(void))
{
    int least = INT_MAX;
    make_arrays();
    fill();
    /* Parts follow the times that were measured, so some calls move bytes. */
    for (int turn = 0; turn < 20; turn++) {
        int before = of_malloc, rc = make();
        int times = of_malloc - before;
        must(rc);
        least = times < least ? times : least;
    }
    return least;
}

START_TEST(calls_like_some_before_ask_malloc_for_nothing)
{
    if (SANITIZED || getenv("ADSM_CHECK") || kinds[_i].moves)
        return;
    int least = least_of(kinds[_i].make);
    ck_assert_msg(least == 0, "%s: %d times", kinds[_i].name, least);
}
END_TEST

static sem_t over;

static void post(void *arg, adsmStatus status)
{
    (void)arg;
    must(status);
    sem_post(&over);
}

static adsmStatus followed(void)
{
    adsmStatus rc = map_with(adsmWith(.devices = 3, .then = post), 5);
    while (rc == ADSM_OK && sem_wait(&over) != 0)
        continue;
    return rc;
}

START_TEST(calls_that_are_followed_ask_malloc_for_nothing)
{
    if (SANITIZED || getenv("ADSM_CHECK"))
        return;
    ck_assert_int_eq(sem_init(&over, 0, 0), 0);
    ck_assert_int_eq(least_of(followed), 0);
}
END_TEST

/* ---- stacks --------------------------------------------------------------------------- */

enum { STACK = 256 << 10, PAINT = 0xa5, MOST_DEEP = 20 << 10 };

static void *make_once(void *kind)
{
    return (void *)(intptr_t)kinds[(intptr_t)kind].make();
}

/* How deep a call goes, with the driver, which is the software device's. */
static size_t depth_of(int kind)
{
    pthread_attr_t attr;
    pthread_t thread;
    void *rc;
    uint8_t *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(stack, MAP_FAILED);
    memset(stack, PAINT, STACK);
    ck_assert_int_eq(pthread_attr_init(&attr), 0);
    ck_assert_int_eq(pthread_attr_setstack(&attr, stack, STACK), 0);
    ck_assert_int_eq(
        pthread_create(&thread, &attr, make_once, (void *)(intptr_t)kind), 0);
    ck_assert_int_eq(pthread_join(thread, &rc), 0);
    must((int)(intptr_t)rc);
    size_t left = 0;
    while (left < STACK && stack[left] == PAINT)
        left++;
    munmap(stack, STACK);
    return STACK - left;
}

START_TEST(call_needs_little_of_a_stack)
{
    if (SANITIZED)
        return;
    make_arrays();
    fill();
    for (int turn = 0; turn < 2; turn++) /* the first one loads code */
        ck_assert_uint_lt(depth_of(_i), MOST_DEEP);
}
END_TEST

/* ---- steps --------------------------------------------------------------------------- */

static int make_map(const adsmOpts *opts, int a, struct adsm_task **task)
{
    const adsmArg args[] = {adsmIn(x), adsmInOut(y), adsmVal(a)};
    return adsm_task_make(map, &adsmR1(N), opts, -1, 3, args, task);
}

START_TEST(task_owns_what_it_was_given)
{
    struct adsm_task *task;
    int *out = array(adsmR1(N), ADSM_NO_HOME), r = 2, pad = 7;
    char text[] = "[i0:i1]";
    make_arrays();
    fill();
    adsmEvent first, *after = malloc(sizeof *after);
    adsmOpts *opts = malloc(sizeof *opts);
    must(map_with(adsmWith(.devices = 3, .event = &first), 5));
    *after = first;
    *opts = (adsmOpts){.devices = 3, .after = after, .afters = 1};
    adsmArg args[] = {
        adsmPad(adsmHalo(x, r, ADSM_EDGE_PAD), &pad),
        adsmBoxed(out, ADSM_OUT, text),
        adsmVal(r),
    };
    must(adsm_task_make(kernel("near"), &adsmR1(N), opts, -1, 3, args, &task));
    r = pad = 99;
    memset(text, 'x', sizeof text - 1);
    memset(args, 0xff, sizeof args);
    memset(after, 0xff, sizeof *after);
    memset(opts, 0xff, sizeof *opts);
    free(after);
    free(opts);
    must(adsm_task_plan(task));
    must(adsm_task_begin(task));
    must(adsm_task_end(task, ADSM_OK));
    adsm_task_free(task);
    for (long i = 0; i < N; i++) {
        int sum = 0;
        for (long k = -2; k <= 2; k++)
            sum += (int)(k + 3) *
                   (i + k < 0 || i + k >= N ? 7 : (int)((i + k) * 61 + 1));
        ck_assert_int_eq(out[i], sum);
    }
    ck_assert(all_mapped(5));
    ck_assert_uint_eq(adsm_region_sheets(), 0);
}
END_TEST

static void *go_on(void *given)
{
    struct adsm_task *task = given;
    int rc = task->state == ADSM_TASK_MADE      ? adsm_task_plan(task)
             : task->state == ADSM_TASK_PLANNED ? adsm_task_begin(task)
                                                : adsm_task_end(task, ADSM_OK);
    return (void *)(intptr_t)rc;
}

START_TEST(each_step_may_be_in_another_thread)
{
    struct adsm_task *task;
    make_arrays();
    for (uint32_t devices = 0; devices <= 0xf; devices += 5) {
        fill();
        must(make_map(adsmWith(.devices = devices), 3, &task));
        while (task->state != ADSM_TASK_ENDED) {
            pthread_t thread;
            void *rc;
            ck_assert_int_eq(pthread_create(&thread, NULL, go_on, task), 0);
            ck_assert_int_eq(pthread_join(thread, &rc), 0);
            must((int)(intptr_t)rc);
        }
        adsm_task_free(task);
        must(adsmSync());
        ck_assert(all_mapped(3));
    }
    ck_assert_uint_eq(adsm_region_sheets(), 0);
}
END_TEST

START_TEST(task_is_freed_in_any_state)
{
    struct adsm_task *task;
    make_arrays();
    for (int steps = 0; steps < 3; steps++) {
        fill();
        must(make_map(adsmWith(.devices = 3), 3, &task));
        for (int i = 0; i < steps; i++)
            must((int)(intptr_t)go_on(task));
        adsm_task_free(task);
        ck_assert_uint_eq(adsm_region_sheets(), 0);
        must(adsmSync());
        ck_assert_int_eq(y[9], steps < 2 ? 9 * 61 + 2 : mapped(9, 3));
    }
    adsm_task_free(NULL);
}
END_TEST

START_TEST(what_has_not_begun_has_no_event)
{
    struct adsm_task *task;
    adsmEvent event = {0};
    make_arrays();
    must(make_map(adsmWith(.devices = 3, .event = &event), 3, &task));
    ck_assert_int_eq(adsm_task_end(task, ADSM_E_DEVICE), ADSM_E_DEVICE);
    ck_assert_int_eq(task->state, ADSM_TASK_MADE);
    ck_assert_uint_eq(event.id, 0);
    adsm_task_free(task);
}
END_TEST

START_TEST(task_of_nothing_is_none)
{
    struct adsm_task *task = (void *)8;
    make_arrays();
    ck_assert_int_eq(adsm_task_make(NULL, &adsmR1(1), NULL, -1, 0, NULL, &task),
                     ADSM_E_INVALID);
    ck_assert_ptr_null(task);
    ck_assert_int_eq(make_map(adsmWith(.parts = -1), 3, &task), ADSM_E_INVALID);
    ck_assert_ptr_null(task);
    ck_assert_uint_eq(adsm_region_sheets(), 0);
}
END_TEST

int main(void)
{
    const TTest *const cases[] = {
        task_owns_what_it_was_given,
        each_step_may_be_in_another_thread,
        task_is_freed_in_any_state,
        what_has_not_begun_has_no_event,
        task_of_nothing_is_none,
        calls_that_are_followed_ask_malloc_for_nothing,
    };
    Suite *suite = suite_create("task");
    TCase *tcase = tcase_create("task");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, call_without_memory_says_so_and_changes_nothing,
                        0, KINDS);
    tcase_add_loop_test(tcase, call_needs_little_of_a_stack, 0, KINDS);
    tcase_add_loop_test(tcase, calls_like_some_before_ask_malloc_for_nothing, 0,
                        KINDS);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        tcase_add_test(tcase, cases[i]);
    suite_add_tcase(suite, tcase);
    return suite_finish(suite);
}
