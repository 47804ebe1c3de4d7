/* Rows: small structures. */
#include "contract.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>

/* Close the two files that a call made at p. */
static long pair_at(long result, const uint8_t *p)
{
    int ends[2], error = errno;
    if (result == 0) {
        memcpy(ends, p, sizeof ends);
        close(ends[0]);
        close(ends[1]);
    }
    errno = error;
    return result;
}

static long timer_file(struct itimerspec *set, struct itimerspec *old, int how)
{
    static const struct itimerspec far = {{5, 0}, {1000, 0}};
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    long result = 0;
    if (how)
        result = timerfd_settime(fd, 0, &far, NULL);
    if (result == 0)
        result = how == 1 ? timerfd_gettime(fd, set)
                          : timerfd_settime(fd, 0, set, old);
    int error = errno;
    close(fd);
    errno = error;
    return result;
}

static long child(int *status, struct rusage *used, int form)
{
    pid_t pid = vfork();
    if (pid == 0)
        _exit(7);
    siginfo_t *info = (siginfo_t *)status;
    long got = form == 0   ? waitpid(pid, status, 0)
               : form == 1 ? wait4(pid, status, 0, used)
                           : waitid(P_PID, (id_t)pid, info, WEXITED);
    int error = errno;
    waitpid(pid, NULL, WNOHANG); /* where the call could not say so */
    errno = error;
    return got > 0 ? 1 : got;
}

static long count_file(uint8_t *p)
{
    int fd = eventfd(5, EFD_CLOEXEC);
    long result = eventfd_read(fd, (eventfd_t *)p);
    int error = errno;
    close(fd);
    errno = error;
    return result;
}

static long spliced(off64_t *from)
{
    return splice(now.file, from, now.pipe[1], NULL, 100, 0);
}

static long timer_at(struct sigevent *event, uint8_t *p)
{
    timer_t timer;
    timer_t *at = p ? (timer_t *)p : &timer;
    long result = timer_create(CLOCK_MONOTONIC, event, at);
    int error = errno;
    if (result == 0) {
        memcpy(&timer, at, sizeof timer);
        timer_delete(timer);
    }
    errno = error;
    return result;
}

RUN(timer_create, timer_at(&(struct sigevent){.sigev_notify = SIGEV_NONE}, p))
RUN(timer_event, timer_at((struct sigevent *)p, NULL))
RUN(thread_get, pthread_getaffinity_np(pthread_self(), 128, (cpu_set_t *)p))
RUN(thread_set, pthread_setaffinity_np(pthread_self(), 8, (cpu_set_t *)p))
RUN(terminal, ttyname_r(now.file, (char *)p, 100))
RUN(pipe, pair_at(pipe((int *)p), p))
RUN(pipe2, pair_at(pipe2((int *)p, O_CLOEXEC), p))
RUN(pipe2_bad, pair_at(pipe2((int *)p, 0x7fffffff), p))
RUN(uname, uname((struct utsname *)p))
RUN(getrlimit, getrlimit(RLIMIT_NOFILE, (struct rlimit *)p))
RUN(getrlimit_bad, getrlimit((__rlimit_resource_t)999, (struct rlimit *)p))
RUN(setrlimit, setrlimit((__rlimit_resource_t)999, (struct rlimit *)p))
RUN(prlimit, prlimit(0, RLIMIT_STACK, NULL, (struct rlimit *)p))
RUN(getrusage, getrusage(RUSAGE_SELF, (struct rusage *)p))
RUN(times, times((struct tms *)p) > 0)
RUN(sysinfo, sysinfo((struct sysinfo *)p))
RUN(gettimeofday, gettimeofday((struct timeval *)p, NULL))
RUN(clock_gettime, clock_gettime(CLOCK_MONOTONIC, (struct timespec *)p))
RUN(clock_cpu, clock_gettime(CLOCK_PROCESS_CPUTIME_ID, (struct timespec *)p))
RUN(clock_getres, clock_getres(CLOCK_THREAD_CPUTIME_ID, (struct timespec *)p))
RUN(clock_bad, clock_gettime(999, (struct timespec *)p))
RUN(adjtimex, adjtimex((struct timex *)p) >= 0)
RUN(nanosleep, nanosleep((struct timespec *)p, NULL))
RUN(clock_nanosleep,
    clock_nanosleep(CLOCK_MONOTONIC, 0, (struct timespec *)p, NULL))
RUN(clock_nanosleep_bad, clock_nanosleep(999, 0, (struct timespec *)p, NULL))
RUN(timer_set, timer_file((struct itimerspec *)p, NULL, 0))
RUN(timer_get, timer_file((struct itimerspec *)p, NULL, 1))
RUN(timer_old,
    timer_file(&(struct itimerspec){{0, 0}, {0, 0}}, (struct itimerspec *)p, 2))
RUN(getitimer, getitimer(ITIMER_VIRTUAL, (struct itimerval *)p))
RUN(setitimer, setitimer(ITIMER_VIRTUAL, (struct itimerval *)p, NULL))
RUN(sched_get, sched_getaffinity(0, 128, (cpu_set_t *)p))
RUN(sched_set, sched_setaffinity(0, 8, (cpu_set_t *)p))
RUN(sched_short, sched_getaffinity(0, 3, (cpu_set_t *)p))
RUN(sched_param, sched_getparam(0, (struct sched_param *)p))
RUN(sched_interval, sched_rr_get_interval(0, (struct timespec *)p))
RUN(getresuid, getresuid((uid_t *)p, &(uid_t){0}, &(uid_t){0}))
RUN(getresgid, getresgid(&(gid_t){0}, &(gid_t){0}, (gid_t *)p))
RUN(getgroups, getgroups(16, (gid_t *)p))
RUN(getgroups_bad, getgroups(-1, (gid_t *)p))
RUN(waitpid, child((int *)p, NULL, 0))
RUN(waitpid_none, waitpid(-1, (int *)p, WNOHANG))
RUN(wait4, child(&(int){0}, (struct rusage *)p, 1))
RUN(waitid, child((int *)p, NULL, 2))
RUN(eventfd_read, count_file(p))
RUN(sendfile, sendfile(now.stream[0], now.file, (off_t *)p, 100))
RUN(sendfile_bad, sendfile(-1, now.file, (off_t *)p, 100))
RUN(splice, spliced((off64_t *)p))
RUN(copy_file_range,
    copy_file_range(now.file, (off64_t *)p, now.file, &(off64_t){4000}, 100, 0))

