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
 * before; its peer is a memory file. Both sides of ADSM_HUGE_PAGES are to be
 * run in turn.
 */
#include "adsm.h"
#include "bench.h"
#include "init.h"
#include "mm/boundary.h"
#include "mm/index.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static void settle(uint8_t *p, size_t bytes)
{
    struct adsm_accel *accel = adsm_index_find(p)->home;
    if (adsm_boundary_device_read(p, bytes, adsm_accel_launch_stream(accel)) ||
        adsm_dma_drain(accel))
        exit(1);
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

struct half {
    uint8_t *p;
    size_t bytes;
    int value;
};

static void *write_half(void *argument)
{
    struct half *half = argument;
    memset(half->p, half->value, half->bytes);
    return NULL;
}

static double write_by_two_ms(uint8_t *p, size_t bytes, int value)
{
    struct half other = {p + bytes / 2, bytes / 2, value};
    pthread_t thread;
    uint64_t start = bench_now();
    if (pthread_create(&thread, NULL, write_half, &other) != 0)
        exit(1);
    memset(p, value, bytes / 2);
    pthread_join(thread, NULL);
    return (double)(bench_now() - start) / 1e6;
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
                        (struct adsm_fence){0}, &done) ||
        adsm_dma_drain(object->home))
        exit(1);
    return (double)(bench_now() - start) / 1e6;
}

static void measure_touched(uint8_t *p, uint8_t *plain, size_t bytes)
{
    struct bench_samples ours = {0}, sent = {0}, peer = {0}, serial = {0},
                         own = {0}, its = {0}, two = {0}, both = {0};
    char name[64];
    double processor;
    for (int i = -1; i < bench_reps(); i++) {
        double ms = write_ms(plain, bytes, i, &processor);
        if (i < 0) { /* the first one touches */
            write_ms(p, bytes, i, &processor);
            settle(p, bytes);
            continue;
        }
        bench_add(&peer, ms);
        bench_add(&its, processor);
        bench_add(&serial, write_then_upload_ms(p, plain, bytes, i));
        uint64_t start = bench_now();
        bench_add(&ours, write_ms(p, bytes, i, &processor));
        settle(p, bytes);
        bench_add(&sent, (double)(bench_now() - start) / 1e6);
        bench_add(&own, processor);
        bench_add(&both, write_by_two_ms(plain, bytes, i));
        bench_add(&two, write_by_two_ms(p, bytes, i));
        settle(p, bytes);
    }
    snprintf(name, sizeof name, "rolling/%zuMiB", bytes >> 20);
    bench_report(name, "ms", &ours, "memset of touched memory", &peer);
    snprintf(name, sizeof name, "processor-time/%zuMiB", bytes >> 20);
    bench_report(name, "ms", &own, "memset of touched memory", &its);
    snprintf(name, sizeof name, "until-sent/%zuMiB", bytes >> 20);
    bench_report(name, "ms", &sent, "memset, then one upload", &serial);
    snprintf(name, sizeof name, "two-threads/%zuMiB", bytes >> 20);
    bench_report(name, "ms", &two, "two on touched memory", &both);
}

static double first_touch_of_file_ms(size_t bytes, double *processor)
{
    int fd = memfd_create("peer", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
        exit(1);
    uint8_t *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (p == MAP_FAILED)
        exit(1);
    double ms = write_ms(p, bytes, 1, processor);
    munmap(p, bytes);
    return ms;
}

static void measure_first_touch(size_t bytes)
{
    struct bench_samples ours = {0}, peer = {0}, own = {0}, its = {0};
    char name[64];
    double processor;
    for (int i = 0; i < bench_reps(); i++) {
        bench_add(&peer, first_touch_of_file_ms(bytes, &processor));
        bench_add(&its, processor);
        uint8_t *p = adsmAlloc(bytes);
        if (!p)
            exit(1);
        bench_add(&ours, write_ms(p, bytes, i, &processor));
        bench_add(&own, processor);
        if (adsmFree(p) != ADSM_OK)
            exit(1);
    }
    snprintf(name, sizeof name, "first-touch/%zuMiB", bytes >> 20);
    bench_report(name, "ms", &ours, "first touch of a memory file", &peer);
    snprintf(name, sizeof name, "first-touch-processor-time/%zuMiB",
             bytes >> 20);
    bench_report(name, "ms", &own, "first touch of a memory file", &its);
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
    if (!p || plain == MAP_FAILED) {
        fprintf(stderr, "bench_write: %s\n", adsmErrorDetail());
        return 1;
    }
    adsm_dma_pin(adsm_index_find(p)->home, plain, bytes);
    bench_settle();
    measure_touched(p, plain, bytes);
    measure_first_touch(bytes / 2);
    return 0;
}
