/*
 * Owns: the entry points of allocation and page-locked memory.
 * Does not own: the tables behind them (memory.c, alloc.c, pinned.c).
 */
#include "driver/context.h"
#include "driver/device.h"
#include "driver/graph_memory.h"
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
    CUresult result = CUDA_SUCCESS;
    if (!dptr || sc_graph_memory_free(ctx, NULL, dptr, &result))
        return result;
    return sc_alloc_free(dptr);
}

SC_API cuMemGetAddressRange(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    CUcontext ctx;
    struct sc_block block;
    SC_TRY(sc_enter_context(&ctx));
    if (!sc_memory_lookup(dptr, &block) || block.opaque)
        return CUDA_ERROR_NOT_FOUND;
    if (pbase)
        *pbase = block.address;
    if (psize)
        *psize = block.bytes;
    return CUDA_SUCCESS;
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
    SC_TRY(sc_pinned_alloc(ctx, SC_BLOCK_HOST, bytesize, Flags, &address));
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
    return p ? sc_pinned_free(SC_BLOCK_HOST, (uint64_t)(uintptr_t)p)
             : CUDA_SUCCESS;
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
    if (Flags & CU_MEMHOSTREGISTER_IOMEMORY) {
        sc_say("cuMemHostRegister: CU_MEMHOSTREGISTER_IOMEMORY is not "
               "supported");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
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
    if (!pdptr || Flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t address = (uint64_t)(uintptr_t)p;
    if (!sc_memory_lookup(address, &block))
        return sc_pinned_show(ctx, address, (uint64_t *)pdptr);
    if (block.kind != SC_BLOCK_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    *pdptr = address;
    return CUDA_SUCCESS;
}

SC_API cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
    CUcontext ctx;
    struct sc_block block;
    SC_TRY(sc_enter_context(&ctx));
    struct sc_registered range;
    if (!pFlags)
        return CUDA_ERROR_INVALID_VALUE;
    if (sc_pinned_registered((uint64_t)(uintptr_t)p, &range)) {
        *pFlags = range.flags | CU_MEMHOSTREGISTER_DEVICEMAP;
        return CUDA_SUCCESS;
    }
    if (!sc_memory_lookup((uint64_t)(uintptr_t)p, &block) ||
        block.kind != SC_BLOCK_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    /* unified addressing makes every such allocation mapped */
    *pFlags = block.flags | CU_MEMHOSTALLOC_DEVICEMAP;
    return CUDA_SUCCESS;
}
