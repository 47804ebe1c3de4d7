/* Calls and returns: where objects change hands; see boundary.h. */
#include "mm/doors/boundary.h"

#include "accel/peer.h"
#include "accel/poke.h"
#include "base/stats.h"
#include "base/trace.h"
#include "mm/doors/fetcher.h"
#include "mm/doors/turn.h"
#include "mm/object/assign.h"
#include "mm/object/awaited.h"
#include "mm/object/gate.h"
#include "mm/object/holders.h"
#include "mm/object/index.h"
#include "mm/object/list.h"
#include "mm/object/movable.h"
#include "mm/object/ready.h"
#include "mm/state/coherence.h"
#include "mm/state/direct.h"
#include "mm/state/dirty.h"
#include "mm/watch/ahead.h"
#include "mm/watch/scatter.h"

static uint32_t first_block(const struct adsm_use *use)
{
    return adsm_block_of(use->object, (size_t)(use->at - use->object->host));
}

static uint32_t end_block(const struct adsm_use *use)
{
    size_t end = (size_t)(use->at - use->object->host) + use->bytes;
    return use->bytes ? adsm_block_of(use->object, end - 1) + 1
                      : first_block(use);
}

/* Skip the blocks from *i on that the call names. Return: how many follow,
 * before `end`, that it does not */
static uint32_t unnamed_run(const struct adsm_call *call,
                            const struct adsm_object *object, uint32_t *i,
                            uint32_t end)
{
    uint32_t stop = end;
    for (size_t u = 0; u < call->use_count; u++) {
        const struct adsm_use *use = &call->uses[u];
        if (use->object != object || !adsm_use_fits(use))
            continue;
        uint32_t first = first_block(use), behind = end_block(use);
        if (*i >= first && *i < behind) {
            *i = behind;
            stop = end;
            u = SIZE_MAX; /* from the first again */
        } else if (first > *i && first < stop) {
            stop = first;
        }
    }
    return *i < stop ? stop - *i : 0;
}

/* What was never allocated from a slab holds nothing worth moving. */
static int apply_used(struct adsm_object *object, enum adsm_event event,
                      const struct adsm_cause *cause)
{
    uint32_t used = atomic_load(&object->blocks_used);
    return used == 0 ? ADSM_OK
                     : adsm_coherence_apply_all(object, 0, used, event, cause);
}

/* Release blocks [first, end) of a live object, without those that `unless`
 * names. Its lock is held exclusively. */
static int release_blocks(struct adsm_object *object, uint32_t first,
                          uint32_t end, const struct adsm_call *unless,
                          enum adsm_event event)
{
    int rc = adsm_object_gather(object, ADSM_CAUSE(call));
    if (rc != ADSM_OK || !adsm_object_is_gathered(object) ||
        !atomic_load(&object->near))
        return rc;
    if (end > atomic_load(&object->blocks_used))
        end = atomic_load(&object->blocks_used);
    for (uint32_t n, i = first; i < end && rc == ADSM_OK; i += n) {
        n = unless ? unnamed_run(unless, object, &i, end) : end - i;
        if (n > 0)
            rc =
                adsm_coherence_apply_all(object, i, n, event, ADSM_CAUSE(call));
    }
    atomic_store(&object->settled, rc == ADSM_OK && event == ADSM_CALL_IN &&
                                       atomic_load(&object->dirty) == 0);
    return rc;
}

/* What a use names, its object's lock held exclusively. */
static int release_named(const struct adsm_use *use)
{
    struct adsm_use_run run = {0};
    int rc = ADSM_OK;
    while (rc == ADSM_OK && adsm_use_next(use, &run))
        rc = release_blocks(use->object, run.first, run.end, NULL,
                            adsm_use_event(use->mode));
    return rc;
}

/* Host bytes that the call overwrites are dropped only when it is enqueued: a
 * launch that the driver refuses must lose nothing. Until then nobody may
 * write them back over what the kernel produces, which the gate sees to. */
static bool is_dropped_later(const struct adsm_use *use)
{
    const struct adsm_protocol *protocol =
        adsm_coherence_protocol_of(use->object);
    enum adsm_event event = adsm_use_event(use->mode);
    return event == ADSM_CALL_OUT &&
           !(protocol->cell[event][ADSM_DIRTY].actions & ADSM_DO_FLUSH);
}

