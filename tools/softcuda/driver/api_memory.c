/*
 * Owns: the entry points of allocation, page-locked memory and pointer
 * queries.
 * Does not own: the tables behind them (memory.c, alloc.c, pinned.c).
 */
#include <string.h>

#include "driver/context.h"
#include "driver/device.h"
#include "driver/memory.h"

SC_API cuMemGetInfo(size_t *free, size_t *total)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    if (!free || !total)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_memory_lock);
    *total = sc_options.memory_bytes;
    *free = sc_options.memory_bytes - ctx->device->used_bytes;
    pthread_mutex_unlock(&sc_memory_lock);
    return CUDA_SUCCESS;
}

SC_API cuMemAlloc(CUdeviceptr *dptr, size_t bytesize)
{
    CUcontext ctx;
    uint64_t address;
    SC_TRY(sc_enter_context(&ctx));
    if (!dptr || bytesize == 0)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(sc_alloc(ctx, bytesize, &address));
    *dptr = address;
    return CUDA_SUCCESS;
}

SC_API cuMemAllocPitch(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes,
                       size_t Height, unsigned int ElementSizeBytes)
{
    size_t pitch, bytes;
    if (!pPitch || WidthInBytes == 0 || Height == 0 ||
        (ElementSizeBytes != 4 && ElementSizeBytes != 8 &&
         ElementSizeBytes != 16) ||
        __builtin_add_overflow(WidthInBytes, SC_SMALLEST - 1, &pitch))
        return CUDA_ERROR_INVALID_VALUE;
    pitch &= ~(size_t)(SC_SMALLEST - 1);
    if (__builtin_mul_overflow(pitch, Height, &bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    SC_TRY(cuMemAlloc(dptr, bytes));
    *pPitch = pitch;
    return CUDA_SUCCESS;
}

SC_API cuMemFree(CUdeviceptr dptr)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    return dptr ? sc_alloc_free(dptr) : CUDA_SUCCESS;
}

SC_API cuMemGetAddressRange(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    CUcontext ctx;
    struct sc_block block;
    SC_TRY(sc_enter_context(&ctx));
    if (!sc_memory_lookup(dptr, &block))
        return CUDA_ERROR_NOT_FOUND;
    if (pbase)
        *pbase = block.address;
    if (psize)
        *psize = block.bytes;
    return CUDA_SUCCESS;
}

SC_API cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    (void)dptr;
    (void)bytesize;
    (void)flags;
    static _Atomic bool said;
    SC_TRY(sc_enter());
    if (!atomic_exchange(&said, true))
        sc_say("cuMemAllocManaged is not supported");
    return CUDA_ERROR_NOT_SUPPORTED;
}

SC_API cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
    CUcontext ctx;
    uint64_t address;
    SC_TRY(sc_enter_context(&ctx));
    unsigned known = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP |
                     CU_MEMHOSTALLOC_WRITECOMBINED;
    if (!pp || bytesize == 0 || (Flags & ~known))
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(sc_pinned_alloc(ctx, bytesize, Flags, &address));
    *pp = (void *)(uintptr_t)address;
    return CUDA_SUCCESS;
}

SC_API cuMemAllocHost(void **pp, size_t bytesize)
{
    return cuMemHostAlloc(pp, bytesize, 0);
}

SC_API cuMemFreeHost(void *p)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    return p ? sc_pinned_free((uint64_t)(uintptr_t)p) : CUDA_SUCCESS;
}

SC_API cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    uint64_t address = (uint64_t)(uintptr_t)p, end;
    if (!p || bytesize == 0 ||
        __builtin_add_overflow(address, bytesize, &end) ||
        (Flags & ~(unsigned)(CU_MEMHOSTREGISTER_PORTABLE |
                             CU_MEMHOSTREGISTER_DEVICEMAP |
                             CU_MEMHOSTREGISTER_IOMEMORY |
                             CU_MEMHOSTREGISTER_READ_ONLY)))
        return CUDA_ERROR_INVALID_VALUE;
    /* the program's own pages cannot be shown to a device process */
    if (Flags & (CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_IOMEMORY))
        return CUDA_ERROR_NOT_SUPPORTED;
    return sc_pinned_register(address, bytesize, Flags);
}

SC_API cuMemHostUnregister(void *p)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    return sc_pinned_unregister((uint64_t)(uintptr_t)p);
}

SC_API cuMemHostGetDevicePointer(CUdeviceptr *pdptr, void *p,
                                 unsigned int Flags)
{
    CUcontext ctx;
    struct sc_block block;
    SC_TRY(sc_enter_context(&ctx));
    if (!pdptr || Flags != 0 ||
        !sc_memory_lookup((uint64_t)(uintptr_t)p, &block) ||
        block.kind != SC_BLOCK_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    *pdptr = (CUdeviceptr)(uintptr_t)p;
    return CUDA_SUCCESS;
}

SC_API cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
    CUcontext ctx;
    struct sc_block block;
    SC_TRY(sc_enter_context(&ctx));
    if (!pFlags || !sc_memory_lookup((uint64_t)(uintptr_t)p, &block) ||
        block.kind != SC_BLOCK_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    /* unified addressing makes every such allocation mapped */
    *pFlags = block.flags | CU_MEMHOSTALLOC_DEVICEMAP;
    return CUDA_SUCCESS;
}

/* What the attribute queries see: a block, or a registered range as one. */
static bool describe(uint64_t ptr, struct sc_block *block, bool *foreign)
{
    struct sc_registered range;
    *foreign = false;
    if (sc_memory_lookup(ptr, block))
        return true;
    if (!sc_pinned_registered(ptr, &range))
        return false;
    *block = (struct sc_block){
        .address = range.address, .bytes = range.bytes, .kind = SC_BLOCK_HOST};
    *foreign = true;
    return true;
}

static CUresult attribute(void *data, int which, uint64_t ptr,
                          const struct sc_block *b, bool foreign)
{
    bool host = b->kind == SC_BLOCK_HOST;
    switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)data = b->ctx;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)data = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        if (foreign)
            return CUDA_ERROR_INVALID_VALUE;
        *(CUdeviceptr *)data = ptr;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!host)
            return CUDA_ERROR_INVALID_VALUE;
        *(void **)data = (void *)(uintptr_t)ptr;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
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
        *(unsigned char *)data = b->kind != SC_BLOCK_MAPPED || b->readable;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *(uint64_t *)data = 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *(unsigned *)data = CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *(void **)data = NULL;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

SC_API cuPointerGetAttribute(void *data, CUpointer_attribute attrib,
                             CUdeviceptr ptr)
{
    struct sc_block block;
    bool foreign;
    SC_TRY(sc_enter());
    if (!data || !describe(ptr, &block, &foreign))
        return CUDA_ERROR_INVALID_VALUE;
    return attribute(data, (int)attrib, ptr, &block, foreign);
}

/* Bytes cuPointerGetAttributes clears for a pointer it does not know. */
static size_t attribute_bytes(int which)
{
    switch (which) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return 4;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
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
    bool foreign;
    SC_TRY(sc_enter());
    if (!attributes || !data)
        return CUDA_ERROR_INVALID_VALUE;
    bool known = describe(ptr, &block, &foreign);
    for (unsigned i = 0; i < numAttributes; i++) {
        int which = (int)attributes[i];
        if (!known ||
            attribute(data[i], which, ptr, &block, foreign) != CUDA_SUCCESS) {
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
