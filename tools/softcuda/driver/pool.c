/*
 * Owns: pools, allocation in stream order, their entry points.
 * Does not own: memory (alloc.c).  Lock: the memory lock.
 *
 * Memory goes back to the device as soon as it is free, so a pool reserves
 * nothing beyond what is used, but addresses, and trimming finds nothing to do.
 */
#include "driver/pool.h"

#include <stdlib.h>

#include "driver/addresses.h"
#include "driver/capture.h"
#include "driver/context.h"
#include "driver/graph_memory.h"
#include "driver/handle.h"
#include "driver/memory.h"
#include "driver/stream.h"

bool sc_pool_charge(CUmemoryPool pool, uint64_t bytes)
{
    uint64_t most = pool->props.maxSize;
    if (most && (bytes > most || pool->used > most - bytes))
        return false;
    pool->used += bytes;
    pool->allocations++;
    if (pool->used > pool->used_high)
        pool->used_high = pool->used;
    return true;
}

static void delete_pool(CUmemoryPool pool)
{
    if (pool->range.bytes)
        sc_addresses_unmap(pool->range.base, pool->range.bytes);
    sc_ranges_fini(&pool->addresses);
    free(pool);
}

void sc_pool_discharge(CUmemoryPool pool, uint64_t bytes)
{
    pool->used -= bytes;
    if (--pool->allocations == 0 && pool->destroyed)
        delete_pool(pool);
}

/* Twice the memory, as there. */
static void take_range(CUmemoryPool pool)
{
    uint64_t bytes = (2 * sc_options.memory_bytes + SC_PAGE - 1) & -SC_PAGE;
    if (bytes > sc_memory_window_bytes() / 8)
        return;
    uint64_t base = sc_addresses_map(bytes, SC_PAGE, 0);
    if (base == SC_RANGES_NONE)
        return;
    if (sc_ranges_init(&pool->addresses, base, bytes))
        pool->range = (struct sc_range){base, bytes};
    else
        sc_addresses_unmap(base, bytes);
}

uint64_t sc_pool_place(CUmemoryPool pool, uint64_t bytes)
{
    if (!pool->range.bytes && pool->allocations == 0)
        take_range(pool);
    return pool->range.bytes ? sc_ranges_take(&pool->addresses, bytes, SC_PAGE)
                             : sc_addresses_take(bytes, SC_PAGE);
}

void sc_pool_displace(CUmemoryPool pool, uint64_t address, uint64_t bytes)
{
    if (pool->range.bytes)
        sc_ranges_give(&pool->addresses, address, bytes);
    else
        sc_addresses_give(address, bytes);
}

static CUmemoryPool new_pool(struct sc_device *device)
{
    CUmemoryPool pool = calloc(1, sizeof *pool);
    if (!pool || !sc_handle_add(pool, SC_HANDLE_POOL)) {
        free(pool);
        return NULL;
    }
    pool->device = device;
    pool->props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    pool->props.location =
        (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, device->ordinal};
    for (int i = 0; i < 3; i++)
        pool->reuse[i] = 1;
    return pool;
}

CUmemoryPool sc_pool_standard(struct sc_device *device)
{
    pthread_mutex_lock(&sc_memory_lock);
    if (!device->default_pool) {
        device->default_pool = new_pool(device);
        if (device->default_pool)
            device->default_pool->standard = true;
    }
    CUmemoryPool pool = device->default_pool;
    pthread_mutex_unlock(&sc_memory_lock);
    return pool;
}

static CUmemoryPool current_pool(struct sc_device *device)
{
    CUmemoryPool standard = sc_pool_standard(device);
    pthread_mutex_lock(&sc_memory_lock);
    CUmemoryPool pool = device->pool ? device->pool : standard;
    pthread_mutex_unlock(&sc_memory_lock);
    return pool;
}

CUresult sc_pool_alloc(CUcontext ctx, CUmemoryPool pool, uint64_t bytes,
                       uint64_t *address)
{
    CUresult result = sc_alloc_in_pool(ctx, pool->device, pool, bytes, address);
    if (result != CUDA_ERROR_OUT_OF_MEMORY)
        return result;
    /* what other streams are about to free may be enough */
    sc_device_drain(pool->device);
    result = sc_alloc_in_pool(ctx, pool->device, pool, bytes, address);
    if (result != CUDA_ERROR_OUT_OF_MEMORY || pool->props.maxSize)
        return result; /* a pool's own size needs no explaining */
    return sc_memory_refuse(pool->device, bytes);
}

struct release {
    uint64_t address, id;
};

static void release(void *data)
{
    struct release *release = data;
    sc_alloc_release(release->address, release->id);
    free(release);
}

