/*
 * Owns: entry points about devices: choosing one, flags, reset, peers,
 * versions.
 * Does not own: contexts (state.c), properties (properties.c).
 */
#include "cudart/state.h"

SC_RT cudaGetDeviceCount(int *count)
{
    if (!count)
        return sc_rt_done(cudaErrorInvalidValue);
    *count = 0;
    SC_RT_BEGIN(sc_rt_init());
    SC_RT_BEGIN(SC_RT_DRIVER(cuDeviceGetCount(count)));
    return *count > 0 ? cudaSuccess : sc_rt_done(cudaErrorNoDevice);
}

SC_RT cudaGetDevice(int *device)
{
    if (!device)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(sc_rt_init());
    *device = sc_rt_device();
    return cudaSuccess;
}

SC_RT cudaSetDevice(int device)
{
    return sc_rt_done(sc_rt_bind(device));
}

static cudaError_t check_device(int device)
{
    int count = 0;
    SC_RT_TRY(sc_rt_init());
    SC_RT_TRY(SC_RT_DRIVER(cuDeviceGetCount(&count)));
    return device >= 0 && device < count ? cudaSuccess : cudaErrorInvalidDevice;
}

static cudaError_t set_flags(int device, unsigned flags)
{
    unsigned schedule = flags & cudaDeviceScheduleMask;
    if ((flags & ~(unsigned)cudaDeviceMask) || (schedule & (schedule - 1)) != 0)
        return cudaErrorInvalidValue;
    SC_RT_TRY(check_device(device));
    return SC_RT_DRIVER(cuDevicePrimaryCtxSetFlags(device, flags));
}

SC_RT cudaSetDeviceFlags(unsigned int flags)
{
    SC_RT_BEGIN(sc_rt_init());
    return sc_rt_done(set_flags(sc_rt_device(), flags));
}

SC_RT cudaGetDeviceFlags(unsigned int *flags)
{
    int active;
    if (!flags)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(sc_rt_init());
    SC_RT_BEGIN(SC_RT_DRIVER(
        cuDevicePrimaryCtxGetState(sc_rt_device(), flags, &active)));
    *flags |= cudaDeviceMapHost; /* every context can, and says so */
    return cudaSuccess;
}

SC_RT cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags)
{
    CUcontext ctx;
    if (flags & ~(unsigned)cudaInitDeviceFlagsAreValid)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(check_device(device));
    if (flags & cudaInitDeviceFlagsAreValid)
        SC_RT_BEGIN(set_flags(device, deviceFlags));
    return sc_rt_done(sc_rt_primary(device, &ctx));
}

/* All devices are alike, so the first one matches any wish best. */
SC_RT cudaChooseDevice(int *device, const struct cudaDeviceProp *prop)
{
    if (!device || !prop)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(check_device(0));
    *device = 0;
    return cudaSuccess;
}

SC_RT cudaDeviceReset(void)
{
    SC_RT_BEGIN(sc_rt_init());
    cudaError_t error = sc_rt_reset(sc_rt_device());
    sc_rt_forgive();
    return sc_rt_done(error);
}

SC_RT cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
    if (!value)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(check_device(device));
    return sc_rt_done(SC_RT_DRIVER(
        cuDeviceGetAttribute(value, (CUdevice_attribute)attr, device)));
}

SC_RT cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags)
{
    CUcontext peer;
    SC_RT_BEGIN(sc_rt_enter());
    if (peerDevice == sc_rt_device())
        return sc_rt_done(cudaErrorInvalidDevice);
    SC_RT_BEGIN(sc_rt_primary(peerDevice, &peer));
    return sc_rt_done(SC_RT_DRIVER(cuCtxEnablePeerAccess(peer, flags)));
}

SC_RT cudaDeviceDisablePeerAccess(int peerDevice)
{
    CUcontext peer;
    SC_RT_BEGIN(sc_rt_enter());
    SC_RT_BEGIN(sc_rt_primary(peerDevice, &peer));
    return sc_rt_done(SC_RT_DRIVER(cuCtxDisablePeerAccess(peer)));
}

/* Banks of shared memory are 4 bytes wide on every device since 5.0. */
SC_RT cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *pConfig)
{
    SC_RT_BEGIN(sc_rt_enter());
    if (!pConfig)
        return sc_rt_done(cudaErrorInvalidValue);
    *pConfig = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}

SC_RT cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    SC_RT_BEGIN(sc_rt_enter());
    return sc_rt_done((unsigned)config <= cudaSharedMemBankSizeEightByte
                          ? cudaSuccess
                          : cudaErrorInvalidValue);
}

SC_RT cudaDriverGetVersion(int *driverVersion)
{
    return sc_rt_done(driverVersion
                          ? SC_RT_DRIVER(cuDriverGetVersion(driverVersion))
                          : cudaErrorInvalidValue);
}

SC_RT cudaRuntimeGetVersion(int *runtimeVersion)
{
    if (!runtimeVersion)
        return sc_rt_done(cudaErrorInvalidValue);
    *runtimeVersion = SC_CUDART >= 13 ? 13000 : SC_CUDART >= 12 ? 12080 : 11080;
    return cudaSuccess;
}

/* No profiler watches, so there is none to start or stop. */
SC_RT cudaProfilerStart(void)
{
    return cudaSuccess;
}

SC_RT cudaProfilerStop(void)
{
    return cudaSuccess;
}
