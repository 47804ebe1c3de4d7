/*
 * Faults of kernels: SIGSEGV and SIGBUS of a worker inside a kernel, at an
 * address inside the device window, end that CTA unless near.c lets it read,
 * as do all in generated code, which touches nothing but what the kernel names;
 * all others go on to who had the signal before. Who owns the window is asked
 * before all that, of any thread's.
 *
 * Lock: none; the handlers are installed and removed by sc_exec_init/fini.
 */
#include "exec/near.h"

#include <signal.h>

static _Thread_local struct sc_worker *volatile running
    __attribute__((tls_model("initial-exec")));
static struct sigaction old_segv, old_bus;
static bool (*opens)(uint64_t address);

void sc_exec_open_faults(bool (*open)(uint64_t address))
{
    opens = open;
}

struct sc_worker *sc_fault_set(struct sc_worker *worker)
{
    struct sc_worker *before = running;
    running = worker;
    if (worker)
        worker->near_page = 0;
    return before;
}

static void pass_on(int number, siginfo_t *info, void *context)
{
    const struct sigaction *old = number == SIGSEGV ? &old_segv : &old_bus;
    if (old->sa_flags & SA_SIGINFO) {
        old->sa_sigaction(number, info, context);
    } else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN) {
        old->sa_handler(number);
    } else {
        /* returning repeats the access, now under the default action */
        signal(number, SIG_DFL);
    }
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    struct sc_worker *worker = running;
    uint64_t at = (uint64_t)(uintptr_t)info->si_addr;
    if (number == SIGSEGV && opens && opens(at))
        return;
    bool inside =
        worker && at - worker->cta.window_base < worker->cta.window_bytes;
    if (!worker || (!worker->in_native && !inside)) {
        pass_on(number, info, context);
        return;
    }
    if (number == SIGSEGV && inside && sc_near_allow(worker, at))
        return;
    worker->cta.fault.address = at;
    siglongjmp(worker->back, 1);
}

void sc_fault_init(void)
{
    sc_near_init();
    /* NODEFER, since siglongjmp leaves without restoring the mask: saving it
     * would cost a system call for every CTA */
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags =
                                   SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &old_segv);
    sigaction(SIGBUS, &action, &old_bus);
}

void sc_fault_fini(void)
{
    sigaction(SIGSEGV, &old_segv, NULL);
    sigaction(SIGBUS, &old_bus, NULL);
    sc_near_fini();
}
