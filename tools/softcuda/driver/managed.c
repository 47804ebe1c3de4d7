/*
 * Owns: the entry points of managed memory.  It lies in host memory that every
 * device maps, so it is coherent as it is: prefetching and advice change
 * nothing but what can be asked about them.
 * Does not own: that memory (pinned.c).  Lock: memory lock for the advice.
 */
#include <string.h>

#include "driver/capture.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/entry.h"
#include "driver/memory.h"
#include "driver/stream.h"

SC_API cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    CUcontext ctx;
    uint64_t address;
    SC_TRY(sc_enter_context(&ctx));
    if (!dptr || bytesize == 0 ||
        (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(sc_pinned_alloc(ctx, SC_BLOCK_MANAGED, bytesize, flags, &address));
    *dptr = address;
    return CUDA_SUCCESS;
}

static bool is_host(CUmemLocation location)
{
    return location.type == CU_MEM_LOCATION_TYPE_HOST ||
           location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT ||
           (location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA &&
            location.id == 0);
}

static CUresult check_location(CUmemLocation location)
{
    if (is_host(location))
        return CUDA_SUCCESS;
    if (location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    return sc_device_get(location.id) ? CUDA_SUCCESS
                                      : CUDA_ERROR_INVALID_DEVICE;
}

/* The older calls say a device, or CU_DEVICE_CPU. */
static CUmemLocation of_device(CUdevice device)
{
    if (device == CU_DEVICE_CPU)
        return (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST, 0};
    return (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, device};
}

/* Block of managed memory that holds a whole range; holds the lock. */
static struct sc_block *find(CUdeviceptr address, size_t count)
{
    struct sc_block *block = sc_memory_find(address);
    if (!block || (block->kind != SC_BLOCK_MANAGED && !block->managed))
        return NULL;
    uint64_t bytes = block->managed ? block->bytes : block->span;
    return count > 0 && count <= bytes - (address - block->address) ? block
                                                                    : NULL;
}

static void advise(struct sc_advice *advice, CUmem_advise what,
                   CUmemLocation location)
{
    bool set = what == CU_MEM_ADVISE_SET_ACCESSED_BY;
    switch (what) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
        advice->read_mostly = what == CU_MEM_ADVISE_SET_READ_MOSTLY;
        break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
        advice->preferred = location;
        break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
        advice->preferred = (CUmemLocation){CU_MEM_LOCATION_TYPE_INVALID, 0};
        break;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
        if (is_host(location))
            advice->accessed_by_host = set;
        else if (set)
            advice->accessed_by |= 1u << location.id;
        else
            advice->accessed_by &= ~(1u << location.id);
        break;
    }
}

static bool needs_location(CUmem_advise advice)
{
    return advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION ||
           advice == CU_MEM_ADVISE_SET_ACCESSED_BY ||
           advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
}

/* Advice on part of an allocation counts for all of it. */
SC_API cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                   CUmemLocation location)
{
    SC_TRY(sc_enter());
    if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY ||
        advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
        return CUDA_ERROR_INVALID_VALUE;
    if (needs_location(advice))
        SC_TRY(check_location(location));
    pthread_mutex_lock(&sc_memory_lock);
    struct sc_block *block = find(devPtr, count);
    if (block)
        advise(&block->advice, advice, location);
    pthread_mutex_unlock(&sc_memory_lock);
    return block ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SC_API cuMemAdvise_v1(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                      CUdevice device)
{
    return cuMemAdvise(devPtr, count, advice, of_device(device));
}

/* Something to be waited for in the stream, and no more. */
static CUresult mark(CUstream handle)
{
    CUcontext ctx;
    CUstream stream;
    SC_TRY(sc_enter_context(&ctx));
    SC_TRY(sc_stream_resolve(handle, &ctx, &stream));
    if (sc_captures(stream)) {
        struct sc_work work = {.type = CU_GRAPH_NODE_TYPE_EMPTY, .ctx = ctx};
        return sc_capture_add(stream, &work);
    }
    struct sc_op *op = sc_op_new(SC_OP_MARK, ctx->device, ctx);
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sc_op_submit(op, stream);
    return CUDA_SUCCESS;
}

SC_API cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count,
                          CUmemLocation location, unsigned int flags,
                          CUstream hStream)
{
    SC_TRY(sc_enter());
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(check_location(location));
    pthread_mutex_lock(&sc_memory_lock);
    struct sc_block *block = find(devPtr, count);
    if (block)
        block->advice.prefetched = location;
    pthread_mutex_unlock(&sc_memory_lock);
    return block ? mark(hStream) : CUDA_ERROR_INVALID_VALUE;
}

