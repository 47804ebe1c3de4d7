/*
 * Between the parts of the fault engines: private to os/fault*.c.
 *
 * fault.c owns the callback and the guard, fault_thread.c what is known of the
 * faulting thread, fault_chain.c the application's action, fault_<engine>.c
 * what the kernel calls.
 */
#ifndef ADSM_OS_FAULT_ENGINE_H
#define ADSM_OS_FAULT_ENGINE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "os/fault.h"
#include "os/vm.h"

/* Of what the fault path reads: it must not allocate on first use. */
#define ADSM_FAULT_TLS __thread __attribute__((tls_model("initial-exec")))

/** What an engine does with ranges of shared memory: os/fault_range.h. */
struct adsm_fault_ranges {
    adsm_status_t (*attach)(uintptr_t addr, size_t bytes, const void *shadow);
    adsm_status_t (*detach)(uintptr_t addr, size_t bytes);
    adsm_status_t (*protect)(uintptr_t addr, size_t bytes, enum adsm_prot prot);
    adsm_status_t (*populate)(uintptr_t addr, size_t bytes, bool write);
    void (*dump)(uintptr_t addr, size_t bytes);
    bool lasting; /* nobody hears of accesses to what is not attached */
};

/** mprotect on mappings of the file. */
extern const struct adsm_fault_ranges adsm_fault_ranges_protected;

struct adsm_fault_engine {
    const char *name;
    const struct adsm_fault_ranges *ranges;
    bool remote;  /* answers on threads of its own, without SIGSEGV */
    bool catches; /* SIGSEGV for memory that is not there reaches it, so that
                     adsm_look need not ask the kernel */
    /** Why this machine cannot run it, NULL if it can; NULL: any can.
     *  Thread: one. Signal: never */
    const char *(*refused)(void);
    /** Install; SIGSEGV's action so far is in fault_chain.c already, unless it
     *  is remote. */
    adsm_status_t (*init)(void);
    /** Remove; SIGSEGV's kernel action is undefined afterwards. */
    void (*fini)(void);
    /** Change SA_ONSTACK and SA_RESTART of the kernel action. Any handler. Not
     *  where it is remote. */
    void (*set_flags)(int flags);
    /** Its kernel action. Not where it is remote. */
    void (*entry)(int signal, siginfo_t *info, void *context);
};

/** Entry of an engine that has libsigsegv's handler behind it. */
void adsm_fault_sigsegv_entry(int signal, siginfo_t *info, void *context);

extern const struct adsm_fault_engine adsm_fault_sigsegv, adsm_fault_async,
    adsm_fault_uffd;

/** One fault as the engine saw it. */
struct adsm_fault_site {
    uintptr_t addr;
    uintptr_t ip; /* of the faulting instruction; 0: not known */
    enum adsm_access access;
};

/**
 * Ask the callback about a fault, unless the thread is inside the driver.
 *
 * Return: true when the access may be tried again; false when it is foreign
 * Thread: the faulting one, or one that answers for it
 * Signal: fault path
 */
bool adsm_fault_answer(const struct adsm_fault_site *site);

/** From here on the calling thread answers for `thread`; 0: for itself.
 *  Thread: one of an engine that is remote. Signal: never */
void adsm_fault_answer_for(pid_t thread);

/** Is the thread whose access is being answered inside the driver? Maybe: the
 *  answer may be a late one. Thread: any. Signal: fault path */
enum adsm_fault_driver {
    ADSM_FAULT_NO_DRIVER,
    ADSM_FAULT_MAYBE_DRIVER,
    ADSM_FAULT_DRIVER
};
enum adsm_fault_driver adsm_fault_from_driver(void);

/**
 * As adsm_fault_answer, with a guard against an access kind that is wrong.
 *
 * Thread: the faulting one
 */
bool adsm_fault_resolve(const struct adsm_fault_site *site);

/**
 * adsm_fault_resolve on a stack of ours, whatever room there is here; in place
 * only where no memory for one can be had.
 *
 * @context  of the interrupted code
 * Return, Thread, Signal: as adsm_fault_resolve
 */
bool adsm_fault_resolve_apart(const struct adsm_fault_site *site,
                              const ucontext_t *context);

/**
 * Make the first such stack, so that the first fault finds one.
 *
 * Return: ADSM_OK; ADSM_E_SYSTEM (no memory)
 * Thread: one
 * Signal: never
 */
ADSM_MUST_CHECK adsm_status_t adsm_fault_stack_init(void);

/**
 * Is SIGSEGV's kernel action ours to change now? False while the engine itself
 * installs: what libsigsegv asks for then is not the application's wish.
 */
bool adsm_fault_keeps_action(void);

/** Does the program have the signal `sent` by a process blocked, so that it is
 *  kept for it? @mask  the kernel's, of the interrupted code. Signal: fault
 *  path. */
bool adsm_fault_is_kept(const siginfo_t *sent, uint64_t mask);

/** Does the program have SIGSEGV blocked in this thread, so that a fault of its
 *  own ends it as the kernel would? Signal: fault path. */
bool adsm_fault_is_blocked(uint64_t mask);

/** Engine in use; NULL for none. Signal: any handler. */
const struct adsm_fault_engine *adsm_fault_engine(void);

/** Read the application's action from the kernel, before the engine installs
 * (or give it back to the kernel, after). Thread: one. Signal: never. */
adsm_status_t adsm_fault_chain_init(void);
void adsm_fault_chain_fini(void);

/** Flags the kernel action must have for the application's action as it is
 * now. Signal: any handler. */
int adsm_fault_chain_flags(void);

/**
 * Give a foreign SIGSEGV to the application as the kernel would have. May
 * leave by the application's siglongjmp.
 *
 * Thread: the one that got the signal, in the handler
 * Signal: fault path
 */
void adsm_fault_chain(int signal, siginfo_t *info, ucontext_t *context);

/** Called when a fault of the program's own is about to end it. Does nothing: a
 *  debugger that is not to stop at every SIGSEGV stops here. Signal: fault path */
void adsm_fault_ends(void);

#endif
