/*
 * The programs of programs.h under rolling at each block size, over the same in C
 * on plain memory: processor time of all processes, and time, allocations
 * included.
 *
 * BEFORE=FOLDER, the build folder of an older library, has every cell run by that
 * one as well, in turns, and printed over it. Each run is a process of its own.
 * Before what is measured the kernels have been translated.
 */
#include "bench.h"
#include "programs.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { BLOCKS = 6, DEVICES_MOST = 8 };
static const char *const blocks[BLOCKS] = {"4K",   "64K", "256K",
                                           "512K", "1M",  "2M"};

/* ---- on plain memory ------------------------------------------------------- */

static float *array(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        exit(1);
    return p;
}

static double sum_of_vectors(size_t count)
{
    float *a = array(count * sizeof *a), *b = array(count * sizeof *a);
    float *c = array(count * sizeof *a);
    double right = 0;
    for (size_t i = 0; i < count; i++)
        a[i] = (float)(i & 1023);
    for (size_t i = 0; i < count; i++)
        b[i] = 1024.0f - (float)(i & 1023);
    for (size_t i = 0; i < count; i++)
        c[i] = a[i] + b[i];
    for (size_t i = 0; i < count; i++)
        right += c[i] == 1024.0f;
    munmap(a, count * sizeof *a);
    munmap(b, count * sizeof *a);
    munmap(c, count * sizeof *a);
    return right;
}

static void step(const float *restrict a, float *restrict b, size_t n)
{
    for (size_t y = 1; y < n - 1; y++)
        for (size_t x = 1; x < n - 1; x++) {
            const float *at = a + y * n + x;
            b[y * n + x] = ((at[-1] + at[1]) + (at[-n] + at[n])) * 0.25f;
        }
}

static double steps_of_stencil(size_t n)
{
    float *a = array(n * n * sizeof *a), *b = array(n * n * sizeof *a);
    double sum = 0;
    for (size_t i = 0; i < n * n; i++)
        a[i] = b[i] = i < n ? 1.0f : 0.0f;
    for (int i = 0; i < PROGRAM_STEPS; i++)
        step(i & 1 ? b : a, i & 1 ? a : b, n);
    for (size_t i = n; i < n * n; i++)
        sum += (PROGRAM_STEPS & 1 ? b : a)[i];
    munmap(a, n * n * sizeof *a);
    munmap(b, n * n * sizeof *a);
    return sum;
}

static void run_plain(const char *name)
{
    size_t n = program_elements(name);
    if (!((strcmp(name, "vecsum") == 0 ? sum_of_vectors(n)
                                       : steps_of_stencil(n)) > 0))
        exit(1);
}

/* ---- time ------------------------------------------------------------------ */

/* Of this process and of its children, the devices. */
static struct {
    clockid_t clocks[DEVICES_MOST + 1];
    int count;
} used;

static bool is_child(const char *pid)
{
    char path[64], line[512] = "";
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    if (!fgets(line, sizeof line, file))
        *line = 0;
    fclose(file);
    const char *behind = strrchr(line, ')');
    return behind && sscanf(behind + 1, " %*c %d", &parent) == 1 &&
           parent == getpid();
}

static void find_clocks(void)
{
    DIR *processes = opendir("/proc");
    struct dirent *entry;
    used.clocks[used.count++] = CLOCK_PROCESS_CPUTIME_ID;
    while (processes && (entry = readdir(processes)))
        if (isdigit(entry->d_name[0]) && is_child(entry->d_name) &&
            used.count <= DEVICES_MOST &&
            clock_getcpuclockid(atoi(entry->d_name),
                                &used.clocks[used.count]) == 0)
            used.count++;
    if (processes)
        closedir(processes);
}

