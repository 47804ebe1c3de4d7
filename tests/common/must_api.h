/*
 * What suites of the public API ask of each call.
 */
#ifndef TESTS_COMMON_MUST_API_H
#define TESTS_COMMON_MUST_API_H

#include "adsm.h"
#include "common/suite.h"

#include <string.h>

/** The call succeeds; else what it was, and why it did not. */
#define must(call)                                                             \
    do {                                                                       \
        int status_ = (call);                                                  \
        ck_assert_msg(status_ == ADSM_OK, "%s: %s: %s", #call,                 \
                      adsmErrorName(status_), adsmErrorDetail());              \
    } while (0)

/** The call fails like this, and its sentence has these words. */
#define expect(call, status, words)                                            \
    do {                                                                       \
        ck_assert_int_eq((call), (status));                                    \
        ck_assert_msg(strstr(adsmErrorDetail(), (words)) != NULL,              \
                      "'%s' does not say '%s'", adsmErrorDetail(), (words));   \
    } while (0)

#endif