void sc_pool_free_after(struct sc_op *last, struct sc_device *device,
                        uint64_t address, uint64_t id)
{
    struct release *r = malloc(sizeof *r);
    struct sc_op *op = r ? sc_op_new(SC_OP_HOST, device, NULL) : NULL;
    if (!op) {
        free(r); /* the block goes with its context */
        return;
    }
    *r = (struct release){address, id};
    pthread_mutex_lock(&sc_memory_lock);
    struct sc_block *block = sc_memory_find(address);
    if (block && block->id == id)
        block->leaving = true; /* the program cannot free it any more */
    pthread_mutex_unlock(&sc_memory_lock);
    op->host = (struct sc_op_host){.function = release, .data = r};
    pthread_mutex_lock(&sc_sched_lock);
    sc_op_after(op, last);
    sc_op_submit_locked(op, NULL);
    pthread_mutex_unlock(&sc_sched_lock);
}

CUresult sc_pool_free(CUcontext ctx, CUstream stream, uint64_t address)
{
    struct release *r = malloc(sizeof *r);
    struct sc_op *op = r ? sc_op_new(SC_OP_HOST, ctx->device, ctx) : NULL;
    if (!op) {
        free(r);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&sc_memory_lock);
    struct sc_block *block = sc_memory_find(address);
    bool ok = block && block->address == address &&
              block->kind == SC_BLOCK_ALLOC && !block->leaving;
    if (ok) {
        block->leaving = true;
        *r = (struct release){address, block->id};
    }
    pthread_mutex_unlock(&sc_memory_lock);
    if (!ok) {
        free(r);
        sc_op_drop(op);
        return CUDA_ERROR_INVALID_VALUE;
    }
    op->host = (struct sc_op_host){.function = release, .data = r};
    sc_op_submit(op, stream);
    return CUDA_SUCCESS;
}

/* A capture that cannot have the node has failed. */
static CUresult capture(CUstream stream, struct sc_work *work, CUresult result)
{
    if (result == CUDA_SUCCESS)
        return sc_capture_add(stream, work);
    sc_capture_refuse(stream);
    return result;
}

static CUresult capture_alloc(CUdeviceptr *dptr, size_t bytes,
                              CUmemoryPool pool, CUstream stream)
{
    struct sc_work work;
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.bytesize = bytes};
    if (!pool)
        pool = current_pool(stream->ctx->device);
    if (!pool)
        return CUDA_ERROR_OUT_OF_MEMORY;
    params.poolProps = pool->props;
    CUresult result =
        capture(stream, &work, sc_graph_memory_new(&work, &params));
    if (result == CUDA_SUCCESS)
        *dptr = params.dptr;
    return result;
}

static CUresult capture_free(CUdeviceptr dptr, CUstream stream)
{
    struct sc_work work;
    return capture(stream, &work, sc_graph_memory_free_node(&work, dptr));
}

static CUresult alloc_async(CUdeviceptr *dptr, size_t bytes, CUmemoryPool pool,
                            CUstream handle)
{
    CUcontext ctx;
    CUstream stream;
    uint64_t address;
    SC_TRY(sc_enter_context(&ctx));
    if (!dptr || bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(sc_stream_resolve(handle, &ctx, &stream));
    if (sc_captures(stream))
        return capture_alloc(dptr, bytes, pool, stream);
    if (!pool)
        pool = current_pool(ctx->device);
    if (!pool)
        return CUDA_ERROR_OUT_OF_MEMORY;
    SC_TRY(sc_pool_alloc(ctx, pool, bytes, &address));
    *dptr = address;
    return CUDA_SUCCESS;
}

SC_API cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    return alloc_async(dptr, bytesize, NULL, hStream);
}

static CUresult check(CUmemoryPool pool)
{
    SC_TRY(sc_enter());
    return sc_handle_is(pool, SC_HANDLE_POOL) ? CUDA_SUCCESS
                                              : CUDA_ERROR_INVALID_VALUE;
}

SC_API cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize,
                               CUmemoryPool pool, CUstream hStream)
{
    SC_TRY(check(pool));
    return alloc_async(dptr, bytesize, pool, hStream);
}

SC_API cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
    CUcontext ctx;
    CUstream stream;
    SC_TRY(sc_enter_context(&ctx));
    SC_TRY(sc_stream_resolve(hStream, &ctx, &stream));
    CUresult result = CUDA_SUCCESS;
    if (dptr && sc_captures(stream))
        return capture_free(dptr, stream);
    if (!dptr || sc_graph_memory_free(ctx, stream, dptr, &result))
        return result;
    return sc_pool_free(ctx, stream, dptr);
}

SC_API cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
    SC_TRY(sc_enter());
    if (!pool || !poolProps)
        return CUDA_ERROR_INVALID_VALUE;
    if (poolProps->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        poolProps->handleTypes != CU_MEM_HANDLE_TYPE_NONE ||
        poolProps->location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
        sc_say("cuMemPoolCreate: only pools in device memory that are not "
               "shared with other processes are supported");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    struct sc_device *device = sc_device_get(poolProps->location.id);
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    *pool = new_pool(device);
    if (!*pool)
        return CUDA_ERROR_OUT_OF_MEMORY;
    (*pool)->props = *poolProps;
    return CUDA_SUCCESS;
}

