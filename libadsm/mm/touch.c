/* From signal to DMA: find, pass the gate, hold, apply, let go, write back. */
#include "mm/touch.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/stats.h"
#include "base/trace.h"
#include "mm/coherence.h"
#include "mm/write_back.h"
#include "mm/gate.h"
#include "mm/grain.h"
#include "mm/index.h"
#include "mm/loan.h"
#include "mm/turn.h"

#include <time.h>

/* The mapping limit stands in the way of one block: open more of its object
 * under the exclusive lock. ADSM_OK also when the object is gone. */
static int widen(struct adsm_object *object, uint32_t generation, uint32_t i)
{
    int rc = ADSM_OK;
    bool awaited = false;
    adsm_rwlock_acquire(&object->lock);
    if (atomic_load(&object->live) &&
        atomic_load(&object->generation) == generation)
        rc = adsm_coherence_widen(object, i, &awaited);
    adsm_rwlock_release(&object->lock);
    if (awaited) /* the access will fault again */
        nanosleep(&(struct timespec){0, 1000 * 1000}, NULL);
    return rc;
}

/* The device whose data was given up last: said once, not insisted on again. */
static struct adsm_accel *_Atomic given_up;

/* Open what the host has, so that the program goes on; its next call on the
 * device reports the loss. The block is held. */
static int salvage(struct adsm_object *object, uint32_t i)
{
    if (atomic_exchange(&given_up, object->home) != object->home)
        adsm_log_signal_address(
            ADSM_LOG_ERROR,
            "the device is lost: the program goes on with what the host last "
            "had, from",
            (unsigned long)(object->host + adsm_block_begin(object, i)));
    return adsm_coherence_apply(object, i, 1, ADSM_GIVEN_UP);
}

/* The transfer failed. As long as the device lives that may pass (out of
 * threads, out of memory for a while). If it does not, the access fails: what
 * the host has is old, and would be taken for the truth from there on. */
static int insist(struct adsm_object *object, uint32_t i, enum adsm_event event)
{
    enum { TRIES = 200, PAUSE_NS = 10 * 1000 * 1000 };
    int rc = ADSM_E_DEVICE;
    for (int k = 0; k < TRIES && rc == ADSM_E_DEVICE &&
                    atomic_load(&given_up) != object->home &&
                    adsm_accel_health(object->home) == ADSM_OK;
         k++) {
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
        rc = adsm_coherence_apply(object, i, 1, event);
    }
    return adsm_accel_health(object->home) == ADSM_OK ? rc : salvage(object, i);
}

/* Hold blocks behind held block `i` that are in its state, [i, i + n) in all.
 * Return: how many are held, `i` among them; nobody is waited for */
static uint32_t hold_more(struct adsm_object *object, uint32_t i, uint32_t n)
{
    enum adsm_state state = adsm_block_state(object, i);
    uint32_t held = 1;
    while (held < n && adsm_block_state(object, i + held) == state &&
           adsm_block_try_hold(object, i + held)) {
        if (adsm_block_state(object, i + held) != state) {
            adsm_block_release(object, i + held, 1);
            break;
        }
        held++;
    }
    return held;
}

/* Held block `i` of a live object whose lock is held shared, and more behind it
 * where accesses come one behind the other. */
static int touch_block(struct adsm_object *object, uint32_t i,
                       enum adsm_event event)
{
    uint32_t n = adsm_grain_reach(object, i, event == ADSM_WRITE_FAULT);
    if (n > 1)
        n = hold_more(object, i, n);
    if (n > 1) {
        int all = adsm_coherence_apply(object, i, n, event);
        adsm_block_release(object, i + 1, n - 1);
        if (all == ADSM_OK) {
            adsm_block_release(object, i, 1);
            return ADSM_OK;
        }
    }
    int rc = adsm_coherence_apply(object, i, 1, event);
    if (rc == ADSM_E_DEVICE || rc == ADSM_E_DEVICE_LOST)
        rc = insist(object, i, event);
    adsm_block_release(object, i, 1);
    return rc;
}

/* Before the block is open: where others answer, the thread goes on then. */
static void count_fault(enum adsm_access access)
{
    if (access == ADSM_WRITE)
        ADSM_COUNT(faults_write, 1);
    else
        ADSM_COUNT(faults_read, 1);
}

/* Find the block at `address` and open it; false where nothing is shared. */
static bool open_block(uintptr_t address, enum adsm_access access, int *rc)
{
    uint32_t gate;
    struct adsm_object *object = adsm_turn_pass((void *)address, &gate);
    *rc = ADSM_OK;
    if (!object)
        return false;
    count_fault(access);
    uint32_t generation = atomic_load(&object->generation);
    uint32_t i = adsm_block_of(object, address - (uintptr_t)object->host);
    bool back =
        adsm_write_back_is_back(object, i) || adsm_write_back_would_harm();
    if (!adsm_loan_expose(object, i) &&
        adsm_block_hold(object, generation, i)) {
        /* It may have let go of the gate: the access will fault again. */
        if (adsm_turn_must_wait(object->home))
            adsm_block_release(object, i, 1);
        else
            *rc = touch_block(object, i,
                              access == ADSM_WRITE ? ADSM_WRITE_FAULT
                                                   : ADSM_READ_FAULT);
    }
    adsm_rwlock_release_shared(&object->lock);
    if (*rc == ADSM_E_LIMIT)
        *rc = widen(object, generation, i);
    if (*rc == ADSM_E_LIMIT && adsm_object_make_room())
        *rc = ADSM_OK; /* the access will fault again */
    if (!back)
        adsm_write_back(gate);
    adsm_gate_leave(gate);
    return true;
}

static const char *reason(int rc)
{
    switch (rc) {
    case ADSM_E_NOMEM:
        return "out of host memory for shared data at";
    case ADSM_E_DEVICE:
        return "the device lives but does not give back shared data at";
    default:
        return "cannot open shared data at";
    }
}

/* When an answer began, and what the thread had spent until then. */
struct spent {
    uint64_t now, copying, memory;
};

static struct spent spent_so_far(void)
{
    return (struct spent){adsm_now_ns(), adsm_dma_spent_ns(),
                          adsm_object_memory_ns()};
}

static void account(const struct spent *before)
{
    struct spent after = spent_so_far();
    ADSM_COUNT(ns_fault, after.now - before->now);
    ADSM_COUNT(ns_fault_copy, after.copying - before->copying);
    ADSM_COUNT(ns_fault_memory, after.memory - before->memory);
    if (atomic_load_explicit(&adsm_trace_on, memory_order_relaxed))
        adsm_trace_record("fault", before->now, after.now, 0);
}

/* As open_block, for whoever the thread is just now. */
static bool open_for_thread(uintptr_t address, enum adsm_access access, int *rc)
{
    struct adsm_turn *turn = adsm_turn_hold();
    if (!turn)
        return open_block(address, access, rc);
    *rc = adsm_turn_touch(turn, address, access);
    adsm_turn_let_go(turn);
    if (*rc != ADSM_E_NOT_SHARED)
        count_fault(access);
    return *rc != ADSM_E_NOT_SHARED;
}

bool adsm_touch(uintptr_t address, enum adsm_access access)
{
    int rc = ADSM_OK;
    adsm_quiet_enter_handler();
    struct spent before = spent_so_far();
    bool shared = open_for_thread(address, access, &rc);
    if (shared)
        account(&before);
    if (shared && rc != ADSM_OK)
        adsm_log_signal_address(ADSM_LOG_ERROR, reason(rc), address);
    adsm_quiet_leave_handler();
    return shared && rc == ADSM_OK;
}
