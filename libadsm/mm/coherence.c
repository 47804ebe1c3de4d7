/*
 * The engine that runs the protocol tables; sole writer of block states.
 *
 * Protection is a function of the state, so a block is closed before it is
 * flushed and opened after it was fetched; both transfers use the shadow. A
 * flush is enqueued and not waited for: who writes a block waits until its own
 * upload is through. So an upload takes along what was there when it was
 * enqueued, on which calls and device copies behind it rely.
 */
#include "mm/coherence.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/stats.h"
#include "mm/grain.h"
#include "mm/keep.h"
#include "mm/spread.h"
#include "mm/twin.h"
#include "mm/write_back.h"
#include "os/fault_range.h"

static const struct adsm_protocol *protocol = &adsm_protocol_rolling;

/* What to do on `event` with a block in `state`. */
static const struct adsm_cell *cell_of(enum adsm_event event,
                                       enum adsm_state state)
{
    return &protocol->cell[event][state];
}

void adsm_coherence_init(const struct adsm_protocol *chosen,
                         const struct adsm_options *options)
{
    protocol = chosen;
    if (adsm_protocol_queues(chosen) && !adsm_write_back_init(options))
        adsm_log(ADSM_LOG_WARN, "no memory for the queue of dirty blocks: what "
                                "is written stays here until the next call");
}

const struct adsm_protocol *adsm_coherence_protocol(void)
{
    return protocol;
}

/* Early write-backs are about what the home lacks. */
static void count_dirty(const struct adsm_object *object, int64_t more)
{
    if (!adsm_object_is_spread(object))
        adsm_write_back_count(more);
}

void adsm_coherence_adopt(struct adsm_object *object)
{
    if (adsm_block_state(object, 0) != ADSM_DIRTY)
        return;
    atomic_store(&object->dirty, object->block_count);
    count_dirty(object, object->block_count);
}

void adsm_coherence_abandon(struct adsm_object *object)
{
    count_dirty(object, -(int64_t)atomic_exchange(&object->dirty, 0));
    atomic_store(&object->near, 0);
}

static size_t run_offset(const struct adsm_object *object, uint32_t first)
{
    return adsm_block_begin(object, first);
}

static size_t run_bytes(const struct adsm_object *object, uint32_t first,
                        uint32_t count)
{
    size_t end = adsm_block_begin(object, first + count);
    if (end > object->bytes)
        end = object->bytes;
    return end - run_offset(object, first);
}

/* Whole pages: the last block of an object owns the rest of its last page. */
static size_t run_page_bytes(const struct adsm_object *object, uint32_t first,
                             uint32_t count)
{
    size_t mask = adsm_vm_page_bytes() - 1;
    return (run_bytes(object, first, count) + mask) & ~mask;
}

/* [offset, +bytes) as `state` asks for. */
static int protect_bytes(struct adsm_object *object, size_t offset,
                         size_t bytes, enum adsm_state state)
{
    static const enum adsm_prot of_state[ADSM_STATES] = {
        [ADSM_INVALID] = ADSM_PROT_NONE,
        [ADSM_READ_ONLY] = ADSM_PROT_READ,
        [ADSM_DIRTY] = ADSM_PROT_READ_WRITE,
    };
    if (state != ADSM_DIRTY)
        atomic_fetch_add(&object->closings, 1);
    if (!atomic_load_explicit(&object->backed, memory_order_acquire))
        return ADSM_OK; /* nothing is mapped, the placeholder stands */
    adsm_grain_split(object, offset, bytes);
    return adsm_fault_range_protect((uintptr_t)object->host + offset, bytes,
                                    of_state[state]);
}

static int protect(struct adsm_object *object, uint32_t first, uint32_t count,
                   enum adsm_state state)
{
    size_t bytes = run_page_bytes(object, first, count);
    /* Nothing behind the end stays open that open_range had to open. */
    if (count == object->block_count && state == ADSM_INVALID)
        bytes = object->span.bytes;
    return protect_bytes(object, run_offset(object, first), bytes, state);
}

/* As protect, all or nothing: at the limit on mappings the system may have
 * changed a part of the range before it says no. */
static int protect_all(struct adsm_object *object, uint32_t first,
                       uint32_t count, enum adsm_state state)
{
    int rc = protect(object, first, count, state);
    for (uint32_t n, i = first; rc != ADSM_OK && i < first + count; i += n) {
        n = adsm_block_run(object, i, first + count - i);
        (void)protect(object, i, n, adsm_block_state(object, i));
    }
    return rc;
}

