/* memmove, memset and memcmp over plain and shared memory. */
#include "mm/doors/bulk.h"

#include "accel/fence.h"
#include "accel/move.h"
#include "base/option.h"
#include "base/stats.h"
#include "mm/doors/boundary.h"
#include "mm/doors/loan.h"
#include "mm/doors/turn.h"
#include "mm/object/holders.h"
#include "mm/object/index.h"
#include "mm/object/movable.h"
#include "mm/state/direct.h"
#include "os/look.h"
#include "os/real.h"

#include <stdlib.h>

/* Host pieces are bounded so that the write-back of one piece overlaps the
 * copy of the next. */
enum { PIECE_BYTES = 4 << 20 };

/* Device-side part of a move or a set that begins at `to`. */
struct device_job {
    struct adsm_accel *home; /* found by device_part, as the next three       */
    struct adsm_object *held;       /* which `from` (for a set: `to`) lies in */
    struct adsm_daddr source;       /* of `from`                              */
    struct adsm_fence source_ready; /* work on it so far                      */
    uint8_t *to;
    const uint8_t *from; /* NULL: set to `value` */
    int value;
    size_t bytes;
};

static size_t bytes_left(const struct adsm_object *object, const void *at)
{
    return object->bytes - (size_t)((const uint8_t *)at - object->host);
}

/* Is its memory where the work that uses it is known? */
static bool is_known(const struct adsm_object *object)
{
    return adsm_object_is_gathered(object) && !atomic_load(&object->unwaited);
}

/* The part of the job whose source (for a set: target) only the device has, and
 * which stays there; 0 when the host is the better place. */
static size_t device_part(struct device_job *job)
{
    const void *truth = job->from ? job->from : job->to;
    if (adsm_turn_is_mine())
        return 0; /* a host function must not ask the device */
    struct adsm_object *source = adsm_index_acquire(truth);
    if (!source)
        return 0;
    size_t bytes = bytes_left(source, truth);
    bool known = is_known(source);
    job->home = source->home;
    job->source = adsm_daddr_add(
        source->device, (uint64_t)((const uint8_t *)truth - source->host));
    job->source_ready = source->work;
    adsm_object_pin(source, &job->held);
    adsm_rwlock_release_shared(&source->lock);
    struct adsm_object *target = adsm_index_acquire(job->to);
    if (!target)
        return 0;
    if (bytes > bytes_left(target, job->to))
        bytes = bytes_left(target, job->to);
    bool same = target->home == job->home && !target->direct;
    known = known && is_known(target);
    adsm_rwlock_release_shared(&target->lock);
    if (bytes > job->bytes)
        bytes = job->bytes;
    if (!same || !known || bytes < adsm_options_get()->bulk_min)
        return 0;
    return adsm_boundary_is_far(truth, bytes) ? bytes : 0;
}

static int enqueue_job(const struct device_job *job, size_t bytes,
                       struct adsm_object *target)
{
    size_t offset = (size_t)(job->to - target->host);
    struct adsm_daddr to = adsm_daddr_add(target->device, offset);
    struct adsm_cause its = adsm_object_cause(target, offset, ADSM_CAUSE(bulk));
    struct adsm_fence done = {0};
    int rc;
    if (!job->from) {
        rc = adsm_dma_set(target->home, to, (uint8_t)job->value, bytes,
                          target->work, &done, &its);
    } else {
        struct adsm_place there = {.accel = target->home, .device = to};
        struct adsm_place here = {.accel = job->home, .device = job->source};
        struct adsm_fence after[] = {target->work, job->source_ready};
        rc = adsm_move(&there, &here, adsm_extent_of(bytes), after, 2, true,
                       &done, &its);
    }
    if (rc == ADSM_OK)
        target->work = done;
    return rc;
}

