/*
 * Public entry points of functions that stand for kernels; see api.c.
 */
#include "adsm.h"

#include "api_parts.h"
#include "base/cancel.h"
#include "call/detail.h"
#include "call/kernel.h"
#include "call/work.h"

adsmStatus adsmStreamV(void *stream, adsmWorkFn *fn, void *user, int count,
                       const adsmArg *args)
{
    ADSM_NOT_CANCELLED;
    int rc = adsm_api_may_call(count, args);
    if (rc == ADSM_OK && !fn)
        rc = adsm_detail(ADSM_E_INVALID, "fn must not be NULL");
    if (rc == ADSM_OK)
        rc = adsm_work_once(stream, adsm_api_device(), fn, user, count, args);
    return adsm_api_done(rc);
}

adsmStatus adsmKernelOf(adsmKernel **kernel, const char *name, adsmWorkFn *fn,
                        void *user)
{
    ADSM_NOT_CANCELLED;
    if (!kernel || !name || !fn)
        return adsm_api_done(adsm_detail(
            ADSM_E_INVALID, "kernel, name and fn must not be NULL"));
    *kernel = NULL;
    int rc = adsm_api_bring_up();
    if (rc == ADSM_OK)
        rc = adsm_work_kernel(name, fn, user, kernel);
    return adsm_api_done(rc);
}

adsmStatus adsmKernelEnd(adsmKernel *kernel)
{
    ADSM_NOT_CANCELLED;
    int rc = adsm_api_may_enter();
    return adsm_api_done(rc == ADSM_OK ? adsm_kernel_end_act(kernel) : rc);
}
