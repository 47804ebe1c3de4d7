/*
 * Launches: every one is a call in the sense of the paper. Whatever a kernel
 * may reach is released to the device first, less what its code cannot write;
 * and since the release closes memory that the arguments may lie in, they are
 * resolved before that.
 */
#include "accel/launch.h"
#include "base/stats.h"
#include "base/trace.h"
#include "interpose/cuda/arguments.h"
#include "interpose/cuda/context.h"
#include "interpose/cuda/module.h"
#include "interpose/cuda/work.h"
#include "interpose/device/plan.h"
#include "mm/object/passing.h"

#include <string.h>

/* Attributes of a launch: size of one, and more than there are kinds of. */
enum { ATTRIBUTE_BYTES = 64, ATTRIBUTES_MOST = 32 };

/* Which of the driver's calls a launch is. */
struct form {
    bool per_thread, cooperative;
    const struct cuda_launch *description; /* of the extended ones; else NULL */
};

/* In a quiet stretch. */
static CUresult submit(const struct adsm_launch *l, struct form form)
{
    const unsigned *grid = l->grid, *block = l->block;
    if (form.description && form.per_thread)
        return CUDA_INSIDE(cuLaunchKernelEx_ptsz,
                           (form.description, l->kernel, l->values, l->packed));
    if (form.description)
        return CUDA_INSIDE(cuLaunchKernelEx,
                           (form.description, l->kernel, l->values, l->packed));
#define WHERE                                                                  \
    grid[0], grid[1], grid[2], block[0], block[1], block[2], l->shared_bytes,  \
        l->stream
    if (form.cooperative && form.per_thread)
        return CUDA_INSIDE(cuLaunchCooperativeKernel_ptsz,
                           (l->kernel, WHERE, l->values));
    if (form.cooperative)
        return CUDA_INSIDE(cuLaunchCooperativeKernel,
                           (l->kernel, WHERE, l->values));
    if (form.per_thread)
        return CUDA_INSIDE(cuLaunchKernel_ptsz,
                           (l->kernel, WHERE, l->values, l->packed));
    return CUDA_INSIDE(cuLaunchKernel,
                       (l->kernel, WHERE, l->values, l->packed));
#undef WHERE
}

/* The same with arguments in plain memory, while objects are closed to the CPU. */
static CUresult submit_plain(const struct adsm_launch *launch, struct form form)
{
    adsm_fault_enter_driver();
    hook_bare++;
    CUresult result = submit(launch, form);
    hook_bare--;
    adsm_fault_leave_driver();
    return result;
}

/* A launch with arguments that the driver may read, and what is looked for to
 * find one like it. */
struct prepared {
    struct sc_geometry geometry;
    struct cuda_arguments arguments;
    struct device_launch which;
    struct device_plan_key key;
};

static CUresult prepare(struct prepared *p, struct adsm_launch *launch)
{
    const unsigned *grid = launch->grid, *block = launch->block;
    CUresult result = cuda_arguments_resolve(&p->arguments, launch->kernel,
                                             launch->values, launch->packed);
    if (result)
        return result;
    launch->values = p->arguments.params;
    launch->packed = p->arguments.extra;
    p->geometry = (struct sc_geometry){.grid = {grid[0], grid[1], grid[2]},
                                       .block = {block[0], block[1], block[2]}};
    p->which =
        (struct device_launch){(uintptr_t)launch->kernel, p->arguments.age,
                               &p->geometry, &p->arguments.list};
    device_plan_key(&p->which, &p->key);
    return CUDA_SUCCESS;
}

/* Is it known that the launch uses nothing that is shared? Then it is the
 * driver's business alone, and *result is its answer. */
