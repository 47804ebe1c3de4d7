/* Ranges in the hands of system calls and bulk copies. */
#include "mm/doors/loan_owner.h"

#include "base/lock.h"
#include "base/stats.h"
#include "mm/doors/adopt.h"
#include "mm/doors/in_place.h"
#include "mm/doors/turn.h"
#include "mm/heap/life.h"
#include "mm/object/awaited.h"
#include "mm/object/gate.h"
#include "mm/object/holders.h"
#include "mm/object/host.h"
#include "mm/object/index.h"
#include "mm/state/coherence.h"
#include "mm/state/direct.h"
#include "mm/state/dirty.h"
#include "mm/state/mapping.h"
#include "mm/state/run.h"
#include "mm/state/write_back.h"
#include "mm/watch/ahead.h"
#include "mm/watch/sparse.h"
#include "os/vm.h"

#include <errno.h>
#include <string.h>

/* Longest stretch of blocks held at once while they are fetched: bounds how
 * long another thread's fault on one of them waits. */
enum { HOLD_BYTES = 16 << 20 };

static bool expose(struct adsm_loan *loan, uint32_t i)
{
    loan->exposed = true;
    return adsm_run_show(loan->object, i, 0, SIZE_MAX, ADSM_DIRTY) == ADSM_OK;
}

bool adsm_loan_expose(struct adsm_object *object, uint32_t i)
{
    return adsm_loan_visit(object, i, expose);
}

bool adsm_loan_unneeded(const void *address, size_t bytes)
{
    uintptr_t a = (uintptr_t)address;
    if (bytes == 0)
        return true;
    uintptr_t last = a + bytes - 1;
    if (last < a)
        last = UINTPTR_MAX;
    for (uintptr_t c = a; c && c <= last; c = adsm_index_border(c))
        if (adsm_index_find((void *)c))
            return false;
    return true;
}

/* Bytes from `address` up to the next shared page, at most `bytes`. */
static size_t plain_bytes(const void *address, size_t bytes)
{
    uintptr_t a = (uintptr_t)address;
    uintptr_t c = adsm_index_border(a);
    while (c && c - a < bytes && !adsm_index_find((void *)c) &&
           !adsm_placeholder_is(c))
        c = adsm_index_border(c);
    return c && c - a < bytes ? c - a : bytes;
}

/* A task was made meanwhile that the loan is to come behind: it begins anew. */
enum { ADSM_LOAN_AGAIN = -1 };

/* Blocks [first, last) become readable on the host, held run by run. */
static int make_readable(struct adsm_object *object, uint32_t generation,
                         uint32_t first, uint32_t last,
                         const struct adsm_cause *cause)
{
    uint32_t most = adsm_block_of(object, HOLD_BYTES);
    int rc = ADSM_OK;
    for (uint32_t i = first; i < last && rc == ADSM_OK;) {
        if (adsm_block_state(object, i) != ADSM_INVALID) {
            i++;
            continue;
        }
        if (!adsm_block_hold(object, generation, i))
            return ADSM_E_NOT_SHARED;
        if (adsm_block_is_awaited(object, i, false)) {
            adsm_block_release(object, i, 1);
            return ADSM_LOAN_AGAIN;
        }
        uint32_t n = 1;
        while (n < most && i + n < last &&
               adsm_block_state(object, i + n) == ADSM_INVALID &&
               !adsm_block_is_awaited(object, i + n, false) &&
               adsm_block_try_hold(object, i + n))
            n++;
        for (uint32_t k = 0; k < n && rc == ADSM_OK;) {
            uint32_t run = adsm_block_run(object, i + k, n - k);
            rc =
                adsm_coherence_apply(object, i + k, run, ADSM_BULK_READ, cause);
            k += run;
        }
        adsm_block_release(object, i, n);
        adsm_ahead_want(object);
        i += n;
    }
    return rc;
}

static bool covers_block(const struct adsm_object *object, size_t from,
                         size_t to, uint32_t i)
{
    size_t begin = adsm_block_begin(object, i);
    return from <= begin && begin + adsm_block_bytes(object, i) <= to;
}

