/*
 * Peer access that the program asks for: the driver opens its own allocations,
 * the runtime the ones that became shared objects.
 */
#include "accel/peer.h"
#include "base/status.h"
#include "interpose/cuda/driver.h"
#include "interpose/cuda/context.h"
#include "interpose/cuda/result.h"
#include "interpose/device/adopt.h"

/* NULL: without one there is nothing to open. */
static struct adsm_accel *accel_here(void)
{
    struct adsm_accel *accel;
    if (device_adopts())
        return cuda_accel_made();
    (void)cuda_accel_serving(&accel);
    return accel;
}

/* The accel of another context; its later allocations are opened too, so it
 * is made if there is none yet. */
static struct adsm_accel *accel_of(CUcontext context)
{
    if (!cuda_driver_push(context))
        return NULL;
    struct adsm_accel *accel = accel_here();
    cuda_driver_pop();
    return accel;
}

static CUresult open_peer(CUcontext peer, bool enable)
{
    if (hook_passes())
        return CUDA_SUCCESS;
    struct adsm_accel *guest = accel_here();
    struct adsm_accel *host = guest ? accel_of(peer) : NULL;
    if (!host)
        return CUDA_SUCCESS;
    hook_enter();
    int status = adsm_peer_open(host, guest, enable);
    hook_leave();
    return cuda_result("peer access", status);
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    CUresult result = CUDA_CALL(cuCtxEnablePeerAccess, (peer, flags));
    return result ? result : open_peer(peer, true);
}

CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
    CUresult result = CUDA_CALL(cuCtxDisablePeerAccess, (peer));
    return result ? result : open_peer(peer, false);
}
