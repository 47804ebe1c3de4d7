/*
 * Launches: every one is a call in the sense of the paper. Whatever a kernel
 * may reach is released to the device first, less what its code cannot write;
 * and since the release closes memory that the arguments may lie in, they are
 * resolved before that.
 */
#include "interpose/cuda/arguments.h"
#include "interpose/cuda/context.h"
#include "interpose/cuda/reach.h"
#include "interpose/cuda/work.h"

#include <string.h>

/* Attributes of a launch: size of one, and more than there are kinds of. */
enum { ATTRIBUTE_BYTES = 64, ATTRIBUTES_MOST = 32 };

/* What the kernel may touch is released, as far as that is known. */
static CUresult release_to(struct adsm_call *call, CUfunction kernel,
                           const struct sc_geometry *geometry,
                           const struct cuda_arguments *a)
{
    struct cuda_told told;
    cuda_reach_tell(call, kernel, geometry, a, &told);
    CUresult result = cuda_release(call);
    /* Nobody looks at them again: none of them gets a fence. */
    call->uses = call->reach = NULL;
    call->use_count = call->reach_count = 0;
    return result;
}

/* A launch from `begin`, over the driver's call, to `end`. */
struct launch {
    struct adsm_call call;
    struct cuda_arguments with; /* what the driver is given                   */
    CUresult result;            /* of ours, then the driver's                 */
};

/* All that comes before the driver's call. From where nothing of the program's
 * is looked at any more but plain memory, to the end of the launch, no handler
 * of the program's runs: that is so anyhow while the gate is closed, and the
 * locks before it cost no calls of the system then.
 *
 * Return: whether the driver may be called */
static bool begin(struct launch *launch, struct device_order order,
                  CUfunction kernel, struct sc_geometry geometry, void **params,
                  void **extra)
{
    struct cuda_arguments *with = &launch->with;
    launch->call = device_call(order);
    launch->call.code = kernel;
    with->params = params;
    with->extra = extra;
    if (!launch->call.accel)
        return true;
    CUresult result = cuda_arguments_resolve(with, kernel, params, extra);
    adsm_quiet_enter();
    if (!result)
        result = release_to(&launch->call, kernel, &geometry, with);
    launch->result = result;
    if (!result) {
        adsm_fault_enter_driver();
        return true;
    }
    adsm_quiet_leave();
    launch->call.accel = NULL;
    return false;
}

/* Return: the program's answer */
static CUresult end(const struct launch *launch)
{
    if (!launch->call.accel)
        return cuda_called(&launch->call, launch->result);
    adsm_fault_leave_driver();
    CUresult result = cuda_called(&launch->call, launch->result);
    adsm_quiet_leave();
    return result;
}

CUresult cuLaunchKernel(CUfunction kernel, unsigned gx, unsigned gy,
                        unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, CUstream stream, void **params,
                        void **extra)
{
    struct launch launch;
    if (begin(&launch, cuda_order(stream, false), kernel,
              (struct sc_geometry){.grid = {gx, gy, gz}, .block = {bx, by, bz}},
              params, extra))
        launch.result = CUDA_CALL(
            cuLaunchKernel, (kernel, gx, gy, gz, bx, by, bz, shared, stream,
                             launch.with.params, launch.with.extra));
    return end(&launch);
}

CUresult cuLaunchKernel_ptsz(CUfunction kernel, unsigned gx, unsigned gy,
                             unsigned gz, unsigned bx, unsigned by, unsigned bz,
                             unsigned shared, CUstream stream, void **params,
                             void **extra)
{
    struct launch launch;
    if (begin(&launch, cuda_order(stream, true), kernel,
              (struct sc_geometry){.grid = {gx, gy, gz}, .block = {bx, by, bz}},
              params, extra))
        launch.result =
            CUDA_CALL(cuLaunchKernel_ptsz,
                      (kernel, gx, gy, gz, bx, by, bz, shared, stream,
                       launch.with.params, launch.with.extra));
    return end(&launch);
}