/* The device moves or sets so many bytes, unless their target just went. */
static int run_job(struct device_job *job, size_t bytes, size_t *did)
{
    struct adsm_device_write write;
    int rc = adsm_boundary_device_write(job->to, bytes,
                                        adsm_accel_launch_stream(job->home),
                                        &write, ADSM_CAUSE(bulk));
    if (rc == ADSM_E_DEVICE_NOMEM)
        return ADSM_OK; /* it went away, and there is no room: the host's then */
    if (rc != ADSM_OK)
        return rc;
    if (write.object) {
        rc = enqueue_job(job, bytes, write.object);
        *did = bytes;
        ADSM_COUNT(bulk_device, 1);
    }
    adsm_boundary_device_written(&write);
    return rc;
}

/* Let the device do what it can do alone; *did says how much that was. */
static int try_device(struct device_job *job, size_t *did)
{
    *did = 0;
    size_t bytes = device_part(job);
    int rc = bytes > 0 ? run_job(job, bytes, did) : ADSM_OK;
    adsm_object_unpin(&job->held);
    return rc;
}

/* Of memory that the device shares the CPU's accesses wait by themselves. */
static int lend(const void *address, size_t bytes, enum adsm_access access,
                struct adsm_loan *loan)
{
    size_t there = adsm_turn_is_mine() ? 0 : adsm_direct_bytes(address);
    if (there == 0)
        return adsm_loan_begin_for(address, bytes, access, loan,
                                   ADSM_CAUSE(bulk));
    *loan = (struct adsm_loan){.address = (void *)address,
                               .bytes = there < bytes ? there : bytes};
    return ADSM_OK;
}

