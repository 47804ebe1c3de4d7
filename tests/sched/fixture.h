/* What the suites of calls over several devices share. */
#ifndef TESTS_SCHED_FIXTURE_H
#define TESTS_SCHED_FIXTURE_H

#include "adsm.h"
#include "common/suite.h"

#include <stdbool.h>
#include <string.h>

#define must(call)                                                             \
    do {                                                                       \
        int status_ = (call);                                                  \
        ck_assert_msg(status_ == ADSM_OK, "%s: %s: %s", #call,                 \
                      adsmErrorName(status_), adsmErrorDetail());              \
    } while (0)

#define expect(call, status, words)                                            \
    do {                                                                       \
        ck_assert_int_eq((call), (status));                                    \
        ck_assert_msg(strstr(adsmErrorDetail(), (words)) != NULL,              \
                      "'%s' does not say '%s'", adsmErrorDetail(), (words));   \
    } while (0)

/* KERNELS_PTX: the path of kernels.ptx. */
static inline adsmKernel *kernel(const char *name)
{
    static adsmModule *module;
    adsmKernel *found;
    if (!module)
        must(adsmModuleLoad(&module, KERNELS_PTX, 0));
    must(adsmKernelGet(&found, module, name, ADSM_ONLY_ARGUMENTS));
    return found;
}

static inline int *array(adsmBox shape, int home)
{
    int *p = adsmAllocArray(sizeof *p, shape, home);
    ck_assert_msg(p, "%s", adsmErrorDetail());
    return p;
}

/* Numbers that tell where they come from. */
static inline void number(int *p, long n, int salt)
{
    for (long i = 0; i < n; i++)
        p[i] = (int)(i * 61 + salt);
}

#endif
