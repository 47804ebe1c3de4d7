/*
 * A machine without a driver: one clear message, a status, no crash.
 */
#include "accel/accel.h"
#include "accel/device.h"
#include "accel/error.h"
#include "common/suite.h"

#include <string.h>

START_TEST(missing_driver_is_named_with_a_remedy)
{
    struct adsm_accel *accel = NULL;
    ck_assert_int_eq(adsm_accel_init(), ADSM_E_NO_DEVICE);
    if (strstr(adsm_accel_why(), "libcuda.so.1"))
        ck_assert_ptr_nonnull(strstr(adsm_accel_why(), "LD_LIBRARY_PATH"));
    ck_assert_str_ne(adsm_accel_why(), "");
    ck_assert_int_eq(adsm_accel_devices(), 0);
    ck_assert_int_eq(adsm_accel_open(0, &accel), ADSM_E_NO_DEVICE);
    ck_assert_str_eq(adsm_accel_error_text(), adsm_accel_why());
    ck_assert_int_eq(adsm_accel_of_current(&accel), ADSM_E_NO_DEVICE);
    ck_assert_ptr_null(adsm_accel_of_context(&accel));
}
END_TEST

START_TEST(long_text_is_cut_and_numbers_are_spelt)
{
    char digits[24], longer[2000];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    ck_assert_int_eq(adsm_accel_fail(ADSM_E_LIMIT, longer, longer, NULL),
                     ADSM_E_LIMIT);
    ck_assert_uint_lt(strlen(adsm_accel_error_text()), sizeof longer);
    ck_assert_str_eq(adsm_accel_number(digits, 0), "0");
    ck_assert_str_eq(adsm_accel_number(digits, -42), "-42");
    ck_assert_str_eq(adsm_accel_number(digits, INT64_MIN),
                     "-9223372036854775808");
}
END_TEST

int main(void)
{
    const TTest *const cases[] = {missing_driver_is_named_with_a_remedy,
                                  long_text_is_cut_and_numbers_are_spelt};
    if (adsm_accel_init() == ADSM_OK)
        suite_skip("this machine has a CUDA driver");
    return suite_run("accel/no_driver", cases, sizeof cases / sizeof *cases,
                     30);
}
