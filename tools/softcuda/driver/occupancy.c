/*
 * Owns: the entry points that ask how many blocks a multiprocessor holds.
 * Does not own: how many that is (base/occupancy.c).  No lock.
 */
#include "driver/context.h"
#include "driver/device.h"
#include "driver/module.h"
#include "base/kernel.h"
#include "base/occupancy.h"

unsigned sc_occupancy_blocks(const struct CUfunc_st *f, unsigned threads,
                             size_t dynamic)
{
    const struct sc_occupant kernel = {.registers = f->info->registers,
                                       .static_shared_bytes =
                                           f->info->static_shared_bytes,
                                       .max_threads = f->info->max_threads};
    return sc_occupancy(&kernel, threads, dynamic);
}

SC_API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks,
                                                   CUfunction func,
                                                   int blockSize,
                                                   size_t dynamicSMemSize)
{
    CUcontext ctx;
    CUfunction f;
    SC_TRY(sc_enter_context(&ctx));
    SC_TRY(sc_function_resolve(func, ctx, &f));
    if (!numBlocks || blockSize <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    *numBlocks =
        (int)sc_occupancy_blocks(f, (unsigned)blockSize, dynamicSMemSize);
    return CUDA_SUCCESS;
}

SC_API cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize,
    unsigned int flags)
{
    if (flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return CUDA_ERROR_INVALID_VALUE;
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(
        numBlocks, func, blockSize, dynamicSMemSize);
}

SC_API
cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize,
                                 CUfunction func,
                                 CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                 size_t dynamicSMemSize, int blockSizeLimit)
{
    CUcontext ctx;
    CUfunction f;
    SC_TRY(sc_enter_context(&ctx));
    SC_TRY(sc_function_resolve(func, ctx, &f));
    if (!minGridSize || !blockSize || blockSizeLimit < 0)
        return CUDA_ERROR_INVALID_VALUE;
    int limit = (int)f->info->max_threads;
    if (blockSizeLimit && blockSizeLimit < limit)
        limit = blockSizeLimit;
    unsigned best = 0;
    for (int threads = (limit + 31) / 32 * 32; threads > 0; threads -= 32) {
        int size = threads < limit ? threads : limit;
        size_t dynamic = blockSizeToDynamicSMemSize
                             ? blockSizeToDynamicSMemSize(size)
                             : dynamicSMemSize;
        unsigned blocks = sc_occupancy_blocks(f, (unsigned)size, dynamic);
        if (blocks * (unsigned)size > best) {
            best = blocks * (unsigned)size;
            *blockSize = size;
            *minGridSize = (int)(blocks * SC_SMS);
        }
    }
    return best ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SC_API cuOccupancyMaxPotentialBlockSizeWithFlags(
    int *minGridSize, int *blockSize, CUfunction func,
    CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize,
    int blockSizeLimit, unsigned int flags)
{
    if (flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return CUDA_ERROR_INVALID_VALUE;
    return cuOccupancyMaxPotentialBlockSize(minGridSize, blockSize, func,
                                            blockSizeToDynamicSMemSize,
                                            dynamicSMemSize, blockSizeLimit);
}

SC_API cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize,
                                               CUfunction func, int numBlocks,
                                               int blockSize)
{
    CUcontext ctx;
    CUfunction f;
    SC_TRY(sc_enter_context(&ctx));
    SC_TRY(sc_function_resolve(func, ctx, &f));
    if (!dynamicSmemSize || numBlocks <= 0 || blockSize <= 0 ||
        (unsigned)numBlocks > sc_occupancy_blocks(f, (unsigned)blockSize, 0))
        return CUDA_ERROR_INVALID_VALUE;
    unsigned each =
        SC_SM_SHARED / (unsigned)numBlocks / SC_SHARED_UNIT * SC_SHARED_UNIT;
    unsigned most = SC_MAX_SHARED_BYTES - f->info->static_shared_bytes;
    unsigned used = f->info->static_shared_bytes + SC_SHARED_PER_BLOCK;
    unsigned left = each > used ? each - used : 0;
    *dynamicSmemSize = left < most ? left : most;
    return CUDA_SUCCESS;
}
