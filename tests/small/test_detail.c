/*
 * What adsmErrorDetail says: one sentence of what was asked for and why it could
 * not be had, in the driver's words where it was the driver, and in no others'.
 */
#include "small/fixture.h"

#include "accel/error.h"
#include "call/detail.h"

#include <stdio.h>

enum { BYTES = 1 << 20 };

static void says(const char *sentence)
{
    ck_assert_str_eq(adsmErrorDetail(), sentence);
}

START_TEST(allocation_that_fails_says_how_much_and_why)
{
    char sentence[128];
    (void)up("rolling", 1);
    for (int status = ADSM_E_NOMEM; status <= ADSM_E_DEVICE; status++) {
        if (status == ADSM_E_NO_DEVICE)
            continue;
        small_fail("memory_alloc", 1, status);
        ck_assert_ptr_null(adsmAlloc(BYTES));
        ck_assert_int_eq(adsmLastStatus(), status);
        says("1048576 bytes of shared memory: memory_alloc was told to fail");
    }
    small.memory[0] = BYTES;
    ck_assert_ptr_null(adsmAlloc(2 * BYTES));
    says("2097152 bytes of shared memory: the device is full");
    snprintf(sentence, sizeof sentence,
             "%p is not the start of a shared allocation (freed already, "
             "inside one, or never allocated)",
             (void *)sentence);
    ck_assert_int_eq(adsmFree(sentence), ADSM_E_NOT_SHARED);
    says(sentence);
}
END_TEST

START_TEST(wait_that_fails_says_for_which_device_and_why)
{
    (void)up("rolling", 1);
    small_fail("context_wait", 1, ADSM_E_DEVICE);
    ck_assert_int_eq(adsmSync(), ADSM_E_DEVICE);
    says("device 0: context_wait was told to fail");
    small.lost[0] = true;
    ck_assert_int_eq(adsmSync(), ADSM_E_DEVICE_LOST);
    ck_assert_int_eq(strncmp(adsmErrorDetail(), "device 0: ", 10), 0);
}
END_TEST

/* The driver may have said something of another failure, or earlier. */
START_TEST(cause_is_that_of_the_failure_or_its_status_in_words)
{
    (void)adsm_accel_fail(ADSM_E_LIMIT, "the driver's words", NULL);
    ck_assert_int_eq(adsm_detail_cause(ADSM_E_LIMIT, "%d of it", 7),
                     ADSM_E_LIMIT);
    says("7 of it: the driver's words");
    (void)adsm_detail_cause(ADSM_E_NOMEM, "8 of it");
    says("8 of it: out of host memory");
    adsm_detail_end(ADSM_E_NOMEM);
    says("8 of it: out of host memory");
    (void)adsm_detail_cause(ADSM_E_LIMIT, "9 of it");
    says("9 of it: a limit of the system was reached");
}
END_TEST

START_TEST(failure_that_nobody_explained_is_not_explained_by_an_earlier_one)
{
    (void)adsm_detail(ADSM_E_INVALID, "the first");
    adsm_detail_end(ADSM_E_INVALID);
    adsm_detail_end(ADSM_OK);
    says("the first");
    adsm_detail_end(ADSM_E_SYSTEM);
    says("a system call failed");
    (void)adsm_accel_fail(ADSM_E_SYSTEM, "no file", NULL);
    adsm_detail_end(ADSM_E_SYSTEM);
    says("no file");
}
END_TEST

/* The driver's refusal to page-lock memory is no failure: copies go another way,
 * and what fails next fails by itself. */
START_TEST(refusal_that_is_lived_with_explains_nothing)
{
    struct adsm_accel *accel = up("rolling", 1);
    uint8_t *p = adsmAlloc(BYTES);
    small_fail("host_pin", 1, ADSM_E_LIMIT);
    *(volatile uint8_t *)p = 1;
    ck_assert(small_has_failed());
    (void)adsm_detail_cause(ADSM_E_LIMIT, "it");
    says("it: a limit of the system was reached");
    ck_assert_str_ne(adsm_accel_error_text(), "");
    must(adsmFree(p));
    (void)accel;
}
END_TEST

START_TEST(long_sentence_is_cut)
{
    char name[1000];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    (void)adsm_detail_cause(ADSM_E_NOMEM, "module '%s'", name);
    ck_assert_uint_eq(strlen(adsmErrorDetail()), 511);
}
END_TEST

SUITE_MAIN("detail", 10, allocation_that_fails_says_how_much_and_why,
           wait_that_fails_says_for_which_device_and_why,
           cause_is_that_of_the_failure_or_its_status_in_words,
           failure_that_nobody_explained_is_not_explained_by_an_earlier_one,
           refusal_that_is_lived_with_explains_nothing, long_sentence_is_cut)
