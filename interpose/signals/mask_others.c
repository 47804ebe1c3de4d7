/*
 * Threads that had SIGSEGV blocked when the runtime came into use.
 *
 * Each of them gets a signal whose handler changes the mask that it returns
 * to. The signal is the one of the C library that a program cannot block
 * (SIGSETXID): it is borrowed for that time, and what the library sends with
 * it is passed on. A system call in which such a thread waits can end with
 * EINTR, which is the price. A thread started meanwhile inherits its mask, so
 * all are looked at again until none is left.
 */
#include "interpose/signals/mask.h"
#include "base/log.h"
#include "base/system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A tenth of a second at most: a thread answers as soon as it runs, and one
 * that does later finds the handler still there. */
enum { SIGNAL = 33, ROUNDS_MOST = 200, PAUSE_NS = 500000, ASKED_MOST = 1024 };

/* Threads that were asked; one that has answered is negative. */
static struct {
    _Atomic int count;
    _Atomic int tids[ASKED_MOST];
} asked;

/* The C library's action for SIGNAL. */
static struct adsm_system_action library;

/* Where a thread stands in the list; -1: it was not asked. */
static int place_of(int tid)
{
    for (int i = 0; i < atomic_load(&asked.count); i++)
        if (abs(atomic_load(&asked.tids[i])) == tid)
            return i;
    return -1;
}

static void answer(void)
{
    int tid = (int)syscall(SYS_gettid), place = place_of(tid);
    if (place >= 0)
        atomic_store(&asked.tids[place], -tid);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    uint64_t *mask = mask_word(&((ucontext_t *)context)->uc_sigmask);
    if (info->si_code == SI_QUEUE && info->si_ptr == &library) {
        if (*mask & MASK_SEGV)
            mask_thread.blocked = true;
        *mask &= ~mask_opened();
        mask_know(*mask);
        trap_enter_thread();
        answer();
    } else if (adsm_system_has_handler(&library)) {
        library.handler(number, info, context);
    }
}

/* What /proc has to say of a thread; `text` is empty where it says nothing. */
static void read_of(const char *tid, const char *what, char *text, size_t bytes)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%.20s/%s", tid, what);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? 0 : read(file, text, bytes - 1);
    text[got > 0 ? got : 0] = '\0';
    if (file >= 0)
        close(file);
}

static bool is_blocked(const char *tid)
{
    char text[4096];
    read_of(tid, "status", text, sizeof text);
    const char *line = strstr(text, "SigBlk:");
    return line && strtoull(line + 7, NULL, 16) & MASK_SEGV;
}

/* The kernel's flags of a thread that say it is one of its own: a worker of
 * io_uring, or, from Linux 6.4 on, of vhost. Older ones have the second bit for
 * something else. */
enum { IO_WORKER = 0x10, USER_WORKER = 0x4000 };

static unsigned kernel_flags(int tid)
{
    char name[24], text[1024];
    unsigned flags = 0;
    snprintf(name, sizeof name, "%d", tid);
    read_of(name, "stat", text, sizeof text);
    /* Behind its name, which may have any character. */
    const char *rest = strrchr(text, ')');
    if (rest)
        (void)sscanf(rest, ") %*c %*d %*d %*d %*d %*d %u", &flags);
    return flags & (IO_WORKER | USER_WORKER);
}

/* Such a thread runs no code of the program's, has every signal blocked and will
 * never answer. What the calling thread has is no sign of one. */
static bool is_kernels(int tid)
{
    return kernel_flags(tid) & ~kernel_flags((int)syscall(SYS_gettid));
}

static void ask(int tid)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = SIGNAL;
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_ptr = &library;
    syscall(SYS_rt_tgsigqueueinfo, info.si_pid, tid, SIGNAL, &info);
}

/* Ask a thread, once. Return: it has to, and has not answered yet. */
static bool waits_for(int tid, bool blocked)
{
    int place = place_of(tid), count = atomic_load(&asked.count);
    if (!blocked && !trap_is_on())
        return false;
    if (place < 0 && is_kernels(tid))
        return false;
    if (place < 0 && count < ASKED_MOST) {
        atomic_store(&asked.tids[count], tid);
        atomic_store(&asked.count, count + 1);
        ask(tid);
        return true;
    }
    return blocked || (place >= 0 && atomic_load(&asked.tids[place]) > 0);
}

/* All that have the signal blocked, or, where calls are trapped, all there are.
 * Return: how many are waited for. */
static int ask_all(void)
{
    int found = 0, self = (int)syscall(SYS_gettid);
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks && (task = readdir(tasks)) != NULL;) {
        int tid = atoi(task->d_name);
        if (tid > 0 && tid != self)
            found += waits_for(tid, is_blocked(task->d_name));
    }
    if (tasks)
        closedir(tasks);
    return found;
}

/* Ours in the place of the library's; flags and way back as SIGSEGV has them,
 * which was installed a moment ago. */
static bool borrow(void)
{
    struct adsm_system_action ours;
    if (adsm_system_sigaction(SIGSEGV, NULL, &ours) != 0)
        return false;
    ours.handler = on_signal;
    ours.flags = (ours.flags & ~(unsigned long)SA_ONSTACK) | SA_RESTART;
    ours.mask = ~UINT64_C(0);
    return adsm_system_sigaction(SIGNAL, &ours, &library) == 0;
}

static void give_back(void)
{
    struct adsm_system_action now;
    if (adsm_system_sigaction(SIGNAL, NULL, &now) == 0 &&
        now.handler == on_signal)
        adsm_system_sigaction(SIGNAL, &library, NULL);
}

void mask_open_others(void)
{
    static const struct timespec pause = {0, PAUSE_NS};
    atomic_store(&asked.count, 0);
    if (!borrow())
        return;
    int rounds = 0;
    while (ask_all() && rounds++ < ROUNDS_MOST)
        nanosleep(&pause, NULL);
    /* Without its handler a signal that comes late would end the process. */
    if (rounds > ROUNDS_MOST)
        adsm_log(ADSM_LOG_WARN, "a thread with every signal blocked does not "
                                "answer: it must not touch shared memory");
    else
        give_back();
}
