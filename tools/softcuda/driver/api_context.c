/*
 * Owns: the entry points for contexts and primary contexts.
 * Does not own: what a context is (context.c).  Lock: start lock.
 */
#include "driver/context.h"
#include "driver/device.h"
#include "driver/handle.h"
#include "driver/memory.h"
#include "driver/output.h"
#include "driver/sched.h"
#include "base/kernel.h"

#include "driver/entry.h"

/* Of one thread, as on hardware. */
#define MOST_STACK    ((size_t)512 << 10)
#define USUAL_STACK   ((size_t)32 << 10)
#define SMALLEST_HEAP ((size_t)4 << 10)

static CUresult check(CUcontext ctx)
{
    SC_TRY(sc_enter());
    return sc_handle_is(ctx, SC_HANDLE_CONTEXT) ? CUDA_SUCCESS
                                                : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult create(CUcontext *pctx, unsigned flags, CUdevice dev)
{
    SC_TRY(sc_enter());
    struct sc_device *device = sc_device_get(dev);
    if (!pctx || (flags & ~(unsigned)CU_CTX_FLAGS_MASK))
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    pthread_mutex_lock(&sc_start_lock);
    CUresult result = sc_context_new(pctx, device, flags, false);
    pthread_mutex_unlock(&sc_start_lock);
    if (result == CUDA_SUCCESS)
        result = sc_context_push(*pctx);
    return result;
}

SC_API cuCtxCreate(CUcontext *pctx, CUctxCreateParams *ctxCreateParams,
                   unsigned int flags, CUdevice dev)
{
    if (ctxCreateParams && (ctxCreateParams->numExecAffinityParams > 0 ||
                            ctxCreateParams->cigParams))
        return CUDA_ERROR_NOT_SUPPORTED;
    return create(pctx, flags, dev);
}

SC_API cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    return create(pctx, flags, dev);
}

SC_API cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray,
                      int numParams, unsigned int flags, CUdevice dev)
{
    if (paramsArray && numParams > 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    return create(pctx, flags, dev);
}

SC_API cuCtxDestroy(CUcontext ctx)
{
    SC_TRY(check(ctx));
    if (ctx->primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (sc_context_current() == ctx)
        sc_context_pop();
    pthread_mutex_lock(&sc_start_lock);
    sc_context_free(ctx);
    pthread_mutex_unlock(&sc_start_lock);
    return CUDA_SUCCESS;
}

SC_API cuCtxDetach(CUcontext ctx)
{
    return cuCtxDestroy(ctx);
}

SC_API cuCtxPushCurrent(CUcontext ctx)
{
    SC_TRY(check(ctx));
    return sc_context_push(ctx);
}

SC_API cuCtxPopCurrent(CUcontext *pctx)
{
    SC_TRY(sc_enter());
    CUcontext ctx = sc_context_pop();
    if (!ctx)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (pctx)
        *pctx = ctx;
    return CUDA_SUCCESS;
}

SC_API cuCtxSetCurrent(CUcontext ctx)
{
    if (ctx)
        SC_TRY(check(ctx));
    else
        SC_TRY(sc_enter());
    return sc_context_set(ctx);
}

SC_API cuCtxGetCurrent(CUcontext *pctx)
{
    SC_TRY(sc_enter());
    if (!pctx)
        return CUDA_ERROR_INVALID_VALUE;
    *pctx = sc_context_current();
    return CUDA_SUCCESS;
}

/* For questions a context answers even when it carries a sticky error. */
static CUresult current(CUcontext *ctx)
{
    SC_TRY(sc_enter());
    *ctx = sc_context_current();
    return check(*ctx);
}

SC_API cuCtxGetDevice(CUdevice *device)
{
    CUcontext ctx;
    SC_TRY(current(&ctx));
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    *device = ctx->device->ordinal;
    return CUDA_SUCCESS;
}

SC_API cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx)
{
    if (!ctx)
        return cuCtxGetDevice(device);
    SC_TRY(check(ctx));
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    *device = ctx->device->ordinal;
    return CUDA_SUCCESS;
}

SC_API cuCtxGetFlags(unsigned int *flags)
{
    CUcontext ctx;
    SC_TRY(current(&ctx));
    if (!flags)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = ctx->flags;
    return CUDA_SUCCESS;
}

SC_API cuCtxSetFlags(unsigned int flags)
{
    CUcontext ctx;
    SC_TRY(current(&ctx));
    if (flags & ~(unsigned)CU_CTX_FLAGS_MASK)
        return CUDA_ERROR_INVALID_VALUE;
    ctx->flags = flags;
    return CUDA_SUCCESS;
}

SC_API cuCtxGetId(CUcontext ctx, unsigned long long *ctxId)
{
    if (!ctx)
        SC_TRY(current(&ctx));
    SC_TRY(check(ctx));
    if (!ctxId)
        return CUDA_ERROR_INVALID_VALUE;
    *ctxId = ctx->id;
    return CUDA_SUCCESS;
}

SC_API cuCtxGetApiVersion(CUcontext ctx, unsigned int *version)
{
    if (!ctx)
        SC_TRY(current(&ctx));
    SC_TRY(check(ctx));
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = 3020; /* the version that every cuCtxCreate_v2 context has */
    return CUDA_SUCCESS;
}

SC_API cuCtxSynchronize(void)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    return sc_context_wait(ctx);
}