/* Has the host nothing of it that would be sent or taken away? The gate is
 * closed: so it stays. */
static bool is_idle(const struct adsm_use *use)
{
    const struct adsm_object *object = use->object;
    return !object->direct && !object->holders &&
           (atomic_load(&object->near) == 0 ||
            (use->mode == ADSM_IN && atomic_load(&object->settled))) &&
           adsm_use_fits(use);
}

static int release_use(struct adsm_call *call, const struct adsm_use *use)
{
    bool may_be_gone = call->rest == ADSM_REST_UNTOUCHED;
    int rc = may_be_gone ? ADSM_OK : ADSM_E_NOT_SHARED;
    /* With the gate closed it stays gathered. */
    if (is_idle(use) || (is_dropped_later(use) && !use->object->holders))
        return ADSM_OK;
    adsm_rwlock_acquire(&use->object->lock);
    if (adsm_use_fits(use))
        rc = is_dropped_later(use)
                 ? adsm_object_gather(use->object, ADSM_CAUSE(call))
                 : release_named(use);
    call->waits |= adsm_direct_is_open(use->object);
    if (rc == ADSM_OK && adsm_use_fits(use) && use->object->direct)
        rc = adsm_direct_order(call->accel, call->stream, use->home);
    adsm_rwlock_release(&use->object->lock);
    return rc;
}

/* Does the call use what it names, and just that? */
static bool is_exact(const struct adsm_call *call)
{
    return call->rest != ADSM_REST_READ;
}

/* Does it use nothing else? */
static bool names_all(const struct adsm_call *call)
{
    return call->rest == ADSM_REST_UNUSED || call->rest == ADSM_REST_UNTOUCHED;
}

/* Do fences of what it names say when it has ended? */
static bool leaves_fences(const struct adsm_call *call)
{
    return is_exact(call) && call->rest != ADSM_REST_UNTOUCHED;
}

enum { BEFORE_BYTES = 64 << 10 };

static bool may_write(const struct adsm_call *call,
                      const struct adsm_object *object)
{
    const uint8_t *first = object->host - BEFORE_BYTES;
    const uint8_t *end = object->host + object->span.bytes;
    if (call->rest == ADSM_REST_USED)
        return true;
    for (size_t i = 0; i < call->use_count; i++)
        if (call->uses[i].at >= first && call->uses[i].at < end)
            return true;
    return false;
}

