/* Memory of graphs; see graph.h. */
#include "interpose/cuda/graph.h"

#include "base/grow.h"
#include "base/lock.h"
#include "interpose/cuda/capture.h"
#include "interpose/device/adopt.h"

static struct adsm_lock lock = ADSM_LOCK_INIT(ADSM_RANK_POOL);
static CUdeviceptr *list;
static size_t room;
static _Atomic size_t count; /* changed under the lock */

/* The lock is held. */
static bool is_known(CUdeviceptr at)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == at)
            return true;
    return false;
}

/* What is not noted is not marked, and never shared. */
static bool note(CUdeviceptr at)
{
    adsm_lock_acquire(&lock);
    bool noted = is_known(at);
    void *larger = noted ? NULL : adsm_grow(list, &room, count, sizeof *list);
    if (larger) {
        list = larger;
        list[count] = at;
        atomic_fetch_add(&count, 1);
        noted = true;
    }
    adsm_lock_release(&lock);
    return noted;
}

void cuda_graph_memory(CUdeviceptr at, size_t bytes)
{
    if (device_adopts() && note(at))
        device_came(at, bytes);
}

void cuda_graph_memory_if(CUdeviceptr at, size_t bytes, CUstream stream)
{
    if (hook_unlikely(cuda_captures_now()) && cuda_is_capturing(stream))
        cuda_graph_memory(at, bytes);
}

/* 0: there are not so many. */
static CUdeviceptr get(size_t i)
{
    adsm_lock_acquire(&lock);
    CUdeviceptr at = i < count ? list[i] : 0;
    adsm_lock_release(&lock);
    return at;
}

void cuda_graph_memory_goes(void)
{
    /* Relaxed: who launches a graph has seen its nodes made. */
    if (atomic_load_explicit(&count, memory_order_relaxed) == 0 ||
        !device_is_serving())
        return;
    CUdeviceptr at;
    for (size_t i = 0; (at = get(i)); i++)
        if (adsm_adopt_has(at))
            device_gone(device_range_goes(at, 1));
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *made, CUgraph graph,
                                const CUgraphNode *after, size_t count_after,
                                struct cuda_alloc_node *params)
{
    CUresult result = CUDA_CALL(cuGraphAddMemAllocNode,
                                (made, graph, after, count_after, params));
    if (result == CUDA_SUCCESS)
        cuda_graph_memory(params->at, params->bytes);
    return result;
}

CUresult cuDeviceGraphMemTrim(CUdevice device)
{
    cuda_graph_memory_goes();
    return CUDA_CALL_LONG(cuDeviceGraphMemTrim, (device));
}