SC_API cuCtxSynchronize_v2(CUcontext ctx)
{
    if (!ctx)
        return cuCtxSynchronize();
    SC_TRY(check(ctx));
    return sc_context_wait(ctx);
}

static bool has_limit(CUlimit limit)
{
    return limit <= CU_LIMIT_MALLOC_HEAP_SIZE ||
           limit == CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT ||
           limit == CU_LIMIT_MAX_L2_FETCH_GRANULARITY ||
           limit == CU_LIMIT_PERSISTING_L2_CACHE_SIZE;
}

/* Tell the device; what one context sets holds for all on its device. */
static CUresult set_device_limit(CUcontext ctx, enum sc_exec_limit limit,
                                 uint64_t bytes)
{
    struct sc_op *op = sc_op_new(SC_OP_COMPUTE, ctx->device, NULL);
    struct sc_command_limit *c =
        op ? sc_op_command(op, SC_COMMAND_LIMIT, sizeof *c) : NULL;
    if (!c)
        return CUDA_ERROR_OUT_OF_MEMORY;
    c->limit = limit;
    c->bytes = bytes;
    CUresult result = sc_op_submit_wait(op, NULL);
    return result == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
               ? CUDA_ERROR_INVALID_VALUE
               : result;
}

static CUresult set_stack(CUcontext ctx, size_t *value)
{
    if (*value > MOST_STACK)
        return CUDA_ERROR_INVALID_VALUE;
    *value = (*value + 15) & ~(size_t)15;
    /* what a thread has anyway is never taken from it */
    return set_device_limit(ctx, SC_LIMIT_STACK,
                            *value > USUAL_STACK ? *value : USUAL_STACK);
}

static CUresult set_heap(CUcontext ctx, size_t value)
{
    if (value == ctx->limits[CU_LIMIT_MALLOC_HEAP_SIZE])
        return CUDA_SUCCESS;
    return set_device_limit(ctx, SC_LIMIT_HEAP,
                            value > SMALLEST_HEAP ? value : SMALLEST_HEAP);
}

SC_API cuCtxSetLimit(CUlimit limit, size_t value)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    if ((unsigned)limit >= CU_LIMIT_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (!has_limit(limit))
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    if (limit == CU_LIMIT_STACK_SIZE)
        SC_TRY(set_stack(ctx, &value));
    if (limit == CU_LIMIT_MALLOC_HEAP_SIZE)
        SC_TRY(set_heap(ctx, value));
    if (limit == CU_LIMIT_MAX_L2_FETCH_GRANULARITY && value > 128)
        return CUDA_ERROR_INVALID_VALUE;
    if (limit == CU_LIMIT_PRINTF_FIFO_SIZE)
        value = sc_output_limit(ctx->device, value);
    ctx->limits[limit] = value;
    return CUDA_SUCCESS;
}

SC_API cuCtxGetLimit(size_t *pvalue, CUlimit limit)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    if (!pvalue || (unsigned)limit >= CU_LIMIT_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (!has_limit(limit))
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    *pvalue = ctx->limits[limit];
    return CUDA_SUCCESS;
}