/* Hold one more block. From the first one on a handler of the program's would
 * run while others wait for this thread, and might wait for them: none does
 * until the loan ends. */
static bool hold_next(struct adsm_loan *loan, uint32_t i)
{
    if (loan->held_count == 0) {
        if (!adsm_block_hold(loan->object, loan->generation, i))
            return false;
        adsm_quiet_enter();
    } else if (!adsm_block_try_hold(loan->object, i)) {
        uint64_t opened = adsm_quiet_wait_begin();
        bool holds = adsm_block_hold(loan->object, loan->generation, i);
        adsm_quiet_wait_end(opened);
        if (!holds)
            return false;
    }
    loan->held_count++;
    return true;
}

/* No block is held any more. */
static void let_go(struct adsm_loan *loan)
{
    if (loan->held_count > 0)
        adsm_quiet_leave();
    loan->held_count = 0;
}

/* Hold blocks [first, last) in rising order, which keeps two loans of one
 * object from waiting for each other. */
static bool hold_all(struct adsm_loan *loan, uint32_t first, uint32_t last)
{
    loan->held_first = first;
    for (uint32_t i = first; i < last; i++)
        if (!hold_next(loan, i))
            return false;
    return true;
}

/* A held block of which the call writes only a part: what is beside that part
 * must be current. */
static int make_current(const struct adsm_loan *loan, uint32_t i)
{
    size_t from = loan->offset, to = loan->offset + loan->bytes;
    if (covers_block(loan->object, from, to, i) ||
        adsm_block_state(loan->object, i) != ADSM_INVALID)
        return ADSM_OK;
    return adsm_coherence_apply(loan->object, i, 1, ADSM_BULK_READ,
                                &loan->cause);
}

/* Held blocks of an object that is not gathered: calls in parts, which do not wait
 * for loans, bring what the host lacks through its pages. So it lacks nothing
 * of them before the first byte arrives. Of one whose memory the device shares
 * nothing may arrive before the device's work has ended. */
static int make_all_current(const struct adsm_loan *loan)
{
    struct adsm_object *object = loan->object;
    uint32_t end = loan->held_first + loan->held_count;
    int rc = ADSM_OK;
    for (uint32_t n, i = loan->held_first; i < end && rc == ADSM_OK; i += n) {
        n = adsm_block_run(object, i, end - i);
        if (object->direct)
            rc = adsm_coherence_apply(object, i, n, ADSM_BULK_OVERWRITE,
                                      &loan->cause);
        else if (adsm_block_state(object, i) == ADSM_INVALID)
            rc = adsm_coherence_apply(object, i, n, ADSM_BULK_READ,
                                      &loan->cause);
    }
    return rc;
}

/* Is one of the blocks that it holds to come behind a task? */
static bool is_behind_task(const struct adsm_loan *loan)
{
    for (uint32_t i = 0; i < loan->held_count; i++)
        if (adsm_block_is_awaited(loan->object, loan->held_first + i, true))
            return true;
    return false;
}

static int begin_write(struct adsm_loan *loan)
{
    struct adsm_object *object = loan->object;
    uint32_t first = adsm_block_of(object, loan->offset);
    uint32_t last = adsm_block_of(object, loan->offset + loan->bytes - 1);
    if (!hold_all(loan, first, last + 1)) {
        let_go(loan); /* freed meanwhile, and its blocks with it */
        return ADSM_E_NOT_SHARED;
    }
    int rc = is_behind_task(loan) ? ADSM_LOAN_AGAIN : ADSM_OK;
    if (rc == ADSM_OK)
        adsm_run_await_uploads(object, first, last + 1 - first);
    bool all = !adsm_object_is_gathered(object) || object->direct;
    if (rc == ADSM_OK)
        rc = all ? make_all_current(loan) : make_current(loan, first);
    if (rc == ADSM_OK && last != first)
        rc = make_current(loan, last);
    if (rc != ADSM_OK) {
        adsm_block_release(object, loan->held_first, loan->held_count);
        let_go(loan);
    }
    return rc;
}

