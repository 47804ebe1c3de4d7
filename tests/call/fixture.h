/* What the suites of calls over several devices share. */
#ifndef TESTS_CALL_FIXTURE_H
#define TESTS_CALL_FIXTURE_H

#include "common/must_api.h"

#include <stdbool.h>
#include <string.h>

/* KERNELS_PTX: the path of kernels.ptx. */
static inline adsmKernel *kernel_that_may(adsmReach reach, const char *name)
{
    static adsmModule *module;
    adsmKernel *found;
    if (!module)
        must(adsmModuleLoad(&module, KERNELS_PTX, 0));
    must(adsmKernelGet(&found, module, name, reach));
    return found;
}

static inline adsmKernel *kernel(const char *name)
{
    return kernel_that_may(ADSM_ONLY_ARGUMENTS, name);
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
