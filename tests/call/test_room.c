/*
 * Copies of parts fill a device, and what is to stay there needs room: an
 * allocation, an array with a home, a module with variables.
 */
#include "call/fixture.h"

#include "base/stats.h"

#include <stdlib.h>

enum { MIB = 1 << 20, PIECES = 16, PIECE = MIB / 4, N = PIECES * PIECE };

static const char variables[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .global .align 4 .b8 table[1500000];\n"
    ".visible .entry none()\n{\nret;\n}\n";

static int *x;

static unsigned long evicted(void)
{
    return adsm_stats_get(ADSM_STAT_copies_evicted);
}

/* A copy of each piece of an array that is twice as large as the device: the
 * last ones are there, and nowhere else. */
static void fill_device(void)
{
    setenv("SOFTCUDA_MEMORY", "8M", 1);
    x = array(adsmR1(N), ADSM_NO_HOME);
    number(x, N, 3);
    for (int p = 0; p < PIECES; p++) {
        int *piece = x + (long)p * PIECE;
        must(adsmShape(piece, sizeof *x, adsmR1(PIECE)));
        must(adsmCallWith(adsmWith(.devices = 1), kernel("map"), adsmR1(PIECE),
                          adsmIn(piece), adsmInOut(piece), adsmVal((int){p})));
    }
    ck_assert_uint_gt(evicted(), PIECES / 2 - 1);
}

static void check_all(void)
{
    long i = 0;
    while (i < N && x[i] == 3 * (i * 61 + 3) + i / PIECE)
        i++;
    ck_assert_int_eq(i, N);
    must(adsmFree(x));
}

START_TEST(copies_go_for_allocations_and_no_more_than_must)
{
    fill_device();
    unsigned long before = evicted();
    char *small = adsmAlloc(1000);
    ck_assert_msg(small, "%s", adsmErrorDetail());
    ck_assert_uint_gt(evicted(), before);
    ck_assert_uint_le(evicted(), before + 3); /* the driver's pages: 2 MiB */
    char *large = adsmAlloc(4 * MIB);
    ck_assert_msg(large, "%s", adsmErrorDetail());
    int *home = array(adsmR1(PIECE), 0);
    must(adsmFree(small));
    must(adsmFree(large));
    must(adsmFree(home));
    check_all();
}
END_TEST

START_TEST(copies_go_for_the_variables_of_a_module)
{
    adsmModule *module;
    fill_device();
    unsigned long before = evicted();
    must(adsmModuleLoad(&module, variables, sizeof variables - 1));
    ck_assert_uint_gt(evicted(), before);
    must(adsmModuleUnload(module));
    check_all();
}
END_TEST

START_TEST(no_copy_goes_for_what_the_device_never_has)
{
    fill_device();
    unsigned long before = evicted();
    ck_assert_ptr_null(adsmAlloc(16 * MIB));
    ck_assert_int_eq(adsmLastStatus(), ADSM_E_DEVICE_NOMEM);
    ck_assert_uint_eq(evicted(), before);
    check_all();
}
END_TEST

SUITE_MAIN("room", 60, copies_go_for_allocations_and_no_more_than_must,
           copies_go_for_the_variables_of_a_module,
           no_copy_goes_for_what_the_device_never_has)
