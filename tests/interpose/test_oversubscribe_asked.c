/*
 * ADSM_OVERSUBSCRIBE in a program that uses adsm.h beside CUDA: what it asks and
 * says about an array that is away, and its calls of kernels with one.
 *
 * Meson runs it preloaded, as test_oversubscribe.c.
 */
#include "interpose/oversubscribe.h"

#include "adsm.h"
#include "mm/kernels.h"
#include "mm/object/index.h"
#include "range/state.h"

#include <sys/wait.h>

/* All but the last two used are away. */
static void make(struct array *all)
{
    oversubscribe();
    for (int i = 0; i < ARRAYS; i++)
        all[i] = array_make((uint32_t)i);
    add(&all[0], &all[1], NULL);
}

static void check(const struct array *all)
{
    for (int i = 0; i < ARRAYS; i++)
        array_check(&all[i]);
}

/* Return: whether it is away; who holds it is as that says. */
static bool look_at(const struct array *a)
{
    struct adsm_object *object = adsm_index_acquire_alone((const void *)a->at);
    ck_assert_ptr_nonnull(object);
    const struct adsm_held *held = &adsm_ranged(object)->held;
    bool away = adsm_object_is_away(object);
    ck_assert(adsm_ranged_is_valid(object));
    ck_assert(adsm_object_is_gathered(object) == !away);
    ck_assert((held->copies[ADSM_HOLDER_HOME] == NULL) == away);
    if (away)
        ck_assert_uint_eq(
            adsm_map_bytes_only(&held->map, &held->map.whole, ADSM_HOLDER_HOST),
            BYTES);
    adsm_rwlock_release(&object->lock);
    return away;
}

static int count_away(const struct array *all)
{
    int away = 0;
    for (int i = 0; i < ARRAYS; i++)
        away += look_at(&all[i]);
    return away;
}

START_TEST(what_is_away_is_held_by_the_host_alone)
{
    struct array all[ARRAYS];
    make(all);
    for (int i = 0; i < 2 * ARRAYS; i++) {
        ck_assert_int_eq(count_away(all), ARRAYS - 2);
        add(&all[i % ARRAYS], &all[(i + 3) % ARRAYS], NULL);
        ck_assert(!look_at(&all[i % ARRAYS]));
        ck_assert(!look_at(&all[(i + 3) % ARRAYS]));
    }
    check(all);
}
END_TEST

START_TEST(what_is_away_is_freed)
{
    struct array all[ARRAYS];
    make(all);
    for (int i = 0; i < ARRAYS; i++)
        if (look_at(&all[i])) {
            array_free(&all[i]);
            all[i] = array_make((uint32_t)(ARRAYS + i));
        }
    ck_assert_int_eq(count_away(all), ARRAYS - 2);
    check(all);
    for (int i = 0; i < ARRAYS; i++)
        array_free(&all[i]);
}
END_TEST