static bool passes(struct prepared *p, const struct adsm_launch *launch,
                   struct form form, CUresult *result)
{
    if (!device_reach_is_asked() || !device_plan_is_bare(&p->which, &p->key))
        return false;
    adsm_quiet_enter();
    uint64_t start = adsm_trace_begin();
    bool passes = adsm_passing_begin_beside(p->key.objects);
    if (passes) {
        *result = submit_plain(launch, form);
        adsm_passing_end();
        adsm_trace_end(ADSM_TRACE_launch, "launch", start, -1, NULL);
    }
    adsm_quiet_leave();
    if (passes && *result)
        cuda_seen(*result);
    else if (passes)
        ADSM_COUNT(launches, 1);
    return passes;
}

/* What the kernel touches is said, as far as that is known. */
static void tell(struct adsm_call *call, struct prepared *p,
                 struct device_told *told)
{
    if (device_plan_recall(call, &p->which, &p->key, told))
        return;
    hook_enter();
    struct adsm_code *code = cuda_module_hold((CUfunction)p->which.kernel);
    device_reach_tell(call, code, &p->geometry, &p->arguments.list, told);
    cuda_module_release(code);
    hook_leave();
    device_plan_note(call, &p->which, &p->key);
}

/* What the kernel may touch is released. What is said of it has left the stack
 * when the driver is called. */
static __attribute__((noinline)) CUresult release_to(struct adsm_call *call,
                                                     struct prepared *p)
{
    struct device_told told;
    if (device_reach_matters())
        tell(call, p, &told);
    CUresult result = cuda_release(call);
    /* Nobody looks at them again: none of them gets a fence. */
    call->uses = call->reach = NULL;
    call->use_count = call->reach_count = 0;
    return result;
}

/* From where nothing of the program's is looked at any more but plain memory, to
 * the end of the launch, no handler of the program's runs: that is so anyhow
 * while the gate is closed, and the locks before it cost no calls of the system
 * then. */
static CUresult run_noted(struct prepared *p, const struct adsm_launch *launch,
                          struct form form)
{
    DEVICE_STAYS;
    struct adsm_call call =
        device_call(cuda_order(launch->stream, form.per_thread));
    CUresult result = CUDA_SUCCESS;
    call.code = launch->kernel;
    adsm_quiet_enter();
    if (!call.accel)
        result = submit(launch, form);
    else
        result = release_to(&call, p);
    if (result)
        call.accel = NULL; /* nothing is closed */
    if (call.accel)
        result = submit_plain(launch, form);
    result = cuda_called(&call, result);
    adsm_quiet_leave();
    return result;
}

/* Is nothing shared, so that the launch is the driver's business alone? Asked
 * once more when nothing can be any more: who was about to share something comes
 * first, and then there is something to note. */
static bool runs_alone(const struct adsm_launch *launch, struct form form,
                       CUresult *result)
{
    if (device_is_serving())
        return false;
    DEVICE_STAYS;
    if (device_is_serving())
        return false;
    adsm_quiet_enter();
    *result = cuda_seen(submit(launch, form));
    adsm_quiet_leave();
    return true;
}

/* A launch as the program has asked for it. The driver is given it with values
 * that it may read, which are put in. */
static CUresult run(struct adsm_launch *launch, struct form form)
{
    struct prepared prepared;
    CUresult result;
    if (runs_alone(launch, form, &result))
        return result;
    result = prepare(&prepared, launch);
    if (result)
        return cuda_seen(result);
    if (passes(&prepared, launch, form, &result))
        return result;
    return run_noted(&prepared, launch, form);
}

/* What the forms of a launch have in common, their parameters' names too. */
#define AS_GIVEN(kernel_, stream_, params_)                                    \
    .kernel = (kernel_), .grid = {gx, gy, gz}, .block = {bx, by, bz},          \
    .shared_bytes = shared, .stream = (stream_), .values = (params_)

CUresult cuLaunchKernel(CUfunction kernel, unsigned gx, unsigned gy,
                        unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, CUstream stream, void **params,
                        void **extra)
{
    CUresult passed;
    if (CUDA_PASSES(
            &passed, cuLaunchKernel,
            (kernel, gx, gy, gz, bx, by, bz, shared, stream, params, extra)))
        return passed;
    return run(&(struct adsm_launch){AS_GIVEN(kernel, stream, params),
                                     .packed = extra},
               (struct form){.per_thread = false});
}

