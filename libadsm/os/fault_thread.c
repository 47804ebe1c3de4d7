/*
 * What is known of the thread that faults: whether it is inside the driver,
 * and which it is where another one answers for it.
 *
 * A thread's own marks are its own. Where an engine answers on threads of its
 * own, those that enter the driver enter a table as well, in which the
 * answering thread looks for them. An answer may come late there, when the
 * thread has gone on, since another answer opened what it wanted, and has
 * entered the driver; an access in the driver comes again.
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

/* Answers to one stay in the driver that are taken for late ones. */
enum { LATE = 2 };

static struct place {
    _Atomic pid_t thread;   /* 0: free                             */
    _Atomic uint32_t asked; /* accesses of its that were looked at */
} thread_inside[PLACES];

/* Volatile: a handler on the same thread reads and writes them. */
static ADSM_FAULT_TLS struct {
    volatile unsigned depth;
    struct place *place;
    pid_t self, answers_for;
} thread_me;

pid_t adsm_fault_self(void)
{
    if (thread_me.self == 0)
        thread_me.self = gettid();
    return thread_me.self;
}

bool adsm_fault_is_remote(void)
{
    const struct adsm_fault_engine *engine = adsm_fault_engine();
    return engine != NULL && engine->remote;
}

pid_t adsm_fault_thread(void)
{
    return thread_me.answers_for;
}

void adsm_fault_answer_for(pid_t thread)
{
    thread_me.answers_for = thread;
}

static void thread_note(void)
{
    pid_t self = adsm_fault_self();
    for (unsigned i = 0; i < PLACES; i++) {
        struct place *place = &thread_inside[((unsigned)self + i) % PLACES];
        pid_t nobody = 0;
        /* Relaxed: who looks for it is told of a fault behind this by the
         * kernel. */
        if (atomic_compare_exchange_strong_explicit(&place->thread, &nobody,
                                                    self, memory_order_relaxed,
                                                    memory_order_relaxed)) {
            atomic_store_explicit(&place->asked, 0, memory_order_relaxed);
            thread_me.place = place;
            return;
        }
    }
}

static enum adsm_fault_driver thread_look_up(pid_t thread)
{
    for (unsigned i = 0; i < PLACES; i++) {
        struct place *place = &thread_inside[((unsigned)thread + i) % PLACES];
        if (atomic_load_explicit(&place->thread, memory_order_relaxed) ==
            thread)
            return atomic_fetch_add(&place->asked, 1) < LATE
                       ? ADSM_FAULT_MAYBE_DRIVER
                       : ADSM_FAULT_DRIVER;
    }
    return ADSM_FAULT_NO_DRIVER;
}

void adsm_fault_enter_driver(void)
{
    /* A handler's fault would look like one of the driver's own. */
    adsm_quiet_enter();
    if (thread_me.depth == 0 && adsm_fault_is_remote())
        thread_note();
    thread_me.depth = thread_me.depth + 1;
}

void adsm_fault_leave_driver(void)
{
    thread_me.depth = thread_me.depth - 1;
    if (thread_me.depth == 0 && thread_me.place != NULL) {
        atomic_store_explicit(&thread_me.place->thread, 0,
                              memory_order_relaxed);
        thread_me.place = NULL;
    }
    adsm_quiet_leave();
}

bool adsm_fault_in_driver(void)
{
    return thread_me.depth != 0;
}

enum adsm_fault_driver adsm_fault_from_driver(void)
{
    if (thread_me.answers_for != 0)
        return thread_look_up(thread_me.answers_for);
    return adsm_fault_in_driver() ? ADSM_FAULT_DRIVER : ADSM_FAULT_NO_DRIVER;
}
