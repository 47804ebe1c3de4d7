/*
 * Cost of one write fault that opens one block, no transfer involved.
 *
 * Floor: a bare SIGSEGV handler that calls mprotect on a block of a populated
 * memfd mapping, nothing else. Ours: the whole path, from libsigsegv through
 * index, block, table and dirty queue. One byte is written per block, blocks in
 * rising order. Then: the same among 20,000 objects, and by two threads on
 * different blocks of one object (wall time of all faults).
 */
#include "accel/accel.h"
#include "adsm.h"
#include "bench.h"
#include "init.h"
#include "mm/doors/boundary.h"
#include "mm/object/index.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CROWD = 20000 };

static struct {
    uint8_t *base;
    size_t block;
} bare;

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    size_t i = (size_t)((uint8_t *)info->si_addr - bare.base) / bare.block;
    mprotect(bare.base + i * bare.block, bare.block, PROT_READ | PROT_WRITE);
}

static void sweep(uint8_t *p, size_t bytes, size_t block)
{
    for (size_t i = 0; i < bytes; i += block)
        *(volatile uint8_t *)(p + i) = 1;
}

/* One sweep over all blocks, by one thread or by two; microseconds each. */
typedef double sweeper(uint8_t *p, size_t bytes, size_t block);

static double one_thread_us(uint8_t *p, size_t bytes, size_t block)
{
    uint64_t start = bench_now();
    sweep(p, bytes, block);
    uint64_t end = bench_now();
    return (double)(end - start) / 1e3 / (double)(bytes / block);
}

/* Back to READ_ONLY: what is dirty goes to the device. */
static void close_blocks(uint8_t *p, size_t bytes)
{
    struct adsm_accel *accel = adsm_index_find(p)->home;
    if (adsm_boundary_device_read(p, bytes, adsm_accel_launch_stream(accel)) ||
        adsm_dma_drain(accel))
        exit(1);
}

struct half {
    uint8_t *p;
    size_t bytes, block;
    pthread_barrier_t *barrier;
    uint64_t start, end;
};

static void *half_sweep(void *argument)
{
    struct half *h = argument;
    pthread_barrier_wait(h->barrier);
    h->start = bench_now();
    sweep(h->p, h->bytes, h->block);
    h->end = bench_now();
    return NULL;
}

/* From the first thread's start to the last one's end. */
static double two_threads_us(uint8_t *p, size_t bytes, size_t block)
{
    pthread_barrier_t barrier;
    pthread_t threads[2];
    struct half h[2];
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 2; i++) {
        h[i] = (struct half){.p = p + (size_t)i * bytes / 2,
                             .bytes = bytes / 2,
                             .block = block,
                             .barrier = &barrier};
        pthread_create(&threads[i], NULL, half_sweep, &h[i]);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    uint64_t start = h[0].start < h[1].start ? h[0].start : h[1].start;
    uint64_t end = h[0].end > h[1].end ? h[0].end : h[1].end;
    return (double)(end - start) / 1e3 / (double)(bytes / block);
}

static double ours_us(sweeper *run, uint8_t *p, size_t bytes, size_t block)
{
    double us = run(p, bytes, block);
    close_blocks(p, bytes);
    return us;
}

