/*
 * Owns: the entry points of streams (callbacks are in launch.c).
 * Does not own: ordering (stream.c).  No lock.
 */
#include <string.h>

#include "driver/capture.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/output.h"
#include "driver/stream.h"

static CUresult create(CUstream *out, unsigned flags, int priority)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    if (!out || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING))
        return CUDA_ERROR_INVALID_VALUE;
    *out = sc_stream_new(ctx, flags, priority, false);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

SC_API cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
    return create(phStream, Flags, 0);
}

SC_API cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags,
                                  int priority)
{
    (void)priority; /* clamped to the range, which is 0 to 0 */
    return create(phStream, flags, 0);
}

static CUresult find(CUstream handle, CUcontext *ctx, CUstream *stream)
{
    SC_TRY(sc_enter_context(ctx));
    return sc_stream_resolve(handle, ctx, stream);
}

/* Only a stream somebody created can be destroyed; a lost device or a sticky
 * error must not keep the program from cleaning up. */
SC_API cuStreamDestroy(CUstream hStream)
{
    CUcontext ctx = sc_context_current();
    CUstream stream;
    SC_TRY(sc_enter());
    if (!hStream || hStream == CU_STREAM_LEGACY ||
        hStream == CU_STREAM_PER_THREAD || !ctx)
        return CUDA_ERROR_INVALID_HANDLE;
    if (sc_stream_resolve(hStream, &ctx, &stream) == CUDA_ERROR_INVALID_HANDLE)
        return CUDA_ERROR_INVALID_HANDLE;
    sc_stream_release(stream);
    return CUDA_SUCCESS;
}

SC_API cuStreamSynchronize(CUstream hStream)
{
    CUcontext ctx;
    CUstream stream;
    SC_TRY(find(hStream, &ctx, &stream));
    if (sc_captures(stream))
        return sc_capture_refuse(stream);
    return sc_stream_wait(stream);
}

SC_API cuStreamQuery(CUstream hStream)
{
    CUcontext ctx;
    CUstream stream;
    SC_TRY(find(hStream, &ctx, &stream));
    if (sc_captures(stream))
        return sc_capture_refuse(stream);
    sc_channel_help(ctx->device);
    pthread_mutex_lock(&sc_sched_lock);
    CUresult result = ctx->sticky;
    bool failed = result != CUDA_SUCCESS;
    if (!failed && stream->tail)
        result = CUDA_ERROR_NOT_READY;
    pthread_mutex_unlock(&sc_sched_lock);
    if (failed)
        sc_output_drain(ctx->device); /* it may have come just now */
    return result;
}

SC_API cuStreamGetFlags(CUstream hStream, unsigned int *flags)
{
    CUcontext ctx;
    CUstream stream;
    SC_TRY(find(hStream, &ctx, &stream));
    if (!flags)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = stream->flags;
    return CUDA_SUCCESS;
}

SC_API cuStreamGetPriority(CUstream hStream, int *priority)
{
    CUcontext ctx;
    CUstream stream;
    SC_TRY(find(hStream, &ctx, &stream));
    if (!priority)
        return CUDA_ERROR_INVALID_VALUE;
    *priority = stream->priority;
    return CUDA_SUCCESS;
}

SC_API cuStreamGetId(CUstream hStream, unsigned long long *streamId)
{
    CUcontext ctx;
    CUstream stream;
    SC_TRY(find(hStream, &ctx, &stream));
    if (!streamId)
        return CUDA_ERROR_INVALID_VALUE;
    *streamId = stream->id;
    return CUDA_SUCCESS;
}

SC_API cuStreamGetCtx(CUstream hStream, CUcontext *pctx)
{
    CUcontext ctx;
    CUstream stream;
    SC_TRY(find(hStream, &ctx, &stream));
    if (!pctx)
        return CUDA_ERROR_INVALID_VALUE;
    *pctx = ctx;
    return CUDA_SUCCESS;
}

SC_API cuStreamGetDevice(CUstream hStream, CUdevice *device)
{
    CUcontext ctx;
    CUstream stream;
    SC_TRY(find(hStream, &ctx, &stream));
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    *device = ctx->device->ordinal;
    return CUDA_SUCCESS;
}

/* Place of an attribute among those a stream keeps; they tune performance and
 * are only handed back.  -1: not one of a stream. */
static int slot_of(CUstreamAttrID attr)
{
    static const CUstreamAttrID kept[SC_STREAM_ATTRIBUTES] = {
        CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW,
        CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY,
        CU_STREAM_ATTRIBUTE_PRIORITY, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
        CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN};
    for (int i = 0; i < SC_STREAM_ATTRIBUTES; i++)
        if (kept[i] == attr)
            return i;
    return -1;
}

SC_API cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr,
                            CUstreamAttrValue *value_out)
{
    CUcontext ctx;
    CUstream stream;
    SC_TRY(find(hStream, &ctx, &stream));
    int slot = slot_of(attr);
    if (!value_out || slot < 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_sched_lock);
    *value_out = stream->attributes[slot];
    pthread_mutex_unlock(&sc_sched_lock);
    return CUDA_SUCCESS;
}

SC_API cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr,
                            const CUstreamAttrValue *value)
{
    CUcontext ctx;
    CUstream stream;
    SC_TRY(find(hStream, &ctx, &stream));
    int slot = slot_of(attr);
    if (!value || slot < 0)
        return CUDA_ERROR_INVALID_VALUE;
    /* the only priority there is */
    if (attr == CU_STREAM_ATTRIBUTE_PRIORITY)
        return CUDA_SUCCESS;
    pthread_mutex_lock(&sc_sched_lock);
    stream->attributes[slot] = *value;
    pthread_mutex_unlock(&sc_sched_lock);
    return CUDA_SUCCESS;
}

SC_API cuStreamCopyAttributes(CUstream dst, CUstream src)
{
    CUcontext ctx;
    CUstream to, from;
    SC_TRY(find(src, &ctx, &from));
    SC_TRY(find(dst, &ctx, &to));
    pthread_mutex_lock(&sc_sched_lock);
    if (to != from)
        memcpy(to->attributes, from->attributes, sizeof to->attributes);
    pthread_mutex_unlock(&sc_sched_lock);
    return CUDA_SUCCESS;
}
