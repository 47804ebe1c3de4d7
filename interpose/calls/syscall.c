/*
 * syscall(2): calls that a program makes by number, on memory that may be
 * shared.
 *
 * What a number does with its arguments is in syscalls.def. Those that have a
 * hook of their own for more than memory go there; the others are issued with
 * arguments that the kernel can use (call.h). Of a number that is not known
 * nothing is changed: it is said once, and goes to the kernel, which refuses
 * blocks that are closed. The runtime calls by number, too, and means the kernel.
 */
#include "interpose/calls/futex.h"
#include "interpose/calls/hooks.h"
#include "interpose/calls/copy.h"
#include "interpose/calls/numbers.h"
#include "interpose/calls/roles.h"
#include "interpose/loader.h"
#include "interpose/signals/mask.h"
#include "interpose/libc/kernel_aio.h"
#include "interpose/calls/syscall.h"
#include "interpose/libc/uring_ring.h"
#include "interpose/libc/vm.h"
#include "base/log.h"
#include "base/status.h"
#include "mm/doors/kept.h"
#include "os/fault.h"
#include "os/look.h"

#include <errno.h>
#include <link.h>
#include <unistd.h>

long (*hook_next_syscall)(long, ...);

static long issue(void *number, const uintptr_t *w)
{
    return hook_next_syscall((long)number, w[0], w[1], w[2], w[3], w[4], w[5]);
}

/* ---- calls that have a hook ------------------------------------------------ */

#define P(i) ((void *)w[i])
#define OWN(name, ...)                                                         \
    static long own_##name(const uintptr_t *w)                                 \
    {                                                                          \
        return (long)name(__VA_ARGS__);                                        \
    }
OWN(sigaltstack, P(0), P(1))
OWN(mremap, P(0), w[1], w[2], (int)w[3], P(4))
OWN(remap_file_pages, P(0), w[1], (int)w[2], w[3], (int)w[4])
OWN(shmat, (int)w[0], P(1), (int)w[2])
OWN(mprotect, P(0), w[1], (int)w[2])
OWN(pkey_mprotect, P(0), w[1], (int)w[2], (int)w[3])
OWN(mlock, P(0), w[1])
OWN(mlock2, P(0), w[1], (unsigned)w[2])
OWN(munlock, P(0), w[1])
OWN(mlockall, (int)w[0])
OWN(msync, P(0), w[1], (int)w[2])
OWN(mincore, P(0), w[1], P(2))
OWN(madvise, P(0), w[1], (int)w[2])
OWN(process_madvise, (int)w[0], P(1), w[2], (int)w[3], (unsigned)w[4])
OWN(vm_seal, P(0), w[1], w[2])
OWN(vmsplice, (int)w[0], P(1), w[2], (unsigned)w[3])
OWN(msgsnd, (int)w[0], P(1), w[2], (int)w[3])
OWN(msgrcv, (int)w[0], P(1), w[2], (long)w[3], (int)w[4])
OWN(execve, P(0), P(1), P(2))
OWN(execveat, (int)w[0], P(1), P(2), P(3), (int)w[4])
#define own_mseal             own_vm_seal
#define own_futex             futex_call
#define own_futex_waitv       futex_waitv_call
#define own_futex_wake        futex_wake_call
#define own_futex_wait        futex_wait_call
#define own_futex_requeue     futex_requeue_call
#define own_io_uring_setup    uring_ring_setup
#define own_io_uring_enter    uring_ring_enter
#define own_io_uring_register uring_ring_register
#define own_io_submit         kernel_aio_submit
#define own_io_getevents      kernel_aio_getevents
#define own_io_pgetevents     kernel_aio_pgetevents
#define own_io_cancel         kernel_aio_cancel
#define own_io_destroy        kernel_aio_destroy

/* Of a ring the kernel itself is asked: libc's functions may have been made to
 * make these very calls. */
static long own_mmap(const uintptr_t *w)
{
    long at;
    bool over = w[3] & MAP_FIXED && vm_concerns(P(0), w[1]);
    if (over || !uring_ring_is((int)w[4]))
        return (long)mmap(P(0), w[1], (int)w[2], (int)w[3], (int)w[4],
                          (off_t)w[5]);
    at = issue((void *)SYS_mmap, w);
    if (at != -1)
        uring_ring_mapped((int)w[4], (off_t)w[5], (void *)at, w[1]);
    return at;
}

static long own_munmap(const uintptr_t *w)
{
    if (vm_concerns(P(0), w[1]))
        return munmap(P(0), w[1]);
    uring_ring_unmaps(P(0), w[1]);
    return issue((void *)SYS_munmap, w);
}

/* As the kernel has it. */
struct kernel_action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

static long refuse(int error)
{
    errno = error;
    return -1;
}

static long own_rt_sigaction(const uintptr_t *w)
{
    struct kernel_action given, before;
    struct sigaction action = {0}, old;
    if (w[3] != sizeof given.mask)
        return refuse(EINVAL);
    if (w[1]) {
        if (!adsm_look(&given, P(1), sizeof given))
            return refuse(EFAULT);
        action.sa_sigaction = given.handler;
        action.sa_flags = (int)given.flags;
        action.sa_restorer = given.restorer;
        *mask_word(&action.sa_mask) = given.mask;
    }
    if (signal_by_number((int)w[0], w[1] ? &action : NULL, &old) != 0)
        return -1;
    before = (struct kernel_action){old.sa_sigaction, (unsigned)old.sa_flags,
                                    old.sa_restorer, *mask_word(&old.sa_mask)};
    return !w[2] || call_put(P(2), &before, sizeof before) == ADSM_OK
               ? 0
               : refuse(EFAULT);
}

