/*
 * What the engine adds to a fault: its dispatch with a callback that does
 * nothing but mprotect, against a bare sigaction handler that does the same.
 *
 * Prints one JSON line per block size. The two are measured alternately, in
 * one process, on the same populated memory.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/fault.h"
#include "os/real.h"
#include "os/vm.h"

#define REGION_BYTES ((size_t)64 << 20)
#define ROUNDS       15

static uintptr_t region;
static size_t block_bytes;

static bool open_block(uintptr_t addr)
{
    if (addr - region >= REGION_BYTES)
        return false;
    return mprotect((void *)(addr & ~(block_bytes - 1)), block_bytes,
                    PROT_READ | PROT_WRITE) == 0;
}

static bool on_fault(uintptr_t addr, enum adsm_access access, uintptr_t ip)
{
    return open_block(addr);
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    if (!open_block((uintptr_t)info->si_addr))
        abort();
}

/* Nanoseconds per fault, one write into each of up to 4096 blocks. */
static double measure(void)
{
    size_t blocks = REGION_BYTES / block_bytes;
    if (blocks > 4096)
        blocks = 4096;
    mprotect((void *)region, REGION_BYTES, PROT_NONE);
    uint64_t start = adsm_now_ns();
    for (size_t i = 0; i < blocks; i++)
        *(volatile char *)(region + i * block_bytes) = 1;
    return (double)(adsm_now_ns() - start) / (double)blocks;
}

static double measure_bare(void)
{
    struct sigaction bare = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    struct sigaction engine;
    adsm_real()->sigaction(SIGSEGV, &bare, &engine);
    double ns = measure();
    adsm_real()->sigaction(SIGSEGV, &engine, NULL);
    return ns;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(void)
{
    double engine[ROUNDS], bare[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        bare[i] = measure_bare();
        engine[i] = measure();
    }
    qsort(engine, ROUNDS, sizeof *engine, by_value);
    qsort(bare, ROUNDS, sizeof *bare, by_value);
    printf("{\"bench\":\"fault_dispatch\",\"case\":\"%zuK\",\"unit\":\"us\","
           "\"reps\":%d,\"median\":%.3f,\"min\":%.3f,\"max\":%.3f,"
           "\"against\":\"sigaction+mprotect\",\"ratio\":%.3f}\n",
           block_bytes >> 10, ROUNDS, engine[ROUNDS / 2] / 1000,
           engine[0] / 1000, engine[ROUNDS - 1] / 1000,
           engine[ROUNDS / 2] / bare[ROUNDS / 2]);
}

int main(void)
{
    region = adsm_vm_reserve(REGION_BYTES, (size_t)2 << 20, 0);
    int fd = memfd_create("cost", MFD_CLOEXEC);
    if (region == 0 || fd < 0 || ftruncate(fd, REGION_BYTES) != 0 ||
        adsm_vm_map_file(region, REGION_BYTES, fd, 0, ADSM_PROT_READ_WRITE) !=
            ADSM_OK ||
        adsm_fault_init(on_fault) != ADSM_OK)
        return EXIT_FAILURE;
    memset((void *)region, 1, REGION_BYTES);
    for (block_bytes = 4096; block_bytes <= (size_t)1 << 20; block_bytes *= 4)
        report();
    adsm_fault_fini();
    return EXIT_SUCCESS;
}
