/*
 * Public entry points of arrays and of calls over several devices; see api.c.
 */
#include "adsm.h"

#include "api_parts.h"
#include "base/cancel.h"
#include "mm/heap/heap.h"
#include "mm/object/awaited.h"
#include "os/vm.h"
#include "range/spread.h"
#include "call/call.h"
#include "call/detail.h"
#include "call/event.h"
#include "call/given.h"

#include <string.h>

enum { BYTES_BITS = 46 }; /* of an array */

static __thread struct {
    bool given;
    adsmOpts opts;
} defaults;

int adsm_api_options(const adsmOpts *given, adsmOpts *room,
                     const adsmOpts **opts)
{
    *opts = given ? room : defaults.given ? &defaults.opts : NULL;
    return given ? adsm_given_opts(given, room) : ADSM_OK;
}

/* ---- arrays ------------------------------------------------------------------- */

/* The bytes of an array; 0 with a detail when there can be none such. */
static size_t array_bytes(size_t elem, const adsmBox *shape)
{
    double bytes = (double)elem;
    if (elem == 0 || shape->nd < 1 || shape->nd > 3) {
        (void)adsm_detail(ADSM_E_INVALID,
                          "an array of %d dimensions with elements of %zu "
                          "bytes: 1 to 3, of 1 or more",
                          shape->nd, elem);
        return 0;
    }
    for (int d = 0; d < shape->nd; d++) {
        bytes *= (double)shape->hi[d];
        if (shape->lo[d] != 0 || shape->hi[d] < 1) {
            (void)adsm_detail(ADSM_E_INVALID,
                              "an array from %ld to %ld in dimension %d: from "
                              "0 on, to 1 or more",
                              shape->lo[d], shape->hi[d], d);
            return 0;
        }
    }
    if (bytes > (double)(INT64_C(1) << BYTES_BITS)) {
        (void)adsm_detail(ADSM_E_INVALID,
                          "an array of %.3g bytes; 2^%d are possible", bytes,
                          BYTES_BITS);
        return 0;
    }
    return (size_t)bytes;
}

static int not_shared(const void *array)
{
    int rc = adsm_api_bring_up(); /* in a forked child nothing is */
    if (rc != ADSM_OK)
        return rc;
    return adsm_detail(ADSM_E_NOT_SHARED, "%p is not in a shared object",
                       array);
}

/* The object of an array, and how much of its allocation is behind it. */
static int find(const void *at, struct adsm_array *array, size_t *bytes,
                bool *shaped)
{
    void *base;
    size_t all;
    adsm_await_tasks(at, SIZE_MAX, true);
    int rc = adsm_heap_range(at, &base, &all);
    if (rc == ADSM_OK)
        rc = adsm_spread_array(at, array);
    if (rc != ADSM_OK && rc != ADSM_E_NOT_FOUND)
        return not_shared(at);
    *shaped = rc == ADSM_OK;
    *bytes = all - (size_t)((const char *)at - (const char *)base);
    return ADSM_OK;
}

static void set_shape(struct adsm_array *array, size_t elem, adsmBox shape)
{
    for (int d = shape.nd; d < 3; d++)
        shape.lo[d] = shape.hi[d] = 0;
    shape.hi[shape.nd - 1] *= (long)elem;
    array->elem = elem;
    array->shape = shape;
}

static int give_shape(void *at, size_t elem, adsmBox shape)
{
    struct adsm_array array;
    size_t there = 0, bytes = array_bytes(elem, &shape);
    bool shaped;
    if (bytes == 0)
        return ADSM_E_INVALID;
    int rc = find(at, &array, &there, &shaped);
    if (rc != ADSM_OK)
        return rc;
    if (bytes > there)
        return adsm_detail(ADSM_E_INVALID,
                           "an array of %zu bytes at %p, where its allocation "
                           "has %zu",
                           bytes, at, there);
    set_shape(&array, elem, shape);
    rc = adsm_spread_shape(&array);
    if (rc == ADSM_E_NOT_SHARED)
        return not_shared(at);
    if (rc != ADSM_OK)
        return adsm_detail_cause(rc, "the shape of %p", at);
    return ADSM_OK;
}

adsmStatus adsmShape(void *array, size_t elem, adsmBox shape)
{
    ADSM_NOT_CANCELLED;
    return adsm_api_done(give_shape(array, elem, shape));
}

/* The accel of a visible device. */
static int open_device(int device, struct adsm_accel **accel)
{
    if (device < 0 || device >= adsm_accel_devices())
        return adsm_detail(ADSM_E_INVALID, "device %d: there are 0 to %d",
                           device, adsm_accel_devices() - 1);
    int rc = adsm_accel_open(device, accel);
    if (rc != ADSM_OK)
        return adsm_detail_cause(rc, "device %d", device);
    return ADSM_OK;
}

