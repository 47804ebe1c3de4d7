/*
 * What the preload library costs a program that never uses a device: from its
 * start to its end, preloaded against bare, alternating.
 *
 *   true     a program that does nothing
 *   sh       a shell that starts one
 *
 * PRELOAD names libadsm-preload.so.
 */
#include "bench.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

enum { RUNS = 20 };

static char *const commands[][4] = {
    {"/bin/true", NULL},
    {"/bin/sh", "-c", "/bin/true; :", NULL},
};
static const char *const names[] = {"true", "sh"};

/* Milliseconds of one run; negative when it cannot be started. */
static double run(char *const *command, char *const *environment)
{
    uint64_t begin = bench_now();
    int status;
    pid_t child;
    if (posix_spawn(&child, command[0], NULL, NULL, command, environment) ||
        waitpid(child, &status, 0) != child || status != 0)
        return -1;
    return (double)(bench_now() - begin) / 1e6;
}

static int compare(size_t which, char *preload)
{
    struct bench_samples bare = {0}, preloaded = {0};
    char *const none[] = {NULL}, *const ours[] = {preload, NULL};
    char name[64];
    for (int i = 0; i < bench_reps(); i++) {
        struct bench_samples a = {0}, b = {0};
        for (int r = 0; r < RUNS; r++) {
            bench_add(&a, run(commands[which], none));
            bench_add(&b, run(commands[which], ours));
        }
        bench_add(&bare, bench_median(&a));
        bench_add(&preloaded, bench_median(&b));
    }
    snprintf(name, sizeof name, "startup/%s", names[which]);
    bench_report(name, "ms", &preloaded, "bare", &bare);
    return bench_median(&bare) > 0 && bench_median(&preloaded) > 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    static char preload[4200];
    bench_start(argc, argv, "startup");
    if (!getenv("PRELOAD")) {
        fprintf(stderr, "bench_startup: set PRELOAD to libadsm-preload.so\n");
        return 77;
    }
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", getenv("PRELOAD"));
    bench_settle();
    int failed = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        failed |= compare(i, preload);
    return failed;
}
