/*
 * What is known of the thread that faults: whether it is inside the driver,
 * and which it is where another one answers for it.
 *
 * A thread's own marks are its own. Where an engine answers on threads of its
 * own, those that enter the driver enter a table as well, in which the
 * answering thread looks for them.
 *
 * No lock: a place of the table changes hands by one atomic exchange.
 */
#include "os/fault_engine.h"

#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "base/lock.h"

/* More threads than this inside the driver at once are not noted: an access of
 * the driver's would then wait for the driver instead of failing. */
enum { PLACES = 256 };

static _Atomic pid_t thread_inside[PLACES]; /* 0: free */

/* Volatile: a handler on the same thread reads and writes them. */
static ADSM_FAULT_TLS volatile unsigned thread_depth;
static ADSM_FAULT_TLS _Atomic pid_t *thread_place;
static ADSM_FAULT_TLS pid_t thread_self, thread_answers_for;

pid_t adsm_fault_self(void)
{
    if (thread_self == 0)
        thread_self = gettid();
    return thread_self;
}

bool adsm_fault_is_remote(void)
{
    const struct adsm_fault_engine *engine = adsm_fault_engine();
    return engine != NULL && engine->remote;
}

pid_t adsm_fault_thread(void)
{
    return thread_answers_for;
}

void adsm_fault_answer_for(pid_t thread)
{
    thread_answers_for = thread;
}

static void thread_note(void)
{
    pid_t self = adsm_fault_self();
    for (unsigned i = 0; i < PLACES; i++) {
        _Atomic pid_t *place = &thread_inside[((unsigned)self + i) % PLACES];
        pid_t nobody = 0;
        /* Relaxed: who looks for it is told of a fault behind this by the
         * kernel. */
        if (atomic_compare_exchange_strong_explicit(place, &nobody, self,
                                                    memory_order_relaxed,
                                                    memory_order_relaxed)) {
            thread_place = place;
            return;
        }
    }
}

static bool thread_is_noted(pid_t thread)
{
    for (unsigned i = 0; i < PLACES; i++) {
        _Atomic pid_t *place = &thread_inside[((unsigned)thread + i) % PLACES];
        if (atomic_load_explicit(place, memory_order_relaxed) == thread)
            return true;
    }
    return false;
}

void adsm_fault_enter_driver(void)
{
    /* A handler's fault would look like one of the driver's own. */
    adsm_quiet_enter();
    if (thread_depth == 0 && adsm_fault_is_remote())
        thread_note();
    thread_depth = thread_depth + 1;
}

void adsm_fault_leave_driver(void)
{
    thread_depth = thread_depth - 1;
    if (thread_depth == 0 && thread_place != NULL) {
        atomic_store_explicit(thread_place, 0, memory_order_relaxed);
        thread_place = NULL;
    }
    adsm_quiet_leave();
}

bool adsm_fault_in_driver(void)
{
    return thread_depth != 0;
}

bool adsm_fault_is_from_driver(void)
{
    return thread_answers_for != 0 ? thread_is_noted(thread_answers_for)
                                   : adsm_fault_in_driver();
}
