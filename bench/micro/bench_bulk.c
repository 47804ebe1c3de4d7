/*
 * What the preload library costs memcpy on memory it has nothing to do with:
 * nanoseconds per call, preloaded against bare, in children that alternate.
 *
 *   idle     nothing is shared, the runtime was never brought up
 *   serving  shared objects exist
 *
 * PRELOAD names libadsm-preload.so. A child is this program again, as
 * `bench_bulk --child <bytes> <calls> idle|serving`.
 */
#include "bench.h"
#include "serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 5, WORK_BYTES = 64 << 20, CALLS_MOST = 2000000 };

/* ---- the child ----------------------------------------------------------- */

/* The fastest of a few rounds: others only ever make it slower. */
static double measure(size_t bytes, long calls)
{
    char *to = malloc(bytes + 64), *from = malloc(bytes + 64);
    void *(*volatile copy)(void *, const void *, size_t) = memcpy;
    double best = 1e18;
    memset(to, 1, bytes + 64);
    memset(from, 2, bytes + 64);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t begin = bench_now();
        for (long i = 0; i < calls; i++)
            copy(to + (i & 7) * 8, from, bytes);
        double ns = (double)(bench_now() - begin) / (double)calls;
        best = ns < best ? ns : best;
    }
    free(to);
    free(from);
    return best;
}

static int child(char **argv)
{
    size_t bytes = strtoull(argv[2], NULL, 10);
    long calls = strtol(argv[3], NULL, 10);
    if (strcmp(argv[4], "serving") == 0)
        (void)serve(8 << 20);
    printf("%.4f\n", measure(bytes, calls));
    return 0;
}

/* ---- the parent ---------------------------------------------------------- */

/* One child's figure; negative when it could not run. */
static double ask(size_t bytes, const char *mode, const char *preload)
{
    char settings[4200] = "", words[64];
    long calls = (long)(WORK_BYTES / (bytes + 32));
    if (calls > CALLS_MOST)
        calls = CALLS_MOST;
    if (preload)
        snprintf(settings, sizeof settings, "LD_PRELOAD='%s'", preload);
    snprintf(words, sizeof words, "--child %zu %ld %s", bytes,
             calls / (bench_quick() ? 10 : 1), mode);
    return bench_ask(settings, words);
}

static int compare(size_t bytes, const char *mode)
{
    struct bench_samples bare = {0}, preloaded = {0};
    const char *preload = getenv("PRELOAD");
    char name[64];
    for (int rep = 0; rep < bench_reps(); rep++) {
        double a = ask(bytes, mode, NULL);
        double b = ask(bytes, mode, preload);
        if (a < 0 || b < 0)
            return -1;
        bench_add(&bare, a);
        bench_add(&preloaded, b);
    }
    snprintf(name, sizeof name, "memcpy/%zu/%s", bytes, mode);
    bench_report(name, "ns", &preloaded, "bare", &bare);
    return 0;
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {8,     64,    512,    4096,
                                   16384, 65536, 262144, 1048576};
    static const char *const modes[] = {"idle", "serving"};
    if (argc == 5 && strcmp(argv[1], "--child") == 0)
        return child(argv);
    bench_start(argc, argv, "bulk");
    if (!getenv("PRELOAD")) {
        fprintf(stderr, "bench_bulk: set PRELOAD to libadsm-preload.so\n");
        return 77;
    }
    for (size_t m = 0; m < 2; m++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            if (compare(sizes[i], modes[m]) != 0) {
                fprintf(stderr, "bench_bulk: no driver for \"%s\"\n", modes[m]);
                return 77;
            }
    return 0;
}
