/*
 * The driver's functions that hooks need besides the ones they stand before.
 */
#include "interpose/cuda/driver.h"
#include "base/lock.h"
#include "base/slices.h"
#include "interpose/device/serve.h"
#include "os/real.h"

#include <dlfcn.h>

typedef CUresult context_fn(CUcontext *);
typedef CUresult push_fn(CUcontext);
typedef CUresult device_fn(CUdevice *);
typedef CUresult parameter_fn(CUfunction, size_t, size_t *, size_t *);
typedef CUresult capture_fn(CUstream, int *);
typedef CUresult count_fn(int *);
typedef CUresult attribute_fn(int *, int, CUdevice);

/* The driver's export `name`, remembered in *slot once it was found. */
static void *driver_function(void *_Atomic *slot, const char *name)
{
    void *known = atomic_load_explicit(slot, memory_order_relaxed);
    if (hook_likely(known != NULL))
        return known;
    adsm_quiet_enter(); /* a handler may come here as well */
    void *handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    known = adsm_real()->dlsym(handle ? handle : RTLD_NEXT, name);
    dlerror();
    adsm_quiet_leave();
    atomic_store_explicit(slot, known, memory_order_relaxed);
    return known;
}

CUcontext cuda_driver_context(void)
{
    static void *_Atomic slot;
    CUcontext context = NULL;
    context_fn *call = driver_function(&slot, "cuCtxGetCurrent");
    return call && call(&context) == CUDA_SUCCESS ? context : NULL;
}

bool cuda_driver_push(CUcontext context)
{
    static void *_Atomic slot;
    push_fn *call = driver_function(&slot, "cuCtxPushCurrent_v2");
    return call && call(context) == CUDA_SUCCESS;
}

void cuda_driver_pop(void)
{
    static void *_Atomic slot;
    CUcontext context;
    context_fn *call = driver_function(&slot, "cuCtxPopCurrent_v2");
    if (call)
        call(&context);
}

CUresult cuda_driver_device(CUcontext context, CUdevice *device)
{
    static void *_Atomic slot;
    device_fn *call = driver_function(&slot, "cuCtxGetDevice");
    CUresult result = CUDA_ERROR_INVALID_CONTEXT;
    adsm_quiet_enter();
    if (call && cuda_driver_push(context)) {
        result = call(device);
        cuda_driver_pop();
    }
    adsm_quiet_leave();
    return result;
}

CUresult cuda_driver_synchronize(void)
{
    /* It may last for ever, and the stretch may be a quiet one. */
    uint64_t opened = adsm_quiet_wait_begin();
    CUresult result = CUDA_CALL_OPEN(cuCtxSynchronize, ());
    adsm_quiet_wait_end(opened);
    return result;
}

/* Ask until it is over, as long as there is anybody to ask for. */
#define AWAIT(name, args)                                                      \
    struct adsm_slices slices = {0};                                           \
    CUresult result = CUDA_ERROR_NOT_READY;                                    \
    if (device_is_serving() && adsm_slices_begin())                            \
        do                                                                     \
            result = CUDA_SUBMIT(name, args);                                  \
        while (result == CUDA_ERROR_NOT_READY && adsm_slices_next(&slices));   \
    return result

CUresult cuda_driver_await_stream(CUstream stream)
{
    AWAIT(cuStreamQuery, (stream));
}

CUresult cuda_driver_await_event(CUevent event)
{
    AWAIT(cuEventQuery, (event));
}

CUresult cuda_driver_wait(CUstream stream)
{
    CUresult result = cuda_driver_await_stream(stream);
    return result == CUDA_ERROR_NOT_READY
               ? CUDA_CALL_OPEN(cuStreamSynchronize, (stream))
               : result;
}

bool cuda_driver_is_capturing(CUstream stream)
{
    static void *_Atomic slot;
    int state = 0;
    capture_fn *call = driver_function(&slot, "cuStreamIsCapturing");
    adsm_quiet_enter();
    bool known = call && call(stream, &state) == CUDA_SUCCESS;
    adsm_quiet_leave();
    return known && state != 0;
}

static unsigned ask_capability(CUdevice device)
{
    enum { MAJOR = 75, MINOR };
    static void *_Atomic slot;
    int major = 0, minor = 0;
    attribute_fn *call = driver_function(&slot, "cuDeviceGetAttribute");
    if (!call || call(&major, MAJOR, device) || call(&minor, MINOR, device))
        return 0;
    return (unsigned)(10 * major + minor);
}

unsigned cuda_driver_capability(void)
{
    static void *_Atomic slot;
    static _Atomic unsigned known;
    unsigned all = atomic_load_explicit(&known, memory_order_relaxed);
    int count = 0;
    count_fn *call = driver_function(&slot, "cuDeviceGetCount");
    if (all || !call || call(&count) || count < 1)
        return all;
    all = ask_capability(0);
    for (int i = 1; i < count; i++)
        all = ask_capability(i) == all ? all : 0;
    atomic_store_explicit(&known, all, memory_order_relaxed);
    return all;
}

CUresult cuda_driver_parameter(CUfunction kernel, unsigned index,
                               size_t *offset, size_t *bytes)
{
    static void *_Atomic slots[2];
    static const char *const names[] = {
        "cuFuncGetParamInfo",
        "cuKernelGetParamInfo", /* the handle may be that of a library's */
    };
    CUresult result = CUDA_ERROR_NOT_FOUND;
    adsm_quiet_enter();
    for (int i = 0; i < 2; i++) {
        parameter_fn *call = driver_function(&slots[i], names[i]);
        if (call)
            result = call(kernel, index, offset, bytes);
        if (result != CUDA_ERROR_NOT_FOUND &&
            result != CUDA_ERROR_INVALID_HANDLE)
            break;
    }
    adsm_quiet_leave();
    return result;
}