static double used_ms(void)
{
    double all = 0;
    for (int i = 0; i < used.count; i++) {
        struct timespec t;
        if (clock_gettime(used.clocks[i], &t) == 0)
            all += (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
    }
    return all;
}

static int measured(const char *name, bool plain)
{
    /* A device's process leaves the one that starts it, and comes here. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!plain)
        program_run(name, true);
    find_clocks();
    uint64_t begin = bench_now();
    double before = used_ms();
    if (plain)
        run_plain(name);
    else
        program_run(name, false);
    printf("%.3f %.3f\n", used_ms() - before,
           (double)(bench_now() - begin) / 1e6);
    return 0;
}

/* ---- cells ----------------------------------------------------------------- */

struct both {
    struct bench_samples used, time;
};

static void ask(struct both *into, const char *name, const char *how,
                const char *libraries, const char *block)
{
    char settings[4096], words[64];
    double values[2];
    snprintf(settings, sizeof settings,
             "%s SOFTCUDA_NATIVE=wait ADSM_PROTOCOL=rolling ADSM_BLOCK_SIZE=%s",
             libraries, block);
    snprintf(words, sizeof words, "%s %s %s", how, name,
             bench_quick() ? "--quick" : "--reps=1");
    if (bench_ask_more(settings, words, values, 2) && into) {
        bench_add(&into->used, values[0]);
        bench_add(&into->time, values[1]);
    }
}

static void report(const char *name, const char *block, const struct both *is,
                   const struct both *plain)
{
    char label[64];
    snprintf(label, sizeof label, "%s/%s/processor", name, block);
    bench_report(label, "ms", &is->used, "plain memory", &plain->used);
    snprintf(label, sizeof label, "%s/%s/time", name, block);
    bench_report(label, "ms", &is->time, "plain memory", &plain->time);
}

/* Round by round: a slow one was slow for both. */
static void report_over(const char *name, const char *block, const char *what,
                        const struct bench_samples *is,
                        const struct bench_samples *older)
{
    struct bench_samples over = {0};
    char label[64];
    if (is->count != older->count)
        return;
    for (int i = 0; i < is->count; i++)
        bench_add(&over, is->value[i] / older->value[i]);
    snprintf(label, sizeof label, "%s/%s/%s over before", name, block, what);
    bench_report(label, "x", &over, NULL, NULL);
}

static int compare(const char *name, const char *before)
{
    static struct both plain, ours[BLOCKS], older[BLOCKS];
    memset(&plain, 0, sizeof plain);
    memset(ours, 0, sizeof ours);
    memset(older, 0, sizeof older);
    ask(NULL, name, "ours", "", blocks[0]); /* native code is kept in files */
    for (int i = 0; i < bench_reps(); i++) {
        ask(&plain, name, "plain", "", blocks[0]);
        for (int b = 0; b < BLOCKS; b++) {
            ask(&ours[b], name, "ours", "", blocks[b]);
            if (*before)
                ask(&older[b], name, "ours", before, blocks[b]);
        }
    }
    int good = plain.used.count == bench_reps();
    for (int b = 0; b < BLOCKS; b++) {
        good = good && ours[b].used.count == bench_reps();
        report(name, blocks[b], &ours[b], &plain);
        if (!*before)
            continue;
        report_over(name, blocks[b], "processor", &ours[b].used,
                    &older[b].used);
        report_over(name, blocks[b], "time", &ours[b].time, &older[b].time);
    }
    return !good;
}

int main(int argc, char **argv)
{
    char libraries[2048] = "";
    const char *before = getenv("BEFORE");
    if (argc > 3) {
        bench_start(argc - 2, argv + 2, "whole");
        return measured(argv[2], strcmp(argv[1], "plain") == 0);
    }
    bench_start(argc, argv, "whole");
    bench_settle();
    if (before)
        snprintf(libraries, sizeof libraries,
                 "LD_LIBRARY_PATH='%s/libadsm:%s/tools/softcuda'", before,
                 before);
    return compare("vecsum", libraries) | compare("stencil", libraries);
}
