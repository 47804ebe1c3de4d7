/*
 * Waits are returns in the sense of the paper; streams and contexts that go
 * away take what the runtime keeps about them along.
 */
#include "base/status.h"
#include "base/trace.h"
#include "interpose/cuda/driver.h"
#include "interpose/cuda/params.h"
#include "interpose/cuda/capture.h"
#include "interpose/cuda/context.h"
#include "interpose/cuda/result.h"
#include "interpose/cuda/work.h"
#include "interpose/device/outside.h"
#include "mm/doors/boundary.h"

/* A wait of the program, from `start` on (base/trace.h), ended with `result`:
 * acquire. */
static CUresult waited(uint64_t start, CUresult result)
{
    if (cuda_seen(result) || !device_is_serving())
        return result;
    struct adsm_accel *accel = cuda_accel_current();
    adsm_trace_end(ADSM_TRACE_wait, "sync", start,
                   accel ? adsm_accel_device(accel) : -1, NULL);
    hook_enter();
    int status = accel ? adsm_boundary_return(accel) : ADSM_OK;
    if (!status)
        status = device_outside_seen();
    hook_leave();
    return cuda_result("acquiring shared memory", status);
}

static bool is_over(CUresult answer)
{
    return answer != CUDA_ERROR_NOT_READY;
}

/* What is known of in the current context has ended; of the rest nobody was
 * told. Not between hook_enter and hook_leave: handlers come in between. */
static bool await_all(void)
{
    struct adsm_accel *accel =
        device_is_serving() ? cuda_accel_current() : NULL;
    return accel && !cuda_captures() ? adsm_accel_await(accel)
                                     : is_over(cuda_driver_await_stream(NULL));
}

CUresult cuCtxSynchronize(void)
{
    if (hook_likely(!adsm_passing_is_barred()))
        return CUDA_BARE(cuCtxSynchronize, ());
    uint64_t start = adsm_trace_begin();
    return waited(start, CUDA_WAIT(await_all(), cuCtxSynchronize, ()));
}

CUresult cuCtxSynchronize_v2(CUcontext context)
{
    if (hook_likely(!adsm_passing_is_barred()))
        return CUDA_BARE(cuCtxSynchronize_v2, (context));
    uint64_t start = adsm_trace_begin();
    struct adsm_accel *accel =
        device_is_serving() ? adsm_accel_of_context(context) : NULL;
    bool awaited = accel && !cuda_captures() && adsm_accel_await(accel);
    return waited(start, CUDA_WAIT(awaited, cuCtxSynchronize_v2, (context)));
}

CUresult cuStreamSynchronize(CUstream stream)
{
    if (hook_likely(!adsm_passing_is_barred()))
        return CUDA_BARE(cuStreamSynchronize, (stream));
    uint64_t start = adsm_trace_begin();
    bool awaited =
        is_over(cuda_driver_await_stream(cuda_order(stream, false).stream));
    return waited(start, CUDA_WAIT(awaited, cuStreamSynchronize, (stream)));
}

CUresult cuStreamSynchronize_ptsz(CUstream stream)
{
    if (hook_likely(!adsm_passing_is_barred()))
        return CUDA_BARE(cuStreamSynchronize_ptsz, (stream));
    uint64_t start = adsm_trace_begin();
    bool awaited =
        is_over(cuda_driver_await_stream(cuda_order(stream, true).stream));
    return waited(start,
                  CUDA_WAIT(awaited, cuStreamSynchronize_ptsz, (stream)));
}

CUresult cuEventSynchronize(CUevent event)
{
    if (hook_likely(!adsm_passing_is_barred()))
        return CUDA_BARE(cuEventSynchronize, (event));
    uint64_t start = adsm_trace_begin();
    bool awaited = is_over(cuda_driver_await_event(event));
    return waited(start, CUDA_WAIT(awaited, cuEventSynchronize, (event)));
}

static void retire(CUstream stream)
{
    struct adsm_accel *accel =
        device_is_serving() ? cuda_accel_current() : NULL;
    if (!accel || !stream)
        return;
    hook_enter();
    adsm_lane_retire(accel, stream);
    hook_leave();
}

CUresult cuStreamDestroy(CUstream stream)
{
    retire(stream);
    return CUDA_CALL(cuStreamDestroy, (stream));
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    retire(stream);
    return CUDA_CALL(cuStreamDestroy_v2, (stream));
}

CUresult cuStreamBeginCapture(CUstream stream)
{
    cuda_capture_seen();
    return CUDA_CALL(cuStreamBeginCapture, (stream));
}

CUresult cuStreamBeginCapture_ptsz(CUstream stream)
{
    cuda_capture_seen();
    return CUDA_CALL(cuStreamBeginCapture_ptsz, (stream));
}

CUresult cuStreamBeginCapture_v2(CUstream stream, int mode)
{
    cuda_capture_seen();
    return CUDA_CALL(cuStreamBeginCapture_v2, (stream, mode));
}

CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, int mode)
{
    cuda_capture_seen();
    return CUDA_CALL(cuStreamBeginCapture_v2_ptsz, (stream, mode));
}

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph,
                                     const void *dependencies, const void *data,
                                     size_t count, int mode)
{
    cuda_capture_seen();
    return CUDA_CALL(cuStreamBeginCaptureToGraph,
                     (stream, graph, dependencies, data, count, mode));
}

CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream stream, CUgraph graph,
                                          const void *dependencies,
                                          const void *data, size_t count,
                                          int mode)
{
    cuda_capture_seen();
    return CUDA_CALL(cuStreamBeginCaptureToGraph_ptsz,
                     (stream, graph, dependencies, data, count, mode));
}

CUresult cuStreamBeginRecaptureToGraph(CUstream stream, int mode, CUgraph graph,
                                       void *callback, void *data)
{
    cuda_capture_seen();
    return CUDA_CALL(cuStreamBeginRecaptureToGraph,
                     (stream, mode, graph, callback, data));
}

CUresult cuStreamBeginRecaptureToGraph_ptsz(CUstream stream, int mode,
                                            CUgraph graph, void *callback,
                                            void *data)
{
    cuda_capture_seen();
    return CUDA_CALL(cuStreamBeginRecaptureToGraph_ptsz,
                     (stream, mode, graph, callback, data));
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    CUresult result = CUDA_CALL(cuStreamEndCapture, (stream, graph));
    cuda_capture_ended();
    return result;
}

CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph *graph)
{
    CUresult result = CUDA_CALL(cuStreamEndCapture_ptsz, (stream, graph));
    cuda_capture_ended();
    return result;
}

CUresult cuCtxDestroy(CUcontext context)
{
    struct cuda_parting parting = cuda_context_part(context);
    return cuda_context_parted(parting,
                               CUDA_CALL_LONG(cuCtxDestroy, (context)));
}

CUresult cuCtxDestroy_v2(CUcontext context)
{
    struct cuda_parting parting = cuda_context_part(context);
    return cuda_context_parted(parting,
                               CUDA_CALL_LONG(cuCtxDestroy_v2, (context)));
}

/* Attached to more than once, by the program; of which context nobody asks. */
static _Atomic int attached;

CUresult cuCtxAttach(CUcontext *context, unsigned flags)
{
    CUresult result = CUDA_CALL(cuCtxAttach, (context, flags));
    if (result == CUDA_SUCCESS)
        atomic_fetch_add(&attached, 1);
    return result;
}

/* The last one ends the context. */
CUresult cuCtxDetach(CUcontext context)
{
    if (atomic_load(&attached) > 0) {
        cuda_params_forget();
        CUresult result = CUDA_CALL_LONG(cuCtxDetach, (context));
        atomic_fetch_sub(&attached, result == CUDA_SUCCESS);
        return result;
    }
    struct cuda_parting parting = cuda_context_part(context);
    return cuda_context_parted(parting, CUDA_CALL_LONG(cuCtxDetach, (context)));
}

/* It has no memory of its own, but functions. */

CUresult cuGreenCtxDestroy(CUgreenCtx context)
{
    cuda_params_forget();
    return CUDA_CALL_LONG(cuGreenCtxDestroy, (context));
}

/* A primary context goes with its last release, so its holders are counted:
 * those of the program, which all come through here. */
enum { DEVICES_MOST = 256 };

static struct {
    _Atomic(CUcontext) context;
    _Atomic int holders;
} primary[DEVICES_MOST];

static bool is_known(CUdevice device)
{
    return device >= 0 && device < DEVICES_MOST && !hook_passes();
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    CUresult result = CUDA_CALL(cuDevicePrimaryCtxRetain, (context, device));
    if (result == CUDA_SUCCESS && is_known(device)) {
        atomic_store(&primary[device].context, *context);
        atomic_fetch_add(&primary[device].holders, 1);
    }
    return result;
}

/* The program lets go once; the last time its memory goes, too. */
static struct cuda_parting let_go(CUdevice device)
{
    cuda_params_forget();
    if (is_known(device) && atomic_load(&primary[device].holders) > 0 &&
        atomic_fetch_sub(&primary[device].holders, 1) == 1)
        return cuda_context_part(atomic_load(&primary[device].context));
    return (struct cuda_parting){.accel = NULL};
}

/* The driver let go, or reset, with this result. Another context may get the
 * handle. */
static CUresult ended(CUdevice device, struct cuda_parting parting,
                      CUresult result)
{
    CUcontext gone = parting.context;
    result = cuda_context_parted(parting, result);
    if (gone && result == CUDA_SUCCESS)
        atomic_compare_exchange_strong(&primary[device].context, &gone, NULL);
    return result;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    struct cuda_parting parting = let_go(device);
    return ended(device, parting,
                 CUDA_CALL_LONG(cuDevicePrimaryCtxRelease, (device)));
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    struct cuda_parting parting = let_go(device);
    return ended(device, parting,
                 CUDA_CALL_LONG(cuDevicePrimaryCtxRelease_v2, (device)));
}

static struct cuda_parting reset(CUdevice device)
{
    return cuda_context_part(
        is_known(device) ? atomic_load(&primary[device].context) : NULL);
}

CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    struct cuda_parting parting = reset(device);
    return ended(device, parting,
                 CUDA_CALL_LONG(cuDevicePrimaryCtxReset, (device)));
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    struct cuda_parting parting = reset(device);
    return ended(device, parting,
                 CUDA_CALL_LONG(cuDevicePrimaryCtxReset_v2, (device)));
}
