/*
 * Pictures of the sizes of Fig. 10, read from PNG files, made grey and written
 * again, over links and kernels that take twelve times what the thesis
 * measured for a picture of 1920 x 1080: 89.8 ms for its pixels to the device, 46.8
 * ms for the kernel. So the rest of the program fits beside them on two processors.
 *
 *   call/SIZE     one picture that is in memory, in one piece, until its grey is
 *                 there; against chunks as the library likes them
 *   after/SIZE    the same without fetch: the grey comes when all is computed, as
 *                 in the thesis, which has 1.01 (640x480) to 1.12 (3840x2160)
 *   stream/SIZE   frames a second of the four threads with chunks, against one
 *                 thread that makes unchunked calls
 *   threads/SIZE  the same against four threads with unchunked calls
 *
 * The ratio of each is what chunks, or threads and chunks, gain. Where pictures
 * follow each other the device has several anyway, so chunks add little to
 * threads: what they shorten is the way of one picture.
 *
 * Paper: Parisi, "Optimization of Parallel Computations on Heterogeneous
 *        GPU-Based Systems", 4.5.4, Figs. 9 and 10
 */
#include "bench/micro/bench.h"
#include "bench/micro/device_stats.h"
#include "stream.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 8, LEARN = 6 };

static const struct {
    int width, height;
} sizes[] = {{640, 480},  {800, 600},   {1024, 768},  {1280, 720},
             {1600, 900}, {1920, 1080}, {2560, 1440}, {3840, 2160}};

enum { SIZES = sizeof sizes / sizeof *sizes };

static char folder[] = "/tmp/bench-stream-XXXXXX";
static char paths[MOST_FILES][sizeof folder + 16];
static char *files[MOST_FILES];
static int file_count;
static struct converter converter;

static int remove_one(const char *path, const struct stat *about, int kind,
                      struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

static void clean_up(void)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void stop(const char *what)
{
    fprintf(stderr, "bench_stream: %s\n", what);
    exit(3);
}

static void make_files(int width, int height)
{
    char why[PICTURE_WHY];
    for (int i = 0; i < file_count; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%d.png", folder, i);
        files[i] = paths[i];
        if (!picture_make(paths[i], width, height, (unsigned)i, why))
            stop(why);
    }
}

/* ---- one picture ---------------------------------------------------------------- */

static double call_ms(struct task *task, int chunks, bool fetch)
{
    converter.chunks = chunks;
    converter.fetch = fetch;
    task_load(&converter, task);
    uint64_t began = bench_now();
    task_begin(&converter, task);
    if (!task->failed && !fetch &&
        adsmPrefetch(task->picture.grey, NULL, ADSM_HOST) != ADSM_OK)
        stop(adsmErrorDetail());
    unsigned sum = 0;
    for (long i = 0; !task->failed && i < picture_pixels(&task->picture);
         i += 1024)
        sum += ((volatile unsigned char *)task->picture.grey)[i];
    double ms = (double)(bench_now() - began) / 1e6;
    task_store(&converter, task);
    if (task->failed || sum == 0)
        stop("a picture could not be converted");
    return ms;
}

static void measure_calls(const char *size)
{
    static const char *const names[] = {"after", "call"};
    struct task task = {.path = files[0]};
    char name[64];
    converter.folder = NULL;
    for (int i = 0; i < LEARN; i++)
        (void)call_ms(&task, 0, true);
    for (int fetch = 1; fetch >= 0; fetch--) {
        struct bench_samples left = {.count = 0}, one = {.count = 0};
        for (int r = 0; r < bench_reps(); r++) {
            bench_add(&one, call_ms(&task, 1, fetch));
            bench_add(&left, call_ms(&task, 0, fetch));
        }
        snprintf(name, sizeof name, "%s/%s", names[fetch], size);
        bench_report(name, "ms", &one, "chunks", &left);
    }
    picture_free(&task.picture);
}

/* ---- many ------------------------------------------------------------------------- */

static double frames_per_s(int chunks, bool threads)
{
    converter.chunks = chunks;
    converter.fetch = true;
    converter.folder = folder;
    uint64_t began = bench_now();
    if (stream_run(&converter, files, file_count, threads) != 0)
        stop("not all pictures were converted");
    return file_count * 1e9 / (double)(bench_now() - began);
}

static void measure_stream(const char *size)
{
    struct bench_samples stream = {.count = 0}, alone = {.count = 0};
    struct bench_samples threads = {.count = 0};
    char name[64];
    for (int r = 0; r < (bench_reps() + 2) / 3; r++) {
        bench_add(&alone, frames_per_s(1, false));
        bench_add(&threads, frames_per_s(1, true));
        bench_add(&stream, frames_per_s(0, true));
    }
    snprintf(name, sizeof name, "stream/%s", size);
    bench_report(name, "frames/s", &stream, "one thread, unchunked", &alone);
    snprintf(name, sizeof name, "threads/%s", size);
    bench_report(name, "frames/s", &stream, "four threads, unchunked",
                 &threads);
}

int main(int argc, char **argv)
{
    bench_start(argc, argv, "stream");
    file_count = bench_quick() ? 3 : MOST_FILES;
    setenv("SOFTCUDA_LINK", "92400KB/s", 1);
    setenv("SOFTCUDA_PACE", "44300K/s", 1);
    if (!mkdtemp(folder))
        stop("no folder can be made in /tmp");
    atexit(clean_up);
    converter.devices = 1;
    if (!converter_make(&converter, true))
        exit(3);
    for (int i = 0; i < SIZES; i += bench_quick() ? SIZES - 1 : 1) {
        int w = sizes[i].width, h = sizes[i].height;
        char size[32];
        if (bench_quick() && i > 0) {
            w /= 4;
            h /= 4;
        }
        snprintf(size, sizeof size, "%dx%d", w, h);
        bench_settle();
        make_files(w, h);
        measure_calls(size);
        measure_stream(size);
    }
    converter_free(&converter);
    device_tell_late("stream");
    return 0;
}
