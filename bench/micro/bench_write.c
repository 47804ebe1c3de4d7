/*
 * Sequential CPU write of a large object under rolling-update, blocks of the
 * default size, against a plain memset of touched memory of the same size.
 *
 * The object's blocks are READ_ONLY before each repetition, so every block is
 * opened once and is written back by the adaptive rolling size while the CPU
 * goes on. `processor-time` is what the writing thread itself takes of that, on
 * both sides, which says more where other programs run. `until-sent` adds the
 * time until the device has everything; its peer writes plain memory first and
 * uploads it in one piece afterwards. `two-threads` write a half each, and so
 * does its peer. `first-touch` is the same write of memory that nobody has used
 * before, by one thread or by two; its peer is a memory file. Both sides of
 * ADSM_HUGE_PAGES are to be run in turn.
 *
 * `-kept` says the same where no call comes between: then what was written back
 * comes back before one, the rolling size grows, and all is sent at the end.
 *
 * What is sent meanwhile takes a processor and the memory's time from whoever
 * writes, and would without the runtime, too. So `-beside` says the same with
 * the peers writing beside a thread that copies what they have written, 2 MiB at
 * a time, which is what an upload is on a device in software.
 */
#include "accel/fence.h"
#include "accel/pinned.h"
#include "adsm.h"
#include "bench.h"
#include "init.h"
#include "mm/doors/boundary.h"
#include "mm/object/index.h"
#include "mm/state/dirty.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static void settle(uint8_t *p, size_t bytes, bool call)
{
    struct adsm_accel *accel = adsm_index_find(p)->home;
    if (adsm_boundary_device_read(p, bytes, adsm_accel_launch_stream(accel)) ||
        adsm_dma_drain(accel))
        exit(1);
    if (call)
        adsm_dirty_called();
}

static double processor_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Return: milliseconds; *processor gets those of this thread's. */
static double write_ms(uint8_t *p, size_t bytes, int value, double *processor)
{
    double began = processor_ms();
    uint64_t start = bench_now();
    memset(p, value, bytes);
    double ms = (double)(bench_now() - start) / 1e6;
    *processor = processor_ms() - began;
    return ms;
}

/* What a thread writes, and how far it has come where another copies that. */
struct half {
    uint8_t *p;
    size_t bytes;
    int value;
    uint8_t *copy; /* NULL: nobody does */
    _Atomic size_t written;
};

enum { PIECE = 2 << 20 };

static void *write_half(void *argument)
{
    struct half *half = argument;
    if (!half->copy)
        memset(half->p, half->value, half->bytes);
    else
        for (size_t at = 0; at < half->bytes; at += PIECE) {
            memset(half->p + at, half->value, PIECE);
            atomic_store(&half->written, at + PIECE);
        }
    return NULL;
}

static void *copy_halves(void *argument)
{
    struct half *half = argument;
    size_t done[2] = {0};
    while (done[0] < half[0].bytes || done[1] < half[1].bytes) {
        bool any = false;
        for (int i = 0; i < 2; i++)
            if (done[i] < atomic_load(&half[i].written)) {
                memcpy(half[i].copy + done[i], half[i].p + done[i], PIECE);
                done[i] += PIECE;
                any = true;
            }
        if (!any)
            sched_yield();
    }
    return NULL;
}

/* Milliseconds until one thread, or two, have written all of it, which another
 * copies meanwhile. */
static double write_beside_ms(uint8_t *p, uint8_t *copy, size_t bytes,
                              int value, bool two)
{
    size_t first = two ? bytes / 2 : bytes;
    struct half halves[2] = {
        {p, first, value, copy, 0},
        {p + first, bytes - first, value, copy + first, 0}};
    pthread_t copier, writer;
    if (pthread_create(&copier, NULL, copy_halves, halves) != 0)
        exit(1);
    uint64_t start = bench_now();
    if (two && pthread_create(&writer, NULL, write_half, &halves[1]) != 0)
        exit(1);
    write_half(&halves[0]);
    if (two)
        pthread_join(writer, NULL);
    double ms = (double)(bench_now() - start) / 1e6;
    pthread_join(copier, NULL);
    return ms;
}

static double write_by_two_ms(uint8_t *p, size_t bytes, int value)
{
    struct half other = {p + bytes / 2, bytes / 2, value, NULL, 0};
    pthread_t thread;
    uint64_t start = bench_now();
    if (pthread_create(&thread, NULL, write_half, &other) != 0)
        exit(1);
    memset(p, value, bytes / 2);
    pthread_join(thread, NULL);
    return (double)(bench_now() - start) / 1e6;
}

/* Each begins with the caches full of something else: what the one before has
 * written would be written again in less time. */
static void leave_caches(uint8_t *copy, size_t bytes)
{
    memset(copy, 1, bytes);
}

/* What a program without the runtime does: produce, then upload, pinned. */
static double write_then_upload_ms(uint8_t *p, uint8_t *plain, size_t bytes,
                                   int value)
{
    struct adsm_object *object = adsm_index_find(p);
    struct adsm_fence done;
    uint64_t start = bench_now();
    memset(plain, value, bytes);
    if (adsm_dma_upload(object->home, object->device, plain, bytes,
                        (struct adsm_fence){0}, &done, ADSM_CAUSE(trial)) ||
        adsm_dma_drain(object->home))
        exit(1);
    return (double)(bench_now() - start) / 1e6;
}

static void report(const char *what, const char *kind, size_t bytes,
                   const struct bench_samples *ours, const char *against,
                   const struct bench_samples *peer)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s/%zuMiB", what, kind, bytes >> 20);
    bench_report(name, "ms", ours, against, peer);
}

