/*
 * Launches: every one is a call in the sense of the paper. Whatever a kernel
 * may reach is released to the device first; and since the driver reads the
 * values of its parameters, which may lie in shared memory that the release
 * closes, the argument list is resolved before that.
 */
#include "base/option.h"
#include "interpose/cuda_module.h"
#include "interpose/cuda_params.h"
#include "interpose/cuda_state.h"
#include "mm/bulk.h"

#include <string.h>

enum { ARGUMENT_BYTES_MOST = 4096, EXTRA_MOST = 8 };

/* Attributes of a launch: size of one, and more than there are kinds of. */
enum { ATTRIBUTE_BYTES = 64, ATTRIBUTES_MOST = 32 };

/* Copies of those parts of an argument list that lie in shared memory. */
struct arguments {
    void **params;
    void **extra;
    size_t extra_bytes;
    void *copied_params[CUDA_PARAMS_MOST];
    void *copied_extra[EXTRA_MOST];
    char values[ARGUMENT_BYTES_MOST];
};

/* Bytes [from, +bytes) of the program, which may be shared, to plain memory. */
static CUresult fetch(void *to, const void *from, size_t bytes)
{
    hook_enter();
    int status = adsm_bulk_move(to, from, bytes);
    hook_leave();
    return cuda_result("reading the arguments of a launch", status);
}

/* params[i] points at the value of parameter i, as many as the kernel has.
 * Where nobody can tell how many these are, the list stays as it is. */
static CUresult resolve_params(struct arguments *a, CUfunction kernel,
                               void **params)
{
    struct cuda_params known;
    CUresult result = CUDA_SUCCESS;
    a->params = params;
    if (!params)
        return CUDA_SUCCESS;
    cuda_params_of(kernel, &known);
    bool copied = known.count && !hook_is_plain(params, sizeof *params);
    for (unsigned i = 0; i < known.count && !result; i++) {
        size_t offset = known.at[i].offset, bytes = known.at[i].bytes;
        void *value = params[i];
        if (!hook_is_plain(value, bytes) &&
            offset + bytes <= sizeof a->values) {
            result = fetch(a->values + offset, value, bytes);
            value = a->values + offset;
            copied = true;
        }
        a->copied_params[i] = value;
    }
    if (copied)
        a->params = a->copied_params;
    return result;
}

/* extra: pairs of a name and a pointer, up to CUDA_PARAM_END. */
static CUresult resolve_extra(struct arguments *a, void **extra)
{
    CUresult result = CUDA_SUCCESS;
    const void *buffer = NULL;
    int i, place = -1;
    a->extra = extra;
    a->extra_bytes = 0;
    if (!extra)
        return CUDA_SUCCESS;
    for (i = 0; i + 2 < EXTRA_MOST && extra[i] != CUDA_PARAM_END; i += 2) {
        a->copied_extra[i] = extra[i];
        a->copied_extra[i + 1] = extra[i + 1];
        if (extra[i] == CUDA_PARAM_BUFFER) {
            buffer = extra[i + 1];
            place = i + 1;
        } else if (extra[i] == CUDA_PARAM_SIZE) {
            a->extra_bytes = *(size_t *)extra[i + 1];
            a->copied_extra[i + 1] = &a->extra_bytes;
        }
    }
    a->copied_extra[i] = CUDA_PARAM_END;
    a->extra = a->copied_extra;
    if (buffer && !hook_is_plain(buffer, a->extra_bytes) &&
        a->extra_bytes <= sizeof a->values) {
        result = fetch(a->values, buffer, a->extra_bytes);
        a->copied_extra[place] = a->values;
    }
    return result;
}

/* Where eight bytes of the arguments are; NULL: nobody can tell. */
static const char *argument_at(const struct arguments *a,
                               const struct ptx_place *place)
{
    if (a->params)
        return place->param < CUDA_PARAMS_MOST
                   ? (char *)a->params[place->param] + place->offset
                   : NULL;
    for (int i = 0; a->extra && a->extra[i] != CUDA_PARAM_END; i += 2)
        if (a->extra[i] == CUDA_PARAM_BUFFER &&
            place->at + sizeof(uint64_t) <= a->extra_bytes)
            return (char *)a->extra[i + 1] + place->at;
    return NULL;
}

/* No address lies that low, or that high: sizes and strides. */
static bool is_small(uint64_t value)
{
    return value < UINT64_C(1) << 32 || value > -(UINT64_C(1) << 32);
}

