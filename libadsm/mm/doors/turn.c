/*
 * Turns as other threads and the hooks see them: what is expected, and who
 * waits before taking what a host function needs. How one is served is in
 * turn_serve.c.
 */
#include "mm/doors/turn_parts.h"

#include "mm/object/gate.h"
#include "mm/object/index.h"
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

bool adsm_turn_must_wait(struct adsm_accel *accel)
{
    if (atomic_load_explicit(&expected, memory_order_relaxed) == 0 &&
        !atomic_load_explicit(&always, memory_order_relaxed))
        return false;
    return adsm_accel_health(accel) == ADSM_OK &&
           !(adsm_dma_is_clear(accel, (struct adsm_fence){0}) &&
             adsm_dma_is_uploaded(accel, adsm_dma_last_upload(accel)));
}

void adsm_turn_wait(struct adsm_accel *accel)
{
    /* A failure is a lost device, which the next transfer reports. */
    (void)adsm_lane_wait_noted(accel);
    (void)adsm_dma_drain(accel);
}

/* Pass the gate of the object at `address` and find it there once more: until
 * then it may be freed, and another of another home be in its place. */
static struct adsm_object *pass(const void *address, uint32_t *gate)
{
    for (;;) {
        struct adsm_object *object = adsm_index_find(address);
        if (!object)
            return NULL;
        *gate = atomic_load_explicit(&object->gate, memory_order_relaxed);
        adsm_gate_enter(*gate);
        object = adsm_index_acquire(address);
        if (object &&
            atomic_load_explicit(&object->gate, memory_order_relaxed) == *gate)
            return object;
        if (object)
            adsm_rwlock_release_shared(&object->lock);
        adsm_gate_leave(*gate);
        if (!object)
            return NULL;
    }
}

struct adsm_object *adsm_turn_pass(const void *address, uint32_t *gate)
{
    for (;;) {
        struct adsm_object *object = pass(address, gate);
        if (!object || !adsm_turn_must_wait(object->home))
            return object;
        struct adsm_accel *accel = object->home;
        adsm_rwlock_release_shared(&object->lock);
        adsm_gate_leave(*gate);
        adsm_turn_wait(accel);
    }
}