SC_API cuCtxGetCacheConfig(CUfunc_cache *pconfig)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    if (!pconfig)
        return CUDA_ERROR_INVALID_VALUE;
    *pconfig = ctx->cache;
    return CUDA_SUCCESS;
}

SC_API cuCtxSetCacheConfig(CUfunc_cache config)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    if ((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
        return CUDA_ERROR_INVALID_VALUE;
    ctx->cache = config;
    return CUDA_SUCCESS;
}

SC_API cuCtxGetSharedMemConfig(CUsharedconfig *pConfig)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    if (!pConfig)
        return CUDA_ERROR_INVALID_VALUE;
    *pConfig = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return CUDA_SUCCESS;
}

SC_API cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    /* a hint about bank conflicts, which do not exist here */
    return (unsigned)config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

SC_API cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    if (leastPriority)
        *leastPriority = 0;
    if (greatestPriority)
        *greatestPriority = 0;
    return CUDA_SUCCESS;
}

SC_API cuCtxResetPersistingL2Cache(void)
{
    CUcontext ctx;
    return sc_enter_context(&ctx);
}

SC_API cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    SC_TRY(check(peerContext));
    if (Flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (peerContext == ctx)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!sc_options.peer || peerContext->device == ctx->device)
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    uint32_t bit = 1u << peerContext->device->ordinal;
    CUresult result = CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    pthread_mutex_lock(&sc_start_lock);
    if (!(ctx->peers & bit)) {
        ctx->peers |= bit;
        sc_memory_peer(ctx->device, peerContext->device, true);
        result = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&sc_start_lock);
    return result;
}

SC_API cuCtxDisablePeerAccess(CUcontext peerContext)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    SC_TRY(check(peerContext));
    uint32_t bit = 1u << peerContext->device->ordinal;
    CUresult result = CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    sc_context_drain(ctx->device);
    pthread_mutex_lock(&sc_start_lock);
    if (ctx->peers & bit) {
        ctx->peers &= ~bit;
        sc_memory_peer(ctx->device, peerContext->device, false);
        result = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&sc_start_lock);
    return result;
}

SC_API cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
    SC_TRY(sc_enter());
    struct sc_device *device = sc_device_get(dev);
    if (!pctx)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&sc_start_lock);
    if (!device->primary)
        result = sc_context_new(&device->primary, device, device->primary_flags,
                                true);
    if (result == CUDA_SUCCESS) {
        device->primary_refs++;
        *pctx = device->primary;
    }
    pthread_mutex_unlock(&sc_start_lock);
    return result;
}

/* A reset ends the context and lets nobody's hold go: each is still to be
 * released. */
static CUresult end_primary(CUdevice dev, bool reset)
{
    SC_TRY(sc_enter());
    struct sc_device *device = sc_device_get(dev);
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&sc_start_lock);
    if (!reset && device->primary_refs == 0)
        result = CUDA_ERROR_INVALID_CONTEXT;
    else if (reset || --device->primary_refs == 0) {
        CUcontext ctx = device->primary;
        device->primary = NULL;
        if (ctx)
            sc_context_free(ctx);
    }
    pthread_mutex_unlock(&sc_start_lock);
    return result;
}

SC_API cuDevicePrimaryCtxRelease(CUdevice dev)
{
    return end_primary(dev, false);
}

SC_API cuDevicePrimaryCtxReset(CUdevice dev)
{
    return end_primary(dev, true);
}

SC_API cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags)
{
    SC_TRY(sc_enter());
    struct sc_device *device = sc_device_get(dev);
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (flags & ~(unsigned)CU_CTX_FLAGS_MASK)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_start_lock);
    device->primary_flags = flags;
    if (device->primary)
        device->primary->flags = flags;
    pthread_mutex_unlock(&sc_start_lock);
    return CUDA_SUCCESS;
}

SC_API cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags,
                                  int *active)
{
    SC_TRY(sc_enter());
    struct sc_device *device = sc_device_get(dev);
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!flags || !active)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_start_lock);
    *flags = device->primary_flags;
    *active = device->primary != NULL;
    pthread_mutex_unlock(&sc_start_lock);
    return CUDA_SUCCESS;
}
