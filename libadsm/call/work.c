/* Functions of the program in kernels' places; see work.h. */
#include "call/work.h"

#include "accel/device.h"
#include "accel/error.h"
#include "base/log.h"
#include "os/fault.h"
#include "call/argument.h"
#include "call/call.h"
#include "call/detail.h"
#include "call/kernel.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16, VIEW_BYTES = 24 };

struct work {
    struct adsm_act act; /* first: whoever has one has the other */
    adsmWorkFn *fn;
    void *user;
    void *stream; /* of the program's, or NULL */
    char name[];
};

/* One call of the function. */
struct visit {
    const struct work *work;
    adsmWork given;
    int result;
};

static void call_here(void *arg)
{
    struct visit *visit = arg;
    visit->result = visit->work->fn(&visit->given, visit->work->user);
}

static void describe(const struct work *work, const struct adsm_accel *accel,
                     const struct adsm_launch *launch, struct visit *visit)
{
    *visit = (struct visit){.work = work};
    visit->given.size = sizeof visit->given;
    visit->given.device = adsm_accel_device(accel);
    visit->given.box.nd = launch->bounds / 2;
    for (int d = 0; d < launch->bounds / 2; d++) {
        visit->given.box.lo[d] = *(int64_t *)launch->values[2 * d];
        visit->given.box.hi[d] = *(int64_t *)launch->values[2 * d + 1];
    }
    visit->given.count = launch->count;
    visit->given.values = launch->values + launch->bounds;
}

static int failed(const struct visit *visit)
{
    char digits[24];
    return adsm_accel_fail(ADSM_E_DEVICE, "its function returned ",
                           adsm_accel_number(digits, visit->result), NULL);
}

/* ---- on a device with streams -------------------------------------------------- */

/* `later` waits for what `earlier` was given so far. */
static int order(struct adsm_accel *accel, adsm_stream earlier,
                 adsm_stream later)
{
    const struct adsm_accel_ops *ops = accel->ops;
    adsm_device_event event;
    int rc = ops->event_create(accel, &event);
    if (rc != ADSM_OK)
        return rc;
    rc = ops->event_record(accel, event, earlier);
    if (rc == ADSM_OK)
        rc = ops->stream_order(accel, later, event);
    int ended = ops->event_destroy(accel, event);
    return rc == ADSM_OK ? ended : rc;
}

/* Nobody has a fence for what it has enqueued before it failed. */
static int await(struct adsm_accel *accel, adsm_stream stream)
{
    const struct adsm_accel_ops *ops = accel->ops;
    adsm_device_event event;
    int rc = ops->event_create(accel, &event);
    if (rc != ADSM_OK)
        return rc;
    rc = ops->event_record(accel, event, stream);
    if (rc == ADSM_OK)
        rc = ops->event_wait(accel, event, 0);
    (void)ops->event_destroy(accel, event);
    return rc;
}

static int call_on_stream(struct visit *visit, struct adsm_accel *accel,
                          adsm_stream launches)
{
    adsm_stream theirs = visit->work->stream;
    visit->given.stream = theirs ? theirs : launches;
    int rc = theirs ? order(accel, launches, theirs) : ADSM_OK;
    if (rc != ADSM_OK)
        return rc;
    rc = accel->ops->visit(accel, call_here, visit);
    if (rc == ADSM_OK && visit->result == 0)
        return theirs ? order(accel, theirs, launches) : ADSM_OK;
    if (rc == ADSM_OK)
        rc = await(accel, visit->given.stream);
    return rc == ADSM_OK ? failed(visit) : rc;
}

/* ---- on the processors ----------------------------------------------------------- */

/* It calls nothing of the runtime there either. */
static void call_there(void *arg)
{
    struct visit *visit = arg;
    const struct work *work = visit->work;
    adsm_fault_enter_driver();
    int result = work->fn(&visit->given, work->user);
    adsm_fault_leave_driver();
    if (result != 0)
        adsm_log(ADSM_LOG_ERROR,
                 "the function of kernel '%s' returned %d on the CPU; what is "
                 "behind it goes on",
                 work->name, result);
    free(visit);
}

