/*
 * Access of one device to the memory of another.
 *
 * Shared objects are mapped for their own device only, and a release before a
 * launch reaches the objects of that device only. So, where allocations are
 * shared, devices are no peers: programs then copy, which is kept coherent.
 */
#include "base/log.h"
#include "interpose/cuda_driver.h"
#include "interpose/cuda_state.h"

/* CU_DEVICE_P2P_ATTRIBUTE_*: the rank stays the driver's. */
enum { P2P_RANK = 1 };

/* Before there is a context nobody knows yet: assume it. */
static bool shares_allocations(void)
{
    return !hook_depth && (!cuda_driver_context() || cuda_accel_serving());
}

static void say_no_peers(void)
{
    adsm_log_once(ADSM_LOG_INFO, "kernels cannot reach the memory of another "
                                 "device: it is shared with the CPU");
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    CUresult result = CUDA_CALL(cuDeviceCanAccessPeer, (can, device, peer));
    if (result == CUDA_SUCCESS && *can && shares_allocations()) {
        say_no_peers();
        *can = 0;
    }
    return result;
}

CUresult cuDeviceGetP2PAttribute(int *value, int attribute, CUdevice from,
                                 CUdevice to)
{
    CUresult result =
        CUDA_CALL(cuDeviceGetP2PAttribute, (value, attribute, from, to));
    if (result == CUDA_SUCCESS && attribute != P2P_RANK && *value &&
        shares_allocations()) {
        say_no_peers();
        *value = 0;
    }
    return result;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    if (hook_depth || !peer || flags || !cuda_accel_serving())
        return CUDA_CALL(cuCtxEnablePeerAccess, (peer, flags));
    say_no_peers();
    return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}