static void set_sent(struct adsm_object *object, uint32_t first, uint32_t count,
                     uint64_t number)
{
    for (uint32_t i = first; i < first + count; i++)
        object->sent[i] = number;
}

static int fetch_stretch(struct adsm_object *object, size_t offset,
                         size_t bytes)
{
    if (adsm_object_is_spread(object))
        return object->spread->ops->fetch(object, offset, bytes);
    /* Uploads to copies may still read there, which a download waits for only
     * where they go home. */
    if (object->spread)
        object->spread->ops->await(object, offset, bytes);
    return adsm_dma_download(object->home, object->shadow.shadow + offset,
                             adsm_daddr_add(object->device, offset), bytes,
                             object->work);
}

int adsm_coherence_fetch_bytes(struct adsm_object *object, size_t offset,
                               size_t bytes)
{
    int rc = ADSM_OK;
    while (bytes > 0 && rc == ADSM_OK) {
        bool kept;
        size_t n = adsm_keep_run(object, offset, bytes, &kept);
        if (!kept)
            rc = fetch_stretch(object, offset, n);
        offset += n;
        bytes -= n;
    }
    return rc;
}

static int fetch(struct adsm_object *object, uint32_t first, uint32_t count)
{
    ADSM_COUNT(fetches, 1);
    int rc = adsm_coherence_fetch_bytes(object, run_offset(object, first),
                                        run_bytes(object, first, count));
    /* It waited for the home's; await asks for those of others. */
    if (rc == ADSM_OK && !adsm_object_is_spread(object))
        set_sent(object, first, count, 0);
    return rc;
}

static int flush(struct adsm_object *object, uint32_t first, uint32_t count)
{
    size_t offset = run_offset(object, first);
    struct adsm_fence done;
    ADSM_COUNT(flushes, 1);
    int rc =
        adsm_dma_upload(object->home, adsm_daddr_add(object->device, offset),
                        object->shadow.shadow + offset,
                        run_bytes(object, first, count), object->work, &done);
    /* Also of one that failed, a part may be on its way. */
    if (done.seq > 0)
        set_sent(object, first, count, done.seq);
    return rc;
}

void adsm_coherence_await_uploads(struct adsm_object *object, uint32_t first,
                                  uint32_t count)
{
    uint64_t last = 0;
    for (uint32_t i = first; i < first + count; i++)
        if (object->sent[i] > last)
            last = object->sent[i];
    /* A failed wait is a lost device, which the next transfer reports. */
    (void)adsm_dma_await_upload(object->home, last);
    if (object->spread)
        object->spread->ops->await(object, run_offset(object, first),
                                   run_bytes(object, first, count));
}

/* Fill in the page table at A once: 0.1 us a page here, 0.5 us as a fault. What
 * lies between blocks that want it is filled in with them, in one call. */
static void populate_small(struct adsm_object *object, uint32_t first,
                           uint32_t count, bool write)
{
    while (count > 0 && adsm_block_flags(object, first, ADSM_BLOCK_MAPPED))
        first++, count--;
    while (count > 0 &&
           adsm_block_flags(object, first + count - 1, ADSM_BLOCK_MAPPED))
        count--;
    if (count == 0)
        return;
    uint64_t began = adsm_now_ns();
    adsm_status_t rc = adsm_fault_range_populate(
        (uintptr_t)object->host + run_offset(object, first),
        run_page_bytes(object, first, count), write);
    adsm_object_memory_add(adsm_now_ns() - began);
    for (uint32_t i = first; rc == ADSM_OK && write && i < first + count; i++)
        (void)adsm_block_change(object, i, 0, ADSM_BLOCK_MAPPED);
}

static void populate(struct adsm_object *object, uint32_t first, uint32_t count,
                     bool write)
{
    if (!atomic_load_explicit(&object->backed, memory_order_acquire))
        return;
    size_t offset = run_offset(object, first);
    size_t bytes = run_page_bytes(object, first, count);
    adsm_grain_join(object, offset, bytes);
    populate_small(object, first, count, write);
    adsm_grain_joined(object, offset, bytes);
}

void adsm_coherence_map_open(struct adsm_object *object, uint32_t first,
                             uint32_t count)
{
    populate(object, first, count, true);
}

static void set_state(struct adsm_object *object, uint32_t i,
                      enum adsm_state next)
{
    uint8_t clear = ADSM_BLOCK_STATE;
    if (next != ADSM_DIRTY)
        clear |= ADSM_BLOCK_TWIN;
    (void)adsm_block_change(object, i, clear, (uint8_t)next);
}