CUresult cuLaunchKernel_ptsz(CUfunction kernel, unsigned gx, unsigned gy,
                             unsigned gz, unsigned bx, unsigned by, unsigned bz,
                             unsigned shared, CUstream stream, void **params,
                             void **extra)
{
    CUresult passed;
    if (CUDA_PASSES(
            &passed, cuLaunchKernel_ptsz,
            (kernel, gx, gy, gz, bx, by, bz, shared, stream, params, extra)))
        return passed;
    return run(&(struct adsm_launch){AS_GIVEN(kernel, stream, params),
                                     .packed = extra},
               (struct form){.per_thread = true});
}

CUresult cuLaunchCooperativeKernel(CUfunction kernel, unsigned gx, unsigned gy,
                                   unsigned gz, unsigned bx, unsigned by,
                                   unsigned bz, unsigned shared,
                                   CUstream stream, void **params)
{
    CUresult passed;
    if (CUDA_PASSES(&passed, cuLaunchCooperativeKernel,
                    (kernel, gx, gy, gz, bx, by, bz, shared, stream, params)))
        return passed;
    return run(&(struct adsm_launch){AS_GIVEN(kernel, stream, params)},
               (struct form){.cooperative = true});
}

CUresult cuLaunchCooperativeKernel_ptsz(CUfunction kernel, unsigned gx,
                                        unsigned gy, unsigned gz, unsigned bx,
                                        unsigned by, unsigned bz,
                                        unsigned shared, CUstream stream,
                                        void **params)
{
    CUresult passed;
    if (CUDA_PASSES(&passed, cuLaunchCooperativeKernel_ptsz,
                    (kernel, gx, gy, gz, bx, by, bz, shared, stream, params)))
        return passed;
    return run(&(struct adsm_launch){AS_GIVEN(kernel, stream, params)},
               (struct form){.per_thread = true, .cooperative = true});
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
        hook_is_apart(d->how.attributes, bytes))
        return CUDA_SUCCESS;
    CUresult result =
        cuda_arguments_fetch(d->attributes, d->how.attributes, bytes);
    d->how.attributes = d->attributes;
    return result;
}

static CUresult run_described(const struct cuda_launch *asked, bool per_thread,
                              CUfunction kernel, void **params, void **extra)
{
    struct description d;
    CUresult described = resolve_description(&d, asked);
    if (described)
        return described;
    struct adsm_launch launch = {.kernel = kernel,
                                 .shared_bytes = d.how.shared_bytes,
                                 .stream = d.how.stream,
                                 .values = params,
                                 .packed = extra};
    memcpy(launch.grid, d.how.grid, sizeof launch.grid);
    memcpy(launch.block, d.how.block, sizeof launch.block);
    return run(&launch,
               (struct form){.per_thread = per_thread, .description = &d.how});
}

CUresult cuLaunchKernelEx(const struct cuda_launch *asked, CUfunction kernel,
                          void **params, void **extra)
{
    CUresult passed;
    if (CUDA_PASSES(&passed, cuLaunchKernelEx, (asked, kernel, params, extra)))
        return passed;
    if (!asked)
        return CUDA_CALL(cuLaunchKernelEx, (asked, kernel, params, extra));
    return run_described(asked, false, kernel, params, extra);
}

CUresult cuLaunchKernelEx_ptsz(const struct cuda_launch *asked,
                               CUfunction kernel, void **params, void **extra)
{
    CUresult passed;
    if (CUDA_PASSES(&passed, cuLaunchKernelEx_ptsz,
                    (asked, kernel, params, extra)))
        return passed;
    if (!asked)
        return CUDA_CALL(cuLaunchKernelEx_ptsz, (asked, kernel, params, extra));
    return run_described(asked, true, kernel, params, extra);
}
