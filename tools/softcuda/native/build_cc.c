/*
 * Owns: finding the compiler, its flags, what its runs mean.
 * Does not own: its processes (build_child.c), objects (build_object.c).
 * Lock: none, see build_cc.h.
 *
 * Text goes in through a memory file: nothing is left behind when the
 * process is killed, and no pipe has to be emptied meanwhile.
 */
#include "native/build_cc.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#define MAX_RUNNING 16

/* Compilers take more than twice the time for twice the text: from here on
 * they get less to do. */
#define LARGE_TEXT ((size_t)1 << 20)
#define HUGE_TEXT  ((size_t)4 << 20)

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
    cc->limits = options->limits;
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

bool sc_build_cc_has_least(const char *text)
{
    return strlen(text) > HUGE_TEXT;
}

static bool start(const struct sc_build_cc *cc, const char *effort,
                  const char *object, int in, int out,
                  struct sc_build_child *child)
{
    char path[PATH_MAX], *argv[SC_BUILD_CC_WORDS + 8];
    if (!find_program(cc->argv[0], path))
        return false;
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
    return sc_build_child_start(child, path, argv, in, out, &cc->limits);
}

static int note_running(pid_t keeper)
{
    for (int i = 0; i < MAX_RUNNING; i++) {
        pid_t none = 0;
        if (atomic_compare_exchange_strong(&running[i], &none, keeper))
            return i;
    }
    return -1;
}

void sc_build_cc_stop(void)
{
    atomic_store(&stopped, true);
    for (int i = 0; i < MAX_RUNNING; i++) {
        pid_t keeper = atomic_load(&running[i]);
        if (keeper > 0)
            sc_build_child_end(keeper);
    }
}

bool sc_build_cc_is_stopped(void)
{
    return atomic_load(&stopped);
}

/* The first line with an error in it, else the first line. */
static const char *first_message(const char *all)
{
    const char *at = strstr(all, "error: ");
    return at ? at + 7 : all;
}

/* Compilers say in many ways that an allocation failed. */
static bool is_short_of_memory(const struct sc_build_limits *limits,
                               const struct sc_build_report *report,
                               const char *said)
{
    return report->peak_bytes > limits->memory_bytes / 4 &&
           (strcasestr(said, "memory") || strstr(said, "bad_alloc"));
}

/* The system counts the time it limits by the tick, so it may report a good deal
 * less; and which pass was ended for it, only the compiler's driver knows. */
static bool is_out_of_time(const struct sc_build_limits *limits,
                           const struct sc_build_report *report)
{
    return (WIFSIGNALED(report->status) &&
            WTERMSIG(report->status) == SIGXCPU) ||
           report->cpu_ms >= limits->cpu_s * 1000ull / 2;
}

/* Return: whether it was more than the limits give; `why` says of what. */
static bool is_over(const struct sc_build_limits *limits,
                    const struct sc_build_report *report, const char *said,
                    char *why, size_t bytes)
{
    if (is_out_of_time(limits, report))
        snprintf(why, bytes,
                 "the C compiler took more than %u s of processor time",
                 limits->cpu_s);
    else if (is_short_of_memory(limits, report, said))
        snprintf(why, bytes, "the C compiler needs more than %llu MiB",
                 (unsigned long long)limits->memory_bytes >> 20);
    else
        return false;
    return true;
}

static enum sc_build_cc_end judge(const struct sc_build_limits *limits,
                                  const struct sc_build_report *report, int out,
                                  char *why, size_t bytes)
{
    char said[4096];
    int status = report->status;
    if (status == 0 && !report->late)
        return SC_BUILD_CC_DONE;
    ssize_t n = pread(out, said, sizeof said - 1, 0);
    said[n > 0 ? n : 0] = '\0';
    if (!report->asked && is_over(limits, report, said, why, bytes))
        return SC_BUILD_CC_OVER;
    const char *line = first_message(said);
    int length = (int)strcspn(line, "\n");
    if (report->late && !report->asked) {
        snprintf(why, bytes, "the C compiler took more than %u s",
                 limits->clock_ms / 1000);
        return SC_BUILD_CC_LATE;
    }
    if (WIFSIGNALED(status))
        snprintf(why, bytes, "the C compiler was ended by signal %d",
                 WTERMSIG(status));
    else
        snprintf(why, bytes, "the C compiler failed with status %d: %.*s",
                 WEXITSTATUS(status), length ? length : 10,
                 length ? line : "no message");
    return SC_BUILD_CC_FAILED;
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

/* One run. Return: whether it was started, and `report` is set. */
static bool run_once(const struct sc_build_cc *cc, const char *effort,
                     const char *object, int in, int out,
                     struct sc_build_report *report)
{
    struct sc_build_child child;
    if (in < 0 || out < 0 || atomic_load(&stopped) ||
        !start(cc, effort, object, in, out, &child))
        return false;
    int slot = note_running(child.keeper);
    if (atomic_load(&stopped)) /* while it started */
        sc_build_child_end(child.keeper);
    sc_build_child_wait(&child);
    if (slot >= 0) /* before the process id may be used again */
        atomic_store(&running[slot], 0);
    *report = sc_build_child_reap(&child);
    return report->started;
}

enum sc_build_cc_end sc_build_cc_run(const struct sc_build_cc *cc, bool least,
                                     const char *text, const char *object,
                                     char *why, size_t why_bytes,
                                     const char *log)
{
    int in = memory_file(text), out = memory_file("");
    const char *effort = least ? "-O0" : effort_for(strlen(text));
    enum sc_build_cc_end end = SC_BUILD_CC_FAILED;
    struct sc_build_report report;
    if (run_once(cc, effort, object, in, out, &report)) {
        end = judge(&cc->limits, &report, out, why, why_bytes);
        if (end != SC_BUILD_CC_DONE && log)
            keep_log(out, log);
    } else {
        snprintf(why, why_bytes, "the C compiler '%.60s' could not be started",
                 cc->argv[0]);
    }
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return end;
}