static void set_states(struct adsm_object *object, uint32_t first,
                       uint32_t count, enum adsm_state state,
                       enum adsm_state next)
{
    if (state == next)
        return;
    for (uint32_t i = first; i < first + count; i++)
        set_state(object, i, next);
    if (state == ADSM_DIRTY) {
        atomic_fetch_sub(&object->dirty, count);
        count_dirty(object, -(int64_t)count);
    } else if (next == ADSM_DIRTY) {
        atomic_store(&object->settled, false);
        atomic_fetch_add(&object->dirty, count);
        count_dirty(object, count);
    }
    if (state == ADSM_INVALID) {
        if (atomic_fetch_add(&object->near, count) == 0)
            adsm_object_update_near(object);
    } else if (next == ADSM_INVALID) {
        if (atomic_fetch_sub(&object->near, count) == count)
            adsm_object_update_near(object);
    }
}

static bool is_fault(enum adsm_event event)
{
    return event == ADSM_READ_FAULT || event == ADSM_WRITE_FAULT;
}

/* An access waits for the block. */
static bool opens_at_once(enum adsm_event event)
{
    return is_fault(event) || event == ADSM_GIVEN_UP;
}

/* Does the step want pages of the host? One that leaves all as it is does not,
 * but an access, which may be the first touch. Nor does a note of what a part
 * of a call has done. */
static bool needs_host(const struct adsm_cell *cell, enum adsm_state state,
                       enum adsm_event event)
{
    return (cell->next > state) ||
           (cell->actions & (ADSM_DO_FETCH | ADSM_DO_FLUSH)) ||
           opens_at_once(event);
}

/* `open`: an access waits for the blocks; elsewhere the mapping may be missing,
 * as long as the first access to come gets one. */
static int prepare_host(struct adsm_object *object, uint32_t first,
                        uint32_t count, bool open)
{
    int rc = open ? adsm_object_back(object) : adsm_object_shadow(object);
    if (rc != ADSM_OK)
        return rc;
    return adsm_object_commit(object, run_offset(object, first),
                              run_bytes(object, first, count));
}

/* Where no mapping is left to open a block, the bytes just fetched serve a
 * loan as they are, and a fault after a return will fetch them again. */
static bool is_read_at_shadow(enum adsm_event event)
{
    return event == ADSM_BULK_READ || event == ADSM_RETURN;
}

/* The host has, or is about to have, the bytes that the next state shows. */
static int bring(struct adsm_object *object, uint32_t first, uint32_t count,
                 enum adsm_state state, enum adsm_event event)
{
    const struct adsm_cell *cell = cell_of(event, state);
    int rc = ADSM_OK;
    if (needs_host(cell, state, event))
        rc = prepare_host(object, first, count, opens_at_once(event));
    /* A fetch from the home comes behind its uploads; those to other devices
     * may be of bytes that need no fetch. */
    if (cell->next == ADSM_DIRTY && state != ADSM_DIRTY &&
        (!(cell->actions & ADSM_DO_FETCH) || object->spread))
        adsm_coherence_await_uploads(object, first, count);
    if (rc == ADSM_OK && (cell->actions & ADSM_DO_FETCH))
        rc = fetch(object, first, count);
    return rc;
}

/* Protection is set: what goes to the device. */
static int give(struct adsm_object *object, uint32_t first, uint32_t count,
                enum adsm_state state, const struct adsm_cell *cell)
{
    int rc = ADSM_OK;
    if (cell->actions & ADSM_DO_FLUSH) {
        rc = flush(object, first, count);
        if (rc != ADSM_OK)
            (void)protect(object, first, count, state);
    }
    if (rc == ADSM_OK && (cell->actions & ADSM_DO_SEND_CHANGES))
        rc = adsm_twin_send(object, first);
    return rc;
}

/* All is done: the state that follows. */
static void enter(struct adsm_object *object, uint32_t first, uint32_t count,
                  enum adsm_state state, const struct adsm_cell *cell)
{
    set_states(object, first, count, state, cell->next);
    if (cell->actions & ADSM_DO_QUEUE)
        adsm_write_back_enqueue(object, first, count);
}

/* adsm_coherence_apply; `closed`: the protection is that of the next state. */
static int apply(struct adsm_object *object, uint32_t first, uint32_t count,
                 enum adsm_event event, bool closed)
{
    enum adsm_state state = adsm_block_state(object, first);
    const struct adsm_cell *cell = cell_of(event, state);
    enum adsm_state next = cell->next;