void *adsmAllocArray(size_t elem, adsmBox shape, int home)
{
    ADSM_NOT_CANCELLED;
    struct adsm_accel *accel;
    void *host = NULL;
    size_t bytes = array_bytes(elem, &shape);
    int rc = bytes ? adsm_api_bring_up() : ADSM_E_INVALID;
    if (rc == ADSM_OK)
        rc = home == ADSM_NO_HOME ? adsm_api_current(&accel)
                                  : open_device(home, &accel);
    if (rc == ADSM_OK) {
        rc = home == ADSM_NO_HOME
                 ? adsm_spread_alloc(accel, bytes, &host)
                 : adsm_heap_alloc(accel, bytes, &adsm_kind_array, &host);
        if (rc != ADSM_OK)
            (void)adsm_detail_cause(rc, "an array of %zu bytes", bytes);
    }
    if (rc == ADSM_OK) {
        rc = give_shape(host, elem, shape);
        if (rc != ADSM_OK)
            (void)adsm_heap_free(host);
    }
    return adsm_api_done(rc) == ADSM_OK ? host : NULL;
}

/* ---- memory of the program's ---------------------------------------------------- */

static int check_pages(const void *memory, size_t bytes)
{
    size_t page = adsm_vm_page_bytes();
    if ((uintptr_t)memory % page != 0 || !memory)
        return adsm_detail(ADSM_E_INVALID,
                           "%p does not begin a page of %zu bytes: mmap and "
                           "aligned_alloc(%zu, ..) give memory that does",
                           memory, page, page);
    if (bytes == 0 || bytes % page != 0 ||
        (uintptr_t)memory > UINTPTR_MAX - bytes)
        return adsm_detail(ADSM_E_INVALID,
                           "%zu bytes are no whole pages of %zu: the last one "
                           "may be used by others, too",
                           bytes, page);
    return ADSM_OK;
}

static int adopt(void *memory, size_t bytes, int home)
{
    struct adsm_accel *accel;
    const char *why = NULL;
    int rc = adsm_api_bring_up();
    if (rc == ADSM_OK)
        rc = check_pages(memory, bytes);
    if (rc == ADSM_OK)
        rc = home == ADSM_NO_HOME ? adsm_api_current(&accel)
                                  : open_device(home, &accel);
    if (rc != ADSM_OK)
        return rc;
    rc = home == ADSM_NO_HOME
             ? adsm_spread_give(accel, memory, bytes, &why)
             : adsm_heap_give(accel, memory, bytes, false, &why);
    if (rc != ADSM_OK && why)
        return adsm_detail(rc, "%zu bytes at %p: %s", bytes, memory, why);
    return rc == ADSM_OK
               ? rc
               : adsm_detail_cause(rc, "%zu bytes at %p", bytes, memory);
}

adsmStatus adsmAdopt(void *memory, size_t bytes, int home)
{
    ADSM_NOT_CANCELLED;
    return adsm_api_done(adopt(memory, bytes, home));
}

/* ---- calls ---------------------------------------------------------------------- */

adsmStatus adsmCallRangeV(adsmKernel *kernel, adsmBox range,
                          const adsmOpts *opts, int count, const adsmArg *args)
{
    ADSM_NOT_CANCELLED;
    adsmOpts room;
    int rc = adsm_api_may_call(count, args);
    if (rc == ADSM_OK)
        rc = adsm_api_options(opts, &room, &opts);
    if (rc == ADSM_OK)
        rc = adsm_call_range(kernel, &range, opts, adsm_api_device(), count,
                             args);
    return adsm_api_done(rc);
}

adsmStatus adsmDefaults(const adsmOpts *opts)
{
    adsmOpts taken = {0};
    int rc = opts ? adsm_given_opts(opts, &taken) : ADSM_OK;
    if (rc != ADSM_OK)
        return adsm_api_done(rc);
    taken.after = NULL;
    taken.afters = 0;
    taken.event = NULL;
    taken.then = NULL;
    taken.bounds = NULL;
    taken.weights = NULL;
    taken.weigh = NULL;
    defaults.given = opts != NULL;
    defaults.opts = taken;
    return adsm_api_done(ADSM_OK);
}

static int find_event(adsmEvent event, struct adsm_ended *ended)
{
    int rc = event.id == 0 ? ADSM_OK : adsm_api_bring_up();
    if (rc == ADSM_OK && adsm_event_find(event.id, ended) != ADSM_OK)
        rc = adsm_detail(ADSM_E_INVALID, "event %llu: no call has that number",
                         (unsigned long long)event.id);
    return rc;
}

adsmStatus adsmWait(adsmEvent event)
{
    ADSM_NOT_CANCELLED;
    struct adsm_ended ended;
    int rc = find_event(event, &ended);
    if (rc != ADSM_OK)
        return adsm_api_done(rc);
    rc = adsm_ended_wait(&ended);
    if (rc != ADSM_OK)
        (void)adsm_detail_cause(rc, "call %llu", (unsigned long long)event.id);
    return adsm_api_done(rc);
}