/* The pages of block `i` that the loan lies in, at S; the block stays closed. */
static int fetch_pages(const struct adsm_loan *loan, uint32_t i)
{
    struct adsm_object *object = loan->object;
    size_t page = adsm_vm_page_bytes(), from = loan->offset & ~(page - 1);
    size_t to = (loan->offset + loan->bytes + page - 1) & ~(page - 1);
    int rc = ADSM_OK;
    if (!adsm_block_hold(object, loan->generation, i))
        return ADSM_E_NOT_SHARED;
    if (adsm_block_state(object, i) == ADSM_INVALID)
        rc = adsm_run_fetch_bytes(
            object, from, (to < object->bytes ? to : object->bytes) - from,
            &loan->cause);
    adsm_block_release(object, i, 1);
    return rc;
}

static int begin_read(struct adsm_loan *loan)
{
    struct adsm_object *object = loan->object;
    uint32_t first = adsm_block_of(object, loan->offset);
    uint32_t last = adsm_block_of(object, loan->offset + loan->bytes - 1) + 1;
    if (first + 1 == last && adsm_block_state(object, first) == ADSM_INVALID &&
        adsm_ahead_takes_part(object, first, loan->bytes))
        return fetch_pages(loan, first);
    return make_readable(object, loan->generation, first, last, &loan->cause);
}

/* In a host function: what it opens stays so until its end, which sends what
 * was written. */
static int begin_in_turn(const void *address, size_t bytes,
                         enum adsm_access access, struct adsm_loan *loan)
{
    struct adsm_object *object = adsm_index_acquire(address);
    if (!object) {
        loan->bytes = plain_bytes(address, bytes);
        return ADSM_OK;
    }
    size_t offset = (size_t)((const uint8_t *)address - object->host);
    loan->bytes = object->bytes - offset;
    if (loan->bytes > bytes)
        loan->bytes = bytes;
    adsm_rwlock_release_shared(&object->lock);
    int rc = adsm_turn_touch_range(object, offset, loan->bytes, access,
                                   &loan->cause);
    if (rc == ADSM_OK)
        loan->address = object->shadow.shadow + offset;
    return rc;
}

/* The host has what is to be read: the shadow is all that it takes. */
static bool begin_in_place(const void *address, size_t bytes,
                           struct adsm_loan *loan)
{
    void *shadow = adsm_in_place_read(address, &bytes);
    if (!shadow)
        return false;
    loan->address = shadow;
    loan->bytes = bytes;
    ADSM_COUNT(loans, 1);
    return true;
}

static void discount(const struct adsm_loan *loan)
{
    if (loan->counted)
        adsm_object_take_back(loan->object);
}

/* As adsm_loan_begin_for, or ADSM_LOAN_AGAIN. */
static int try_begin(const void *address, size_t bytes, enum adsm_access access,
                     struct adsm_loan *loan, const struct adsm_cause *cause)
{
    *loan = (struct adsm_loan){
        .access = access, .address = (void *)address, .cause = *cause};
    if (bytes == 0)
        return ADSM_OK;
    if (adsm_turn_is_mine())
        return begin_in_turn(address, bytes, access, loan);
    if (access == ADSM_READ && begin_in_place(address, bytes, loan))
        return ADSM_OK;
    adsm_await_tasks(address, bytes, access == ADSM_WRITE);
    struct adsm_object *object;
    /* What was adopted for the call may have been given up since. */
    do
        object = adsm_turn_pass(address, &loan->gate);
    while (!object && adsm_placeholder_is((uintptr_t)address) &&
           adsm_adopt((uintptr_t)address));
    if (!object) {
        loan->bytes = plain_bytes(address, bytes);
        return ADSM_OK;
    }
    loan->counted = adsm_object_is_adopted(object);
    atomic_fetch_add(&object->loans, loan->counted);
    loan->object = object;
    loan->generation = atomic_load(&object->generation);
    loan->offset = (size_t)((const uint8_t *)address - object->host);
    loan->bytes = object->bytes - loan->offset;
    if (loan->bytes > bytes)
        loan->bytes = bytes;
    int rc = adsm_mapping_shadow(object);
    if (object->direct)
        adsm_direct_lend(object);
    if (rc == ADSM_OK)
        rc = adsm_object_commit(object, loan->offset, loan->bytes);
    if (rc == ADSM_OK)
        rc = access == ADSM_WRITE ? begin_write(loan) : begin_read(loan);
    loan->address = object->shadow.shadow + loan->offset;
    if (rc != ADSM_OK && object->direct)
        adsm_direct_take_back(object);
    adsm_rwlock_release_shared(&object->lock);
    adsm_gate_leave(loan->gate);
    if (rc != ADSM_OK)
        discount(loan);
    if (rc != ADSM_OK)
        *loan = (struct adsm_loan){.address = (void *)address};
    else if (loan->held_count > 0)
        adsm_loan_own(loan);
    ADSM_COUNT(loans, rc != ADSM_LOAN_AGAIN);
    return rc;
}