    if (event == ADSM_CALL_IN)
        adsm_twin_close(object, first, count, state == ADSM_DIRTY);
    int rc = bring(object, first, count, state, event);
    /* An access is answered even when the state stays: its protection may not
     * have been set yet (first touch) or another thread was quicker. */
    if (rc == ADSM_OK && !closed && (next != state || opens_at_once(event))) {
        rc = protect_all(object, first, count, next);
        if (rc == ADSM_E_LIMIT && is_read_at_shadow(event))
            return ADSM_OK;
    }
    if (rc == ADSM_OK)
        rc = give(object, first, count, state, cell);
    if (rc != ADSM_OK)
        return rc;
    if (is_fault(event))
        populate(object, first, count, next == ADSM_DIRTY);
    enter(object, first, count, state, cell);
    return ADSM_OK;
}

int adsm_coherence_apply(struct adsm_object *object, uint32_t first,
                         uint32_t count, enum adsm_event event)
{
    return apply(object, first, count, event, false);
}

int adsm_coherence_apply_closed(struct adsm_object *object, uint32_t i,
                                enum adsm_event event)
{
    return apply(object, i, 1, event, true);
}

/* What a call that only reads the object is for block `i`. */
static enum adsm_event event_for(struct adsm_object *object, uint32_t i,
                                 enum adsm_event event)
{
    const struct adsm_cell *kept = cell_of(ADSM_CALL_KEPT, ADSM_DIRTY);
    if (event == ADSM_CALL_IN && kept->next == ADSM_DIRTY &&
        adsm_block_state(object, i) == ADSM_DIRTY && adsm_twin_keeps(object, i))
        return ADSM_CALL_KEPT;
    return event;
}

/* Do all blocks of the range end in one state that allows less than theirs?
 * Then one change of protection serves them, however many runs there are. */
static bool closes_uniformly(struct adsm_object *object, uint32_t first,
                             uint32_t count, enum adsm_event event,
                             enum adsm_state *next)
{
    *next = cell_of(event, adsm_block_state(object, first))->next;
    for (uint32_t i = first; i < first + count; i++) {
        enum adsm_state state = adsm_block_state(object, i);
        if (cell_of(event, state)->next != *next || state < *next ||
            event_for(object, i, event) != event)
            return false;
    }
    return true;
}

/* Blocks from `first` on, at most `limit`, that one step serves: in one state,
 * held by nobody where they are fetched, and kept open one by one. */
static uint32_t uniform_run(struct adsm_object *object, uint32_t first,
                            uint32_t limit, enum adsm_event event)
{
    if (event == ADSM_CALL_KEPT)
        return 1;
    uint32_t n = adsm_block_run(object, first, limit);
    const struct adsm_cell *cell =
        cell_of(event, adsm_block_state(object, first));
    for (uint32_t k = 1; k < n; k++)
        if (((cell->actions & ADSM_DO_FETCH) &&
             adsm_block_is_held(object, first + k)) ||
            event_for(object, first + k, event) != event)
            n = k;
    return n;
}

int adsm_coherence_apply_all(struct adsm_object *object, uint32_t first,
                             uint32_t count, enum adsm_event event)
{
    enum adsm_event all =
        adsm_object_is_spread(object) ? ADSM_PART_WRITE : ADSM_CALL;
    enum adsm_state next;
    bool closed = closes_uniformly(object, first, count, event, &next);
    if (closed) {
        int rc = protect_all(object, first, count, next);
        if (rc != ADSM_OK && rc != ADSM_E_LIMIT)
            return rc;
        /* What is not mapped yet will be, closed to all. */
        closed = rc == ADSM_OK && atomic_load(&object->backed);
    }
    bool whole = first == 0 && count == object->block_count;
    for (uint32_t i = first; i < first + count;) {
        enum adsm_event here = event_for(object, i, event);
        enum adsm_state state = adsm_block_state(object, i);
        bool held = adsm_block_is_held(object, i);
        if (held && (cell_of(here, state)->actions & ADSM_DO_FETCH)) {
            i++; /* its holder is overwriting it */
            continue;
        }
        uint32_t n = uniform_run(object, i, first + count - i, here);
        int rc = apply(object, i, n, here, closed);
        /* Closing a part of an open stretch takes mappings, closing the whole
         * object gives some back. Of one that is spread nothing goes home for
         * that: who has what was noted when the call began. */
        if (rc == ADSM_E_LIMIT && !(whole && event == all))
            return adsm_coherence_apply_all(object, 0, object->block_count,
                                            all);
        if (rc != ADSM_OK)
            return rc;
        i += n;
    }
    return ADSM_OK;
}

/* A loan holds a block of the range that only the device has: what it has moved
 * in so far must not be fetched over, and the rest is not there. */
