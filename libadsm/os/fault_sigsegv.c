/*
 * Fault engine over mprotect, installed through libsigsegv.
 *
 * libsigsegv hands over an address only, so its kernel action is wrapped by
 * one that notes what the processor says about the access. Areas are not
 * registered with its dispatcher, which is not safe against registration by
 * another thread: one handler gets every fault and asks the callback.
 *
 * Owns the kernel's action for SIGSEGV. No lock: changed by init and, under
 * fault_chain.c's lock, by set_flags.
 */
#include "os/fault_engine.h"

#include <errno.h>
#include <sigsegv.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/lock.h"
#include "os/action.h"
#include "os/store.h"

/* The fault being handled on this thread, from the wrapper to the handler that
 * libsigsegv calls. Volatile and initial-exec: set in a signal handler. */
struct sigsegv_fault {
    struct adsm_fault_site site;
    ucontext_t *context;
    bool resolved;
};
static __thread struct sigsegv_fault *volatile sigsegv_current
    __attribute__((tls_model("initial-exec")));

static struct {
    struct sigaction library; /* libsigsegv's, as the kernel has it */
    struct sigaction ours;
} sigsegv_action;

#if defined(__x86_64__)
#define PAGE_FAULT_WRITE 2

static struct adsm_fault_site sigsegv_site(const siginfo_t *info,
                                           const ucontext_t *context)
{
    const greg_t *regs = context->uc_mcontext.gregs;
    return (struct adsm_fault_site){
        .addr = (uintptr_t)info->si_addr,
        .ip = (uintptr_t)regs[REG_RIP],
        .access = regs[REG_ERR] & PAGE_FAULT_WRITE ? ADSM_WRITE : ADSM_READ,
    };
}
#elif defined(__aarch64__)
#define ESR_WRITE_NOT_READ (1u << 6)

/* Without a syndrome record the kind is unknown: a write opens everything. */
static struct adsm_fault_site sigsegv_site(const siginfo_t *info,
                                           const ucontext_t *context)
{
    struct adsm_fault_site site = {
        .addr = (uintptr_t)info->si_addr,
        .ip = (uintptr_t)context->uc_mcontext.pc,
        .access = ADSM_WRITE,
    };
    const uint8_t *at = context->uc_mcontext.__reserved;
    const struct _aarch64_ctx *record = (const void *)at;
    for (; record->magic != 0; record = (const void *)at) {
        if (record->magic == ESR_MAGIC &&
            !(((const struct esr_context *)record)->esr & ESR_WRITE_NOT_READ))
            site.access = ADSM_READ;
        at += record->size;
    }
    return site;
}
#else
#error "no access kind for this processor yet"
#endif

bool adsm_fault_store(struct adsm_stored *store)
{
    const struct sigsegv_fault *fault = sigsegv_current;
    return fault != NULL && fault->site.access == ADSM_WRITE &&
           adsm_store_decode(fault->context, store) &&
           fault->site.addr - store->address < store->bytes;
}

void adsm_fault_step(const struct adsm_stored *store)
{
    adsm_store_step(sigsegv_current->context, store);
}

/* Called by libsigsegv. Always "handled", because its own idea of passing on
 * is to remove every handler: foreign faults are ours to chain. */
static int sigsegv_handle(void *address, int serious)
{
    struct sigsegv_fault *fault = sigsegv_current;
    if (fault != NULL)
        fault->resolved =
            adsm_fault_resolve_apart(&fault->site, fault->context);
    return 1;
}

/* A thread of asynchronous type that was cancelled meanwhile ends in here: on
 * the stack and with the mask on which the access would have ended it. */
static void sigsegv_cancellable(struct adsm_cancel before, uint64_t mask)
{
    if (before.type == PTHREAD_CANCEL_ASYNCHRONOUS)
        syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
    adsm_cancel_release(before);
}

/* Ask libsigsegv, which asks sigsegv_handle. */
static bool sigsegv_resolve(int signal, siginfo_t *info, ucontext_t *context)
{
    struct sigsegv_fault *outer = sigsegv_current;
    struct sigsegv_fault fault = {.site = sigsegv_site(info, context),
                                  .context = context};
    sigsegv_current = &fault;
    sigsegv_action.library.sa_sigaction(signal, info, context);
    sigsegv_current = outer;
    return fault.resolved;
}

void adsm_fault_sigsegv_entry(int signal, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    bool resolved = false;
    uint64_t blocked;
    memcpy(&blocked, &((ucontext_t *)context)->uc_sigmask, sizeof blocked);
    adsm_quiet_interrupted(blocked);
    /* Not a page fault: sent by a process, or by the kernel without an
     * address (a non-canonical one). */
    if (info->si_code > 0 && info->si_code != SI_KERNEL) {
        /* What waits in there would end the thread with its locks held. */
        struct adsm_cancel before = adsm_cancel_hold();
        resolved = sigsegv_resolve(signal, info, context);
        sigsegv_cancellable(before, blocked);
    }
    errno = saved_errno;
    if (!resolved)
        adsm_fault_chain(signal, info, context);
}

/* A handler that interrupts us while we hold a lock, and touches shared
 * memory, would wait for itself; faults of our own must stay visible. By hand,
 * because sigfillset leaves out the signals that glibc keeps to itself, one of
 * which cancels threads. */
static void sigsegv_block_asynchronous(sigset_t *set)
{
    static const int synchronous[] = {SIGSEGV, SIGBUS,  SIGILL, SIGFPE,
                                      SIGTRAP, SIGABRT, SIGSYS};
    memset(set, 0xff, sizeof *set);
    for (size_t i = 0; i < sizeof synchronous / sizeof *synchronous; i++)
        sigdelset(set, synchronous[i]);
}

static void engine_set_flags(int flags)
{
    sigsegv_action.ours.sa_flags = SA_SIGINFO | flags;
    adsm_action(SIGSEGV, &sigsegv_action.ours, NULL);
}

static adsm_status_t engine_init(void)
{
    if (sigsegv_install_handler(sigsegv_handle) != 0)
        return ADSM_E_UNSUPPORTED;
    /* Through the plain name, which libsigsegv used as well: a sanitizer that
     * keeps actions of its own then gives back what libsigsegv gave it. */
    if (sigaction(SIGSEGV, NULL, &sigsegv_action.library) != 0 ||
        !(sigsegv_action.library.sa_flags & SA_SIGINFO)) {
        sigsegv_deinstall_handler();
        adsm_fault_chain_fini();
        return ADSM_E_UNSUPPORTED;
    }
    adsm_action_learn(SIGSEGV);
    sigsegv_action.ours.sa_sigaction = adsm_fault_sigsegv_entry;
    sigsegv_block_asynchronous(&sigsegv_action.ours.sa_mask);
    engine_set_flags(adsm_fault_chain_flags());
    return ADSM_OK;
}

static void engine_fini(void)
{
    sigsegv_deinstall_handler();
}

const struct adsm_fault_engine adsm_fault_sigsegv = {
    .name = "sigsegv",
    .ranges = &adsm_fault_ranges_protected,
    .catches = true,
    .init = engine_init,
    .fini = engine_fini,
    .set_flags = engine_set_flags,
    .entry = adsm_fault_sigsegv_entry,
};
