/*
 * Owns: finding the compiler, its flags, running and ending its processes.
 * Does not own: objects (build_object.c). Lock: none, see build_cc.h.
 *
 * Text goes in through a memory file: nothing is left behind when the
 * process is killed, and no pipe has to be emptied meanwhile.
 */
#include "native/build_cc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#define MAX_RUNNING 16
#define TIMEOUT_MS  60000

/* Compilers take more than twice the time for twice the text: from here on
 * they get less to do. */
#define LARGE_TEXT ((size_t)1 << 20)
#define HUGE_TEXT  ((size_t)4 << 20)

extern char **environ;

static _Atomic pid_t running[MAX_RUNNING];
static atomic_bool stopped;

/* PTX says where an fma is, integers wrap, pointers alias, and nobody looks
 * at errno or at floating-point traps. */
static const char *const flags[] = {
    "-O2",
    "-fPIC",
    "-shared",
    "-fno-strict-aliasing",
    "-ffp-contract=off",
    "-fwrapv",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-semantic-interposition",
    "-fno-asynchronous-unwind-tables",
    "-pipe",
    "-w",
};

static void add_word(struct sc_build_cc *cc, const char *word)
{
    if (cc->argc < SC_BUILD_CC_WORDS - 8)
        cc->argv[cc->argc++] = (char *)(uintptr_t)word;
}

static void add_flags(struct sc_build_cc *cc,
                      const struct sc_build_options *options)
{
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        add_word(cc, flags[i]);
#ifdef __x86_64__
    static const char *const marches[] = {[SC_NATIVE_GENERIC] = "-march=x86-64",
                                          [SC_NATIVE_AVX2] = "-march=x86-64-v3",
                                          [SC_NATIVE_AVX512] =
                                              "-march=x86-64-v4"};
    add_word(cc,
             options->isa_is_native ? "-march=native" : marches[options->isa]);
    if (options->isa == SC_NATIVE_AVX512)
        add_word(cc, "-mprefer-vector-width=512");
#endif
}

/* Path of a program as execvp would find it. */
static bool find_program(const char *name, char *path)
{
    if (strchr(name, '/'))
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX &&
               access(path, X_OK) == 0;
    const char *list = getenv("PATH");
    for (const char *at = list ? list : "/usr/bin:/bin"; at;) {
        int n = (int)strcspn(at, ":");
        if (n > 0 &&
            snprintf(path, PATH_MAX, "%.*s/%s", n, at, name) < PATH_MAX &&
            access(path, X_OK) == 0)
            return true;
        at = at[n] ? at + n + 1 : NULL;
    }
    return false;
}

/* What -march=native depends on; a cache may be shared between machines. */
static int describe_cpu(char *text, size_t bytes)
{
#ifdef __x86_64__
    unsigned a = 0, b = 0, c = 0, d = 0, model = 0;
    __get_cpuid(1, &model, &b, &c, &d);
    unsigned features = c;
    __get_cpuid_count(7, 0, &a, &b, &c, &d);
    return snprintf(text, bytes, "cpu %x %x %x %x %x", model, features, b, c,
                    d);
#else
    return snprintf(text, bytes, "cpu");
#endif
}

static bool identify(struct sc_build_cc *cc, const char *path)
{
    char real[PATH_MAX];
    struct stat st;
    if (!realpath(path, real) || stat(real, &st) != 0)
        return false;
    char *text = cc->identity;
    size_t room = sizeof cc->identity;
    int n =
        snprintf(text, room, "%s %lld %lld.%09ld ", real, (long long)st.st_size,
                 (long long)st.st_mtim.tv_sec, (long)st.st_mtim.tv_nsec);
    for (int i = 1; i < cc->argc && n < (int)room; i++)
        n += snprintf(text + n, room - (size_t)n, "%s ", cc->argv[i]);
    if (n < (int)room)
        n += describe_cpu(text + n, room - (size_t)n);
    return n < (int)room;
}

bool sc_build_cc_find(struct sc_build_cc *cc,
                      const struct sc_build_options *options, char *why,
                      size_t why_bytes)
{
    char path[PATH_MAX], *rest;
    memset(cc, 0, sizeof *cc);
    atomic_store(&stopped, false);
    cc->limit_ms = TIMEOUT_MS;
    snprintf(cc->words, sizeof cc->words, "%s", options->cc);
    for (char *word = strtok_r(cc->words, " \t", &rest); word;
         word = strtok_r(NULL, " \t", &rest))
        add_word(cc, word);
    if (cc->argc == 0 || !find_program(cc->argv[0], path)) {
        snprintf(why, why_bytes, "there is no C compiler '%.80s'", options->cc);
        return false;
    }
    add_flags(cc, options);
    if (identify(cc, path))
        return true;
    snprintf(why, why_bytes, "the C compiler '%.80s' has too long a name",
             options->cc);
    return false;
}

static int memory_file(const char *text)
{
    int fd = memfd_create("softcuda-cc", MFD_CLOEXEC);
    size_t left = fd >= 0 ? strlen(text) : 0;
    while (left) {
        ssize_t n = write(fd, text, left);
        if (n <= 0) {
            close(fd);
            return -1;
        }
        text += n;
        left -= (size_t)n;
    }
    if (fd >= 0)
        lseek(fd, 0, SEEK_SET);
    return fd;
}

/* Behind the other flags, where the last one counts; NULL: as they say. */
static const char *effort_for(size_t text_bytes)
{
    return text_bytes > HUGE_TEXT    ? "-O0"
           : text_bytes > LARGE_TEXT ? "-O1"
                                     : NULL;
}

