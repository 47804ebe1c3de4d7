/*
 * CPU accesses that fault: how they are noticed, and whose they are.
 *
 * Owns the engine: with sigsegv the SIGSEGV handler of the process, the access
 * kind of a fault, and the application's own view of SIGSEGV, to which every
 * foreign fault is handed as the kernel would have; with async the same, for
 * fewer faults; with uffd threads that the kernel tells of faults. Does not know
 * objects: the callback decides whether an address is shared and opens it. Lock:
 * one for the application's action, innermost, taken with all signals blocked.
 *
 * Runs on the fault path: no malloc, no stdio, errno kept.
 */
#ifndef ADSM_OS_FAULT_H
#define ADSM_OS_FAULT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

struct adsm_stored; /* os/store.h */

enum adsm_access { ADSM_READ, ADSM_WRITE };

/**
 * Answer to a fault, with every asynchronous signal blocked; must not touch
 * protected memory. Called on the faulting thread, or on one of the engine's:
 * adsm_fault_thread() says for whom.
 *
 * @addr    address of the access; @access  what it tried. A read-modify-write
 *          is a write. Where the hardware does not say, and when a fault comes
 *          back although nothing was closed in between, ADSM_WRITE.
 * @ip      of the instruction that made it; 0 where the engine is not told
 * Return: true when the access may be tried again; false for a foreign address
 */
typedef bool (*adsm_fault_fn)(uintptr_t addr, enum adsm_access access,
                              uintptr_t ip);

/** Is `addr` in a shared object? Lock-free, from the fault path. */
typedef bool (*adsm_fault_owns_fn)(uintptr_t addr);

/**
 * Install the engine that ADSM_FAULT_ENGINE names, or where this machine cannot
 * run it the one that any can. What the application had installed for SIGSEGV
 * stays its own action and gets every foreign fault.
 *
 * @fn  callback for every fault of the process
 * Return: ADSM_OK; ADSM_E_INVALID (already installed); ADSM_E_SYSTEM;
 *         ADSM_E_UNSUPPORTED (this machine cannot run the engine)
 * Thread: one
 * Signal: never
 */
ADSM_MUST_CHECK adsm_status_t adsm_fault_init(adsm_fault_fn fn);

/**
 * Remove the engine and give SIGSEGV back to the application's action. No
 * protected memory may be in use. Nothing when not installed.
 *
 * Thread: one
 * Signal: never
 */
void adsm_fault_fini(void);

/** Is an engine installed? Signal: any handler. */
bool adsm_fault_is_installed(void);

/** An engine, and whether it can run here. */
struct adsm_fault_engine_info {
    const char *name;
    const char *refused; /* why not; NULL: it can                       */
    bool is_chosen;      /* by the option, and what can run             */
};

/**
 * Describe engine `i`, counted from 0. What tells whether it can run is tried.
 *
 * Return: false where there is no such engine
 * Thread: one. Signal: never
 */
bool adsm_fault_engine_info(size_t i, struct adsm_fault_engine_info *info);

/** Does the engine in use answer on threads of its own? The same from
 *  adsm_fault_init on. Thread: any. Signal: any handler */
bool adsm_fault_is_remote(void);

/** The thread for whose access the calling one runs the callback. Return: 0
 *  where it is itself. Thread: any. Signal: any handler */
pid_t adsm_fault_thread(void);

/**
 * Does the access that the calling thread answers come from within a system
 * call? A device may be about to write what the call has pinned so far (direct
 * I/O), of which nobody hears. Takes some microseconds where others answer.
 *
 * Return: false where it is not known. Thread: any. Signal: fault path
 */
bool adsm_fault_is_in_call(void);

/**
 * What would the access that the calling thread answers store?
 *
 * Return: false: it is no store of those in os/store.h, the thread is not at its
 *         instruction any more (a restartable sequence that was left), or it is
 *         another thread's; `store` is undefined then
 * Thread: the faulting one, in the callback. Signal: fault path
 */
bool adsm_fault_store(struct adsm_stored *store);

/** That store is served, its memory as closed as it was: the callback returns
 *  true, and the thread goes on behind the instruction. Thread: as above.
 *  Signal: fault path */
void adsm_fault_step(const struct adsm_stored *store);

/**
 * The calling thread runs, so what is still answered for it comes late: what it
 * asks from now on is not the same, even if it looks so. For who begins work
 * that those answers may wait for.
 *
 * Thread: any. Signal: never
 */
void adsm_fault_begin_anew(void);

/** Number of the calling thread, as that. Thread: any. Signal: any handler */
pid_t adsm_fault_self(void);

/** How a program that runs preloaded sees SIGSEGV. */
struct adsm_fault_program {
    /** An engine was installed: from now on SIGSEGV must not be blocked. */
    void (*begins)(void);
    /** Keep a SIGSEGV that a process sent, because the program has the signal
     *  blocked in this thread. @mask  the kernel's, of the interrupted code.
     *  Return: true when kept. Signal: fault path */
    bool (*keeps)(const siginfo_t *sent, uint64_t mask);
    /** Does the program have the signal blocked in this thread? Then a fault
     *  of its own ends it. Signal: fault path */
    bool (*blocks)(uint64_t mask);
};

/**
 * Say how; before an engine is installed.
 *
 * @program  stays in use
 * Thread: one. Signal: never
 */
void adsm_fault_set_program(const struct adsm_fault_program *program);

/**
 * Open SIGSEGV in the calling thread, if accesses are told by it: the kernel ends
 * a process whose thread has it blocked when it faults. That it was blocked is
 * said once. Preloaded programs have it open everywhere (adsm_fault_program).
 *
 * Thread: any
 * Signal: never
 */
void adsm_fault_open_thread(void);

/**
 * Name the predicate that tells shared addresses, so that a fault on one
 * inside the driver is reported instead of waiting for ever for the driver's
 * own locks. Without it such faults are handled like any other.
 *
 * @owns  predicate, or NULL
 * Thread: any
 * Signal: any handler
 */
void adsm_fault_set_owner(adsm_fault_owns_fn owns);

/**
 * sigaction(SIGSEGV, act, old) as the application means it: while the engine
 * is installed the action is kept and handed foreign faults; otherwise it goes
 * to the kernel. The kernel's flags that matter for delivery (SA_ONSTACK,
 * SA_RESTART) follow the application's.
 *
 * @act  new action, or NULL; @old  gets the action so far, or NULL
 * Return: 0, or -1 with errno as sigaction
 * Thread: any
 * Signal: any handler
 */
int adsm_fault_app_action(const struct sigaction *act, struct sigaction *old);

/**
 * Has the kernel another action for SIGSEGV than the engine's? Then the program
 * has set it where nobody could see it: it is to be the application's own, by
 * adsm_fault_app_action, which installs the engine's again.
 *
 * @by  gets that action
 * Return: true when it has
 * Thread: any
 * Signal: any handler
 */
bool adsm_fault_is_displaced(struct sigaction *by);

/**
 * Mark the calling thread as inside the driver; nests. Between the two calls a
 * fault of a shared address gives one error message and is foreign.
 *
 * Thread: any
 * Signal: fault path
 */
void adsm_fault_enter_driver(void);
void adsm_fault_leave_driver(void);

/** Is the calling thread inside the driver? Signal: any handler. */
bool adsm_fault_in_driver(void);

#endif
