/*
 * Work that is not looked into, noted: it may have read and written everything.
 * See cuda_parts.h.
 */
#include "interpose/report/cuda_parts.h"

#define OTHER(name, params, args, stream_, per_thread)                         \
    CUresult report_noted_##name params                                        \
    {                                                                          \
        struct report_call call;                                               \
        if (!report_enter_stream(&call, stream_))                              \
            return report_driver.name args;                                    \
        CUresult result = report_driver.name args;                             \
        report_unknown(report_stream_of(stream_, per_thread));                 \
        report_leave();                                                        \
        return result;                                                         \
    }

OTHER(cuLaunch, (CUfunction kernel), (kernel), NULL, false)
OTHER(cuLaunchGrid, (CUfunction kernel, int width, int height),
      (kernel, width, height), NULL, false)
OTHER(cuLaunchGridAsync,
      (CUfunction kernel, int width, int height, CUstream stream),
      (kernel, width, height, stream), stream, false)
OTHER(cuLaunchCooperativeKernelMultiDevice,
      (void *launches, unsigned count, unsigned flags),
      (launches, count, flags), NULL, false)
OTHER(cuGraphLaunch, (CUgraphExec graph, CUstream stream), (graph, stream),
      stream, false)
OTHER(cuGraphLaunch_ptsz, (CUgraphExec graph, CUstream stream), (graph, stream),
      stream, true)
OTHER(cuMemcpy3DPeer, (const struct cuda_copy3d *a), (a), NULL, false)
OTHER(cuMemcpy3DPeer_ptds, (const struct cuda_copy3d *a), (a), NULL, true)
OTHER(cuMemcpy3DPeerAsync, (const struct cuda_copy3d *a, CUstream stream),
      (a, stream), stream, false)
OTHER(cuMemcpy3DPeerAsync_ptsz, (const struct cuda_copy3d *a, CUstream stream),
      (a, stream), stream, true)
OTHER(cuMemcpyBatchAsync,
      (CUdeviceptr * to, CUdeviceptr *from, size_t *bytes, size_t count,
       void *attributes, size_t *which, size_t attribute_count, size_t *failed,
       CUstream stream),
      (to, from, bytes, count, attributes, which, attribute_count, failed,
       stream),
      stream, false)
OTHER(cuMemcpyBatchAsync_ptsz,
      (CUdeviceptr * to, CUdeviceptr *from, size_t *bytes, size_t count,
       void *attributes, size_t *which, size_t attribute_count, size_t *failed,
       CUstream stream),
      (to, from, bytes, count, attributes, which, attribute_count, failed,
       stream),
      stream, true)
OTHER(cuMemcpyBatchAsync_v2,
      (CUdeviceptr * to, CUdeviceptr *from, size_t *bytes, size_t count,
       void *attributes, size_t *which, size_t attribute_count,
       CUstream stream),
      (to, from, bytes, count, attributes, which, attribute_count, stream),
      stream, false)
OTHER(cuMemcpyBatchAsync_v2_ptsz,
      (CUdeviceptr * to, CUdeviceptr *from, size_t *bytes, size_t count,
       void *attributes, size_t *which, size_t attribute_count,
       CUstream stream),
      (to, from, bytes, count, attributes, which, attribute_count, stream),
      stream, true)
OTHER(cuMemcpy3DBatchAsync,
      (size_t count, void *copies, size_t *failed, unsigned long long flags,
       CUstream stream),
      (count, copies, failed, flags, stream), stream, false)
OTHER(cuMemcpy3DBatchAsync_ptsz,
      (size_t count, void *copies, size_t *failed, unsigned long long flags,
       CUstream stream),
      (count, copies, failed, flags, stream), stream, true)
OTHER(cuMemcpy3DBatchAsync_v2,
      (size_t count, void *copies, unsigned long long flags, CUstream stream),
      (count, copies, flags, stream), stream, false)
OTHER(cuMemcpy3DBatchAsync_v2_ptsz,
      (size_t count, void *copies, unsigned long long flags, CUstream stream),
      (count, copies, flags, stream), stream, true)
OTHER(cuMemcpyWithAttributesAsync,
      (CUdeviceptr to, CUdeviceptr from, size_t bytes, void *attributes,
       CUstream stream),
      (to, from, bytes, attributes, stream), stream, false)
OTHER(cuMemcpyWithAttributesAsync_ptsz,
      (CUdeviceptr to, CUdeviceptr from, size_t bytes, void *attributes,
       CUstream stream),
      (to, from, bytes, attributes, stream), stream, true)
OTHER(cuMemcpy3DWithAttributesAsync,
      (void *copy, unsigned long long flags, CUstream stream),
      (copy, flags, stream), stream, false)
OTHER(cuMemcpy3DWithAttributesAsync_ptsz,
      (void *copy, unsigned long long flags, CUstream stream),
      (copy, flags, stream), stream, true)
OTHER(cuFabricCpyBatchAsync,
      (size_t count, void *copies, unsigned long long flags, CUstream stream),
      (count, copies, flags, stream), stream, false)
OTHER(cuFabricCpyBatchAsync_ptsz,
      (size_t count, void *copies, unsigned long long flags, CUstream stream),
      (count, copies, flags, stream), stream, true)
