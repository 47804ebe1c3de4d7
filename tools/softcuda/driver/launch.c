/*
 * Owns: kernel launches, host functions.
 * Does not own: functions (module.c), execution (the device process).
 * Lock: none of its own.
 */
#include "driver/launch.h"

#include <string.h>

#include "driver/capture.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/latency.h"
#include "driver/module.h"
#include "driver/output.h"
#include "driver/stream.h"
#include "base/kernel.h"
#include "base/occupancy.h"

static CUresult check_shape(const struct sc_shape *s, const struct CUfunc_st *f)
{
    const struct sc_load_kernel *info = f->info;
    for (int i = 0; i < 3; i++)
        if (s->grid[i] == 0 || s->block[i] == 0)
            return CUDA_ERROR_INVALID_VALUE;
    if (s->grid[0] > INT32_MAX || s->grid[1] > 65535 || s->grid[2] > 65535 ||
        s->block[0] > 1024 || s->block[1] > 1024 || s->block[2] > 64)
        return CUDA_ERROR_INVALID_VALUE;
    unsigned threads = s->block[0] * s->block[1] * s->block[2];
    if (threads > SC_MAX_CTA_THREADS)
        return CUDA_ERROR_INVALID_VALUE;
    if (threads > info->max_threads)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (info->required_block[0] &&
        memcmp(s->block, info->required_block, sizeof s->block) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (s->shared_bytes > SC_MAX_SHARED_BYTES ||
        info->static_shared_bytes + s->shared_bytes > SC_MAX_SHARED_BYTES ||
        s->shared_bytes > (unsigned)f->dynamic_shared_limit)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* The parameters as one packed buffer in `extra`. */
static CUresult copy_extra(uint8_t *params, const struct sc_load_kernel *info,
                           void **extra)
{
    const void *buffer = NULL;
    const size_t *size = NULL;
    for (; extra[0] != CU_LAUNCH_PARAM_END; extra += 2) {
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            size = extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (!buffer || !size || *size < info->param_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(params, buffer, info->param_bytes);
    return CUDA_SUCCESS;
}

CUresult sc_launch_check(const struct sc_shape *shape,
                         const struct CUfunc_st *f)
{
    SC_TRY(check_shape(shape, f));
    if (!shape->cooperative)
        return CUDA_SUCCESS;
    const unsigned *g = shape->grid, *b = shape->block;
    uint64_t fits =
        (uint64_t)SC_SMS *
        sc_occupancy_blocks(f, b[0] * b[1] * b[2], shape->shared_bytes);
    return (uint64_t)g[0] * g[1] * g[2] > fits
               ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
               : CUDA_SUCCESS;
}

CUresult sc_launch_pack(uint8_t *params, const struct CUfunc_st *f, void **list,
                        void **extra)
{
    if (f->info->param_count == 0)
        return CUDA_SUCCESS;
    if (!list == !extra)
        return CUDA_ERROR_INVALID_VALUE;
    if (extra)
        return copy_extra(params, f->info, extra);
    for (uint32_t i = 0; i < f->info->param_count; i++) {
        if (!list[i])
            return CUDA_ERROR_INVALID_VALUE;
        memcpy(params + f->params[i].offset, list[i], f->params[i].bytes);
    }
    return CUDA_SUCCESS;
}

struct sc_op *sc_launch_make(CUcontext ctx, const struct CUfunc_st *f,
                             const struct sc_shape *shape, uint8_t **params)
{
    struct sc_op *op = sc_op_new(SC_OP_COMPUTE, ctx->device, ctx);
    if (!op)
        return NULL;
    struct sc_command_launch *c =
        sc_op_command(op, SC_COMMAND_LAUNCH, sizeof *c + f->info->param_bytes);
    if (!c) {
        sc_op_drop(op);
        return NULL;
    }
    c->module = f->module->number;
    c->kernel = f->index;
    memcpy(c->grid, shape->grid, sizeof c->grid);
    memcpy(c->block, shape->block, sizeof c->block);
    c->shared_bytes = shape->shared_bytes;
    c->cooperative = shape->cooperative;
    c->param_bytes = f->info->param_bytes;
    op->compute.stats = f->stats;
    *params = c->params;
    return op;
}

static CUresult capture(CUcontext ctx, CUfunction handle,
                        const struct sc_shape *s, CUstream stream,
                        void **params, void **extra)
{
    struct sc_work work;
    SC_TRY(sc_work_kernel(&work, ctx, handle, s, params, extra));
    return sc_capture_add(stream, &work);
}

static CUresult launch(CUfunction handle, const struct sc_shape *s,
                       CUstream stream_handle, void **list, void **extra)
{
    CUcontext ctx;
    CUstream stream;
    CUfunction f;
    uint8_t *params;
    uint64_t begin = sc_latency_begin();
    SC_TRY(sc_enter_context(&ctx));
    SC_TRY(sc_stream_resolve(stream_handle, &ctx, &stream));
    SC_TRY(sc_function_resolve(handle, ctx, &f));
    if (f->module->ctx != ctx)
        return CUDA_ERROR_INVALID_HANDLE;
    SC_TRY(sc_launch_check(s, f));
    if (sc_captures(stream))
        return capture(ctx, handle, s, stream, list, extra);
    sc_output_drain(ctx->device);
    struct sc_op *op = sc_launch_make(ctx, f, s, &params);
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = sc_launch_pack(params, f, list, extra);
    if (result == CUDA_SUCCESS)
        sc_op_submit(op, stream);
    else
        sc_op_drop(op);
    sc_latency_launched(begin);
    return result;
}

SC_API cuLaunchKernel(CUfunction f, unsigned int gridDimX,
                      unsigned int gridDimY, unsigned int gridDimZ,
                      unsigned int blockDimX, unsigned int blockDimY,
                      unsigned int blockDimZ, unsigned int sharedMemBytes,
                      CUstream hStream, void **kernelParams, void **extra)
{
    struct sc_shape s = {{gridDimX, gridDimY, gridDimZ},
                         {blockDimX, blockDimY, blockDimZ},
                         sharedMemBytes,
                         false};
    return launch(f, &s, hStream, kernelParams, extra);
}

SC_API cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX,
                                 unsigned int gridDimY, unsigned int gridDimZ,
                                 unsigned int blockDimX, unsigned int blockDimY,
                                 unsigned int blockDimZ,
                                 unsigned int sharedMemBytes, CUstream hStream,
                                 void **kernelParams)
{
    struct sc_shape s = {{gridDimX, gridDimY, gridDimZ},
                         {blockDimX, blockDimY, blockDimZ},
                         sharedMemBytes,
                         true};
    return launch(f, &s, hStream, kernelParams, NULL);
}

static CUresult check_attributes(const CUlaunchConfig *config,
                                 bool *cooperative)
{
    static const char *const names[] = {
        [CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION] = "CLUSTER_DIMENSION",
        [CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT] = "PROGRAMMATIC_EVENT",
        [CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT] =
            "LAUNCH_COMPLETION_EVENT",
        [CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE] =
            "DEVICE_UPDATABLE_KERNEL_NODE",
    };
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *a = &config->attrs[i];
        if (a->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            *cooperative = a->value.cooperative;
        /* a cluster of one block is what every launch is */
        if (a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION &&
            a->value.clusterDim.x <= 1 && a->value.clusterDim.y <= 1 &&
            a->value.clusterDim.z <= 1)
            continue;
        if ((unsigned)a->id < sizeof names / sizeof *names && names[a->id]) {
            sc_say("cuLaunchKernelEx: CU_LAUNCH_ATTRIBUTE_%s is not supported",
                   names[a->id]);
            return CUDA_ERROR_NOT_SUPPORTED;
        }
        /* the rest only tunes performance */
    }
    return CUDA_SUCCESS;
}

SC_API cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f,
                        void **kernelParams, void **extra)
{
    if (!config || (config->numAttrs && !config->attrs))
        return CUDA_ERROR_INVALID_VALUE;
    bool cooperative = false;
    SC_TRY(check_attributes(config, &cooperative));
    if (cooperative)
        return cuLaunchCooperativeKernel(
            f, config->gridDimX, config->gridDimY, config->gridDimZ,
            config->blockDimX, config->blockDimY, config->blockDimZ,
            config->sharedMemBytes, config->hStream, kernelParams);
    return cuLaunchKernel(
        f, config->gridDimX, config->gridDimY, config->gridDimZ,
        config->blockDimX, config->blockDimY, config->blockDimZ,
        config->sharedMemBytes, config->hStream, kernelParams, extra);
}

static CUresult capture_host(CUstream stream, const struct sc_op_host *host)
{
    struct sc_work work = {.type = CU_GRAPH_NODE_TYPE_HOST,
                           .ctx = stream->ctx,
                           .host = {host->function, host->data}};
    return sc_capture_add(stream, &work);
}

static CUresult submit_host(CUstream handle, struct sc_op_host host)
{
    CUcontext ctx;
    CUstream stream;
    SC_TRY(sc_enter_context(&ctx));
    SC_TRY(sc_stream_resolve(handle, &ctx, &stream));
    if (sc_captures(stream))
        return host.function ? capture_host(stream, &host)
                             : sc_capture_refuse(stream);
    struct sc_op *op = sc_op_new(SC_OP_HOST, ctx->device, ctx);
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    op->host = host;
    sc_op_submit(op, stream);
    return CUDA_SUCCESS;
}

SC_API cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
    if (!fn)
        return CUDA_ERROR_INVALID_VALUE;
    return submit_host(hStream,
                       (struct sc_op_host){.function = fn, .data = userData});
}

SC_API cuStreamAddCallback(CUstream hStream, CUstreamCallback callback,
                           void *userData, unsigned int flags)
{
    if (!callback || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return submit_host(hStream, (struct sc_op_host){.callback = callback,
                                                    .handle = hStream,
                                                    .data = userData});
}