int adsm_loan_begin_for(const void *address, size_t bytes,
                        enum adsm_access access, struct adsm_loan *loan,
                        const struct adsm_cause *cause)
{
    int rc;
    do
        rc = try_begin(address, bytes, access, loan, cause);
    while (rc == ADSM_LOAN_AGAIN);
    return rc;
}

/* Bytes of block `i` outside [from, to) come from the device: the call wrote
 * only part of a block that nobody fetched. */
static int complete_block(struct adsm_object *object, uint32_t i, size_t from,
                          size_t to, const struct adsm_cause *cause)
{
    size_t begin = adsm_block_begin(object, i);
    size_t end = begin + adsm_block_bytes(object, i);
    int rc = ADSM_OK;
    if (from > begin)
        rc = adsm_run_fetch_bytes(object, begin, from - begin, cause);
    if (rc == ADSM_OK && to < end)
        rc = adsm_run_fetch_bytes(object, to, end - to, cause);
    return rc;
}

/* Held block `i` is watched: what has been written of it in [from, to) joins what
 * the CPU writes there. Return: false: it is not, or no more */
static bool note_block(struct adsm_object *object, uint32_t i, size_t from,
                       size_t to)
{
    if (!adsm_sparse_is_watched(object, i))
        return false;
    if (adsm_sparse_note(object, i, from, to))
        return true;
    adsm_dirty_unwatch(object, i, 1);
    return false;
}

/* Block `i`, held, has been written in [from, to). */
static int commit_block(struct adsm_object *object, uint32_t i, size_t from,
                        size_t to, const struct adsm_cause *cause)
{
    int rc = ADSM_OK;
    bool whole = covers_block(object, from, to, i);
    if (!whole && adsm_block_state(object, i) == ADSM_INVALID)
        rc = complete_block(object, i, from, to, cause);
    /* No mapping is left to open it with; or it is closed for a task. */
    int applied =
        adsm_block_is_awaited(object, i, true)
            ? ADSM_E_LIMIT
            : adsm_coherence_apply(object, i, 1, ADSM_BULK_OVERWRITE, cause);
    if (applied == ADSM_E_LIMIT)
        applied = adsm_coherence_apply_closed(object, i, 1, ADSM_BULK_OVERWRITE,
                                              cause);
    return rc != ADSM_OK ? rc : applied;
}

/* Blocks written whole and in one state: one change of protection for all. */
static uint32_t commit_run(struct adsm_loan *loan, uint32_t i, uint32_t last,
                           size_t to)
{
    struct adsm_object *object = loan->object;
    uint32_t n = 0;
    if (adsm_object_is_awaited(object))
        return 0;
    while (i + n < last && covers_block(object, loan->offset, to, i + n) &&
           adsm_block_state(object, i + n) == adsm_block_state(object, i) &&
           !adsm_sparse_is_watched(object, i + n))
        n++;
    if (n > 1 && adsm_coherence_apply(object, i, n, ADSM_BULK_OVERWRITE,
                                      &loan->cause) == ADSM_OK)
        return n;
    return 0;
}

