/*
 * Turns as other threads and the hooks see them: what is expected, and who
 * waits before taking what a host function needs. How one is served is in
 * turn_serve.c.
 */
#include "mm/doors/turn_parts.h"

#include "accel/pinned.h"
#include "accel/poke.h"
#include "mm/doors/adopt.h"
#include "mm/object/gate.h"
#include "mm/object/holders.h"
#include "mm/object/index.h"
#include "mm/object/list.h"
#include "mm/object/passing.h"
#include "mm/state/coherence.h"

/* Host functions enqueued and not ended; grows with all gates closed: work of
 * any device may wait for a function that another one's stream has. */
static _Atomic uint32_t expected;
static _Atomic bool always;
static _Atomic bool barred; /* for good: nobody passes by any more */

void adsm_turn_submit(struct adsm_turn *turn)
{
    /* The function may be the first to touch something. */
    adsm_passing_bar();
    turn->gates = adsm_gate_close_all();
    atomic_fetch_add(&expected, 1);
    turn->counted = true;
    adsm_poke_submit_all();
    if (turn->accel)
        turn->uploads = adsm_dma_last_upload(turn->accel);
}

void adsm_turn_submitted(struct adsm_turn *turn, adsm_stream stream,
                         bool per_thread, bool ok)
{
    if (!ok)
        adsm_turn_ended(turn);
    else if (turn->accel)
        adsm_lane_note(turn->accel, stream, per_thread);
    adsm_gate_open(turn->gates);
}

void adsm_turn_ended(const struct adsm_turn *turn)
{
    if (!turn->counted)
        return;
    atomic_fetch_sub(&expected, 1);
    adsm_passing_allow();
}

void adsm_turn_expect_always(void)
{
    if (!atomic_exchange(&barred, true))
        adsm_passing_bar();
    uint32_t gates = adsm_gate_close_all();
    atomic_store(&always, true);
    adsm_gate_open(gates);
}

int adsm_turn_before_graph(struct adsm_accel *accel)
{
    if (!atomic_load(&always))
        return ADSM_OK;
    int rc = adsm_turn_start();
    return rc == ADSM_OK ? adsm_dma_drain(accel) : rc;
}

bool adsm_turn_is_expected(void)
{
    return atomic_load_explicit(&expected, memory_order_relaxed) > 0 ||
           atomic_load_explicit(&always, memory_order_relaxed);
}

bool adsm_turn_must_wait(struct adsm_accel *accel)
{
    return adsm_turn_is_expected() && adsm_accel_health(accel) == ADSM_OK &&
           !(adsm_dma_is_clear(accel, (struct adsm_fence){0}) &&
             adsm_dma_is_uploaded(accel, adsm_dma_last_upload(accel)));
}

void adsm_turn_wait(struct adsm_accel *accel)
{
    /* A failure is a lost device, which the next transfer reports. */
    (void)adsm_lane_wait_noted(accel);
    (void)adsm_dma_drain(accel);
}

bool adsm_turn_must_wait_to_send(const struct adsm_object *object)
{
    return adsm_pinned_is_partial() &&
           (atomic_load(&object->dirty) > 0 ||
            !adsm_object_is_gathered(object)) &&
           adsm_turn_must_wait(object->home);
}

struct ahead {
    uint32_t gates;
    struct adsm_accel *accel;
};

static int find_ahead(struct adsm_object *object, void *context)
{
    struct ahead *ahead = context;
    if (!(adsm_gate_bit(object->home) & ahead->gates) ||
        !adsm_turn_must_wait_to_send(object))
        return ADSM_OK;
    ahead->accel = object->home;
    return ADSM_E_LIMIT; /* stop the walk */
}

struct adsm_accel *adsm_turn_ahead(uint32_t gates)
{
    struct ahead ahead = {.gates = gates};
    if (adsm_pinned_is_partial())
        (void)adsm_object_each(NULL, true, find_ahead, &ahead);
    return ahead.accel;
}

/* How the object's lock is held. */
struct hold {
    struct adsm_object *(*acquire)(const void *address);
    void (*release)(struct adsm_rwlock *lock);
};
static const struct hold shared = {adsm_index_acquire,
                                   adsm_rwlock_release_shared};
static const struct hold alone = {adsm_index_acquire_alone,
                                  adsm_rwlock_release};

/* Pass the gate of the object at `address` and find it there once more: until
 * then it may be freed, and another of another home be in its place. */
static struct adsm_object *pass(const void *address, const struct hold *hold,
                                uint32_t *gate)
{
    for (;;) {
        struct adsm_object *object = adsm_index_find(address);
        if (!object)
            return NULL;
        *gate = atomic_load_explicit(&object->gate, memory_order_relaxed);
        adsm_gate_enter(*gate);
        object = hold->acquire(address);
        if (object &&
            atomic_load_explicit(&object->gate, memory_order_relaxed) == *gate)
            return object;
        if (object)
            hold->release(&object->lock);
        adsm_gate_leave(*gate);
        if (!object)
            return NULL;
    }
}

struct adsm_object *adsm_turn_pass(const void *address, uint32_t *gate)
{
    for (bool asks = true;;) {
        struct adsm_object *object = pass(address, &shared, gate);
        bool unwaited = object && asks && atomic_load(&object->unwaited);
        if (!object || (!unwaited && !adsm_turn_must_wait(object->home)))
            return object;
        struct adsm_accel *accel = object->home;
        adsm_rwlock_release_shared(&object->lock);
        adsm_gate_leave(*gate);
        if (unwaited) /* once, where it cannot be had */
            asks = adsm_adopt((uintptr_t)address);
        else
            adsm_turn_wait(accel);
    }
}

struct adsm_object *adsm_turn_take(const void *address, uint32_t *gate)
{
    struct adsm_object *object;
    *gate = ADSM_NO_GATE;
    if (!adsm_pinned_is_partial())
        return adsm_index_acquire_alone(address);
    while ((object = pass(address, &alone, gate)) &&
           adsm_turn_must_wait_to_send(object)) {
        struct adsm_accel *accel = object->home;
        adsm_rwlock_release(&object->lock);
        adsm_gate_leave(*gate);
        adsm_turn_wait(accel);
    }
    if (!object)
        *gate = ADSM_NO_GATE;
    return object;
}

void adsm_turn_sent(uint32_t gate)
{
    if (gate != ADSM_NO_GATE)
        adsm_gate_leave(gate);
}