SC_API cuMemPoolDestroy(CUmemoryPool pool)
{
    SC_TRY(check(pool));
    pthread_mutex_lock(&sc_memory_lock);
    bool ok = !pool->standard;
    if (ok) {
        sc_handle_remove(pool);
        if (pool->device->pool == pool)
            pool->device->pool = NULL;
        pool->destroyed = true;
        if (pool->allocations == 0)
            delete_pool(pool);
    }
    pthread_mutex_unlock(&sc_memory_lock);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SC_API cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    (void)minBytesToKeep; /* nothing unused is kept */
    return check(pool);
}

static CUresult attribute(CUmemoryPool pool, CUmemPool_attribute attr,
                          void *value, bool set)
{
    uint64_t *wide = value;
    int *narrow = value;
    switch (attr) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: {
        int *flag = &pool->reuse[attr - 1];
        if (set)
            *flag = *narrow != 0;
        else
            *narrow = *flag;
        return CUDA_SUCCESS;
    }
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        if (set)
            pool->threshold = *wide;
        else
            *wide = pool->threshold;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        if (set)
            return CUDA_ERROR_INVALID_VALUE;
        *wide = pool->used;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        if (set && *wide != 0)
            return CUDA_ERROR_INVALID_VALUE;
        if (set)
            pool->used_high = pool->used;
        else
            *wide = pool->used_high;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult attribute_call(CUmemoryPool pool, CUmemPool_attribute attr,
                               void *value, bool set)
{
    SC_TRY(check(pool));
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_memory_lock);
    CUresult result = attribute(pool, attr, value, set);
    pthread_mutex_unlock(&sc_memory_lock);
    return result;
}

SC_API cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr,
                             void *value)
{
    return attribute_call(pool, attr, value, true);
}

SC_API cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr,
                             void *value)
{
    return attribute_call(pool, attr, value, false);
}

/* Devices map whole pages that pools share, so access to one pool is access
 * to its device; it is never taken back. */
CUresult sc_pool_access(struct sc_device *device, const CUmemAccessDesc *desc,
                        uint32_t *peers)
{
    struct sc_device *viewer = sc_device_get(desc->location.id);
    bool give = desc->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (desc->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        (!give && desc->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE))
        return CUDA_ERROR_INVALID_VALUE;
    if (!viewer)
        return CUDA_ERROR_INVALID_DEVICE;
    if (viewer == device)
        return give ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (!sc_options.peer)
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    uint32_t bit = 1u << viewer->ordinal;
    if (give && !(*peers & bit))
        sc_memory_peer(viewer, device, true);
    *peers = give ? *peers | bit : *peers & ~bit;
    return CUDA_SUCCESS;
}

SC_API cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map,
                          size_t count)
{
    SC_TRY(check(pool));
    if (!map && count)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        SC_TRY(sc_pool_access(pool->device, &map[i], &pool->peers));
    return CUDA_SUCCESS;
}

SC_API cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool memPool,
                          CUmemLocation *location)
{
    SC_TRY(check(memPool));
    if (!flags || !location || location->type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    struct sc_device *viewer = sc_device_get(location->id);
    if (!viewer)
        return CUDA_ERROR_INVALID_DEVICE;
    bool may =
        viewer == memPool->device || (memPool->peers & 1u << viewer->ordinal);
    *flags = may ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                 : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}

static CUresult find_device(const void *out, CUdevice dev,
                            struct sc_device **device)
{
    SC_TRY(sc_enter());
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *device = sc_device_get(dev);
    return *device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

SC_API cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
    struct sc_device *device;
    SC_TRY(find_device(pool_out, dev, &device));
    *pool_out = sc_pool_standard(device);
    return *pool_out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

SC_API cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    struct sc_device *device;
    SC_TRY(find_device(pool, dev, &device));
    *pool = current_pool(device);
    return *pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

SC_API cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
    struct sc_device *device;
    SC_TRY(find_device(pool, dev, &device));
    SC_TRY(check(pool));
    if (pool->device != device)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_memory_lock);
    device->pool = pool;
    pthread_mutex_unlock(&sc_memory_lock);
    return CUDA_SUCCESS;
}

static CUresult check_place(const CUmemLocation *location,
                            CUmemAllocationType type)
{
    SC_TRY(sc_enter());
    if (!location)
        return CUDA_ERROR_INVALID_VALUE;
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE ||
        type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_NOT_SUPPORTED;
    return CUDA_SUCCESS;
}

SC_API cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location,
                              CUmemAllocationType type)
{
    SC_TRY(check_place(location, type));
    return cuDeviceGetDefaultMemPool(pool_out, location->id);
}

SC_API cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location,
                       CUmemAllocationType type)
{
    SC_TRY(check_place(location, type));
    return cuDeviceGetMemPool(pool, location->id);
}

SC_API cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type,
                       CUmemoryPool pool)
{
    SC_TRY(check_place(location, type));
    return cuDeviceSetMemPool(location->id, pool);
}
