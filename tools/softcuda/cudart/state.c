/*
 * Owns: start of the driver, primary contexts, the calling thread's device.
 * Does not own: errors (error.c), entry points about devices (device.c).
 * Lock: start_lock for `primary`.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "cudart/state.h"

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool ready;
static _Atomic(CUcontext) primary[SC_RT_DEVICES];
static _Atomic uint64_t epoch;

static _Thread_local struct {
    int device;
    CUcontext bound; /* what bind() last made current, NULL never */
    CUcontext now;   /* current since the last sc_rt_enter */
} self;

void sc_rt_say(const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "softcuda: %s\n", line);
}

cudaError_t sc_rt_init(void)
{
    if (atomic_load_explicit(&ready, memory_order_acquire))
        return cudaSuccess;
    SC_RT_TRY(SC_RT_DRIVER(cuInit(0)));
    atomic_store_explicit(&ready, true, memory_order_release);
    return cudaSuccess;
}

cudaError_t sc_rt_primary(int device, CUcontext *ctx)
{
    int count = 0;
    SC_RT_TRY(sc_rt_init());
    SC_RT_TRY(SC_RT_DRIVER(cuDeviceGetCount(&count)));
    if (device < 0 || device >= count || device >= SC_RT_DEVICES)
        return cudaErrorInvalidDevice;
    *ctx = atomic_load(&primary[device]);
    if (*ctx)
        return cudaSuccess;
    CUdevice handle;
    SC_RT_TRY(SC_RT_DRIVER(cuDeviceGet(&handle, device)));
    pthread_mutex_lock(&start_lock);
    CUresult result = CUDA_SUCCESS;
    *ctx = atomic_load(&primary[device]);
    if (!*ctx) {
        result = cuDevicePrimaryCtxRetain(ctx, handle);
        if (result == CUDA_SUCCESS)
            atomic_store(&primary[device], *ctx);
    }
    pthread_mutex_unlock(&start_lock);
    return SC_RT_DRIVER(result);
}

cudaError_t sc_rt_bind(int device)
{
    CUcontext ctx;
    SC_RT_TRY(sc_rt_primary(device, &ctx));
    SC_RT_TRY(SC_RT_DRIVER(cuCtxSetCurrent(ctx)));
    self.device = device;
    self.bound = self.now = ctx;
    return cudaSuccess;
}

/* A primary context that this thread was bound to may have been reset by
 * another thread; one that the program made current itself is its business. */
static bool is_stale(CUcontext ctx)
{
    return ctx == self.bound && atomic_load(&primary[self.device]) != ctx;
}

cudaError_t sc_rt_enter(void)
{
    CUcontext ctx = NULL;
    SC_RT_TRY(sc_rt_init());
    SC_RT_TRY(SC_RT_DRIVER(cuCtxGetCurrent(&ctx)));
    self.now = ctx;
    if (ctx && !is_stale(ctx))
        return cudaSuccess;
    return sc_rt_bind(self.device);
}

CUcontext sc_rt_context(void)
{
    return self.now;
}

uint64_t sc_rt_epoch(void)
{
    return atomic_load_explicit(&epoch, memory_order_acquire);
}

int sc_rt_device(void)
{
    CUcontext ctx = NULL;
    CUdevice device;
    if (cuCtxGetCurrent(&ctx) == CUDA_SUCCESS && ctx && ctx != self.bound &&
        cuCtxGetDevice(&device) == CUDA_SUCCESS)
        return device;
    return self.device;
}

cudaError_t sc_rt_reset(int device)
{
    CUdevice handle;
    SC_RT_TRY(sc_rt_init());
    SC_RT_TRY(SC_RT_DRIVER(cuDeviceGet(&handle, device)));
    pthread_mutex_lock(&start_lock);
    unsigned flags;
    int active = 0;
    atomic_store(&primary[device], NULL);
    CUresult result = cuDevicePrimaryCtxGetState(handle, &flags, &active);
    if (result == CUDA_SUCCESS && active)
        result = cuDevicePrimaryCtxReset(handle);
    atomic_fetch_add(&epoch, 1);
    pthread_mutex_unlock(&start_lock);
    return SC_RT_DRIVER(result);
}
