/* SIGSYS: calls that come with it, and those that do not. See trap.h. */
#include "interpose/calls/trap.h"

#include "base/log.h"
#include "base/option.h"

#include <stdlib.h>

/* Most programs never ask for shared memory: they are not told of options. */
static bool is_wanted(void)
{
    if (!getenv("ADSM_SYSCALLS"))
        return false;
    adsm_options_load();
    return adsm_options_get()->syscalls == ADSM_OPT_SYSCALLS_TRAP;
}

#if defined(__x86_64__)

#include "interpose/signals/mask.h"
#include "interpose/calls/copy.h"
#include "interpose/calls/syscall.h"
#include "base/status.h"
#include "os/action.h"
#include "os/look.h"
#include "os/real.h"

#include <errno.h>
#include <link.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH /* Linux 5.11 */
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_ON           1
#define PR_SYS_DISPATCH_OFF          0
#endif

enum { BY_DISPATCH = 2 /* SYS_USER_DISPATCH */, INSTRUCTION_BYTES = 2 };

static uintptr_t allowed; /* 0: not prepared, or there is no room */
static size_t allowed_bytes;
static _Atomic bool on;
static struct sigaction programs; /* its action; its own race if it has one */

/* ---- the range ------------------------------------------------------------- */

static int find_text(struct dl_phdr_info *info, size_t size, void *nothing)
{
    uintptr_t inside = (uintptr_t)adsm_real()->sigaction;
    (void)size;
    (void)nothing;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD || inside - begin >= part->p_memsz)
            continue;
        allowed = begin;
        allowed_bytes = part->p_memsz;
        return 1;
    }
    return 0;
}

/* Where the option asks for it: find the addresses. Early, so that they are next
 * to libc's. */
__attribute__((constructor(102))) static void trap_prepare(void)
{
    if (!is_wanted())
        return;
    dl_iterate_phdr(find_text, NULL);
    if (!allowed || !trap_make_copies(&allowed, &allowed_bytes)) {
        allowed = 0;
        adsm_log(ADSM_LOG_WARN, "ADSM_SYSCALLS: calls cannot be trapped, there "
                                "is no room next to the C library");
    }
}

void trap_enter_thread(void)
{
    if (trap_is_on())
        syscall(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON,
                allowed, allowed_bytes, NULL);
}

bool trap_is_on(void)
{
    return atomic_load_explicit(&on, memory_order_relaxed);
}

/* ---- SIGSYS ------------------------------------------------------------------ */

static void pass_on(int number, siginfo_t *info, void *context)
{
    struct sigaction action = programs;
    if (action.sa_handler == SIG_IGN && info->si_code <= 0)
        return;
    if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) {
        action.sa_sigaction(number, info, context);
        return;
    }
    action = (struct sigaction){.sa_handler = SIG_DFL};
    adsm_action(SIGSYS, &action, NULL);
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGSYS);
}

/* The mask is that of the interrupted code, to which the handler returns. */
static long change_mask(uint64_t *mask, const uintptr_t *w)
{
    uint64_t given = 0, before = *mask;
    if (w[3] != sizeof given)
        return -EINVAL;
    if (w[1]) {
        if (!adsm_look(&given, (const void *)w[1], sizeof given))
            return -EFAULT;
        if (w[0] == SIG_BLOCK)
            given |= before;
        else if (w[0] == SIG_UNBLOCK)
            given = before & ~given;
        else if (w[0] != SIG_SETMASK)
            return -EINVAL;
        mask_believe(given & MASK_SEGV);
        *mask = given & ~mask_opened();
        mask_know(*mask);
    }
    return !w[2] || call_put((void *)w[2], &before, sizeof before) == ADSM_OK
               ? 0
               : -EFAULT;
}

/* Never again in this thread: the instruction is executed as it is. */
static void give_up(greg_t *regs)
{
    adsm_log_once(ADSM_LOG_WARN, "ADSM_SYSCALLS: a thread makes calls that "
                                 "cannot be made again; it is not watched");
    syscall(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0,
            0);
    regs[REG_RIP] -= INSTRUCTION_BYTES;
}

