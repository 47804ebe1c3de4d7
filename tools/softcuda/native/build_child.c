/*
 * Owns: keepers, and what they do.  Does not own: which program (build_cc.c).
 * Lock: none.
 *
 * A keeper is forked from a process with threads, so it may call what signal
 * handlers may call, and no more.  It is cloned directly: handlers of fork
 * would wait for locks of threads it does not have.
 */
#include "native/build_child.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS    50   /* how soon a parent that is gone is noticed */
#define GRACE_MS   1000 /* compilers remove their temporary files meanwhile */
#define FILE_BYTES ((rlim_t)128 << 20)
#define ADDRESSES  4 /* for each byte of memory */
#define NAME       "softcuda-cc"

extern char **environ;

struct job {
    const char *path;
    char *const *argv;
    int in, out;
    const struct sc_build_limits *limits;
    pid_t parent;
    struct sc_build_report *report;
};

static pid_t copy_process(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Lower a limit; one that is lower already stays. */
static void limit(int what, rlim_t soft, rlim_t hard)
{
    struct rlimit now;
    if (getrlimit(what, &now) != 0)
        return;
    now.rlim_max = now.rlim_max < hard ? now.rlim_max : hard;
    now.rlim_cur = now.rlim_cur < soft ? now.rlim_cur : soft;
    setrlimit(what, &now);
}

/* A group of its own, so that the passes of the compiler end with it. */
static _Noreturn void become(const struct job *job)
{
    const struct sc_build_limits *limits = job->limits;
    sigset_t none;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    limit(RLIMIT_CPU, limits->cpu_s, limits->cpu_s + 2);
    limit(RLIMIT_DATA, limits->memory_bytes, limits->memory_bytes);
    /* some compilers reserve more than they use; old systems count less */
    limit(RLIMIT_AS, ADDRESSES * limits->memory_bytes,
          ADDRESSES * limits->memory_bytes);
    limit(RLIMIT_FSIZE, FILE_BYTES, FILE_BYTES);
    limit(RLIMIT_CORE, 0, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    job->report->started = true;
    execve(job->path, job->argv, environ);
    job->report->started = false;
    _exit(127);
}

static bool has_ended(pid_t pid)
{
    siginfo_t end;
    end.si_pid = 0;
    return waitid(P_PID, (id_t)pid, &end, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           end.si_pid == pid;
}

/* Return: the signal that came meanwhile, or -1. */
static int doze(void)
{
    const struct timespec look = {0, LOOK_MS * 1000000};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    return sigtimedwait(&set, NULL, &look);
}

static void watch(const struct job *job, pid_t pid)
{
    uint64_t end = now_ms() + job->limits->clock_ms;
    while (!has_ended(pid)) {
        job->report->asked = doze() == SIGTERM || getppid() != job->parent;
        job->report->late = now_ms() >= end;
        if (job->report->asked || job->report->late)
            break;
    }
    end = now_ms() + GRACE_MS;
    if (!has_ended(pid))
        kill(-pid, SIGTERM);
    while (!has_ended(pid) && now_ms() < end)
        doze();
    kill(-pid, SIGKILL); /* and what it left running */
}

static uint64_t ms_of(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_usec / 1000;
}

static void tell(struct sc_build_report *report, pid_t pid)
{
    struct rusage used;
    while (waitpid(pid, &report->status, 0) < 0 && errno == EINTR)
        continue;
    if (getrusage(RUSAGE_CHILDREN, &used) != 0)
        return;
    report->cpu_ms = ms_of(used.ru_utime) + ms_of(used.ru_stime);
    report->peak_bytes = (uint64_t)used.ru_maxrss << 10;
}

/* Nothing that others wait for stays open, and nobody takes it for what it was
 * forked from; all signals are blocked. */
static void settle(const struct job *job)
{
    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL);
    prctl(PR_SET_NAME, NAME);
    size_t room = strlen(program_invocation_name);
    strncpy(program_invocation_name, NAME, room);
    dup2(job->in, 0);
    dup2(job->out, 1);
    dup2(job->out, 2);
    if (syscall(SYS_close_range, 3, ~0u, 0) != 0)
        for (int fd = 3; fd < 1024; fd++)
            close(fd);
}

static _Noreturn void keep(const struct job *job)
{
    settle(job);
    pid_t pid = copy_process();
    if (pid == 0)
        become(job);
    if (pid > 0) {
        setpgid(pid, pid); /* whichever of the two comes first */
        watch(job, pid);
        tell(job->report, pid);
    }
    _exit(0);
}

bool sc_build_child_start(struct sc_build_child *child, const char *path,
                          char *const argv[], int in, int out,
                          const struct sc_build_limits *limits)
{
    sigset_t all, old;
    struct sc_build_report *report =
        mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED)
        return false;
    const struct job job = {.path = path,
                            .argv = argv,
                            .in = in,
                            .out = out,
                            .limits = limits,
                            .parent = getpid(),
                            .report = report};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pid_t pid = copy_process();
    if (pid == 0)
        keep(&job);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (pid < 0)
        munmap(report, sizeof *report);
    *child = (struct sc_build_child){.keeper = pid, .report = report};
    return pid > 0;
}

void sc_build_child_wait(const struct sc_build_child *child)
{
    siginfo_t end;
    while (waitid(P_PID, (id_t)child->keeper, &end, WEXITED | WNOWAIT) != 0 &&
           errno == EINTR)
        continue;
}

struct sc_build_report sc_build_child_reap(struct sc_build_child *child)
{
    int status = 0;
    while (waitpid(child->keeper, &status, 0) < 0 && errno == EINTR)
        continue;
    struct sc_build_report report = *child->report;
    if (WIFSIGNALED(status)) /* the keeper, so nobody knows of the rest */
        report.status = status;
    munmap(child->report, sizeof *child->report);
    return report;
}

void sc_build_child_end(pid_t keeper)
{
    kill(keeper, SIGTERM);
}