static size_t bytes_of(const adsmArg *arg)
{
    return arg->mode ? VIEW_BYTES : arg->bytes;
}

static size_t room_of(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* What of a pointer's value there is: an address, or a view. */
static void copy_value(void *to, const void *from, const adsmArg *arg)
{
    memcpy(to, from,
           arg->mode && !adsm_argument_is_view(arg) ? sizeof(void *)
                                                    : bytes_of(arg));
}

/* The visit and all that it reads, in one piece that call_there frees. */
static struct visit *keep(const struct visit *visit, const adsmArg *args)
{
    size_t count = (size_t)visit->given.count;
    const struct work *work = visit->work;
    size_t name = strlen(work->name) + 1;
    size_t values = room_of(sizeof *visit), at = values + room_of(count * 8);
    size_t bytes = at + room_of(sizeof *work + name);
    for (size_t i = 0; i < count; i++)
        bytes += room_of(bytes_of(&args[i]));
    char *all = aligned_alloc(ALIGN, bytes);
    if (!all)
        return NULL;
    struct visit *kept = memcpy(all, visit, sizeof *visit);
    void **list = (void **)(void *)(all + values);
    kept->work = memcpy(all + at, work, sizeof *work + name);
    at += room_of(sizeof *work + name);
    for (size_t i = 0; i < count; i++) {
        list[i] = all + at;
        copy_value(list[i], visit->given.values[i], &args[i]);
        at += room_of(bytes_of(&args[i]));
    }
    kept->given.values = list;
    return kept;
}

static int call_in_turn(const struct visit *visit, struct adsm_accel *accel,
                        const struct adsm_launch *launch)
{
    if (visit->work->stream)
        return adsm_accel_fail(ADSM_E_UNSUPPORTED,
                               "the CPU has no streams: its own is NULL", NULL);
    struct visit *kept = keep(visit, launch->args);
    if (!kept)
        return adsm_accel_fail(ADSM_E_NOMEM, "no memory for a launch", NULL);
    int rc = accel->ops->host_call(accel, launch->stream, call_there, kept);
    if (rc != ADSM_OK)
        free(kept);
    return rc;
}

/* ---- the act ------------------------------------------------------------------------ */

static int enqueue(const struct adsm_act *act, struct adsm_accel *accel,
                   const struct adsm_launch *launch)
{
    struct visit visit;
    describe((const struct work *)act, accel, launch, &visit);
    return accel->ops->visit ? call_on_stream(&visit, accel, launch->stream)
                             : call_in_turn(&visit, accel, launch);
}

static void forget(const struct adsm_act *act)
{
    free((struct work *)act);
}

static int make(const char *name, void *stream, adsmWorkFn *fn, void *user,
                adsmKernel **kernel)
{
    size_t bytes = strlen(name) + 1;
    struct work *work = malloc(sizeof *work + bytes);
    if (!work)
        return adsm_detail(ADSM_E_NOMEM, "no memory for kernel '%s'", name);
    *work = (struct work){{work->name, enqueue}, fn, user, stream};
    memcpy(work->name, name, bytes);
    int rc = adsm_kernel_of_act(&work->act, forget, kernel);
    if (rc != ADSM_OK)
        free(work);
    return rc;
}

int adsm_work_kernel(const char *name, adsmWorkFn *fn, void *user,
                     adsmKernel **kernel)
{
    return make(name, NULL, fn, user, kernel);
}

int adsm_work_once(void *stream, int device, adsmWorkFn *fn, void *user,
                   int count, const adsmArg *args)
{
    const adsmBox range = adsmR1(1);
    adsmKernel *kernel;
    int rc = make("adsmStream", stream, fn, user, &kernel);
    if (rc != ADSM_OK)
        return rc;
    rc = adsm_call_as_said(kernel, &range, NULL, device, count, args);
    (void)adsm_kernel_end_act(kernel);
    return rc;
}