adsmStatus adsmTest(adsmEvent event, int *ended_out)
{
    ADSM_NOT_CANCELLED;
    struct adsm_ended ended;
    if (!ended_out)
        return adsm_api_done(
            adsm_detail(ADSM_E_INVALID, "done must not be NULL"));
    *ended_out = 0;
    if (adsm_event_is_open(event.id))
        return adsm_api_done(adsm_api_bring_up());
    int rc = find_event(event, &ended);
    if (rc == ADSM_OK)
        *ended_out = adsm_ended_done(&ended);
    return adsm_api_done(rc);
}

/* ---- waits and hints -------------------------------------------------------------- */

/* An array and a box of it in bytes, from what a program says. */
static int find_box(const void *at, const adsmBox *given,
                    struct adsm_array *array, adsmBox *box)
{
    size_t bytes = 0;
    bool shaped = false;
    int rc = adsm_api_bring_up();
    if (rc == ADSM_OK)
        rc = find(at, array, &bytes, &shaped);
    if (rc != ADSM_OK)
        return rc;
    if (!shaped)
        set_shape(array, 1, adsmR1((long)bytes));
    *box = array->shape;
    if (!given)
        return ADSM_OK;
    if (!shaped)
        return adsm_detail(ADSM_E_INVALID,
                           "a box of %p, whose elements nobody has told: say "
                           "with adsmShape what array it is",
                           at);
    if (given->nd != array->shape.nd)
        return adsm_detail(ADSM_E_INVALID,
                           "a box of %d dimensions, the array at %p has %d",
                           given->nd, at, array->shape.nd);
    for (int d = 0; d < box->nd; d++) {
        long unit = d == box->nd - 1 ? (long)array->elem : 1;
        long n = array->shape.hi[d] / unit;
        if (given->lo[d] < 0 || given->hi[d] < given->lo[d] || given->hi[d] > n)
            return adsm_detail(ADSM_E_INVALID,
                               "a box from %ld to %ld in dimension %d, where "
                               "the array at %p goes from 0 to %ld",
                               given->lo[d], given->hi[d], d, at, n);
        box->lo[d] = given->lo[d] * unit;
        box->hi[d] = given->hi[d] * unit;
    }
    return ADSM_OK;
}

/* The end of a wait or a hint. */
static adsmStatus hinted(int rc, const void *at)
{
    if (rc == ADSM_E_NOT_SHARED)
        rc = not_shared(at);
    else if (rc != ADSM_OK)
        (void)adsm_detail_cause(rc, "the array at %p", at);
    return adsm_api_done(rc);
}

adsmStatus adsmWaitFor(const void *at, const adsmBox *given, adsmMode mode)
{
    ADSM_NOT_CANCELLED;
    struct adsm_array array;
    adsmBox box;
    if (mode < ADSM_IN || mode > ADSM_INOUT)
        return adsm_api_done(adsm_detail(ADSM_E_INVALID,
                                         "mode %d: ADSM_IN, ADSM_OUT or "
                                         "ADSM_INOUT",
                                         (int)mode));
    int rc = find_box(at, given, &array, &box);
    if (rc != ADSM_OK)
        return adsm_api_done(rc);
    return hinted(adsm_spread_wait(&array, &box, mode & ADSM_OUT), at);
}

adsmStatus adsmPrefetch(const void *at, const adsmBox *given, int device)
{
    ADSM_NOT_CANCELLED;
    struct adsm_array array;
    struct adsm_accel *accel = NULL;
    adsmBox box;
    int rc = find_box(at, given, &array, &box);
    if (rc == ADSM_OK && device != ADSM_HOST)
        rc = open_device(device, &accel);
    if (rc != ADSM_OK)
        return adsm_api_done(rc);
    return hinted(adsm_spread_prefetch(&array, &box, accel), at);
}

adsmStatus adsmDrop(const void *at, const adsmBox *given, int device)
{
    ADSM_NOT_CANCELLED;
    struct adsm_array array;
    struct adsm_accel *accel;
    adsmBox box;
    int rc = find_box(at, given, &array, &box);
    if (rc == ADSM_OK)
        rc = open_device(device, &accel);
    if (rc != ADSM_OK)
        return adsm_api_done(rc);
    return hinted(adsm_spread_drop(&array, &box, accel), at);
}

adsmStatus adsmDiscard(void *at, const adsmBox *given)
{
    ADSM_NOT_CANCELLED;
    struct adsm_array array;
    adsmBox box;
    int rc = find_box(at, given, &array, &box);
    if (rc != ADSM_OK)
        return adsm_api_done(rc);
    return hinted(adsm_spread_discard(&array, &box), at);
}

int adsmCopies(const void *at, adsmCopyInfo *out, int most)
{
    ADSM_NOT_CANCELLED;
    struct adsm_array array;
    adsmBox box;
    int rc = ADSM_OK;
    if (most < 0 || (most > 0 && !out))
        rc = adsm_detail(ADSM_E_INVALID,
                         "room for %d copies: 0 or more, and a place for them",
                         most);
    if (rc == ADSM_OK)
        rc = find_box(at, NULL, &array, &box);
    if (adsm_api_done(rc) != ADSM_OK)
        return -1;
    return adsm_spread_copies(&array, out, most);
}
