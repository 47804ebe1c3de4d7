/* Release before a call, its fences and gates after it; see release.h. */
#include "interpose/device/release.h"

#include "interpose/device/serve.h"
#include "interpose/hook.h"

struct adsm_call device_call(struct device_order order)
{
    struct adsm_call call = {.stream = order.stream,
                             .per_thread = order.per_thread};
    if (device_is_serving() && !order.driver->records(order.stream))
        call.accel = order.driver->current();
    return call;
}

int device_release(struct adsm_call *call)
{
    hook_enter();
    int status = adsm_boundary_call(call);
    hook_leave();
    return status;
}

int device_called(const struct adsm_call *call, bool taken)
{
    int status = ADSM_OK;
    if (!call->accel)
        return status;
    hook_enter();
    if (taken)
        status = adsm_boundary_called(call);
    else
        adsm_boundary_call_failed(call);
    hook_leave();
    return status;
}