SC_API cuMemPrefetchAsync_v1(CUdeviceptr devPtr, size_t count,
                             CUdevice dstDevice, CUstream hStream)
{
    return cuMemPrefetchAsync(devPtr, count, of_device(dstDevice), 0, hStream);
}

SC_API cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length,
                              unsigned int flags)
{
    SC_TRY(sc_enter());
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST &&
        flags != CU_MEM_ATTACH_SINGLE)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_memory_lock);
    struct sc_block *block = sc_memory_find(dptr);
    bool ok = block && (block->kind == SC_BLOCK_MANAGED || block->managed) &&
              block->address == dptr && (length == 0 || length == block->bytes);
    pthread_mutex_unlock(&sc_memory_lock);
    return ok ? mark(hStream) : CUDA_ERROR_INVALID_VALUE;
}

static int as_device(CUmemLocation location)
{
    if (location.type == CU_MEM_LOCATION_TYPE_INVALID)
        return CU_DEVICE_INVALID;
    return is_host(location) ? CU_DEVICE_CPU : location.id;
}

static CUresult list_accessors(int *data, size_t size,
                               const struct sc_advice *advice)
{
    size_t n = size / sizeof *data, used = 0;
    if (n == 0 || size % sizeof *data)
        return CUDA_ERROR_INVALID_VALUE;
    if (advice->accessed_by_host)
        data[used++] = CU_DEVICE_CPU;
    for (int i = 0; i < sc_device_count() && used < n; i++)
        if (advice->accessed_by & 1u << i)
            data[used++] = i;
    while (used < n)
        data[used++] = CU_DEVICE_INVALID;
    return CUDA_SUCCESS;
}

static CUresult get_attribute(int *data, size_t size,
                              CUmem_range_attribute attribute,
                              const struct sc_advice *advice)
{
    if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY)
        return list_accessors(data, size, advice);
    if (size != sizeof *data)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        *data = advice->read_mostly;
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
        *data = as_device(advice->preferred);
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
        *data = as_device(advice->prefetched);
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
        *data = (int)advice->preferred.type;
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
        *data = advice->preferred.id;
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
        *data = (int)advice->prefetched.type;
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
        *data = advice->prefetched.id;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

SC_API cuMemRangeGetAttribute(void *data, size_t dataSize,
                              CUmem_range_attribute attribute,
                              CUdeviceptr devPtr, size_t count)
{
    SC_TRY(sc_enter());
    if (!data)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_memory_lock);
    const struct sc_block *block = find(devPtr, count);
    CUresult result =
        block ? get_attribute(data, dataSize, attribute, &block->advice)
              : CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_unlock(&sc_memory_lock);
    return result;
}

SC_API cuMemRangeGetAttributes(void **data, size_t *dataSizes,
                               CUmem_range_attribute *attributes,
                               size_t numAttributes, CUdeviceptr devPtr,
                               size_t count)
{
    SC_TRY(sc_enter());
    if (!data || !dataSizes || !attributes || numAttributes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < numAttributes; i++)
        SC_TRY(cuMemRangeGetAttribute(data[i], dataSizes[i], attributes[i],
                                      devPtr, count));
    return CUDA_SUCCESS;
}
