/* From signal to DMA: find, pass the gate, hold, apply, let go, write back. */
#include "mm/doors/touch.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/stats.h"
#include "base/trace.h"
#include "mm/doors/adopt.h"
#include "mm/doors/loan.h"
#include "mm/doors/served.h"
#include "mm/doors/turn.h"
#include "mm/object/awaited.h"
#include "mm/object/gate.h"
#include "mm/object/host.h"
#include "mm/object/index.h"
#include "mm/object/ready.h"
#include "mm/state/answer.h"
#include "mm/state/coherence.h"
#include "mm/state/mapping.h"
#include "mm/state/write_back.h"

#include <time.h>

/* The mapping limit stands in the way of one block: open more of its object
 * under the exclusive lock. ADSM_OK also when the object is gone. */
static int widen(struct adsm_object *object, uint32_t generation, uint32_t i,
                 const struct adsm_cause *cause)
{
    int rc = ADSM_OK;
    bool awaited = false;
    adsm_rwlock_acquire(&object->lock);
    if (adsm_object_is_awaited(object))
        rc = ADSM_E_LIMIT; /* what is opened besides may be waited for */
    else if (atomic_load(&object->live) &&
             atomic_load(&object->generation) == generation)
        rc = adsm_coherence_widen(object, i, &awaited, cause);
    adsm_rwlock_release(&object->lock);
    if (awaited) /* the access will fault again */
        nanosleep(&(struct timespec){0, 1000 * 1000}, NULL);
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
static bool open_block(uintptr_t address, enum adsm_access access, int *rc,
                       struct adsm_cause *cause)
{
    uint32_t gate;
    adsm_await_tasks((void *)address, 1, access == ADSM_WRITE);
    struct adsm_object *object = adsm_turn_pass((void *)address, &gate);
    *rc = ADSM_OK;
    if (!object)
        return false;
    count_fault(access);
    uint32_t generation = atomic_load(&object->generation);
    size_t offset = address - (uintptr_t)object->host;
    uint32_t i = adsm_block_of(object, offset);
    *cause = adsm_object_cause(object, offset, cause);
    bool back =
        adsm_write_back_is_back(object, i) || adsm_write_back_would_harm();
    if (!adsm_loan_expose(object, i) &&
        adsm_block_hold(object, generation, i)) {
        /* It may have let go of the gate: the access will fault again. */
        if (adsm_turn_must_wait(object->home) ||
            adsm_block_is_awaited(object, i, access == ADSM_WRITE))
            adsm_block_release(object, i, 1);
        else if (access == ADSM_WRITE && adsm_serve_store(object, i, cause))
            adsm_block_release(object, i, 1);
        else
            *rc = adsm_answer(object, i,
                              access == ADSM_WRITE ? ADSM_WRITE_FAULT
                                                   : ADSM_READ_FAULT,
                              cause);
    }
    adsm_rwlock_release_shared(&object->lock);
    if (*rc == ADSM_E_LIMIT)
        *rc = widen(object, generation, i, cause);
    if (*rc == ADSM_E_LIMIT && adsm_mapping_make_room())
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

static void account(const struct spent *before, enum adsm_access access,
                    const struct adsm_cause *cause)
{
    struct spent after = spent_so_far();
    ADSM_COUNT(ns_fault, after.now - before->now);
    ADSM_COUNT(ns_fault_copy, after.copying - before->copying);
    ADSM_COUNT(ns_fault_memory, after.memory - before->memory);
    if (adsm_trace_is_on())
        adsm_trace_record(&(struct adsm_trace_span){
            .kind = ADSM_TRACE_signal,
            .name = access == ADSM_WRITE ? "write fault" : "read fault",
            .start_ns = before->now,
            .end_ns = after.now,
            .device = -1,
            .cause = cause});
}

/* As open_block, for whoever the thread is just now. */
static bool open_for_thread(uintptr_t address, enum adsm_access access, int *rc,
                            struct adsm_cause *cause)
{
    struct adsm_turn *turn = adsm_turn_hold();
    if (!turn)
        return open_block(address, access, rc, cause);
    *rc = adsm_turn_touch(turn, address, access, cause);
    adsm_turn_let_go(turn);
    if (*rc != ADSM_E_NOT_SHARED)
        count_fault(access);
    return *rc != ADSM_E_NOT_SHARED;
}

bool adsm_touch(uintptr_t address, enum adsm_access access, uintptr_t ip)
{
    struct adsm_cause cause = {.why = ADSM_WHY_fault, .instruction = ip};
    int rc = ADSM_OK;
    adsm_quiet_enter_handler();
    struct spent before = spent_so_far();
    bool shared = open_for_thread(address, access, &rc, &cause);
    /* It may have been given up again already: the access will fault again. */
    if (!shared && adsm_placeholder_is(address) && adsm_adopt(address)) {
        (void)open_for_thread(address, access, &rc, &cause);
        adsm_ready_ask();
        shared = true;
    }
    if (shared)
        account(&before, access, &cause);
    if (shared && rc != ADSM_OK)
        adsm_log_signal_address(ADSM_LOG_ERROR, reason(rc), address);
    adsm_quiet_leave_handler();
    return shared && rc == ADSM_OK;
}
