/*
 * Owns: how many blocks a multiprocessor of this capability would hold, by the
 * rules of the CUDA programming guide, and the entry points that ask for it.
 * Does not own: how many run at once here (exec/).  No lock.
 */
#include "driver/context.h"
#include "driver/device.h"
#include "driver/module.h"
#include "base/kernel.h"

#define WARP             32u
#define SM_THREADS       2048u
#define SM_BLOCKS        32u
#define SM_REGISTERS     65536u
#define SM_QUARTERS      4u   /* each with its part of the registers */
#define REGISTER_UNIT    256u /* a warp's registers come in multiples */
#define SM_SHARED        (228u << 10)
#define SHARED_UNIT      128u
#define SHARED_PER_BLOCK 1024u /* taken by the system */

static unsigned round_up(unsigned value, unsigned unit)
{
    return (value + unit - 1) / unit * unit;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The number is an estimate, and a compiler would rather spill than make a
 * kernel that no block of the size it allows can run: one always fits. */
static unsigned by_registers(const struct CUfunc_st *f, unsigned warps)
{
    unsigned each = round_up(f->info->registers * WARP, REGISTER_UNIT);
    if (each == 0)
        return SM_BLOCKS;
    unsigned blocks = SM_REGISTERS / SM_QUARTERS / each * SM_QUARTERS / warps;
    return blocks ? blocks : 1;
}

static unsigned by_shared(const struct CUfunc_st *f, size_t dynamic)
{
    if (dynamic > SC_MAX_SHARED_BYTES ||
        dynamic + f->info->static_shared_bytes > SC_MAX_SHARED_BYTES)
        return 0;
    unsigned bytes = f->info->static_shared_bytes + (unsigned)dynamic;
    return SM_SHARED / round_up(bytes + SHARED_PER_BLOCK, SHARED_UNIT);
}

unsigned sc_occupancy_blocks(const struct CUfunc_st *f, unsigned threads,
                             size_t dynamic)
{
    if (threads == 0 || threads > f->info->max_threads)
        return 0;
    unsigned warps = (threads + WARP - 1) / WARP;
    unsigned blocks = least(SM_BLOCKS, SM_THREADS / WARP / warps);
    blocks = least(blocks, by_registers(f, warps));
    return least(blocks, by_shared(f, dynamic));
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
            *minGridSize = (int)blocks * SC_SMS;
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
    unsigned each = SM_SHARED / (unsigned)numBlocks / SHARED_UNIT * SHARED_UNIT;
    unsigned most = SC_MAX_SHARED_BYTES - f->info->static_shared_bytes;
    unsigned used = f->info->static_shared_bytes + SHARED_PER_BLOCK;
    *dynamicSmemSize = least(each > used ? each - used : 0, most);
    return CUDA_SUCCESS;
}
