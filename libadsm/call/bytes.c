/* Fills and copies as calls; see bytes.h. */
#include "call/bytes.h"

#include "accel/device.h"
#include "accel/fill.h"
#include "base/lock.h"
#include "base/stats.h"
#include "mm/doors/bulk.h"
#include "mm/heap/heap.h"
#include "mm/object/index.h"
#include "call/call.h"
#include "call/detail.h"
#include "call/kernel.h"
#include "call/scratch.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>

/* ---- what is enqueued: values as a kernel gets them ------------------------ */

/* The bounds of the part are the first two. */
static size_t begin_of(const struct adsm_launch *launch)
{
    return (size_t) * (const int64_t *)launch->values[0];
}

static size_t bytes_of(const struct adsm_launch *launch)
{
    return (size_t) * (const int64_t *)launch->values[1] - begin_of(launch);
}

/* Where the part begins in what value `i` points to. */
static struct adsm_daddr at_of(const struct adsm_launch *launch, int i)
{
    const struct adsm_daddr *base = launch->values[i];
    return adsm_daddr_add(*base, begin_of(launch));
}

static int enqueue_fill(const struct adsm_act *act, struct adsm_accel *accel,
                        const struct adsm_launch *launch)
{
    const size_t *width = launch->values[4];
    size_t bytes = bytes_of(launch);
    (void)act;
    int rc = adsm_fill(accel, launch->stream, at_of(launch, 2),
                       launch->values[3], *width, bytes);
    if (rc == ADSM_OK)
        adsm_cause_device(ADSM_CAUSE(own), bytes);
    return rc;
}

static int enqueue_copy(const struct adsm_act *act, struct adsm_accel *accel,
                        const struct adsm_launch *launch)
{
    size_t bytes = bytes_of(launch);
    (void)act;
    int rc = accel->ops->copy_device(accel, launch->stream, at_of(launch, 2),
                                     at_of(launch, 3), bytes);
    if (rc == ADSM_OK) {
        adsm_cause_device(ADSM_CAUSE(own), bytes);
        ADSM_COUNT(bytes_local, bytes);
    }
    return rc;
}

/* ---- the kernels ------------------------------------------------------------- */

enum { FILL, COPY, KERNELS };

static const struct adsm_act acts[KERNELS] = {{"adsmFill", enqueue_fill},
                                              {"adsmCopy", enqueue_copy}};

static struct {
    pthread_mutex_t lock;
    adsmKernel *kernel[KERNELS];
} made = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int get_kernel(int which, adsmKernel **kernel)
{
    int rc = ADSM_OK;
    pthread_mutex_lock(&made.lock);
    if (!made.kernel[which])
        rc = adsm_kernel_of_act(&acts[which], NULL, &made.kernel[which]);
    *kernel = made.kernel[which];
    pthread_mutex_unlock(&made.lock);
    return rc;
}

/* ---- where -------------------------------------------------------------------- */

/* A stretch of memory that is used. */
struct stretch {
    const char *at;
    bool shared;
    int home; /* its device; -1: none */
};

/* Whether all of it is in one allocation. */
static int find(const char *who, const void *at, size_t bytes,
                struct stretch *stretch)
{
    void *base;
    size_t there;
    *stretch = (struct stretch){at, false, -1};
    if (adsm_heap_range(at, &base, &there) != ADSM_OK)
        return ADSM_OK;
    there -= (size_t)((const char *)at - (const char *)base);
    if (bytes > there)
        return adsm_detail(ADSM_E_INVALID,
                           "%s: %zu bytes at %p, where its allocation has %zu "
                           "more",
                           who, bytes, at, there);
    struct adsm_object *object = adsm_index_acquire(at);
    stretch->shared = object != NULL;
    if (!object)
        return ADSM_OK;
    if (!object->homeless)
        stretch->home = adsm_accel_device(object->home);
    adsm_rwlock_release_shared(&object->lock);
    return ADSM_OK;
}

static int not_shared(const char *who, const void *at)
{
    return adsm_detail(ADSM_E_NOT_SHARED,
                       "%s: %p is not in a shared object, or not any more", who,
                       at);
}

/* ---- calls -------------------------------------------------------------------- */

/* An argument that is a stretch. */
static adsmArg argument(const struct stretch *stretch, size_t bytes,
                        adsmMode mode)
{
    return (adsmArg){.p = stretch->at,
                     .bytes = bytes,
                     .mode = mode,
                     .size = sizeof(adsmArg),
                     .elem = 1};
}

static long times(long elements, size_t width)
{
    long bytes;
    return __builtin_mul_overflow(elements, (long)width, &bytes) ? LONG_MAX
                                                                 : bytes;
}

/* What is said in elements, in bytes. */
static adsmOpts in_bytes(const adsmOpts *given, size_t width)
{
    adsmOpts opts = *given;
    opts.align = times(opts.align == 0 ? 1 : opts.align, width);
    for (int d = 0; d < 3; d++)
        opts.tile[d] = times(opts.tile[d], width);
    opts.weights = NULL; /* each byte is as much work as any other */
    opts.weigh = NULL;
    return opts;
}