OTHER(cuMemBatchDecompressAsync,
      (void *pieces, size_t count, unsigned flags, size_t *failed,
       CUstream stream),
      (pieces, count, flags, failed, stream), stream, false)
OTHER(cuMemBatchDecompressAsync_ptsz,
      (void *pieces, size_t count, unsigned flags, size_t *failed,
       CUstream stream),
      (pieces, count, flags, failed, stream), stream, true)
OTHER(cuStreamBatchMemOp,
      (CUstream stream, unsigned count, void *operations, unsigned flags),
      (stream, count, operations, flags), stream, false)
OTHER(cuStreamBatchMemOp_ptsz,
      (CUstream stream, unsigned count, void *operations, unsigned flags),
      (stream, count, operations, flags), stream, true)
OTHER(cuStreamBatchMemOp_v2,
      (CUstream stream, unsigned count, void *operations, unsigned flags),
      (stream, count, operations, flags), stream, false)
OTHER(cuStreamBatchMemOp_v2_ptsz,
      (CUstream stream, unsigned count, void *operations, unsigned flags),
      (stream, count, operations, flags), stream, true)
OTHER(cuStreamWriteValue32,
      (CUstream stream, CUdeviceptr at, uint32_t value, unsigned flags),
      (stream, at, value, flags), stream, false)
OTHER(cuStreamWriteValue32_ptsz,
      (CUstream stream, CUdeviceptr at, uint32_t value, unsigned flags),
      (stream, at, value, flags), stream, true)
OTHER(cuStreamWriteValue32_v2,
      (CUstream stream, CUdeviceptr at, uint32_t value, unsigned flags),
      (stream, at, value, flags), stream, false)
OTHER(cuStreamWriteValue32_v2_ptsz,
      (CUstream stream, CUdeviceptr at, uint32_t value, unsigned flags),
      (stream, at, value, flags), stream, true)
OTHER(cuStreamWaitValue32,
      (CUstream stream, CUdeviceptr at, uint32_t value, unsigned flags),
      (stream, at, value, flags), stream, false)
OTHER(cuStreamWaitValue32_ptsz,
      (CUstream stream, CUdeviceptr at, uint32_t value, unsigned flags),
      (stream, at, value, flags), stream, true)
OTHER(cuStreamWaitValue32_v2,
      (CUstream stream, CUdeviceptr at, uint32_t value, unsigned flags),
      (stream, at, value, flags), stream, false)
OTHER(cuStreamWaitValue32_v2_ptsz,
      (CUstream stream, CUdeviceptr at, uint32_t value, unsigned flags),
      (stream, at, value, flags), stream, true)
OTHER(cuStreamWriteValue64,
      (CUstream stream, CUdeviceptr at, uint64_t value, unsigned flags),
      (stream, at, value, flags), stream, false)
OTHER(cuStreamWriteValue64_ptsz,
      (CUstream stream, CUdeviceptr at, uint64_t value, unsigned flags),
      (stream, at, value, flags), stream, true)
OTHER(cuStreamWriteValue64_v2,
      (CUstream stream, CUdeviceptr at, uint64_t value, unsigned flags),
      (stream, at, value, flags), stream, false)
OTHER(cuStreamWriteValue64_v2_ptsz,
      (CUstream stream, CUdeviceptr at, uint64_t value, unsigned flags),
      (stream, at, value, flags), stream, true)
OTHER(cuStreamWaitValue64,
      (CUstream stream, CUdeviceptr at, uint64_t value, unsigned flags),
      (stream, at, value, flags), stream, false)
OTHER(cuStreamWaitValue64_ptsz,
      (CUstream stream, CUdeviceptr at, uint64_t value, unsigned flags),
      (stream, at, value, flags), stream, true)
OTHER(cuStreamWaitValue64_v2,
      (CUstream stream, CUdeviceptr at, uint64_t value, unsigned flags),
      (stream, at, value, flags), stream, false)
OTHER(cuStreamWaitValue64_v2_ptsz,
      (CUstream stream, CUdeviceptr at, uint64_t value, unsigned flags),
      (stream, at, value, flags), stream, true)
OTHER(cuLaunchHostFunc, (CUstream stream, cuda_host_fn *function, void *data),
      (stream, function, data), stream, false)
OTHER(cuLaunchHostFunc_ptsz,
      (CUstream stream, cuda_host_fn *function, void *data),
      (stream, function, data), stream, true)
OTHER(cuLaunchHostFunc_v2,
      (CUstream stream, cuda_host_fn *function, void *data, unsigned mode),
      (stream, function, data, mode), stream, false)
OTHER(cuLaunchHostFunc_v2_ptsz,
      (CUstream stream, cuda_host_fn *function, void *data, unsigned mode),
      (stream, function, data, mode), stream, true)
OTHER(cuStreamAddCallback,
      (CUstream stream, cuda_stream_callback *callback, void *data,
       unsigned flags),
      (stream, callback, data, flags), stream, false)
OTHER(cuStreamAddCallback_ptsz,
      (CUstream stream, cuda_stream_callback *callback, void *data,
       unsigned flags),
      (stream, callback, data, flags), stream, true)
