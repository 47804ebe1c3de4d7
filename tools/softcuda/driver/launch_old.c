/*
 * Owns: launches of CUDA's first versions, whose block shape and parameters are
 * set before, one by one, and stay with the function.
 * Does not own: launching (launch.c).
 * Lock: `lock`, a leaf, over what was set.
 */
#include <stdlib.h>
#include <string.h>

#include "driver/context.h"
#include "driver/module.h"

/** What was set for a function so far. */
struct sc_prepared {
    unsigned block[3], shared_bytes, size;
    uint8_t params[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Copies `value` to `at` bytes into what is prepared for the function; the
 * parameters lie at its end, zero until they are set. */
static CUresult prepare(CUfunction handle, size_t at, const void *value,
                        size_t bytes)
{
    CUcontext ctx;
    CUfunction f;
    SC_TRY(sc_enter_context(&ctx));
    SC_TRY(sc_function_resolve(handle, ctx, &f));
    size_t room = sizeof(struct sc_prepared) + f->info->param_bytes;
    if (at > room || bytes > room - at)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    if (!f->prepared)
        f->prepared = calloc(1, room);
    if (f->prepared && bytes)
        memcpy((char *)f->prepared + at, value, bytes);
    bool ok = f->prepared != NULL;
    pthread_mutex_unlock(&lock);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

SC_API cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z)
{
    int block[3] = {x, y, z};
    if (x <= 0 || y <= 0 || z <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    return prepare(hfunc, offsetof(struct sc_prepared, block), block,
                   sizeof block);
}

SC_API cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes)
{
    return prepare(hfunc, offsetof(struct sc_prepared, shared_bytes), &bytes,
                   sizeof bytes);
}

SC_API cuParamSetSize(CUfunction hfunc, unsigned int numbytes)
{
    return prepare(hfunc, offsetof(struct sc_prepared, size), &numbytes,
                   sizeof numbytes);
}

SC_API cuParamSetv(CUfunction hfunc, int offset, void *ptr,
                   unsigned int numbytes)
{
    if (offset < 0 || (!ptr && numbytes))
        return CUDA_ERROR_INVALID_VALUE;
    return prepare(hfunc, offsetof(struct sc_prepared, params) + (size_t)offset,
                   ptr, numbytes);
}

SC_API cuParamSeti(CUfunction hfunc, int offset, unsigned int value)
{
    return cuParamSetv(hfunc, offset, &value, sizeof value);
}

SC_API cuParamSetf(CUfunction hfunc, int offset, float value)
{
    return cuParamSetv(hfunc, offset, &value, sizeof value);
}

SC_API cuLaunchGridAsync(CUfunction handle, int grid_width, int grid_height,
                         CUstream hStream)
{
    CUcontext ctx;
    CUfunction f;
    if (grid_width <= 0 || grid_height <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    /* so that there is something, without a block: refused as such */
    SC_TRY(prepare(handle, 0, NULL, 0));
    SC_TRY(sc_enter_context(&ctx));
    SC_TRY(sc_function_resolve(handle, ctx, &f));
    struct sc_prepared *now = malloc(sizeof *now + f->info->param_bytes);
    if (!now)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    memcpy(now, f->prepared, sizeof *now + f->info->param_bytes);
    pthread_mutex_unlock(&lock);
    size_t size = now->size;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, now->params,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    CUresult result = cuLaunchKernel(
        handle, (unsigned)grid_width, (unsigned)grid_height, 1, now->block[0],
        now->block[1], now->block[2], now->shared_bytes, hStream, NULL, extra);
    free(now);
    return result;
}

SC_API cuLaunchGrid(CUfunction f, int grid_width, int grid_height)
{
    return cuLaunchGridAsync(f, grid_width, grid_height, NULL);
}

SC_API cuLaunch(CUfunction f)
{
    return cuLaunchGrid(f, 1, 1);
}