/* A thread that the program makes by itself has the thread-local memory of its
 * maker, or none that libc knows: no handler of ours could work there, so the
 * kernel is not told to trap its calls. */
static void say_unseen(const uintptr_t *words)
{
    uint64_t flags = words[1];
    size_t got;
    if (words[0] == SYS_clone3 &&
        (call_get(&flags, (void *)words[1], sizeof flags, &got) != ADSM_OK ||
         got < sizeof flags))
        return; /* the kernel's to refuse */
    if (flags & CLONE_VM && !(flags & CLONE_VFORK))
        adsm_log_once(ADSM_LOG_WARN,
                      "ADSM_SYSCALLS: a thread is made by clone itself; calls "
                      "of its own instructions are not trapped. Threads of "
                      "pthread_create are watched");
}

static void on_sigsys(int signal, siginfo_t *info, void *given)
{
    ucontext_t *context = given;
    greg_t *regs = context->uc_mcontext.gregs;
    if (info->si_code != BY_DISPATCH) {
        pass_on(signal, info, context);
        return;
    }
    int saved = errno;
    const uintptr_t words[] = {
        (uintptr_t)regs[REG_RAX], (uintptr_t)regs[REG_RDI],
        (uintptr_t)regs[REG_RSI], (uintptr_t)regs[REG_RDX],
        (uintptr_t)regs[REG_R10], (uintptr_t)regs[REG_R8],
        (uintptr_t)regs[REG_R9]};
    long result;
    /* Masks and signal stacks are the interrupted code's, not the handler's. */
    if (words[0] == SYS_rt_sigprocmask) {
        regs[REG_RAX] = change_mask(mask_word(&context->uc_sigmask), words + 1);
    } else if (words[0] != SYS_sigaltstack && syscall_answers(words, &result)) {
        regs[REG_RAX] = result == -1 ? -errno : result;
    } else {
        if (words[0] == SYS_clone || words[0] == SYS_clone3)
            say_unseen(words);
        uintptr_t copy = trap_copy_of((uintptr_t)regs[REG_RIP]);
        if (copy)
            regs[REG_RIP] = (greg_t)copy;
        else
            give_up(regs);
    }
    errno = saved;
}

/* Wherever the program handles it, on the stack that it has for signals. */
static int install(void)
{
    struct sigaction ours = {.sa_sigaction = on_sigsys,
                             .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK |
                                         SA_RESTART};
    sigemptyset(&ours.sa_mask);
    return adsm_action(SIGSYS, &ours, &programs);
}

void trap_start(void)
{
    if (!allowed || install() != 0)
        return;
    if (syscall(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON,
                allowed, allowed_bytes, NULL) != 0) {
        adsm_log(ADSM_LOG_WARN, "ADSM_SYSCALLS: this kernel does not trap: %m");
        adsm_action(SIGSYS, &programs, NULL);
        return;
    }
    atomic_store(&on, true);
}

int trap_action(int number, const struct sigaction *action,
                struct sigaction *before)
{
    struct sigaction next;
    if (!trap_is_on())
        return HOOK_REAL(sigaction)(number, action, before);
    if (action)
        next = *action;
    if (before)
        *before = programs;
    if (action)
        programs = next;
    return 0;
}

#else

__attribute__((constructor(102))) static void trap_prepare(void)
{
    if (is_wanted())
        adsm_log(ADSM_LOG_WARN, "ADSM_SYSCALLS: calls cannot be trapped on "
                                "this architecture");
}

void trap_start(void)
{
}

void trap_enter_thread(void)
{
}

bool trap_is_on(void)
{
    return false;
}

int trap_action(int number, const struct sigaction *action,
                struct sigaction *before)
{
    return HOOK_REAL(sigaction)(number, action, before);
}

#endif
