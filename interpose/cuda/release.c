/* Release before a call, its fences and gates after it; see release.h. */
#include "interpose/cuda/release.h"

#include "interpose/cuda/capture.h"
#include "interpose/cuda/context.h"
#include "interpose/cuda/result.h"

struct adsm_call cuda_call_of(struct cuda_order order)
{
    struct adsm_call call = {.stream = order.stream,
                             .per_thread = order.per_thread};
    if (cuda_is_serving() && !cuda_is_capturing(order.stream))
        call.accel = cuda_accel_current();
    return call;
}

CUresult cuda_release(struct adsm_call *call)
{
    hook_enter();
    int status = adsm_boundary_call(call);
    hook_leave();
    return cuda_result("a launch", status);
}

CUresult cuda_called(const struct adsm_call *call, CUresult result)
{
    int status = ADSM_OK;
    cuda_seen(result);
    if (!call->accel)
        return result;
    hook_enter();
    if (result)
        adsm_boundary_call_failed(call);
    else
        status = adsm_boundary_called(call);
    hook_leave();
    return result ? result : cuda_result("a launch", status);
}
