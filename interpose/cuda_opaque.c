/*
 * Work whose ranges are not looked into is treated as a kernel is that may
 * reach everything: graphs, and batches of copies.
 */
#include "interpose/cuda_release.h"

#define OPAQUE(stream, per_thread, real, args)                                 \
    struct adsm_call call = cuda_call_of(cuda_order(stream, per_thread));      \
    if (!call.accel)                                                           \
        return CUDA_CALL(real, args);                                          \
    CUresult result = cuda_release(&call);                                     \
    return result ? result : cuda_called(&call, CUDA_SUBMIT(real, args))

/* Before a graph, which may have host functions. */
static CUresult expect_hosts(void)
{
    struct adsm_accel *accel = cuda_is_serving() ? cuda_accel_current() : NULL;
    if (!accel)
        return CUDA_SUCCESS;
    hook_enter();
    int status = adsm_turn_before_graph(accel);
    hook_leave();
    return cuda_result("a launch", status);
}

CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream)
{
    CUresult ready = expect_hosts();
    if (ready)
        return ready;
    OPAQUE(stream, false, cuGraphLaunch, (graph, stream));
}

CUresult cuGraphLaunch_ptsz(CUgraphExec graph, CUstream stream)
{
    CUresult ready = expect_hosts();
    if (ready)
        return ready;
    OPAQUE(stream, true, cuGraphLaunch_ptsz, (graph, stream));
}

CUresult cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes,
                            size_t count, void *attributes, size_t *which,
                            size_t attribute_count, size_t *failed,
                            CUstream stream)
{
    OPAQUE(stream, false, cuMemcpyBatchAsync,
           (to, from, bytes, count, attributes, which, attribute_count, failed,
            stream));
}

CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr *to, CUdeviceptr *from,
                                 size_t *bytes, size_t count, void *attributes,
                                 size_t *which, size_t attribute_count,
                                 size_t *failed, CUstream stream)
{
    OPAQUE(stream, true, cuMemcpyBatchAsync_ptsz,
           (to, from, bytes, count, attributes, which, attribute_count, failed,
            stream));
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *to, CUdeviceptr *from,
                               size_t *bytes, size_t count, void *attributes,
                               size_t *which, size_t attribute_count,
                               CUstream stream)
{
    OPAQUE(
        stream, false, cuMemcpyBatchAsync_v2,
        (to, from, bytes, count, attributes, which, attribute_count, stream));
}

CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr *to, CUdeviceptr *from,
                                    size_t *bytes, size_t count,
                                    void *attributes, size_t *which,
                                    size_t attribute_count, CUstream stream)
{
    OPAQUE(
        stream, true, cuMemcpyBatchAsync_v2_ptsz,
        (to, from, bytes, count, attributes, which, attribute_count, stream));
}

CUresult cuMemcpy3DBatchAsync(size_t count, void *copies, size_t *failed,
                              unsigned long long flags, CUstream stream)
{
    OPAQUE(stream, false, cuMemcpy3DBatchAsync,
           (count, copies, failed, flags, stream));
}

CUresult cuMemcpy3DBatchAsync_ptsz(size_t count, void *copies, size_t *failed,
                                   unsigned long long flags, CUstream stream)
{
    OPAQUE(stream, true, cuMemcpy3DBatchAsync_ptsz,
           (count, copies, failed, flags, stream));
}

CUresult cuMemcpy3DBatchAsync_v2(size_t count, void *copies,
                                 unsigned long long flags, CUstream stream)
{
    OPAQUE(stream, false, cuMemcpy3DBatchAsync_v2,
           (count, copies, flags, stream));
}

CUresult cuMemcpy3DBatchAsync_v2_ptsz(size_t count, void *copies,
                                      unsigned long long flags, CUstream stream)
{
    OPAQUE(stream, true, cuMemcpy3DBatchAsync_v2_ptsz,
           (count, copies, flags, stream));
}

CUresult cuStreamBatchMemOp(CUstream stream, unsigned count, void *operations,
                            unsigned flags)
{
    OPAQUE(stream, false, cuStreamBatchMemOp,
           (stream, count, operations, flags));
}

CUresult cuStreamBatchMemOp_ptsz(CUstream stream, unsigned count,
                                 void *operations, unsigned flags)
{
    OPAQUE(stream, true, cuStreamBatchMemOp_ptsz,
           (stream, count, operations, flags));
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count,
                               void *operations, unsigned flags)
{
    OPAQUE(stream, false, cuStreamBatchMemOp_v2,
           (stream, count, operations, flags));
}

CUresult cuStreamBatchMemOp_v2_ptsz(CUstream stream, unsigned count,
                                    void *operations, unsigned flags)
{
    OPAQUE(stream, true, cuStreamBatchMemOp_v2_ptsz,
           (stream, count, operations, flags));
}
