/*
 * Work whose ranges are not looked into is treated as a kernel is that may
 * reach everything: graphs, batches of copies, and launches whose parameters
 * were set before.
 */
#include "base/log.h"
#include "interpose/cuda/context.h"
#include "interpose/cuda/graph.h"
#include "interpose/cuda/work.h"
#include "interpose/cuda/result.h"

#define OPAQUE(stream, per_thread, real, args)                                 \
    ({                                                                         \
        CUresult opaque_result;                                                \
        if (!CUDA_PASSES(&opaque_result, real, args)) {                        \
            DEVICE_STAYS;                                                      \
            struct adsm_call opaque =                                          \
                device_call(cuda_order(stream, per_thread));                   \
            if (opaque.accel) {                                                \
                opaque_result = cuda_release(&opaque);                         \
                if (!opaque_result)                                            \
                    opaque_result =                                            \
                        cuda_called(&opaque, CUDA_SUBMIT(real, args));         \
            } else {                                                           \
                opaque_result = CUDA_CALL(real, args);                         \
            }                                                                  \
        }                                                                      \
        opaque_result;                                                         \
    })

/* Before a graph, which may have host functions. */
static CUresult expect_hosts(void)
{
    struct adsm_accel *accel =
        device_is_serving() ? cuda_accel_current() : NULL;
    if (!accel)
        return CUDA_SUCCESS;
    hook_enter();
    int status = adsm_turn_before_graph(accel);
    hook_leave();
    return cuda_result("a launch", status);
}

CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream)
{
    cuda_graph_memory_goes();
    CUresult ready = expect_hosts();
    if (ready)
        return ready;
    return OPAQUE(stream, false, cuGraphLaunch, (graph, stream));
}

CUresult cuGraphLaunch_ptsz(CUgraphExec graph, CUstream stream)
{
    cuda_graph_memory_goes();
    CUresult ready = expect_hosts();
    if (ready)
        return ready;
    return OPAQUE(stream, true, cuGraphLaunch_ptsz, (graph, stream));
}

CUresult cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes,
                            size_t count, void *attributes, size_t *which,
                            size_t attribute_count, size_t *failed,
                            CUstream stream)
{
    return OPAQUE(stream, false, cuMemcpyBatchAsync,
                  (to, from, bytes, count, attributes, which, attribute_count,
                   failed, stream));
}

CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr *to, CUdeviceptr *from,
                                 size_t *bytes, size_t count, void *attributes,
                                 size_t *which, size_t attribute_count,
                                 size_t *failed, CUstream stream)
{
    return OPAQUE(stream, true, cuMemcpyBatchAsync_ptsz,
                  (to, from, bytes, count, attributes, which, attribute_count,
                   failed, stream));
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *to, CUdeviceptr *from,
                               size_t *bytes, size_t count, void *attributes,
                               size_t *which, size_t attribute_count,
                               CUstream stream)
{
    return OPAQUE(
        stream, false, cuMemcpyBatchAsync_v2,
        (to, from, bytes, count, attributes, which, attribute_count, stream));
}

CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr *to, CUdeviceptr *from,
                                    size_t *bytes, size_t count,
                                    void *attributes, size_t *which,
                                    size_t attribute_count, CUstream stream)
{
    return OPAQUE(
        stream, true, cuMemcpyBatchAsync_v2_ptsz,
        (to, from, bytes, count, attributes, which, attribute_count, stream));
}

CUresult cuMemcpy3DBatchAsync(size_t count, void *copies, size_t *failed,
                              unsigned long long flags, CUstream stream)
{
    return OPAQUE(stream, false, cuMemcpy3DBatchAsync,
                  (count, copies, failed, flags, stream));
}

CUresult cuMemcpy3DBatchAsync_ptsz(size_t count, void *copies, size_t *failed,
                                   unsigned long long flags, CUstream stream)
{
    return OPAQUE(stream, true, cuMemcpy3DBatchAsync_ptsz,
                  (count, copies, failed, flags, stream));
}

CUresult cuMemcpy3DBatchAsync_v2(size_t count, void *copies,
                                 unsigned long long flags, CUstream stream)
{
    return OPAQUE(stream, false, cuMemcpy3DBatchAsync_v2,
                  (count, copies, flags, stream));
}

