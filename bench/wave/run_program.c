/*
 * Running one wave program and collecting what it reports. See run_program.h.
 */
#include "run_program.h"
#include "wave.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a child wrote; more than fits is read and dropped. */
struct sink {
    int fd;
    size_t length;
    char text[8192];
};

struct child {
    pid_t pid;
    struct sink out, err;
};

static void child_exec(const struct run_request *request, const int out[2],
                       const int err[2])
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    for (int i = 0; i < 2; i++) {
        close(out[i]);
        close(err[i]);
    }
    if (request->library_folder)
        setenv("LD_LIBRARY_PATH", request->library_folder, 1);
    if (request->stats_file)
        setenv("ADSM_STATS_FILE", request->stats_file, 1);
    if (request->soft)
        setenv("SOFTCUDA_STATS", "1", 1);
    execv(request->argv[0], (char *const *)request->argv);
    dprintf(STDERR_FILENO, "cannot run %s: %s\n", request->argv[0],
            strerror(errno));
    _exit(127);
}

static bool child_start(const struct run_request *request, struct child *child)
{
    int out[2], err[2];
    if (pipe(out) != 0)
        return false;
    if (pipe(err) != 0) {
        close(out[0]);
        close(out[1]);
        return false;
    }
    fflush(stdout);
    child->pid = fork();
    if (child->pid == 0)
        child_exec(request, out, err);
    close(out[1]);
    close(err[1]);
    child->out = (struct sink){.fd = out[0]};
    child->err = (struct sink){.fd = err[0]};
    if (child->pid > 0)
        return true;
    close(out[0]);
    close(err[0]);
    return false;
}

/* One read; false at the end of the pipe. */
static bool sink_fill(struct sink *sink)
{
    char rest[1024];
    size_t room = sizeof sink->text - 1 - sink->length;
    ssize_t got = room > 0 ? read(sink->fd, sink->text + sink->length, room)
                           : read(sink->fd, rest, sizeof rest);
    if (got > 0 && room > 0)
        sink->length += (size_t)got;
    sink->text[sink->length] = 0;
    return got > 0 || (got < 0 && errno == EINTR);
}

volatile sig_atomic_t run_interrupted;

/* Read both pipes to their ends; false when the time is up. */
static bool child_drain(struct child *child, double limit_s)
{
    double deadline = wave_clock() + limit_s;
    struct sink *sinks[] = {&child->out, &child->err};
    struct pollfd fds[] = {{child->out.fd, POLLIN, 0},
                           {child->err.fd, POLLIN, 0}};
    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        double left = deadline - wave_clock();
        if (left <= 0 || run_interrupted)
            return false;
        if (poll(fds, 2, (int)(left * 1000) + 1) <= 0)
            continue;
        for (int i = 0; i < 2; i++)
            if (fds[i].fd >= 0 && fds[i].revents && !sink_fill(sinks[i]))
                fds[i].fd = -1;
    }
    return true;
}

static const char *value_find(const char *json, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(json, quoted);
    return at ? at + strlen(quoted) : NULL;
}

static uint64_t count_find(const char *json, const char *key)
{
    const char *at = value_find(json, key);
    return at ? strtoull(at, NULL, 10) : 0;
}

/* The program's report; false when stdout is something else. */
static bool report_read(const char *json, struct run_result *result)
{
    const char *seconds = value_find(json, "seconds");
    const char *digest = value_find(json, "digest");
    if (!seconds || !digest ||
        sscanf(digest, " \"%16[0-9a-f]\"", result->digest) != 1)
        return false;
    result->seconds = strtod(seconds, NULL);
    result->bytes_up = count_find(json, "bytes_up");
    result->bytes_down = count_find(json, "bytes_down");
    return true;
}

/* The counters: the last line of the file. */
static bool counters_read(const char *path, struct run_result *result)
{
    char line[8192], last[8192] = "";
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    while (fgets(line, sizeof line, file))
        if (line[0] == '{')
            strcpy(last, line);
    fclose(file);
    result->bytes_up = count_find(last, "bytes_up");
    result->bytes_down = count_find(last, "bytes_down");
    result->faults =
        count_find(last, "faults_read") + count_find(last, "faults_write");
    return value_find(last, "bytes_up") != NULL;
}

/* The device's own count, from its report on stderr; false without one. */
static bool link_read(const char *text, struct run_result *result)
{
    double up_mib, down_mib, up = 0, down = 0;
    bool found = false;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (sscanf(line, "softcuda: device %*d: %lf MiB up, %lf MiB down",
                   &up_mib, &down_mib) != 2)
            continue;
        up += up_mib;
        down += down_mib;
        found = true;
    }
    result->bytes_up = (uint64_t)(up * 0x1p20);
    result->bytes_down = (uint64_t)(down * 0x1p20);
    return found;
}

/* What a program says when it gives up, or else the first line there is. */
static void failure_line(const char *text, char *line, size_t bytes)
{
    const char *said = strstr(text, "wave_");
    if (!said)
        said = text;
    snprintf(line, bytes, "%.*s", (int)strcspn(said, "\n"), said);
}

static void failure_describe(int status, struct child *child,
                             struct run_result *result)
{
    char said[140];
    failure_line(child->err.text, said, sizeof said);
    if (WIFSIGNALED(status))
        snprintf(result->message, sizeof result->message,
                 "ended by signal %d (%s) %s", WTERMSIG(status),
                 strsignal(WTERMSIG(status)), said);
    else
        snprintf(result->message, sizeof result->message, "status %d: %s",
                 WEXITSTATUS(status), said);
}

void run_program(const struct run_request *request, struct run_result *result)
{
    struct child child;
    int status = 0;
    memset(result, 0, sizeof *result);
    if (request->stats_file)
        unlink(request->stats_file);
    if (!child_start(request, &child)) {
        snprintf(result->message, sizeof result->message,
                 "cannot start a process: %s", strerror(errno));
        return;
    }
    bool in_time = child_drain(&child, request->limit_s);
    if (!in_time)
        kill(child.pid, SIGKILL);
    close(child.out.fd);
    close(child.err.fd);
    while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR)
        continue;

    if (!in_time)
        snprintf(result->message, sizeof result->message,
                 "not done after %.0f s", request->limit_s);
    else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        failure_describe(status, &child, result);
    else if (!report_read(child.out.text, result))
        snprintf(result->message, sizeof result->message, "printed no report");
    else if (request->stats_file && !counters_read(request->stats_file, result))
        snprintf(result->message, sizeof result->message,
                 "left no counters in %.120s", request->stats_file);
    else if (request->soft && !link_read(child.err.text, result))
        snprintf(result->message, sizeof result->message,
                 "the software device did not count its bytes");
    else
        result->good = true;
}