/* What a kernel that writes through `at` uses. Return: nothing is shared there */
static bool use_at(const uint8_t *at, struct adsm_use *use)
{
    struct adsm_object *object = adsm_index_acquire(at);
    if (!object)
        return false;
    size_t left = object->bytes - (size_t)(at - object->host);
    *use = adsm_use_of(object, at, left, ADSM_INOUT);
    adsm_rwlock_release_shared(&object->lock);
    return true;
}

/* Where the launch may write, at most PTX_PLACES_MOST uses. Return: false: to
 * any object */
static bool uses_of(CUfunction function, const struct arguments *a,
                    struct adsm_use *uses, size_t *count)
{
    struct ptx_kernel kernel;
    uint64_t value;
    *count = 0;
    if (adsm_options_get()->kernel_writes != ADSM_OPT_KERNEL_WRITES_PTX ||
        !cuda_module_kernel(function, &kernel) || kernel.anywhere)
        return false;
    for (unsigned i = 0; i < kernel.count; i++) {
        const char *from = argument_at(a, &kernel.place[i]);
        if (!from)
            return false;
        memcpy(&value, from, sizeof value);
        if (is_small(value))
            continue;
        if (!use_at((const uint8_t *)(uintptr_t)value, &uses[*count]))
            return false;
        ++*count;
    }
    return true;
}

/* A launch on a stream, which may read and write every object; its accel is
 * NULL where there is nothing to keep coherent. */
static struct adsm_call call_of(struct cuda_order order)
{
    struct adsm_call call = {.stream = order.stream,
                             .per_thread = order.per_thread};
    if (cuda_is_serving() && !cuda_is_capturing(order.stream))
        call.accel = cuda_accel_current();
    return call;
}

static CUresult release_all(struct adsm_call *call)
{
    hook_enter();
    int status = adsm_boundary_call(call);
    hook_leave();
    return cuda_result("a launch", status);
}

/* The same, less what the kernel cannot write. */
static CUresult release_to(struct adsm_call *call, CUfunction kernel,
                           const struct arguments *a)
{
    struct adsm_use uses[PTX_PLACES_MOST];
    size_t count;
    if (uses_of(kernel, a, uses, &count)) {
        call->rest = ADSM_REST_READ;
        call->uses = uses;
        call->use_count = count;
    }
    CUresult result = release_all(call);
    /* Nobody looks at them again: none of them gets a fence. */
    call->uses = NULL;
    call->use_count = 0;
    return result;
}

static CUresult called(const struct adsm_call *call, CUresult result)
{
    int status = ADSM_OK;
    cuda_seen(result);
    if (!call->accel)
        return result;
    hook_enter();
    if (result)
        adsm_boundary_call_failed(call);
    else
        status = adsm_boundary_called(call);
    hook_leave();
    return result ? result : cuda_result("a launch", status);
}

/* A launch from `begin`, over the driver's call, to `end`. */
struct launch {
    struct adsm_call call;
    struct arguments with; /* what the driver is given                   */
    CUresult result;       /* of ours, then the driver's                 */
};

/* All that comes before the driver's call. From where nothing of the program's
 * is looked at any more but plain memory, to the end of the launch, no handler
 * of the program's runs: that is so anyhow while the gate is closed, and the
 * locks before it cost no calls of the system then.
 *
 * Return: whether the driver may be called */
static bool begin(struct launch *launch, struct cuda_order order,
                  CUfunction kernel, void **params, void **extra)
{
    struct arguments *with = &launch->with;
    launch->call = call_of(order);
    with->params = params;
    with->extra = extra;
    if (!launch->call.accel)
        return true;
    CUresult result = resolve_params(with, kernel, params);
    if (!result)
        result = resolve_extra(with, extra);
    adsm_quiet_enter();
    if (!result)
        result = release_to(&launch->call, kernel, with);
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
        return called(&launch->call, launch->result);
    adsm_fault_leave_driver();
    CUresult result = called(&launch->call, launch->result);
    adsm_quiet_leave();
    return result;
}

CUresult cuLaunchKernel(CUfunction kernel, unsigned gx, unsigned gy,
                        unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, CUstream stream, void **params,
                        void **extra)
{
    struct launch launch;
    if (begin(&launch, cuda_order(stream, false), kernel, params, extra))
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
    if (begin(&launch, cuda_order(stream, true), kernel, params, extra))
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
    if (begin(&launch, cuda_order(stream, false), kernel, params, NULL))
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
    if (begin(&launch, cuda_order(stream, true), kernel, params, NULL))
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
    CUresult result = fetch(d->attributes, d->how.attributes, bytes);
    d->how.attributes = d->attributes;
    return result;
}