static int issue_mask(int how, const sigset_t *set, sigset_t *before)
{
    return (int)hook_next_syscall(SYS_rt_sigprocmask, (long)how, set, before,
                                  sizeof(uint64_t));
}

static long own_rt_sigprocmask(const uintptr_t *w)
{
    return w[3] == sizeof(uint64_t)
               ? mask_change(issue_mask, (int)w[0], P(1), P(2))
               : refuse(EINVAL);
}

/* ---- by number -------------------------------------------------------------- */

enum { NUMBERS = 512 };

struct known {
    const struct call_shape *shape;
    long (*own)(const uintptr_t *words);
    bool vm; /* only what vm_call_concerns says */
    bool none;
    const char *called, *left; /* passed on: why                              */
};

#define ADSM_SYSCALL_WHY(class, text) static const char why_##class[] = text;
#include "interpose/calls/syscalls.def"

#define ADSM_SYSCALL_SHAPE(name, memory)                                       \
    static const struct call_shape shape_##name = {#name, false, {memory}};
#include "interpose/calls/syscalls.def"

static const struct known numbers[NUMBERS] = {
#define ADSM_SYSCALL_SAME(name)                                                \
    [SYS_##name] = {.shape = &call_shapes[CALL_OF_##name]},
#define ADSM_SYSCALL_SHAPE(name, memory)                                       \
    [SYS_##name] = {.shape = &shape_##name},
#define ADSM_SYSCALL_OWN(name)  [SYS_##name] = {.own = own_##name},
#define ADSM_SYSCALL_VM(name)   [SYS_##name] = {.own = own_##name, .vm = true},
#define ADSM_SYSCALL_NONE(name) [SYS_##name] = {.none = true},
#define ADSM_SYSCALL_LEFT(name, why)                                           \
    [SYS_##name] = {.called = #name, .left = why_##why},
#include "interpose/calls/syscalls.def"
};

static void say(long number, const struct known *known, int argument)
{
    static _Atomic uint64_t said[NUMBERS / 64];
    uint64_t bit = UINT64_C(1) << number % 64;
    if (number < 0 || number >= NUMBERS ||
        atomic_fetch_or(&said[number / 64], bit) & bit)
        return;
    if (known->left)
        adsm_log(ADSM_LOG_WARN,
                 "the call %s is given shared memory as argument %d, and is "
                 "passed on: %s",
                 known->called, argument + 1, known->left);
    else
        adsm_log(ADSM_LOG_WARN,
                 "system call %ld is given shared memory as argument %d; what "
                 "it does with it is not known",
                 number, argument + 1);
}

static __attribute__((noinline)) bool answers(long number, const uintptr_t *w,
                                              long *result)
{
    static const struct known unknown = {0};
    const struct known *known =
        number >= 0 && number < NUMBERS ? &numbers[number] : &unknown;
    if (known->vm && !vm_call_concerns(number, w))
        return false;
    if (known->own) {
        *result = known->own(w);
        return true;
    }
    if (known->shape && !call_is_plain(known->shape, w)) {
        *result = call_shared(known->shape, w, issue, (void *)number);
        return true;
    }
    for (int i = 0; !known->shape && !known->none && i < CALL_WORDS; i++)
        if (adsm_index_find((const void *)w[i])) {
            say(number, known, i);
            break;
        }
    return false;
}

/* All that is left to do under an engine that serves the kernel's accesses. */
static bool keeps_mappings(long number)
{
    return number >= 0 && number < NUMBERS && numbers[number].vm &&
           adsm_fault_is_remote();
}

bool syscall_answers(const uintptr_t *words, long *result)
{
    if (hook_unlikely(!hook_next_syscall))
        hook_resolve((void **)&hook_next_syscall);
    if (hook_unlikely(words[0] == SYS_io_uring_setup)) {
        *result = uring_ring_setup(words + 1); /* rings may be there first */
        return true;
    }
    /* Nor does the driver's, which a fault handler has called. */
    return mask_is_programs() && !adsm_fault_in_driver() &&
           (mask_is_active() || keeps_mappings((long)words[0])) &&
           answers((long)words[0], words + 1, result);
}

/* Code of the runtime: that of libadsm.so, and of this library. */
static struct {
    uintptr_t begin;
    size_t bytes;
} ours[2];

static int find_code(struct dl_phdr_info *info, size_t size, void *nothing)
{
    const uintptr_t inside[2] = {(uintptr_t)adsm_keep, (uintptr_t)find_code};
    (void)size;
    (void)nothing;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + part->p_vaddr;
        for (int k = 0; k < 2 && part->p_type == PT_LOAD; k++)
            if (inside[k] - begin < part->p_memsz) {
                ours[k].begin = begin;
                ours[k].bytes = part->p_memsz;
            }
    }
    return 0;
}

/* Learn which code is the runtime's, whose calls are not looked at. */
__attribute__((constructor(102))) static void syscall_prepare(void)
{
    dl_iterate_phdr(find_code, NULL);
}

enum { CALLER = 1 + CALL_WORDS };

struct hook_answer hook_syscall_answer(const uintptr_t *words)
{
    long result;
    if (hook_likely(words[CALLER] - ours[0].begin < ours[0].bytes ||
                    words[CALLER] - ours[1].begin < ours[1].bytes ||
                    !syscall_answers(words, &result)))
        return (struct hook_answer){NULL, 0};
    return (struct hook_answer){(void *)result, 1};
}