/* In one part, or where that needs more than the device has, in rounds. */
static int call_whole(adsmKernel *kernel, int device, size_t bytes,
                      size_t width, int count, const adsmArg *args)
{
    const adsmBox range = adsmR1((long)bytes);
    int rc = adsm_call_as_said(kernel, &range, NULL, device, count, args);
    if (rc != ADSM_E_DEVICE_NOMEM)
        return rc;
    const adsmOpts opts = {.size = sizeof opts,
                           .devices = UINT32_C(1) << device,
                           .align = (long)width};
    return adsm_call_as_said(kernel, &range, &opts, device, count, args);
}

static int call(int which, const adsmOpts *given, int device, size_t bytes,
                size_t width, int count, const adsmArg *args)
{
    const adsmBox range = adsmR1((long)bytes);
    adsmKernel *kernel;
    int rc = get_kernel(which, &kernel);
    if (rc != ADSM_OK)
        return rc;
    if (given && given->bounds)
        return adsm_detail(ADSM_E_INVALID,
                           "%s: `bounds` are for kernels, `parts` and `tile` "
                           "cut fills and copies",
                           acts[which].name);
    if (!given)
        return call_whole(kernel, device, bytes, width, count, args);
    adsmOpts opts = in_bytes(given, width);
    return adsm_call_as_said(kernel, &range, &opts, device, count, args);
}

int adsm_bytes_fill(const adsmOpts *opts, int device, void *to, size_t bytes,
                    const void *pattern, size_t width)
{
    struct stretch out;
    if (!pattern || width == 0 || bytes % width != 0)
        return adsm_detail(ADSM_E_INVALID,
                           "adsmFill: %zu bytes with a pattern of %zu at %p: a "
                           "multiple of 1 or more is possible",
                           bytes, width, pattern);
    if (bytes == 0)
        return ADSM_OK;
    int rc = find("adsmFill", to, bytes, &out);
    if (rc != ADSM_OK)
        return rc;
    if (!out.shared)
        return not_shared("adsmFill", to);
    const adsmArg args[] = {
        argument(&out, bytes, ADSM_OUT),
        {.p = pattern, .bytes = width, .size = sizeof(adsmArg)},
        adsmVal(width)};
    return call(FILL, opts, out.home >= 0 ? out.home : device, bytes, width, 3,
                args);
}

static int copy_apart(const adsmOpts *opts, int device,
                      const struct stretch *out, const struct stretch *in,
                      size_t bytes)
{
    const adsmArg args[] = {argument(out, bytes, ADSM_OUT),
                            argument(in, bytes, ADSM_IN)};
    device = out->home >= 0 ? out->home : in->home >= 0 ? in->home : device;
    return call(COPY, opts, device, bytes, 1, 2, args);
}

/* By way of another array. */
static int copy_overlapping(const adsmOpts *opts, int device,
                            const struct stretch *out, const struct stretch *in,
                            size_t bytes)
{
    int rc;
    struct adsm_scratch *scratch =
        adsm_scratch_take(1, adsmR1((long)bytes), &rc);
    if (!scratch)
        return rc;
    const struct stretch between = {scratch->array, true, -1};
    rc = copy_apart(NULL, device, &between, in, bytes);
    if (rc == ADSM_OK)
        rc = copy_apart(opts, device, out, &between, bytes);
    adsm_scratch_give(scratch);
    return rc;
}

/* One of both is the program's: as memcpy. */
static int copy_here(void *to, const void *from, size_t bytes)
{
    int rc = adsm_bulk_move(to, from, bytes);
    return rc == ADSM_OK ? rc
                         : adsm_detail_cause(rc,
                                             "adsmCopy: %zu bytes from %p "
                                             "to %p",
                                             bytes, from, to);
}

int adsm_bytes_copy(const adsmOpts *opts, int device, void *to,
                    const void *from, size_t bytes)
{
    struct stretch out, in;
    if (bytes == 0)
        return ADSM_OK;
    if (!to || !from)
        return adsm_detail(ADSM_E_INVALID, "adsmCopy: from and to must not be "
                                           "NULL");
    int rc = find("adsmCopy", to, bytes, &out);
    if (rc == ADSM_OK)
        rc = find("adsmCopy", from, bytes, &in);
    if (rc != ADSM_OK)
        return rc;
    if (!out.shared && !in.shared)
        return adsm_detail(ADSM_E_NOT_SHARED,
                           "adsmCopy: neither %p nor %p is in a shared object: "
                           "memcpy does that",
                           to, from);
    if (!out.shared || !in.shared)
        return copy_here(to, from, bytes);
    if (to == from)
        return ADSM_OK;
    bool apart = out.at + bytes <= in.at || in.at + bytes <= out.at;
    return (apart ? copy_apart : copy_overlapping)(opts, device, &out, &in,
                                                   bytes);
}