FILL(moment, struct timespec, 0, 1000)
FILL(never, struct timespec, 0, -5)
FILL(timer, struct itimerspec, {1, 2}, {1000, 4})
FILL(zero, struct itimerval, {0, 0}, {0, 0})
FILL(event, struct sigevent, .sigev_notify = SIGEV_NONE)
FILL(limit, struct rlimit, 5, 6)
FILL(place, off_t, 1234)
FILL(cpus, uint64_t, ~UINT64_C(0))
FILL(old, struct timex, .modes = 0)

const struct contract_row rows_small[] = {
    {"pipe", 8, NULL, run_pipe, 0},
    {"pipe2", 8, NULL, run_pipe2, 0},
    {"pipe2 bad flags", 8, NULL, run_pipe2_bad, 0},
    {"uname", sizeof(struct utsname), NULL, run_uname, 0},
    {"getrlimit", 16, NULL, run_getrlimit, 0},
    {"getrlimit bad", 16, NULL, run_getrlimit_bad, 0},
    {"setrlimit bad", 16, fill_limit, run_setrlimit, 0},
    {"prlimit", 16, NULL, run_prlimit, 0},
    {"getrusage", sizeof(struct rusage), NULL, run_getrusage, CONTRACT_LOOSE},
    {"times", sizeof(struct tms), NULL, run_times,
     CONTRACT_LOOSE | CONTRACT_WHOLE},
    {"sysinfo", sizeof(struct sysinfo), NULL, run_sysinfo, CONTRACT_LOOSE},
    {"gettimeofday", 16, NULL, run_gettimeofday,
     CONTRACT_LOOSE | CONTRACT_WHOLE},
    {"clock_gettime", 16, NULL, run_clock_gettime,
     CONTRACT_LOOSE | CONTRACT_WHOLE},
    {"clock_gettime cpu", 16, NULL, run_clock_cpu,
     CONTRACT_LOOSE | CONTRACT_WHOLE},
    {"clock_getres", 16, NULL, run_clock_getres, CONTRACT_WHOLE},
    {"clock_gettime bad", 16, NULL, run_clock_bad, 0},
    {"adjtimex", sizeof(struct timex), fill_old, run_adjtimex, CONTRACT_LOOSE},
    {"nanosleep", 16, fill_moment, run_nanosleep, 0},
    {"nanosleep never", 16, fill_never, run_nanosleep, 0},
    {"clock_nanosleep", 16, fill_moment, run_clock_nanosleep, 0},
    {"clock_nanosleep bad", 16, fill_moment, run_clock_nanosleep_bad, 0},
    {"timerfd_settime", 32, fill_timer, run_timer_set, 0},
    {"timerfd_gettime", 32, NULL, run_timer_get, CONTRACT_LOOSE},
    {"timerfd_settime old", 32, NULL, run_timer_old, CONTRACT_LOOSE},
    {"timer_create", sizeof(timer_t), NULL, run_timer_create,
     CONTRACT_LOOSE | CONTRACT_WHOLE},
    {"timer_create event", sizeof(struct sigevent), fill_event, run_timer_event,
     CONTRACT_WHOLE},
    {"pthread_getaffinity_np", 128, NULL, run_thread_get, CONTRACT_WHOLE},
    {"pthread_setaffinity_np", 8, fill_cpus, run_thread_set, 0},
    {"ttyname_r of a file", 100, NULL, run_terminal, 0},
    {"getitimer", 32, NULL, run_getitimer, 0},
    {"setitimer", 32, fill_zero, run_setitimer, 0},
    {"sched_getaffinity", 128, NULL, run_sched_get, CONTRACT_WHOLE},
    {"sched_getaffinity short", 3, NULL, run_sched_short, 0},
    {"sched_setaffinity", 8, fill_cpus, run_sched_set, 0},
    {"sched_getparam", 4, NULL, run_sched_param, 0},
    {"sched_rr_get_interval", 16, NULL, run_sched_interval, 0},
    {"getresuid", 4, NULL, run_getresuid, 0},
    {"getresgid", 4, NULL, run_getresgid, 0},
    {"getgroups", 64, NULL, run_getgroups, 0},
    {"getgroups bad", 64, NULL, run_getgroups_bad, 0},
    {"waitpid", 4, NULL, run_waitpid, 0},
    {"waitpid for none", 4, NULL, run_waitpid_none, 0},
    {"wait4", sizeof(struct rusage), NULL, run_wait4, CONTRACT_LOOSE},
    {"waitid", sizeof(siginfo_t), NULL, run_waitid, CONTRACT_LOOSE},
    {"eventfd_read", 8, NULL, run_eventfd_read, 0},
    {"sendfile", 8, fill_place, run_sendfile, 0},
    {"sendfile bad file", 8, fill_place, run_sendfile_bad, 0},
    {"splice", 8, fill_place, run_splice, 0},
    {"copy_file_range", 8, fill_place, run_copy_file_range, 0},
};
const size_t rows_small_count = sizeof rows_small / sizeof *rows_small;