static int commit(struct adsm_loan *loan, size_t done)
{
    size_t to = loan->offset + done;
    uint32_t i = adsm_block_of(loan->object, loan->offset);
    uint32_t last = adsm_block_of(loan->object, to - 1) + 1;
    int first_failure = ADSM_OK;
    while (i < last) {
        if (note_block(loan->object, i, loan->offset, to)) {
            i++;
            continue;
        }
        uint32_t n = commit_run(loan, i, last, to);
        if (n > 0) {
            i += n;
            continue;
        }
        int rc = commit_block(loan->object, i, loan->offset, to, &loan->cause);
        if (first_failure == ADSM_OK)
            first_failure = rc;
        i++;
    }
    return first_failure;
}

/* Blocks that were DIRTY and have been written whole: who does that once may do
 * it again, and then without a loan (in_place.h). */
static void map_rewritten(struct adsm_loan *loan, size_t done)
{
    size_t from = loan->offset, to = from + done;
    uint32_t i = loan->held_first, end = i + loan->held_count;
    for (uint32_t n; i < end; i += n ? n : 1) {
        for (n = 0; i + n < end &&
                    covers_block(loan->object, from, to, i + n) &&
                    adsm_block_state(loan->object, i + n) == ADSM_DIRTY;)
            n++;
        if (n > 0)
            adsm_run_populate(loan->object, i, n, true);
    }
}

static void conceal(struct adsm_object *object, uint32_t i)
{
    /* At the limit on mappings it stays open: what the CPU sees there until
     * the next change of state is what the interrupted call left. */
    (void)adsm_run_show(object, i, 0, SIZE_MAX, adsm_block_state(object, i));
}

/* The object has ended meanwhile, and its memory goes on: what arrived at S
 * belongs there, where it is shared anew for that. What has gone gets nothing. */
static int deliver(const struct adsm_loan *loan, size_t done)
{
    const uint8_t *from = loan->address;
    uint8_t *to = loan->object->host + loan->offset;
    struct adsm_loan anew;
    int rc = ADSM_OK;
    for (size_t n; rc == ADSM_OK && done > 0; done -= n, from += n, to += n) {
        rc = adsm_loan_begin_for(to, done, ADSM_WRITE, &anew, &loan->cause);
        if (rc != ADSM_OK || !anew.object)
            break;
        n = anew.bytes;
        memcpy(anew.address, from, n);
        rc = adsm_loan_end(&anew, n);
    }
    return rc;
}

static bool is_outlasted(const struct adsm_loan *loan)
{
    return loan->counted && loan->access == ADSM_WRITE &&
           atomic_load(&loan->object->generation) != loan->generation &&
           adsm_object_goes_on(loan->object);
}

int adsm_loan_end(struct adsm_loan *loan, size_t done)
{
    struct adsm_object *object = loan->object;
    if (object && loan->access == ADSM_READ)
        discount(loan);
    if (!object || (loan->access == ADSM_READ && !object->direct))
        return ADSM_OK;
    int saved = errno;
    int rc = ADSM_OK;
    if (loan->held_count > 0)
        adsm_loan_disown(loan);
    adsm_gate_enter(loan->gate);
    adsm_rwlock_acquire_shared(&object->lock);
    if (atomic_load(&object->live) &&
        atomic_load(&object->generation) == loan->generation) {
        if (done > 0 && !object->direct) {
            map_rewritten(loan, done);
            rc = commit(loan, done);
        }
        for (uint32_t i = 0; loan->exposed && i < loan->held_count; i++)
            conceal(object, loan->held_first + i);
        adsm_block_release(object, loan->held_first, loan->held_count);
        if (object->direct)
            adsm_direct_take_back(object);
    }
    adsm_rwlock_release_shared(&object->lock);
    adsm_write_back(loan->gate);
    adsm_gate_leave(loan->gate);
    let_go(loan);
    if (is_outlasted(loan))
        rc = deliver(loan, done);
    if (loan->access != ADSM_READ)
        discount(loan);
    errno = saved;
    return rc;
}
