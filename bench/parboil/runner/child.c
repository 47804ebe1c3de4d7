/*
 * A child process with two pipes and a deadline. See child.h.
 */
#include "runner/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/bench.h"

volatile sig_atomic_t child_interrupted;

void child_word(struct child *child, const char *word)
{
    if (child->word_count + 1 < CHILD_WORDS_MAX)
        child->words[child->word_count++] = word;
}

void child_variable(struct child *child, const char *name, const char *value)
{
    if (child->pair_count == CHILD_PAIRS_MAX)
        return;
    child->names[child->pair_count] = name;
    child->values[child->pair_count++] = value;
}

static _Noreturn void child_exec(const struct child *child, int out, int err)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    for (int i = 0; i < child->pair_count; i++)
        setenv(child->names[i], child->values[i], 1);
    execv(child->words[0], (char *const *)child->words);
    dprintf(STDERR_FILENO, "cannot run %s: %s\n", child->words[0],
            strerror(errno));
    _exit(127);
}

/* One read; false at the end of the pipe. What does not fit is dropped. */
static bool pipe_fill(int fd, char *text, size_t *length)
{
    char rest[1024];
    size_t room = CHILD_TEXT_MAX - 1 - *length;
    ssize_t got =
        room > 0 ? read(fd, text + *length, room) : read(fd, rest, sizeof rest);
    if (got > 0 && room > 0)
        *length += (size_t)got;
    text[*length] = 0;
    return got > 0 || (got < 0 && errno == EINTR);
}

/* Readable when the process has ended; -1 where the kernel has none. */
static int ending_of(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* Read both pipes to their ends, and note when the process ends, if that is
 * before; false when the time is up. */
static bool pipes_drain(struct child *child, int out, int err, int ending)
{
    double deadline = bench_clock() + child->limit_s;
    size_t lengths[2] = {0, 0};
    char *texts[2] = {child->out, child->err};
    struct pollfd fds[3] = {
        {out, POLLIN, 0}, {err, POLLIN, 0}, {ending, POLLIN, 0}};
    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        double left = deadline - bench_clock();
        if (left <= 0 || child_interrupted)
            return false;
        if (poll(fds, 3, (int)(left * 1000) + 1) <= 0)
            continue;
        if (fds[2].fd >= 0 && fds[2].revents) {
            child->ended_s = bench_clock();
            fds[2].fd = -1;
        }
        for (int i = 0; i < 2; i++)
            if (fds[i].fd >= 0 && fds[i].revents &&
                !pipe_fill(fds[i].fd, texts[i], &lengths[i]))
                fds[i].fd = -1;
    }
    return true;
}

static double used(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

/* Wait for the program, then for what it left behind: its device is a process
 * of its own, which ends with it. */
static void child_reap(struct child *child, pid_t pid)
{
    struct rusage usage;
    while (wait4(pid, &child->status, 0, &usage) < 0 && errno == EINTR)
        continue;
    if (child->ended_s == 0)
        child->ended_s = bench_clock();
    child->used_s = used(&usage);
    while (wait4(-1, NULL, __WALL, &usage) > 0)
        child->used_s += used(&usage);
}

static void failure_describe(const struct child *child, char *why,
                             size_t why_bytes)
{
    /* Reports of counters may come before what the program has to say. */
    const char *said = child->err,
               *name = strrchr(child->words[child->word_count - 1], '/');
    for (int i = 0; i < child->word_count; i++) {
        name = strrchr(child->words[i], '/');
        const char *found = name ? strstr(child->err, name + 1) : NULL;
        if (found && strchr(found, ':'))
            said = found;
    }
    int length = (int)strcspn(said, "\n");
    if (!child->in_time)
        snprintf(why, why_bytes, "not done after %.0f s", child->limit_s);
    else if (WIFSIGNALED(child->status))
        snprintf(why, why_bytes, "ended by signal %d (%s) %.*s",
                 WTERMSIG(child->status), strsignal(WTERMSIG(child->status)),
                 length, said);
    else
        snprintf(why, why_bytes, "status %d: %.*s", WEXITSTATUS(child->status),
                 length, said);
}

bool child_run(struct child *child, char *why, size_t why_bytes)
{
    int out[2], err[2];
    child->out[0] = child->err[0] = 0;
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
        snprintf(why, why_bytes, "cannot make a pipe: %s", strerror(errno));
        return false;
    }
    fflush(NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    child->started_s = bench_clock();
    child->ended_s = 0;
    pid_t pid = fork();
    if (pid == 0)
        child_exec(child, out[1], err[1]);
    close(out[1]);
    close(err[1]);
    if (pid < 0)
        snprintf(why, why_bytes, "cannot start a process: %s", strerror(errno));
    int ending = pid > 0 ? ending_of(pid) : -1;
    child->in_time = pid > 0 && pipes_drain(child, out[0], err[0], ending);
    if (ending >= 0)
        close(ending);
    close(out[0]);
    close(err[0]);
    if (pid < 0)
        return false;
    if (!child->in_time)
        kill(pid, SIGKILL);
    child_reap(child, pid);
    if (child->in_time && WIFEXITED(child->status) &&
        WEXITSTATUS(child->status) == 0)
        return true;
    failure_describe(child, why, why_bytes);
    return false;
}
