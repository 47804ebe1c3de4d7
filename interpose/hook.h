/*
 * What every hook uses: the functions behind it, the test whether memory is
 * shared, and the flag that keeps calls of the driver itself out.
 *
 * Owns the tables made from hooks.def and their look-up. Does not know what a
 * hook does. No lock: a function is looked for when it is first called, and
 * whoever does so at the same time finds the same; the memory hooks work by
 * themselves until the library's constructor has looked for theirs.
 *
 * The runtime is brought up by the first hooked allocation, never by an
 * unrelated call: until an object exists the index is empty, and a hook costs
 * the two loads of hook_is_plain.
 */
#ifndef INTERPOSE_HOOK_H
#define INTERPOSE_HOOK_H

/* glibc's header gives System V's function, __xpg_sigpause, the name of BSD's. */
#define sigpause sigpause_of_system_v
#include <signal.h>
#undef sigpause

#include "base/cancel.h"
#include "base/quiet.h"
#include "interpose/cuda/types.h"
#include "interpose/hooks_list.h"
#include "interpose/plain.h"
#include "interpose/libc/sockets.h"
#include "mm/doors/loan.h"
#include "mm/doors/turn.h"
#include "mm/object/index.h"

#include <aio.h>
#include <dirent.h>
#include <linux/capability.h>
#include <mntent.h>
#include <mqueue.h>
#include <nl_types.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>
#include <utime.h>

/* glibc has macros of these names where it optimises. */
#undef fread_unlocked
#undef fwrite_unlocked
#undef fputs_unlocked

struct file_handle;
struct mount_attr;
struct utmp;
struct utmpx;
struct io_uring;
struct io_uring_cqe;
struct __kernel_timespec;

/* What scandir and its relatives are given. */
typedef int scandir_filter(const struct dirent *);
typedef int scandir_order(const struct dirent **, const struct dirent **);
typedef int scandir64_filter(const struct dirent64 *);
typedef int scandir64_order(const struct dirent64 **, const struct dirent64 **);

/* The wrappers: every one of them is exported. */
#define ADSM_HOOK_LIBC(returns, name, params) HOOK_EXPORT returns name params;
#define ADSM_HOOK_CUDA(name, api, since, flags, params)                        \
    HOOK_EXPORT CUresult name params;
#include "interpose/hooks.def"

/* Of some the exported one is another. */
#define HOOK_INNER(name)                                                       \
    extern __typeof__(name) name __asm__("hook_inner_" #name);
#include "interpose/inner.def"
#undef HOOK_INNER

/** The functions behind the hooks; NULL where there is none. */
struct hook_real {
#define ADSM_HOOK_LIBC(returns, name, params)           returns(*name) params;
#define ADSM_HOOK_CUDA(name, api, since, flags, params) CUresult(*name) params;
#include "interpose/hooks.def"
};

extern struct hook_real hook_real;

/** Find the function of libc for one place of hook_real, or of a stub, where
 *  it stays NULL without one. Idempotent. Thread: any. Signal: any handler */
void hook_resolve(void **real);

/** Stands where this libc has no such call, since a program may have found the
 *  hook instead. Return: -1, errno ENOSYS */
long hook_absent(void);

/** The real function `name` of libc, looked for when it is first wanted. */
#define HOOK_REAL(name)                                                        \
    (hook_likely(hook_real.name != NULL)                                       \
         ? hook_real.name                                                      \
         : (hook_resolve((void **)&hook_real.name), hook_real.name))

/**
 * Greater than 0 while this thread is inside the driver or the runtime on
 * behalf of a hook: calls that come from there go straight through.
 */
extern _Thread_local int hook_depth __attribute__((tls_model("initial-exec")));

/** Greater than 0 while this thread is inside the driver, by a hook's call. */
extern _Thread_local int hook_driver __attribute__((tls_model("initial-exec")));

/** What the outermost hook of this thread restores. */
extern _Thread_local struct adsm_cancel hook_cancel
    __attribute__((tls_model("initial-exec")));

/**
 * Begin and end a stretch inside the driver or the runtime. Not a place where
 * the thread can be cancelled: it may hold locks there. A quiet stretch that has
 * begun sees to that already, and ends later. Thread: any.
 */
static inline void hook_enter(void)
{
    if (hook_depth++ == 0)
        hook_cancel =
            adsm_quiet_is_on() ? ADSM_CANCEL_HELD : adsm_cancel_hold();
}

static inline void hook_leave(void)
{
    /* Read first: a handler that comes in between has hooks of its own. */
    struct adsm_cancel before = hook_cancel;
    if (--hook_depth == 0)
        adsm_cancel_release(before);
}

/** Does a call of this thread go straight through? One in a host function is
 *  the driver's to refuse, and its accesses are served as faults; one from inside
 *  the driver, or from what stands for a kernel (call/work.h), is for nobody. */
static inline bool hook_passes(void)
{
    return hook_depth || adsm_turn_is_mine() || adsm_fault_in_driver();
}

/** One row of the tables: where the wrapper and the real function are. */
struct hook_link {
    void *wrapper;
    void **real;
    bool cuda;
    bool shaped; /* of libc, with a shape (call.h) */
    bool stub;   /* of libc, jumped to by hook_stub.S */
    bool alias;  /* another name of a row before; real is that one's */
};

/**
 * Row of the symbol `name`, or NULL. Thread: any.
 */
const struct hook_link *hook_find(const char *name);

/** Row of the wrapper that stands before the real function `real`, or NULL. */
const struct hook_link *hook_find_real(const void *real);

/** Row for a request of cuGetProcAddress (choose.h), or NULL. Thread: any. */
const struct hook_link *hook_meant(const char *api, int version,
                                   uint64_t flags);

/** Row `i` of adsm_hooks_list. */
const struct hook_link *hook_at(size_t i);

/** Exported name of a row. */
const char *hook_name(const struct hook_link *link);

/** Say once per process that `what` failed for a reason of ours. */
void hook_failed(const char *what, int status);

#endif