CUresult cuLaunchKernelEx(const struct cuda_launch *asked, CUfunction kernel,
                          void **params, void **extra)
{
    struct launch launch;
    struct description d;
    if (!asked || !cuda_is_serving())
        return CUDA_CALL(cuLaunchKernelEx, (asked, kernel, params, extra));
    CUresult described = resolve_description(&d, asked);
    if (described)
        return described;
    if (begin(&launch, cuda_order(d.how.stream, false), kernel, params, extra))
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
    if (!asked || !cuda_is_serving())
        return CUDA_CALL(cuLaunchKernelEx_ptsz, (asked, kernel, params, extra));
    CUresult described = resolve_description(&d, asked);
    if (described)
        return described;
    if (begin(&launch, cuda_order(d.how.stream, true), kernel, params, extra))
        launch.result =
            CUDA_CALL(cuLaunchKernelEx_ptsz,
                      (&d.how, kernel, launch.with.params, launch.with.extra));
    return end(&launch);
}

/* Work whose ranges are not looked into is treated as a kernel is: graphs,
 * and batches of copies. */
#define OPAQUE(stream, per_thread, real, args)                                 \
    struct adsm_call call = call_of(cuda_order(stream, per_thread));           \
    if (!call.accel)                                                           \
        return CUDA_CALL(real, args);                                          \
    CUresult result = release_all(&call);                                      \
    return result ? result : called(&call, CUDA_SUBMIT(real, args))

/* Before a graph, which may have host functions. */
static CUresult expect_hosts(void)
{
    struct adsm_accel *accel = cuda_is_serving() ? cuda_accel_current() : NULL;
    if (!accel)
        return CUDA_SUCCESS;
    hook_enter();
    int status = adsm_turn_before_graph(accel);
    hook_leave();
    return cuda_result("a launch", status);
}

CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream)
{
    CUresult ready = expect_hosts();
    if (ready)
        return ready;
    OPAQUE(stream, false, cuGraphLaunch, (graph, stream));
}

CUresult cuGraphLaunch_ptsz(CUgraphExec graph, CUstream stream)
{
    CUresult ready = expect_hosts();
    if (ready)
        return ready;
    OPAQUE(stream, true, cuGraphLaunch_ptsz, (graph, stream));
}

CUresult cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes,
                            size_t count, void *attributes, size_t *which,
                            size_t attribute_count, size_t *failed,
                            CUstream stream)
{
    OPAQUE(stream, false, cuMemcpyBatchAsync,
           (to, from, bytes, count, attributes, which, attribute_count, failed,
            stream));
}

CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr *to, CUdeviceptr *from,
                                 size_t *bytes, size_t count, void *attributes,
                                 size_t *which, size_t attribute_count,
                                 size_t *failed, CUstream stream)
{
    OPAQUE(stream, true, cuMemcpyBatchAsync_ptsz,
           (to, from, bytes, count, attributes, which, attribute_count, failed,
            stream));
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *to, CUdeviceptr *from,
                               size_t *bytes, size_t count, void *attributes,
                               size_t *which, size_t attribute_count,
                               CUstream stream)
{
    OPAQUE(
        stream, false, cuMemcpyBatchAsync_v2,
        (to, from, bytes, count, attributes, which, attribute_count, stream));
}

CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr *to, CUdeviceptr *from,
                                    size_t *bytes, size_t count,
                                    void *attributes, size_t *which,
                                    size_t attribute_count, CUstream stream)
{
    OPAQUE(
        stream, true, cuMemcpyBatchAsync_v2_ptsz,
        (to, from, bytes, count, attributes, which, attribute_count, stream));
}

CUresult cuMemcpy3DBatchAsync(size_t count, void *copies, size_t *failed,
                              unsigned long long flags, CUstream stream)
{
    OPAQUE(stream, false, cuMemcpy3DBatchAsync,
           (count, copies, failed, flags, stream));
}

CUresult cuMemcpy3DBatchAsync_ptsz(size_t count, void *copies, size_t *failed,
                                   unsigned long long flags, CUstream stream)
{
    OPAQUE(stream, true, cuMemcpy3DBatchAsync_ptsz,
           (count, copies, failed, flags, stream));
}

CUresult cuMemcpy3DBatchAsync_v2(size_t count, void *copies,
                                 unsigned long long flags, CUstream stream)
{
    OPAQUE(stream, false, cuMemcpy3DBatchAsync_v2,
           (count, copies, flags, stream));
}

CUresult cuMemcpy3DBatchAsync_v2_ptsz(size_t count, void *copies,
                                      unsigned long long flags, CUstream stream)
{
    OPAQUE(stream, true, cuMemcpy3DBatchAsync_v2_ptsz,
           (count, copies, flags, stream));
}