static bool is_awaited(const struct adsm_object *object, uint32_t first,
                       uint32_t last)
{
    for (uint32_t i = first; i < last; i++)
        if (adsm_block_is_held(object, i) &&
            adsm_block_state(object, i) == ADSM_INVALID)
            return true;
    return false;
}

/* The host gets what it has not of [first, last), to be written. */
static int bring_range(struct adsm_object *object, uint32_t first,
                       uint32_t last)
{
    int rc = ADSM_OK;
    for (uint32_t n, i = first; i < last && rc == ADSM_OK; i += n) {
        n = adsm_block_run(object, i, last - i);
        rc = bring(object, i, n, adsm_block_state(object, i), ADSM_WRITE_FAULT);
    }
    return rc;
}

static void enter_range(struct adsm_object *object, uint32_t first,
                        uint32_t last)
{
    for (uint32_t n, i = first; i < last; i += n) {
        enum adsm_state state = adsm_block_state(object, i);
        n = adsm_block_run(object, i, last - i);
        enter(object, i, n, state, cell_of(ADSM_WRITE_FAULT, state));
    }
}

/* To each of [first, last) a write fault, with one change of protection. `i` is
 * the block of the access: the youngest to be written back. */
static int open_range(struct adsm_object *object, uint32_t first, uint32_t last,
                      uint32_t i)
{
    int rc = bring_range(object, first, last);
    /* Without its mapping there would be other pages to open. */
    if (rc == ADSM_OK && !atomic_load(&object->backed))
        return ADSM_E_LIMIT;
    if (rc == ADSM_OK)
        rc = protect_all(object, first, last - first, ADSM_DIRTY);
    /* Up to the end of its last tract the object is a mapping of its own. */
    if (rc == ADSM_E_LIMIT && last - first == object->block_count &&
        atomic_load(&object->backed))
        rc = adsm_fault_range_protect((uintptr_t)object->host,
                                      object->span.bytes, ADSM_PROT_READ_WRITE);
    if (rc != ADSM_OK)
        return rc;
    enter_range(object, first, i);
    enter_range(object, i + 1, last);
    enter_range(object, i, i + 1);
    return ADSM_OK;
}

int adsm_coherence_widen(struct adsm_object *object, uint32_t i, bool *awaited)
{
    /* How far to look for an open neighbour: fetching more than this costs
     * more than it saves. */
    enum { REACH = 64 };
    uint32_t from = i;
    ADSM_COUNT(block_widenings, 1);
    while (from > 0 && i - from < REACH &&
           adsm_block_state(object, from - 1) != ADSM_DIRTY)
        from--;
    if (from > 0 && i - from < REACH && !is_awaited(object, from, i + 1)) {
        int rc = open_range(object, from, i + 1, i);
        if (rc != ADSM_E_LIMIT)
            return rc;
    }
    *awaited = is_awaited(object, 0, object->block_count);
    return *awaited ? ADSM_OK : open_range(object, 0, object->block_count, i);
}

/* The host gets run [first, first + n), which only the device has. */
static int take_run(struct adsm_object *object, uint32_t first, uint32_t n)
{
    int rc = prepare_host(object, first, n, false);
    if (rc == ADSM_OK)
        rc = fetch(object, first, n);
    if (rc == ADSM_OK)
        set_states(object, first, n, ADSM_INVALID, ADSM_READ_ONLY);
    return rc;
}

int adsm_coherence_take_home(struct adsm_object *object, bool holds)
{
    uint32_t count = object->block_count;
    int rc = is_awaited(object, 0, count) ? ADSM_E_LIMIT : ADSM_OK;
    for (uint32_t n, i = 0; i < count && rc == ADSM_OK; i += n) {
        n = adsm_block_run(object, i, count - i);
        if (holds && adsm_block_state(object, i) == ADSM_INVALID)
            rc = take_run(object, i, n);
    }
    for (uint32_t n, i = 0; i < count && rc == ADSM_OK; i += n) {
        n = adsm_block_run(object, i, count - i);
        set_states(object, i, n, adsm_block_state(object, i), ADSM_DIRTY);
    }
    return rc;
}

int adsm_coherence_show(struct adsm_object *object, uint32_t i, size_t begin,
                        size_t end, enum adsm_state as)
{
    size_t first = run_offset(object, i);
    size_t last = first + run_page_bytes(object, i, 1);
    size_t mask = adsm_vm_page_bytes() - 1;
    if (begin > first)
        first = begin & ~mask;
    if (end < last)
        last = (end + mask) & ~mask;
    return protect_bytes(object, first, last - first, as);
}
