/*
 * What suites below the public API ask of each call.
 */
#ifndef TESTS_COMMON_MUST_H
#define TESTS_COMMON_MUST_H

#include "accel/accel.h"
#include "common/suite.h"

/** The call succeeds; else what it was, and why it did not. */
#define must(call)                                                             \
    do {                                                                       \
        int status_ = (call);                                                  \
        ck_assert_msg(status_ == ADSM_OK, "%s: %s: %s", #call,                 \
                      adsm_status_name(status_), adsm_accel_error_text());     \
    } while (0)

#endif