/* A group of its own, so that the passes of the compiler end with it. */
static pid_t spawn(const struct sc_build_cc *cc, const char *effort,
                   const char *object, int in, int out)
{
    char path[PATH_MAX], *argv[SC_BUILD_CC_WORDS + 8];
    if (!find_program(cc->argv[0], path))
        return -1;
    int n = cc->argc;
    memcpy(argv, cc->argv, sizeof *argv * (size_t)n);
    if (effort)
        argv[n++] = (char *)(uintptr_t)effort;
    argv[n++] = "-x";
    argv[n++] = "c";
    argv[n++] = "-";
    argv[n++] = "-o";
    argv[n++] = (char *)(uintptr_t)object;
    argv[n] = NULL;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in, 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawn_file_actions_adddup2(&files, out, 2);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP |
                                       POSIX_SPAWN_SETSIGDEF |
                                       POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigdefault(&how, &all);
    posix_spawnattr_setsigmask(&how, &none);
    pid_t pid = -1;
    if (posix_spawn(&pid, path, &files, &how, argv, environ) != 0)
        pid = -1;
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    return pid;
}

static int note_running(pid_t pid)
{
    for (int i = 0; i < MAX_RUNNING; i++) {
        pid_t none = 0;
        if (atomic_compare_exchange_strong(&running[i], &none, pid))
            return i;
    }
    return -1;
}

/* SIGTERM, since compilers then take their temporary files with them. */
void sc_build_cc_stop(void)
{
    atomic_store(&stopped, true);
    for (int i = 0; i < MAX_RUNNING; i++) {
        pid_t pid = atomic_load(&running[i]);
        if (pid > 0)
            kill(-pid, SIGTERM);
    }
}

bool sc_build_cc_is_stopped(void)
{
    return atomic_load(&stopped);
}

/* Status of the process, as waitpid gives it; -1 after the time limit. The
 * table entry goes before the process id may be used again. */
static int wait_for(pid_t pid, int slot, int limit_ms)
{
    const struct timespec nap = {0, 1000000};
    siginfo_t end;
    bool late = false;
    for (int ms = 0;; ms++) {
        end.si_pid = 0;
        int r = waitid(P_PID, (id_t)pid, &end, WEXITED | WNOHANG | WNOWAIT);
        if ((r == 0 && end.si_pid == pid) || (r < 0 && errno != EINTR))
            break;
        if (ms == limit_ms) {
            late = true;
            kill(-pid, SIGKILL);
        }
        nanosleep(&nap, NULL);
    }
    if (slot >= 0)
        atomic_store(&running[slot], 0);
    int status = -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return late ? -1 : status;
}

/* The first line with an error in it, else the first line. */
static void first_message(int fd, char *text, size_t bytes)
{
    char all[4096];
    ssize_t n = pread(fd, all, sizeof all - 1, 0);
    all[n > 0 ? n : 0] = '\0';
    const char *at = strstr(all, "error: ");
    at = at ? at + 7 : all;
    snprintf(text, bytes, "%.*s", (int)strcspn(at, "\n"), at);
}

static void explain(int status, int limit_ms, int out, char *why, size_t bytes)
{
    char line[100];
    first_message(out, line, sizeof line);
    if (status == -1)
        snprintf(why, bytes, "the C compiler took more than %d s",
                 limit_ms / 1000);
    else if (WIFSIGNALED(status))
        snprintf(why, bytes, "the C compiler was ended by signal %d",
                 WTERMSIG(status));
    else
        snprintf(why, bytes, "the C compiler failed with status %d: %s",
                 WEXITSTATUS(status), *line ? line : "no message");
}

static void keep_log(int out, const char *log)
{
    char bytes[4096];
    ssize_t n;
    off_t at = 0;
    FILE *file = fopen(log, "we");
    while (file && (n = pread(out, bytes, sizeof bytes, at)) > 0) {
        fwrite(bytes, 1, (size_t)n, file);
        at += n;
    }
    if (file)
        fclose(file);
}

/* One run. Return: status as of wait_for, or -2: not started. */
static int run_once(const struct sc_build_cc *cc, const char *effort,
                    const char *object, int in, int out)
{
    lseek(in, 0, SEEK_SET);
    lseek(out, 0, SEEK_SET);
    if (ftruncate(out, 0) != 0 || atomic_load(&stopped))
        return -2;
    pid_t pid = spawn(cc, effort, object, in, out);
    if (pid <= 0)
        return -2;
    int slot = note_running(pid);
    if (atomic_load(&stopped)) /* while it started */
        kill(-pid, SIGTERM);
    return wait_for(pid, slot, cc->limit_ms);
}

bool sc_build_cc_run(const struct sc_build_cc *cc, const char *text,
                     const char *object, char *why, size_t why_bytes,
                     const char *log)
{
    int in = memory_file(text), out = memory_file("");
    const char *effort = effort_for(strlen(text));
    int status =
        in >= 0 && out >= 0 ? run_once(cc, effort, object, in, out) : -2;
    if (status == -1) /* late; code without much effort is still faster */
        status = run_once(cc, "-O0", object, in, out);
    if (status == -2)
        snprintf(why, why_bytes, "the C compiler '%.60s' could not be started",
                 cc->argv[0]);
    else if (status != 0)
        explain(status, cc->limit_ms, out, why, why_bytes);
    if (status != 0 && status != -2 && log)
        keep_log(out, log);
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return status == 0;
}