/* The child has none of it, and leaves the parent's as it is. */
START_TEST(fork_leaves_what_is_away)
{
    struct array all[ARRAYS];
    int status;
    make(all);
    pid_t child = fork();
    if (child == 0)
        _exit(adsmWaitFor((const void *)all[3].at, NULL, ADSM_INOUT) == ADSM_OK
                  ? 1
                  : 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(count_away(all), ARRAYS - 2);
    add(&all[3], &all[4], NULL);
    check(all);
}
END_TEST

START_TEST(what_is_away_is_waited_for)
{
    struct array all[ARRAYS];
    make(all);
    for (int i = 0; i < ARRAYS; i++) {
        const void *at = (const void *)all[i].at;
        ck_assert_int_eq(adsmWaitFor(at, NULL, ADSM_IN), ADSM_OK);
        ck_assert_int_eq(adsmWaitFor(at, NULL, ADSM_INOUT), ADSM_OK);
    }
    check(all);
}
END_TEST

START_TEST(what_is_away_has_no_copies)
{
    adsmCopyInfo copies[4];
    struct array all[ARRAYS];
    make(all);
    for (int i = 0; i < ARRAYS; i++)
        ck_assert_int_eq(adsmCopies((const void *)all[i].at, copies, 4), 0);
    check(all);
}
END_TEST

/* Copies of parts are not made of what comes and goes as a whole; that it is so
 * does not depend on where it is. */
START_TEST(hints_do_not_tell_who_is_away)
{
    struct array all[ARRAYS];
    make(all);
    for (int i = 0; i < ARRAYS; i++) {
        void *at = (void *)all[i].at;
        ck_assert_int_eq(adsmShape(at, 4, adsmR1(WORDS)), ADSM_E_UNSUPPORTED);
        ck_assert_int_eq(adsmPrefetch(at, NULL, 0), ADSM_E_UNSUPPORTED);
        ck_assert_int_eq(adsmDrop(at, NULL, 0), ADSM_E_UNSUPPORTED);
    }
    check(all);
}
END_TEST

static adsmKernel *inc_kernel(void)
{
    adsmModule *module;
    adsmKernel *inc;
    ck_assert_int_eq(
        adsmModuleLoad(&module, kernels_ptx, sizeof kernels_ptx - 1), ADSM_OK);
    ck_assert_int_eq(adsmKernelGet(&inc, module, "inc", ADSM_ONLY_ARGUMENTS),
                     ADSM_OK);
    return inc;
}

START_TEST(calls_in_parts_do_not_tell_who_is_away)
{
    struct array all[ARRAYS];
    make(all);
    adsmKernel *inc = inc_kernel();
    for (int i = 0; i < ARRAYS; i++) {
        uint8_t *at = (uint8_t *)all[i].at;
        int rc = adsmCallWith(adsmWith(.devices = 1), inc, adsmR1(BYTES),
                              adsmInOut(at));
        ck_assert_int_eq(rc, ADSM_E_UNSUPPORTED);
    }
    ck_assert_int_eq(count_away(all), ARRAYS - 2);
    check(all);
}
END_TEST

START_TEST(calls_take_what_is_away)
{
    struct array all[ARRAYS];
    adsmModule *module;
    adsmKernel *kernel;
    make(all);
    ck_assert_int_eq(adsmModuleLoad(&module, text, sizeof text), ADSM_OK);
    ck_assert_int_eq(adsmKernelGet(&kernel, module, "add", ADSM_ONLY_ARGUMENTS),
                     ADSM_OK);
    for (int i = 0; i < 2 * ARRAYS; i++) {
        struct array *x = &all[i % ARRAYS], *y = &all[(i + 3) % ARRAYS];
        int rc =
            adsmLaunch(kernel, adsmDim1(WORDS / THREADS), adsmDim1(THREADS), 0,
                       adsmIn((void *)x->at), adsmInOut((void *)y->at));
        ck_assert_msg(rc == ADSM_OK, "%s", adsmErrorDetail());
        model_add(x, y);
    }
    ck_assert_int_eq(adsmSync(), ADSM_OK);
    check(all);
}
END_TEST

/* x[i]++ for bytes of the device's memory, in copies that nobody uses then. */
static uint8_t *fill_with_copies(long bytes)
{
    adsmKernel *inc = inc_kernel();
    uint8_t *x = adsmAllocArray(1, adsmR1(bytes), ADSM_NO_HOME);
    memset(x, 7, (size_t)bytes);
    ck_assert_int_eq(
        adsmCallWith(adsmWith(.devices = 1), inc, adsmR1(bytes), adsmInOut(x)),
        ADSM_OK);
    return x;
}

START_TEST(copies_make_way_for_what_is_away)
{
    enum { COPIED = BYTES * 3 / 2 };
    struct array all[3];
    oversubscribe();
    uint8_t *x = fill_with_copies(COPIED);
    for (int i = 0; i < 3; i++)
        all[i] = array_make((uint32_t)i);
    for (int i = 0; i < 6; i++)
        add(&all[i % 3], &all[(i + 1) % 3], NULL);
    for (int i = 0; i < 3; i++)
        array_check(&all[i]);
    long i = 0;
    while (i < COPIED && x[i] == 8)
        i++;
    ck_assert_int_eq(i, COPIED);
}
END_TEST

SUITE_MAIN("interpose-oversubscribe-asked", 60,
           what_is_away_is_held_by_the_host_alone, what_is_away_is_freed,
           fork_leaves_what_is_away, what_is_away_is_waited_for,
           what_is_away_has_no_copies, calls_in_parts_do_not_tell_who_is_away,
           hints_do_not_tell_who_is_away, calls_take_what_is_away,
           copies_make_way_for_what_is_away)
