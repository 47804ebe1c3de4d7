/*
 * gpu-probe: asks a CUDA driver the questions on which sharing addresses
 * between CPU and device depends.
 *
 * Owns the list of probes, the process each runs in, and what is printed. A
 * probe that crashes, hangs or breaks its context costs its own answers only:
 * this process never opens the driver.
 */
#include "probe.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_OTHERWISE = 1, EXIT_USAGE = 2, EXIT_NO_DEVICE = 77 };

static const struct probe {
    const char *name;
    void (*run)(void);
} probes[] = {
    /* The first tells whether there is a device at all. */
    {"driver", probe_driver},
    {"window", probe_window},
    {"overlay", probe_overlay},
    {"overlay-large", probe_overlay_large},
    {"small", probe_small},
    {"register", probe_register},
    {"host-pointer", probe_host_pointer},
    {"pageable", probe_pageable},
    {"pageable-overlay", probe_pageable_overlay},
    {"entries", probe_entries},
    {"managed", probe_managed},
    {"attributes", probe_attributes},
    {"pool", probe_pool},
    {"mapped", probe_mapped},
    {"variable", probe_variable},
    {"chunk", probe_chunk},
    {"free", probe_free},
    {"reset", probe_reset},
    {"timing", probe_timing},
};
#define PROBES (sizeof probes / sizeof *probes)

/* Shared with the child, whose last words may be the question. */
static struct {
    char question[160], expected[80]; /* "": libadsm needs no answer */
    bool answered;
    int otherwise;
} * asked;

static const struct probe *current;
static bool as_table;
static double limit_s = 20;

static void print_string(char before, const char *key, const char *text)
{
    printf("%c\"%s\":\"", before, key);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if (*p == '"' || *p == '\\')
            printf("\\%c", *p);
        else if (*p < 0x20 || *p > 0x7e)
            printf("\\u%04x", *p);
        else
            putchar(*p);
    putchar('"');
}

static void print_answer(const char *text, bool good, const char *detail)
{
    const char *expected = *asked->expected ? asked->expected : "none";
    if (as_table) {
        printf("%-16s %-4s %s %s", current->name, good ? "" : "BAD",
               asked->question, text);
        if (!good)
            printf(" (expected: %s)", expected);
        printf("%s%s\n", *detail ? "; " : "", detail);
    } else {
        print_string('{', "probe", current->name);
        print_string(',', "question", asked->question);
        print_string(',', "answer", text);
        print_string(',', "expected", expected);
        printf(",\"good\":%s", good ? "true" : "false");
        print_string(',', "detail", detail);
        puts("}");
    }
    fflush(stdout);
    asked->otherwise += !good;
    asked->answered = true;
}

void ask(const char *question, const char *expected)
{
    snprintf(asked->question, sizeof asked->question, "%s", question);
    snprintf(asked->expected, sizeof asked->expected, "%s",
             expected ? expected : "");
    asked->answered = false;
}

bool answer(const char *text, const char *detail, ...)
{
    char words[400];
    va_list list;
    va_start(list, detail);
    vsnprintf(words, sizeof words, detail, list);
    va_end(list);
    bool good = !*asked->expected || strcmp(asked->expected, text) == 0;
    print_answer(text, good, words);
    return true;
}

bool did(int result, const char *symbol)
{
    if (result != 0)
        answer(driver_error(result), "%s", symbol);
    return result == 0;
}

/* The child. */
static void run(const struct probe *probe)
{
    ask("can the driver be opened?", "yes");
    const char *why = driver_open();
    if (why && probe == probes) {
        fprintf(stderr, "gpu-probe: no CUDA device can be used: %s\n", why);
        _exit(EXIT_NO_DEVICE);
    }
    if (why) {
        answer_if(false, "%s", why);
        _exit(0);
    }
    probe->run();
    /* The driver's own exit handlers find the addresses as they are. */
    ask("does the driver shut down at exit?", "yes");
    exit(0);
}