CUresult cuMemcpy3DBatchAsync_v2_ptsz(size_t count, void *copies,
                                      unsigned long long flags, CUstream stream)
{
    return OPAQUE(stream, true, cuMemcpy3DBatchAsync_v2_ptsz,
                  (count, copies, flags, stream));
}

CUresult cuMemcpy3DWithAttributesAsync(void *copy, unsigned long long flags,
                                       CUstream stream)
{
    return OPAQUE(stream, false, cuMemcpy3DWithAttributesAsync,
                  (copy, flags, stream));
}

CUresult cuMemcpy3DWithAttributesAsync_ptsz(void *copy,
                                            unsigned long long flags,
                                            CUstream stream)
{
    return OPAQUE(stream, true, cuMemcpy3DWithAttributesAsync_ptsz,
                  (copy, flags, stream));
}

CUresult cuFabricCpyBatchAsync(size_t count, void *copies,
                               unsigned long long flags, CUstream stream)
{
    return OPAQUE(stream, false, cuFabricCpyBatchAsync,
                  (count, copies, flags, stream));
}

CUresult cuFabricCpyBatchAsync_ptsz(size_t count, void *copies,
                                    unsigned long long flags, CUstream stream)
{
    return OPAQUE(stream, true, cuFabricCpyBatchAsync_ptsz,
                  (count, copies, flags, stream));
}

CUresult cuMemBatchDecompressAsync(void *pieces, size_t count, unsigned flags,
                                   size_t *failed, CUstream stream)
{
    return OPAQUE(stream, false, cuMemBatchDecompressAsync,
                  (pieces, count, flags, failed, stream));
}

CUresult cuMemBatchDecompressAsync_ptsz(void *pieces, size_t count,
                                        unsigned flags, size_t *failed,
                                        CUstream stream)
{
    return OPAQUE(stream, true, cuMemBatchDecompressAsync_ptsz,
                  (pieces, count, flags, failed, stream));
}

CUresult cuStreamBatchMemOp(CUstream stream, unsigned count, void *operations,
                            unsigned flags)
{
    return OPAQUE(stream, false, cuStreamBatchMemOp,
                  (stream, count, operations, flags));
}

CUresult cuStreamBatchMemOp_ptsz(CUstream stream, unsigned count,
                                 void *operations, unsigned flags)
{
    return OPAQUE(stream, true, cuStreamBatchMemOp_ptsz,
                  (stream, count, operations, flags));
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count,
                               void *operations, unsigned flags)
{
    return OPAQUE(stream, false, cuStreamBatchMemOp_v2,
                  (stream, count, operations, flags));
}

CUresult cuStreamBatchMemOp_v2_ptsz(CUstream stream, unsigned count,
                                    void *operations, unsigned flags)
{
    return OPAQUE(stream, true, cuStreamBatchMemOp_v2_ptsz,
                  (stream, count, operations, flags));
}

CUresult cuLaunch(CUfunction kernel)
{
    return OPAQUE(NULL, false, cuLaunch, (kernel));
}

CUresult cuLaunchGrid(CUfunction kernel, int width, int height)
{
    return OPAQUE(NULL, false, cuLaunchGrid, (kernel, width, height));
}

CUresult cuLaunchGridAsync(CUfunction kernel, int width, int height,
                           CUstream stream)
{
    return OPAQUE(stream, false, cuLaunchGridAsync,
                  (kernel, width, height, stream));
}

/* One call on streams of several contexts; nothing here releases those at
 * once. */
CUresult cuLaunchCooperativeKernelMultiDevice(void *launches, unsigned count,
                                              unsigned flags)
{
    CUresult passed;
    if (CUDA_PASSES(&passed, cuLaunchCooperativeKernelMultiDevice,
                    (launches, count, flags)))
        return passed;
    DEVICE_STAYS;
    if (!device_is_serving())
        return CUDA_CALL(cuLaunchCooperativeKernelMultiDevice,
                         (launches, count, flags));
    adsm_log_once(ADSM_LOG_WARN, "cuLaunchCooperativeKernelMultiDevice is not "
                                 "supported beside shared memory: "
                                 "cuLaunchCooperativeKernel is");
    return CUDA_ERROR_NOT_SUPPORTED;
}
