/*
 * ADSM_OVERSUBSCRIBE in a program that uses adsm.h beside CUDA: what it asks and
 * says about an array that is away, and its calls of kernels with one.
 *
 * Meson runs it preloaded, as test_oversubscribe.c.
 */
#include "interpose/oversubscribe.h"

#include "adsm.h"
#include "mm/kernels.h"

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
    adsmModule *module;
    adsmKernel *inc;
    uint8_t *x = adsmAllocArray(1, adsmR1(bytes), ADSM_NO_HOME);
    ck_assert_int_eq(
        adsmModuleLoad(&module, kernels_ptx, sizeof kernels_ptx - 1), ADSM_OK);
    ck_assert_int_eq(adsmKernelGet(&inc, module, "inc", ADSM_ONLY_ARGUMENTS),
                     ADSM_OK);
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

SUITE_MAIN("interpose-oversubscribe-asked", 60, what_is_away_is_waited_for,
           what_is_away_has_no_copies, hints_do_not_tell_who_is_away,
           calls_take_what_is_away, copies_make_way_for_what_is_away)