double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* Whether the child ended in time. */
static bool await(pid_t child, int *status, double seconds)
{
    double end = now_ms() + seconds * 1e3;
    while (waitpid(child, status, WNOHANG) == 0) {
        if (now_ms() > end)
            return false;
        usleep(2000);
    }
    return true;
}

/* A probe that did not come to its end: never a good answer. */
static void report_end(const char *text)
{
    print_answer(text, false, asked->answered ? "after the last answer" : "");
}

static void report_status(int status)
{
    char text[80];
    if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "died of SIG%s",
                 sigabbrev_np(WTERMSIG(status)));
    else
        snprintf(text, sizeof text, "ended with %d", WEXITSTATUS(status));
    if (status != 0)
        report_end(text);
}

/* Return: false: there is no device, which the child has said. */
static bool run_apart(const struct probe *probe)
{
    int status = 0;
    char text[80];
    current = probe;
    ask("can a process be made?", "yes");
    pid_t child = fork();
    if (child == 0)
        run(probe);
    if (child < 0)
        return answer("no", "fork: %s", strerror(errno));
    if (await(child, &status, limit_s)) {
        if (probe == probes && WIFEXITED(status) &&
            WEXITSTATUS(status) == EXIT_NO_DEVICE)
            return false;
        report_status(status);
        return true;
    }
    kill(child, SIGKILL);
    /* In a call of the kernel's it may not even die. */
    bool dead = await(child, &status, 5);
    snprintf(text, sizeof text, "no answer within %g s%s", limit_s,
             dead ? "" : ", and it cannot be killed");
    report_end(text);
    return true;
}

static int usage(void)
{
    puts("usage: gpu-probe [--table] [--limit SECONDS] [probe ...]\n"
         "\n"
         "Asks the CUDA driver what libadsm relies on: one JSON object per\n"
         "line, or with --table a line of text. Each probe has SECONDS (20).\n"
         "Exit status: 0 all answers are as libadsm needs them, 1 one is\n"
         "not, 2 wrong arguments, 77 there is no device. Probes:");
    for (size_t i = 0; i < PROBES; i++)
        printf(" %s", probes[i].name);
    puts("");
    return 0;
}

static int refuse(const char *what, const char *word)
{
    fprintf(stderr, "gpu-probe: %s '%s'; see --help\n", what, word);
    return EXIT_USAGE;
}

/* Probes that are named, or all; 0, or the status to end with. */
static int parse(int argc, char **argv, bool *wanted)
{
    bool some = false;
    for (int i = 1; i < argc; i++) {
        size_t p = 0;
        char *end = NULL;
        if (strcmp(argv[i], "--table") == 0) {
            as_table = true;
            continue;
        }
        if (strcmp(argv[i], "--limit") == 0 && i + 1 < argc) {
            limit_s = strtod(argv[++i], &end);
            if (*end || end == argv[i] || !(limit_s > 0))
                return refuse("not a time:", argv[i]);
            continue;
        }
        while (p < PROBES && strcmp(argv[i], probes[p].name) != 0)
            p++;
        if (p == PROBES)
            return refuse("unknown argument", argv[i]);
        wanted[p] = some = true;
    }
    for (size_t p = 0; !some && p < PROBES; p++)
        wanted[p] = true;
    return 0;
}

int main(int argc, char **argv)
{
    bool wanted[PROBES] = {true}; /* the first always */
    const char *preloaded = getenv("LD_PRELOAD");
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return usage();
    int status = parse(argc, argv, wanted);
    if (status != 0)
        return status;
    if (preloaded && strstr(preloaded, "libadsm-preload")) {
        fputs("gpu-probe: asks the driver itself: run it without "
              "libadsm-preload in LD_PRELOAD\n",
              stderr);
        return EXIT_USAGE;
    }
    asked = mmap(NULL, sizeof *asked, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (asked == MAP_FAILED)
        return EXIT_OTHERWISE;
    for (size_t p = 0; p < PROBES; p++)
        if (wanted[p] && !run_apart(&probes[p]))
            return EXIT_NO_DEVICE;
    return asked->otherwise ? EXIT_OTHERWISE : 0;
}
