/*
 * Status codes: one list, every code with a name and a text.
 */
#include "base/status.h"

#include <string.h>

#include "common/suite.h"

START_TEST(every_code_has_name_and_text)
{
#define CHECK_CODE(name, value, text)                                          \
    ck_assert_int_eq(name, value);                                             \
    ck_assert_str_eq(adsm_status_name(name), #name);                           \
    ck_assert_str_eq(adsm_status_text(name), text);
    ADSM_STATUS_LIST(CHECK_CODE)
}
END_TEST

START_TEST(unknown_code_is_named_as_such)
{
    ck_assert_str_eq(adsm_status_name(-1), "?");
    ck_assert_str_eq(adsm_status_name(4711), "?");
    ck_assert_str_eq(adsm_status_text(4711), "unknown status");
}
END_TEST

START_TEST(texts_are_different_and_without_full_stop)
{
    static const char *const texts[] = {
#define TEXT(name, value, text) text,
        ADSM_STATUS_LIST(TEXT)};
    size_t n = sizeof texts / sizeof *texts;
    for (size_t i = 0; i < n; i++) {
        ck_assert(texts[i][strlen(texts[i]) - 1] != '.');
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(texts[i], texts[j]);
    }
}
END_TEST

SUITE_MAIN("status", 10, every_code_has_name_and_text,
           unknown_code_is_named_as_such,
           texts_are_different_and_without_full_stop)
