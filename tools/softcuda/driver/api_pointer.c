/*
 * Owns: the entry points that ask what a pointer points to.
 * Does not own: the tables behind them (memory.c, pinned.c).
 */
#include <string.h>

#include "driver/context.h"
#include "driver/device.h"
#include "driver/memory.h"

/* What the attribute queries see: a block, or a registered range as one. */
static bool describe(uint64_t ptr, struct sc_block *block, uint64_t *device)
{
    struct sc_registered range;
    *device = ptr;
    if (sc_memory_lookup(ptr, block))
        return !block->opaque;
    if (!sc_pinned_registered(ptr, &range))
        return false;
    *block = (struct sc_block){
        .address = range.address, .bytes = range.bytes, .kind = SC_BLOCK_HOST};
    *device = range.shown_address
                  ? range.shown_address + (ptr - (range.address & ~4095ull))
                  : 0;
    return true;
}

/* Memory that is mapped knows what each device may do with it. */
static unsigned access_flags(const struct sc_block *b)
{
    CUcontext ctx = sc_context_current();
    const struct sc_device *viewer = ctx ? ctx->device : b->device;
    if (b->kind != SC_BLOCK_MAPPED || b->writable & 1u << viewer->ordinal)
        return CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE;
    return b->readable & 1u << viewer->ordinal
               ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ
               : CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE;
}

static CUresult attribute(void *data, int which, uint64_t ptr,
                          const struct sc_block *b, uint64_t device)
{
    bool host = b->kind == SC_BLOCK_HOST;
    switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        /* of pools and of what is mapped: none */
        *(CUcontext *)data = b->pool ? NULL : b->ctx;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)data = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        if (!device)
            return CUDA_ERROR_INVALID_VALUE;
        *(CUdeviceptr *)data = device;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!sc_memory_is_host(b->kind) && !b->managed)
            return CUDA_ERROR_INVALID_VALUE;
        *(void **)data =
            (void *)(uintptr_t)(b->program ? b->program + (ptr - b->address)
                                           : ptr);
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned char *)data = b->kind == SC_BLOCK_MANAGED || b->managed;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        *(unsigned char *)data = 0; /* the driver writes one byte */
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        *(uint64_t *)data = b->id;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = b->device ? b->device->ordinal
                       : b->ctx  ? b->ctx->device->ordinal
                                 : 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        *(CUdeviceptr *)data = b->address;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        *(size_t *)data = b->bytes;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *(unsigned char *)data = 1; /* also where nobody has access yet */
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *(uint64_t *)data = 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *(unsigned *)data = access_flags(b);
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *(CUmemoryPool *)data = b->pool;
        return CUDA_SUCCESS;
    default:
        return which < CU_POINTER_ATTRIBUTE_CONTEXT ||
                       which > CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE
                   ? CUDA_ERROR_INVALID_VALUE
                   : CUDA_ERROR_NOT_SUPPORTED;
    }
}

SC_API cuPointerGetAttribute(void *data, CUpointer_attribute attrib,
                             CUdeviceptr ptr)
{
    struct sc_block block;
    uint64_t device;
    SC_TRY(sc_enter());
    if (!data || !describe(ptr, &block, &device))
        return CUDA_ERROR_INVALID_VALUE;
    return attribute(data, (int)attrib, ptr, &block, device);
}

/* Bytes cuPointerGetAttributes clears for a pointer it does not know. */
static size_t attribute_bytes(int which)
{
    switch (which) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return 4;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
        return 1;
    default:
        return 8;
    }
}

SC_API cuPointerGetAttributes(unsigned int numAttributes,
                              CUpointer_attribute *attributes, void **data,
                              CUdeviceptr ptr)
{
    struct sc_block block;
    uint64_t device;
    SC_TRY(sc_enter());
    if (!attributes || !data)
        return CUDA_ERROR_INVALID_VALUE;
    bool known = describe(ptr, &block, &device);
    for (unsigned i = 0; i < numAttributes; i++) {
        int which = (int)attributes[i];
        if (!known ||
            attribute(data[i], which, ptr, &block, device) != CUDA_SUCCESS) {
            memset(data[i], 0, attribute_bytes(which));
            if (which == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
                *(int *)data[i] = CU_DEVICE_INVALID;
        }
    }
    return CUDA_SUCCESS;
}

SC_API cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                             CUdeviceptr ptr)
{
    struct sc_block block;
    SC_TRY(sc_enter());
    /* synchronous memory operations are what SYNC_MEMOPS asks for; all
     * synchronous calls here are */
    if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ||
        !sc_memory_lookup(ptr, &block))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}