/* The floor runs with its own handler in place of the runtime's. */
static double floor_us(sweeper *run, size_t bytes, size_t block)
{
    struct sigaction act = {.sa_sigaction = on_fault,
                            .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct sigaction ours;
    bare.block = block;
    mprotect(bare.base, bytes, PROT_READ);
    sigaction(SIGSEGV, &act, &ours);
    double us = run(bare.base, bytes, block);
    sigaction(SIGSEGV, &ours, NULL);
    return us;
}

static void measure_block(const char *name, size_t bytes, size_t block)
{
    struct bench_samples ours = {0}, floor = {0}, two = {0}, floor_two = {0};
    uint8_t *p = adsmAlloc(bytes);
    char label[64];
    if (!p || adsm_index_find(p)->block_bytes != block) {
        fprintf(stderr, "bench_fault: %s blocks cannot be had: %s\n", name,
                adsmErrorDetail());
        exit(1);
    }
    ours_us(one_thread_us, p, bytes, block);
    for (int i = 0; i < bench_reps(); i++) {
        bench_add(&floor, floor_us(one_thread_us, bytes, block));
        bench_add(&ours, ours_us(one_thread_us, p, bytes, block));
        bench_add(&floor_two, floor_us(two_threads_us, bytes, block));
        bench_add(&two, ours_us(two_threads_us, p, bytes, block));
    }
    snprintf(label, sizeof label, "write/%s", name);
    bench_report(label, "us", &ours, "sigaction+mprotect", &floor);
    snprintf(label, sizeof label, "two-threads/%s", name);
    bench_report(label, "us", &two, "one thread", &ours);
    snprintf(label, sizeof label, "two-threads-floor/%s", name);
    bench_report(label, "us", &two, "sigaction+mprotect, two threads",
                 &floor_two);
    adsmFree(p);
}

static void measure_crowd(size_t bytes, size_t block)
{
    struct bench_samples alone = {0}, crowded = {0};
    static void *crowd[CROWD];
    uint8_t *p = adsmAlloc(bytes);
    ours_us(one_thread_us, p, bytes, block);
    for (int i = 0; i < bench_reps(); i++)
        bench_add(&alone, ours_us(one_thread_us, p, bytes, block));
    for (int i = 0; i < CROWD; i++)
        if (!(crowd[i] = adsmAlloc(100 << 10))) {
            fprintf(stderr, "bench_fault: object %d: %s\n", i,
                    adsmErrorDetail());
            exit(1);
        }
    for (int i = 0; i < bench_reps(); i++)
        bench_add(&crowded, ours_us(one_thread_us, p, bytes, block));
    bench_report("among-20000-objects", "us", &crowded, "one object", &alone);
    for (int i = 0; i < CROWD; i++)
        adsmFree(crowd[i]);
    adsmFree(p);
}

/* One block size a process: the option is read once. */
static int child(int argc, char **argv, const char *name, size_t block)
{
    size_t bytes = bench_quick() ? 16 << 20 : 128 << 20;
    if (bytes / block > 4096)
        bytes = block * 4096;
    (void)argc;
    (void)argv;
    setenv("ADSM_PROTOCOL", "rolling", 1);
    setenv("ADSM_BLOCK_SIZE", name, 1);
    setenv("ADSM_ROLLING_SIZE", "65536", 1);
    setenv("ADSM_ROLLING_LEARN", "0", 1); /* each fault opens one */
    setenv("SOFTCUDA_MEMORY", "64G", 1);
    if (adsm_init() != ADSM_OK) {
        fprintf(stderr, "bench_fault: no runtime: %s\n", adsm_accel_why());
        return 1;
    }
    int fd = memfd_create("bare", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
        return 1;
    bare.base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_POPULATE, fd, 0);
    if (bare.base == MAP_FAILED)
        return 1;
    memset(bare.base, 0, bytes);
    measure_block(name, bytes, block);
    if (block == 256 << 10)
        measure_crowd(bytes, block);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        size_t block;
    } sizes[] = {{"4K", 4 << 10},
                 {"64K", 64 << 10},
                 {"256K", 256 << 10},
                 {"1M", 1 << 20},
                 {"2M", 2 << 20}};
    const char *only = getenv("BENCH_FAULT_BLOCK");
    if (only) {
        int i = atoi(only);
        bench_start(argc, argv, "fault");
        return child(argc, argv, sizes[i].name, sizes[i].block);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char number[8];
        snprintf(number, sizeof number, "%zu", i);
        setenv("BENCH_FAULT_BLOCK", number, 1);
        pid_t pid = fork();
        if (pid == 0) {
            execv("/proc/self/exe", argv);
            _exit(127);
        }
        int status;
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
            return 1;
    }
    return 0;
}
