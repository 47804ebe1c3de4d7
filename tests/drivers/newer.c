/*
 * Calls that the software device refuses or is too old for, made of those that
 * it has: what a newer driver exports beside its other names. A program finds
 * them by name, as it would there.
 *
 * Copies of any form are described here by struct copy: the hooks do not look
 * into what they pass on.
 */
#include "planted.h"

#include <cuda.h>
#include <stdint.h>
#include <string.h>

/* No header has them yet. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define EXPORT                 __attribute__((visibility("default")))
#define REAL(name, parameters) ((CUresult(*) parameters)planted_real(#name))

struct copy {
    CUdeviceptr to, from;
    size_t bytes;
};

static CUresult copy(const struct copy *copy, CUstream stream)
{
    return REAL(cuMemcpyDtoDAsync_v2,
                (CUdeviceptr, CUdeviceptr, size_t, CUstream))(
        copy->to, copy->from, copy->bytes, stream);
}

EXPORT CUresult cuMemcpyWithAttributesAsync(CUdeviceptr to, CUdeviceptr from,
                                            size_t bytes, void *attributes,
                                            CUstream stream)
{
    (void)attributes;
    return copy(&(struct copy){to, from, bytes}, stream);
}

EXPORT CUresult cuMemcpy3DWithAttributesAsync(void *what,
                                              unsigned long long flags,
                                              CUstream stream)
{
    (void)flags;
    return copy(what, stream);
}

EXPORT CUresult cuFabricCpyBatchAsync(size_t count, void *what,
                                      unsigned long long flags, CUstream stream)
{
    (void)count, (void)flags;
    return copy(what, stream);
}

static CUresult decompress(void *what, size_t count, unsigned flags,
                           size_t *failed, CUstream stream)
{
    (void)count, (void)flags, (void)failed;
    return copy(what, stream);
}

static CUresult batch(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes,
                      size_t count, void *attributes, size_t *which,
                      size_t attribute_count, CUstream stream)
{
    (void)attributes, (void)which, (void)attribute_count;
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < count && !result; i++)
        result = copy(&(struct copy){to[i], from[i], bytes[i]}, stream);
    return result;
}

EXPORT CUresult cuStreamBeginRecaptureToGraph(CUstream stream,
                                              CUstreamCaptureMode mode,
                                              CUgraph graph, void *callback,
                                              void *data)
{
    (void)graph, (void)callback, (void)data;
    return REAL(cuStreamBeginCapture_v2,
                (CUstream, CUstreamCaptureMode))(stream, mode);
}

/* A node that calls the host, the only one there is of this form. */
struct node {
    int type, reserved[3];
    CUhostFn function;
    void *data;
};

EXPORT CUresult cuGraphAddNode_v3(CUgraphNode *made, CUgraph graph,
                                  const CUgraphNode *after, const void *edges,
                                  size_t count, struct node *node)
{
    (void)edges;
    CUDA_HOST_NODE_PARAMS host = {node->function, node->data};
    return REAL(cuGraphAddHostNode,
                (CUgraphNode *, CUgraph, const CUgraphNode *, size_t,
                 const CUDA_HOST_NODE_PARAMS *))(made, graph, after, count,
                                                 &host);
}

EXPORT CUresult cuGraphNodeSetParams_v2(CUgraphNode which, struct node *node)
{
    CUDA_HOST_NODE_PARAMS host = {node->function, node->data};
    return REAL(cuGraphHostNodeSetParams,
                (CUgraphNode, const CUDA_HOST_NODE_PARAMS *))(which, &host);
}

EXPORT CUresult cuGraphNodeGetParams(CUgraphNode which, struct node *node)
{
    CUDA_HOST_NODE_PARAMS host;
    CUresult result =
        REAL(cuGraphHostNodeGetParams,
             (CUgraphNode, CUDA_HOST_NODE_PARAMS *))(which, &host);
    *node = (struct node){CU_GRAPH_NODE_TYPE_HOST, {0}, host.fn, host.userData};
    return result;
}

planted_function *planted_newer(const char *name)
{
    static const struct {
        const char *name;
        planted_function *function;
    } made[] = {
        {"cuMemBatchDecompressAsync", (planted_function *)decompress},
        {"cuMemcpyBatchAsync_v2", (planted_function *)batch},
    };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (planted_has("newer", NULL) && strcmp(made[i].name, name) == 0)
            return made[i].function;
    return NULL;
}