/* @calls  whether one comes after each repetition, as where a kernel runs */
static void measure_touched(uint8_t *p, uint8_t *plain, uint8_t *copy,
                            size_t bytes, bool calls)
{
    struct bench_samples ours = {0}, sent = {0}, peer = {0}, serial = {0},
                         own = {0}, its = {0}, two = {0}, both = {0},
                         beside = {0}, both_beside = {0};
    const char *kind = calls ? "" : "-kept";
    double processor;
    for (int i = -1; i < bench_reps(); i++) {
        leave_caches(copy, bytes);
        double ms = write_ms(plain, bytes, i, &processor);
        if (i < 0) { /* the first one touches */
            write_ms(p, bytes, i, &processor);
            settle(p, bytes, calls);
            continue;
        }
        bench_add(&peer, ms);
        bench_add(&its, processor);
        leave_caches(copy, bytes);
        bench_add(&serial, write_then_upload_ms(p, plain, bytes, i));
        leave_caches(copy, bytes);
        uint64_t start = bench_now();
        bench_add(&ours, write_ms(p, bytes, i, &processor));
        settle(p, bytes, calls);
        bench_add(&sent, (double)(bench_now() - start) / 1e6);
        bench_add(&own, processor);
        bench_add(&beside, write_beside_ms(plain, copy, bytes, i, false));
        bench_add(&both_beside, write_beside_ms(plain, copy, bytes, i, true));
        leave_caches(copy, bytes);
        bench_add(&both, write_by_two_ms(plain, bytes, i));
        leave_caches(copy, bytes);
        bench_add(&two, write_by_two_ms(p, bytes, i));
        settle(p, bytes, calls);
    }
    report("rolling", kind, bytes, &ours, "memset of touched memory", &peer);
    report("rolling-beside", kind, bytes, &ours, "memset beside a copy",
           &beside);
    report("processor-time", kind, bytes, &own, "memset of touched memory",
           &its);
    report("until-sent", kind, bytes, &sent, "memset, then one upload",
           &serial);
    report("two-threads", kind, bytes, &two, "two on touched memory", &both);
    report("two-threads-beside", kind, bytes, &two, "two beside a copy",
           &both_beside);
}

/* Memory that nobody has used, as a peer of what adsmAlloc gives. */
static uint8_t *map_file(size_t bytes)
{
    int fd = memfd_create("peer", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
        exit(1);
    uint8_t *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (p == MAP_FAILED)
        exit(1);
    return p;
}

enum touch { ALONE, BESIDE, BY_TWO };

/* @copy  where another thread copies it meanwhile, if BESIDE */
static double touch_ms(uint8_t *p, size_t bytes, enum touch how, uint8_t *copy,
                       double *processor)
{
    if (how == BESIDE)
        return write_beside_ms(p, copy, bytes, 1, false);
    return how == BY_TWO ? write_by_two_ms(p, bytes, 1)
                         : write_ms(p, bytes, 1, processor);
}

static double first_touch_of_file_ms(size_t bytes, enum touch how,
                                     uint8_t *copy, double *processor)
{
    uint8_t *p = map_file(bytes);
    double ms = touch_ms(p, bytes, how, copy, processor);
    munmap(p, bytes);
    return ms;
}

static double first_touch_ms(size_t bytes, enum touch how, double *processor)
{
    uint8_t *p = adsmAlloc(bytes);
    if (!p)
        exit(1);
    double ms = touch_ms(p, bytes, how, NULL, processor);
    if (adsmFree(p) != ADSM_OK)
        exit(1);
    return ms;
}

static void measure_first_touch(uint8_t *copy, size_t bytes)
{
    struct bench_samples ours = {0}, peer = {0}, own = {0}, its = {0},
                         beside = {0}, two = {0}, both = {0};
    double cpu;
    for (int i = 0; i < bench_reps(); i++) {
        bench_add(&peer, first_touch_of_file_ms(bytes, ALONE, NULL, &cpu));
        bench_add(&its, cpu);
        bench_add(&beside, first_touch_of_file_ms(bytes, BESIDE, copy, NULL));
        bench_add(&ours, first_touch_ms(bytes, ALONE, &cpu));
        bench_add(&own, cpu);
        bench_add(&both, first_touch_of_file_ms(bytes, BY_TWO, NULL, NULL));
        bench_add(&two, first_touch_ms(bytes, BY_TWO, NULL));
    }
    report("first-touch", "", bytes, &ours, "first touch of a memory file",
           &peer);
    report("first-touch-beside", "", bytes, &ours, "the same beside a copy",
           &beside);
    report("first-touch-processor-time", "", bytes, &own,
           "first touch of a memory file", &its);
    report("first-touch-two-threads", "", bytes, &two, "two, of a memory file",
           &both);
}

int main(int argc, char **argv)
{
    bench_start(argc, argv, "write");
    size_t bytes = bench_quick() ? 32 << 20 : 256 << 20;
    setenv("SOFTCUDA_MEMORY", "1G", 0);
    setenv("ADSM_PROTOCOL", "rolling", 1);
    uint8_t *p = adsmAlloc(bytes);
    uint8_t *plain = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint8_t *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!p || plain == MAP_FAILED || copy == MAP_FAILED) {
        fprintf(stderr, "bench_write: %s\n", adsmErrorDetail());
        return 1;
    }
    adsm_pin(adsm_index_find(p)->home, plain, bytes);
    memset(copy, 1, bytes);
    bench_settle();
    measure_touched(p, plain, copy, bytes, true);
    measure_touched(p, plain, copy, bytes, false);
    measure_first_touch(copy, bytes / 2);
    return 0;
}