/* Does it leave the object alone? Only of movable ones that is known. */
static bool is_left_out(const struct adsm_object *object,
                        const struct adsm_call *call)
{
    const struct adsm_use *uses;
    size_t count;
    if (!adsm_object_is_movable(object) ||
        !adsm_call_touches(call, &uses, &count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (uses[i].object == object)
            return false;
    return true;
}

static int release_unnamed(struct adsm_object *object, void *context)
{
    const struct adsm_call *call = context;
    int rc = ADSM_OK;
    /* The gate is closed: no block becomes DIRTY meanwhile. Before it is settled
     * another thread may be making it. */
    if (atomic_load(&object->settled) && !may_write(call, object))
        return ADSM_OK;
    adsm_rwlock_acquire(&object->lock);
    adsmMode mode = may_write(call, object) ? ADSM_INOUT : ADSM_IN;
    if (atomic_load(&object->live) &&
        adsm_assign_reaches(call->kernel, object) &&
        !adsm_object_is_away(object) && !is_left_out(object, call))
        rc = release_blocks(object, 0, object->block_count,
                            is_exact(call) ? call : NULL, adsm_use_event(mode));
    adsm_rwlock_release(&object->lock);
    return rc;
}

/* Accels whose memory the kernel may use, one after the other. Access that is
 * given after the gates were closed comes too late for this call. */
static struct adsm_accel *next_host(const struct adsm_call *call,
                                    struct adsm_accel *last)
{
    do {
        last = adsm_peer_next_host(call->accel, last);
    } while (last && !(call->gates & adsm_gate_bit(last)));
    return last;
}

/* Objects of other devices that the kernel may reach. Its stream is none of
 * theirs, so their uploads are waited for here. */
static int release_peers(const struct adsm_call *call)
{
    int rc = ADSM_OK;
    struct adsm_accel *host = NULL;
    while (rc == ADSM_OK && (host = next_host(call, host))) {
        rc = adsm_object_each(host, true, release_unnamed, (void *)call);
        if (rc == ADSM_OK)
            rc = adsm_dma_drain(host);
    }
    return rc;
}

/* CPU accesses to their objects wait for what is noted on lanes of theirs:
 * let one of these wait for the kernel. */
static int note_peers(const struct adsm_call *call)
{
    struct adsm_fence fence;
    struct adsm_accel *host = next_host(call, NULL);
    int rc =
        host ? adsm_fence_record(call->accel, call->stream, &fence) : ADSM_OK;
    for (; host && rc == ADSM_OK; host = next_host(call, host)) {
        adsm_stream theirs = adsm_accel_launch_stream(host);
        rc = adsm_fence_order(host, theirs, fence);
        if (rc == ADSM_OK)
            adsm_lane_note(host, theirs, false);
    }
    return rc;
}

static int release_uses(struct adsm_call *call)
{
    int rc = ADSM_OK;
    for (size_t i = 0; i < call->use_count && rc == ADSM_OK; i++)
        rc = release_use(call, &call->uses[i]);
    return rc;
}

/* Where what the call may use lives. */
static uint32_t gates_of(const struct adsm_call *call)
{
    uint32_t gates = adsm_gate_bit(call->accel);
    for (size_t i = 0; i < call->use_count; i++)
        gates |= adsm_gate_bit(call->uses[i].home);
    struct adsm_accel *host = NULL;
    while (call->rest != ADSM_REST_UNUSED &&
           (host = adsm_peer_next_host(call->accel, host)))
        gates |= adsm_gate_bit(host);
    return gates;
}

/* Whose work is waited for before the call can send what it may use; NULL: none.
 * The gates are closed, so no host function comes. */
static struct adsm_accel *ahead_of(const struct adsm_call *call)
{
    if (!names_all(call))
        return adsm_turn_ahead(call->gates);
    for (size_t i = 0; i < call->use_count; i++) {
        const struct adsm_use *use = &call->uses[i];
        if (adsm_use_fits(use) && adsm_turn_must_wait_to_send(use->object))
            return use->home;
    }
    return NULL;
}

static void close_gates(const struct adsm_call *call)
{
    struct adsm_accel *accel;
    adsm_gate_close(call->gates);
    while ((accel = ahead_of(call))) {
        adsm_gate_open(call->gates);
        adsm_turn_wait(accel);
        adsm_gate_close(call->gates);
    }
}

int adsm_boundary_call(struct adsm_call *call)
{
    call->start = adsm_trace_begin();
    adsm_await_all_tasks();
    adsm_poke_prepare(call->accel);
    call->gates = gates_of(call);
    call->waits = false;
    close_gates(call);
    int rc = adsm_holders_prepare(call);
    if (rc == ADSM_OK && is_exact(call))
        rc = release_uses(call);
    if (rc == ADSM_OK && !names_all(call)) {
        rc = adsm_object_each(call->accel, true, release_unnamed, (void *)call);
        if (rc == ADSM_OK)
            rc = release_peers(call);
        call->waits |= adsm_direct_any_is_open();
    }
    if (rc == ADSM_OK)
        rc = adsm_dma_order_uploads(call->accel, call->stream);
    if (rc != ADSM_OK)
        adsm_gate_open(call->gates);
    return rc;
}

void adsm_boundary_call_failed(const struct adsm_call *call)
{
    adsm_gate_open(call->gates);
}

/* An object that was freed meanwhile has nobody left to wait for the call. */
static int remember(const struct adsm_use *use, struct adsm_fence fence)
{
    int rc = ADSM_OK;
    adsm_rwlock_acquire(&use->object->lock);
    if (adsm_use_fits(use)) {
        use->object->work = fence;
        if (is_dropped_later(use))
            rc = release_named(use);
        if (rc == ADSM_OK && use->object->direct)
            rc = adsm_direct_ordered(fence.accel, fence, use->home);
    }
    adsm_rwlock_release(&use->object->lock);
    return rc;
}

int adsm_boundary_used(const struct adsm_use *use, struct adsm_fence fence)
{
    int rc = remember(use, fence);
    adsm_rwlock_acquire(&use->object->lock);
    if (rc == ADSM_OK && adsm_use_fits(use))
        rc = release_named(use);
    bool open = adsm_direct_is_open(use->object);
    adsm_rwlock_release(&use->object->lock);
    return rc == ADSM_OK && open ? adsm_fence_wait(fence) : rc;
}

static int remember_uses(const struct adsm_call *call)
{
    struct adsm_fence fence;
    if (call->use_count == 0)
        return ADSM_OK;
    int rc = adsm_fence_record(call->accel, call->stream, &fence);
    for (size_t i = 0; i < call->use_count && rc == ADSM_OK; i++)
        rc = remember(&call->uses[i], fence);
    return rc;
}

/* Accesses to what it uses would not. */
static int wait_for(const struct adsm_call *call)
{
    struct adsm_fence fence;
    int rc = adsm_fence_record(call->accel, call->stream, &fence);
    return rc == ADSM_OK ? adsm_fence_wait(fence) : rc;
}

int adsm_boundary_called(const struct adsm_call *call)
{
    int rc = ADSM_OK;
    ADSM_COUNT(launches, 1);
    adsm_dirty_called();
    adsm_scatter_called();
    if (call->rest != ADSM_REST_UNUSED) {
        adsm_lane_note(call->accel, call->stream, call->per_thread);
        rc = note_peers(call);
    }
    if (rc == ADSM_OK && leaves_fences(call))
        rc = remember_uses(call);
    adsm_ahead_called(call->gates, call->code);
    if (rc == ADSM_OK && call->rest != ADSM_REST_UNUSED)
        adsm_fetcher_launched(call->accel, call->code);
    adsm_gate_open(call->gates);
    adsm_fetcher_start();
    adsm_ready_start();
    adsm_trace_end(ADSM_TRACE_launch, "launch", call->start,
                   adsm_accel_device(call->accel), NULL);
    return rc == ADSM_OK && call->waits ? wait_for(call) : rc;
}

/* What is unwaited may be used by work that goes on, and tasks may wait to use
 * it: an access waits for them. */
static int acquire_object(struct adsm_object *object, void *context)
{
    const uint32_t *gate = context;
    int rc = ADSM_OK;
    if (atomic_load(&object->gate) != *gate)
        return ADSM_OK;
    adsm_rwlock_acquire(&object->lock);
    if (atomic_load(&object->live) && atomic_load(&object->gate) == *gate &&
        !atomic_load(&object->unwaited) && !adsm_object_is_awaited(object))
        rc = apply_used(object, ADSM_RETURN, ADSM_CAUSE(acquire));
    adsm_rwlock_release(&object->lock);
    return rc;
}

/* What a call of another thread has released stays the device's until its
 * kernel is enqueued. */
static int acquire_behind(uint32_t gate, struct adsm_accel *home)
{
    adsm_gate_enter(gate);
    while (adsm_turn_must_wait(home)) {
        adsm_gate_leave(gate);
        adsm_turn_wait(home);
        adsm_gate_enter(gate);
    }
    int rc = adsm_object_each(home, false, acquire_object, &gate);
    adsm_gate_leave(gate);
    return rc;
}

/* Its objects, and those without a home that it page-locks. */
static int acquire_all(struct adsm_accel *home)
{
    int rc = acquire_behind(adsm_gate_of(home), home);
    return rc == ADSM_OK ? acquire_behind(adsm_gate_of(NULL), home) : rc;
}

int adsm_boundary_return(struct adsm_accel *accel)
{
    ADSM_COUNT(syncs, 1);
    adsm_fetcher_returned(accel);
    adsm_ready_start();
    if (!adsm_coherence_protocol()->acquires)
        return ADSM_OK;
    int rc = acquire_all(accel);
    struct adsm_accel *host = NULL;
    while (rc == ADSM_OK && (host = adsm_peer_next_host(accel, host)))
        rc = acquire_all(host);
    return rc;
}