CUresult cuLaunchCooperativeKernel(CUfunction kernel, unsigned gx, unsigned gy,
                                   unsigned gz, unsigned bx, unsigned by,
                                   unsigned bz, unsigned shared,
                                   CUstream stream, void **params)
{
    struct launch launch;
    if (begin(&launch, cuda_order(stream, false), kernel,
              (struct sc_geometry){.grid = {gx, gy, gz}, .block = {bx, by, bz}},
              params, NULL))
        launch.result = CUDA_CALL(cuLaunchCooperativeKernel,
                                  (kernel, gx, gy, gz, bx, by, bz, shared,
                                   stream, launch.with.params));
    return end(&launch);
}

CUresult cuLaunchCooperativeKernel_ptsz(CUfunction kernel, unsigned gx,
                                        unsigned gy, unsigned gz, unsigned bx,
                                        unsigned by, unsigned bz,
                                        unsigned shared, CUstream stream,
                                        void **params)
{
    struct launch launch;
    if (begin(&launch, cuda_order(stream, true), kernel,
              (struct sc_geometry){.grid = {gx, gy, gz}, .block = {bx, by, bz}},
              params, NULL))
        launch.result = CUDA_CALL(cuLaunchCooperativeKernel_ptsz,
                                  (kernel, gx, gy, gz, bx, by, bz, shared,
                                   stream, launch.with.params));
    return end(&launch);
}

/* The launch's own description may lie in shared memory as well. */
struct description {
    struct cuda_launch how;
    char attributes[ATTRIBUTES_MOST * ATTRIBUTE_BYTES];
};

static CUresult resolve_description(struct description *d,
                                    const struct cuda_launch *asked)
{
    d->how = *asked;
    size_t bytes = (size_t)d->how.attribute_count * ATTRIBUTE_BYTES;
    if (!bytes || bytes > sizeof d->attributes ||
        hook_is_plain(d->how.attributes, bytes))
        return CUDA_SUCCESS;
    CUresult result =
        cuda_arguments_fetch(d->attributes, d->how.attributes, bytes);
    d->how.attributes = d->attributes;
    return result;
}

static struct sc_geometry geometry_of(const struct cuda_launch *how)
{
    struct sc_geometry geometry = {0};
    memcpy(geometry.grid, how->grid, sizeof geometry.grid);
    memcpy(geometry.block, how->block, sizeof geometry.block);
    return geometry;
}

CUresult cuLaunchKernelEx(const struct cuda_launch *asked, CUfunction kernel,
                          void **params, void **extra)
{
    struct launch launch;
    struct description d;
    if (!asked || !device_is_serving())
        return CUDA_CALL(cuLaunchKernelEx, (asked, kernel, params, extra));
    CUresult described = resolve_description(&d, asked);
    if (described)
        return described;
    if (begin(&launch, cuda_order(d.how.stream, false), kernel,
              geometry_of(&d.how), params, extra))
        launch.result =
            CUDA_CALL(cuLaunchKernelEx,
                      (&d.how, kernel, launch.with.params, launch.with.extra));
    return end(&launch);
}

CUresult cuLaunchKernelEx_ptsz(const struct cuda_launch *asked,
                               CUfunction kernel, void **params, void **extra)
{
    struct launch launch;
    struct description d;
    if (!asked || !device_is_serving())
        return CUDA_CALL(cuLaunchKernelEx_ptsz, (asked, kernel, params, extra));
    CUresult described = resolve_description(&d, asked);
    if (described)
        return described;
    if (begin(&launch, cuda_order(d.how.stream, true), kernel,
              geometry_of(&d.how), params, extra))
        launch.result =
            CUDA_CALL(cuLaunchKernelEx_ptsz,
                      (&d.how, kernel, launch.with.params, launch.with.extra));
    return end(&launch);
}