/* One host piece of a move; *did bytes were moved. */
static int host_move(uint8_t *to, const uint8_t *from, size_t bytes,
                     size_t *did)
{
    struct adsm_loan source, target;
    int rc = lend(from, bytes, ADSM_READ, &source);
    if (rc != ADSM_OK)
        return rc;
    rc = lend(to, source.bytes, ADSM_WRITE, &target);
    if (rc == ADSM_OK) {
        adsm_real()->memmove(target.address, source.address, target.bytes);
        *did = target.bytes;
        ADSM_COUNT(bulk_host, 1);
        rc = adsm_loan_end(&target, target.bytes);
    }
    (void)adsm_loan_end(&source, 0); /* of what is read nothing can fail */
    return rc;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Overlapping ranges of which each lies in one object, or none. *did: they do. */
static int move_in_one(uint8_t *to, const uint8_t *from, size_t bytes,
                       bool *did)
{
    struct adsm_loan source, target;
    int rc = lend(from, bytes, ADSM_READ, &source);
    *did = false;
    if (rc != ADSM_OK)
        return rc;
    if (source.bytes == bytes)
        rc = lend(to, bytes, ADSM_WRITE, &target);
    if (rc == ADSM_OK && source.bytes == bytes) {
        *did = target.bytes == bytes;
        if (*did)
            adsm_real()->memmove(target.address, source.address, bytes);
        rc = adsm_loan_end(&target, *did ? bytes : 0);
    }
    (void)adsm_loan_end(&source, 0);
    return rc;
}

/* Through a buffer where they cross a border. */
static int move_overlapping(uint8_t *to, const uint8_t *from, size_t bytes)
{
    bool did;
    int rc = move_in_one(to, from, bytes, &did);
    if (rc != ADSM_OK || did)
        return rc;
    uint8_t *buffer = malloc(bytes);
    if (!buffer)
        return ADSM_E_NOMEM;
    rc = adsm_bulk_move(buffer, from, bytes);
    if (rc == ADSM_OK)
        rc = adsm_bulk_move(to, buffer, bytes);
    free(buffer);
    return rc;
}

int adsm_bulk_move(void *to_, const void *from_, size_t bytes)
{
    uint8_t *to = to_;
    const uint8_t *from = from_;
    if (to == from || bytes == 0)
        return ADSM_OK;
    if (to < from + bytes && from < to + bytes)
        return move_overlapping(to, from, bytes);
    while (bytes > 0) {
        struct device_job job = {.to = to, .from = from, .bytes = bytes};
        size_t did;
        int rc = try_device(&job, &did);
        if (rc == ADSM_OK && did == 0)
            rc = host_move(to, from, least(bytes, PIECE_BYTES), &did);
        if (rc != ADSM_OK)
            return rc;
        to += did;
        from += did;
        bytes -= did;
    }
    return ADSM_OK;
}

/* One piece between memory of ours and the program's; *did bytes, all of which
 * lie in one object, or in none: *ends says that memory ends behind them. */
static int host_copy(uint8_t *ours, uint8_t *program, size_t bytes,
                     enum adsm_access access, size_t *did, bool *ends)
{
    struct adsm_loan loan;
    int rc = adsm_loan_begin(program, bytes, access, &loan);
    if (rc != ADSM_OK)
        return rc;
    *did = loan.bytes;
    if (loan.address == program) {
        /* Plain, gone, or the device's own as well, which is open meanwhile. */
        *did = access == ADSM_READ ? adsm_look_get(ours, program, loan.bytes)
                                   : adsm_look_put(program, ours, loan.bytes);
        *ends = *did < loan.bytes;
        return adsm_loan_end(&loan, *did);
    }
    if (access == ADSM_READ)
        adsm_real()->memcpy(ours, loan.address, loan.bytes);
    else
        adsm_real()->memcpy(loan.address, ours, loan.bytes);
    ADSM_COUNT(bulk_host, 1);
    return adsm_loan_end(&loan, loan.bytes);
}

static int copy(uint8_t *ours, uint8_t *program, size_t bytes,
                enum adsm_access access, size_t *moved)
{
    bool ends = false;
    *moved = 0;
    while (*moved < bytes && !ends) {
        size_t did = 0;
        int rc =
            host_copy(ours + *moved, program + *moved,
                      least(bytes - *moved, PIECE_BYTES), access, &did, &ends);
        if (rc == ADSM_E_NOT_SHARED) /* freed this moment */
            return ADSM_OK;
        if (rc != ADSM_OK)
            return rc;
        *moved += did;
    }
    return ADSM_OK;
}

int adsm_bulk_get(void *to, const void *from, size_t bytes, size_t *moved)
{
    return copy(to, (uint8_t *)from, bytes, ADSM_READ, moved);
}

int adsm_bulk_put(void *to, const void *from, size_t bytes, size_t *moved)
{
    return copy((uint8_t *)from, to, bytes, ADSM_WRITE, moved);
}

static int host_set(uint8_t *to, int value, size_t bytes, size_t *did)
{
    struct adsm_loan target;
    int rc = lend(to, bytes, ADSM_WRITE, &target);
    if (rc != ADSM_OK)
        return rc;
    adsm_real()->memset(target.address, value, target.bytes);
    *did = target.bytes;
    ADSM_COUNT(bulk_host, 1);
    return adsm_loan_end(&target, target.bytes);
}

int adsm_bulk_set(void *to_, int value, size_t bytes)
{
    uint8_t *to = to_;
    while (bytes > 0) {
        struct device_job job = {.to = to, .value = value, .bytes = bytes};
        size_t did;
        int rc = try_device(&job, &did);
        if (rc == ADSM_OK && did == 0)
            rc = host_set(to, value, least(bytes, PIECE_BYTES), &did);
        if (rc != ADSM_OK)
            return rc;
        to += did;
        bytes -= did;
    }
    return ADSM_OK;
}

int adsm_bulk_compare(const void *a_, const void *b_, size_t bytes, int *order)
{
    const uint8_t *a = a_, *b = b_;
    *order = 0;
    while (bytes > 0 && *order == 0) {
        struct adsm_loan left, right;
        int rc = lend(a, least(bytes, PIECE_BYTES), ADSM_READ, &left);
        if (rc != ADSM_OK)
            return rc;
        rc = lend(b, left.bytes, ADSM_READ, &right);
        if (rc == ADSM_OK) {
            *order =
                adsm_real()->memcmp(left.address, right.address, right.bytes);
            (void)adsm_loan_end(&right, 0);
        }
        (void)adsm_loan_end(&left, 0);
        if (rc != ADSM_OK)
            return rc;
        a += right.bytes;
        b += right.bytes;
        bytes -= right.bytes;
    }
    return ADSM_OK;
}
