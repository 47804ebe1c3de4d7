/*
 * The fault engines async and uffd beside sigsegv, each in processes of its own,
 * in turns; `<engine>/<case>`.
 *
 *   fault/<block>   microseconds of a store that opens a block, nothing moved
 *   write, read     milliseconds to write or read an object from end to end,
 *                   under rolling with the default block: written blocks are
 *                   sent meanwhile, those to be read are the device's
 *   scatter         milliseconds for 1,024 random stores of a byte and a device
 *                   copy of all, which has ended; not the first of that kind
 *
 * A child is this program again, as `bench_engines --child <case> <bytes>`, and
 * prints its median. Exits 77 where neither engine can run.
 */
#include "accel/fence.h"
#include "adsm.h"
#include "bench.h"
#include "init.h"
#include "mm/doors/boundary.h"
#include "mm/object/index.h"
#include "os/fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5 };

/* ---- the child ------------------------------------------------------------ */

/* All blocks READ_ONLY: the device has what the host has. */
static void settle(uint8_t *p, size_t bytes)
{
    struct adsm_accel *accel = adsm_index_find(p)->home;
    if (adsm_boundary_device_read(p, bytes, adsm_accel_launch_stream(accel)) ||
        adsm_dma_drain(accel))
        exit(1);
}

/* All blocks INVALID: the device is said to have written them. */
static void give_away(uint8_t *p, size_t bytes)
{
    struct adsm_accel *accel = adsm_index_find(p)->home;
    struct adsm_device_write write;
    settle(p, bytes);
    if (adsm_boundary_device_write(p, bytes, adsm_accel_launch_stream(accel),
                                   &write, ADSM_CAUSE(own)))
        exit(1);
    adsm_boundary_device_written(&write);
}

static double fault_us(uint8_t *p, size_t bytes)
{
    size_t block = adsm_index_find(p)->block_bytes;
    settle(p, bytes);
    uint64_t began = bench_now();
    for (size_t i = 0; i < bytes; i += block)
        *(volatile uint8_t *)(p + i) = 1;
    return (double)(bench_now() - began) / 1e3 / (double)(bytes / block);
}

static double write_ms(uint8_t *p, size_t bytes)
{
    settle(p, bytes);
    uint64_t began = bench_now();
    memset(p, 3, bytes);
    return (double)(bench_now() - began) / 1e6;
}

static double read_ms(uint8_t *p, size_t bytes)
{
    uint64_t sum = 0;
    give_away(p, bytes);
    uint64_t began = bench_now();
    for (size_t i = 0; i < bytes; i += sizeof sum)
        sum += *(volatile uint64_t *)(p + i);
    return (double)(bench_now() - began) / 1e6 + (sum == 1 ? 1e-9 : 0);
}

static double scatter_ms(uint8_t *p, size_t bytes)
{
    static uint64_t state = 88172645463325252u;
    uint64_t began = bench_now();
    for (int i = 0; i < 1024; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        p[state % bytes] = (uint8_t)i;
    }
    settle(p, bytes);
    return (double)(bench_now() - began) / 1e6;
}

static int child(const char *what, size_t bytes)
{
    static double (*const measures[])(uint8_t *, size_t) = {
        fault_us, write_ms, read_ms, scatter_ms};
    static const char *const names[] = {"fault", "write", "read", "scatter"};
    enum { CASES = sizeof names / sizeof *names };
    struct bench_samples samples = {0};
    uint8_t *p = adsmAlloc(bytes);
    size_t i = 0;
    while (i < CASES && strcmp(what, names[i]) != 0)
        i++;
    if (!p || i == CASES) {
        fprintf(stderr, "bench_engines: %s: %s\n", what, adsmErrorDetail());
        return 1;
    }
    memset(p, 1, bytes);
    (void)measures[i](p, bytes);
    for (int round = 0; round < ROUNDS; round++)
        bench_add(&samples, measures[i](p, bytes));
    printf("%.6f\n", bench_median(&samples));
    return 0;
}

/* ---- the comparison -------------------------------------------------------- */

static double ask(const char *engine, const char *settings, const char *what,
                  size_t bytes)
{
    char environment[256], words[64];
    snprintf(environment, sizeof environment,
             "ADSM_FAULT_ENGINE=%s ADSM_PROTOCOL=rolling SOFTCUDA_MEMORY=1G %s",
             engine, settings);
    snprintf(words, sizeof words, "--child %s %zu", what, bytes);
    double value = bench_ask(environment, words);
    if (value < 0) {
        fprintf(stderr, "bench_engines: %s under %s failed\n", what, engine);
        exit(1);
    }
    return value;
}

static bool can_run(const char *name)
{
    struct adsm_fault_engine_info engine;
    for (size_t i = 0; adsm_fault_engine_info(i, &engine); i++)
        if (strcmp(engine.name, name) == 0)
            return !engine.refused;
    return false;
}

static const char *const engines[] = {"async", "uffd"};
enum { ENGINES = sizeof engines / sizeof *engines };

static void compare(const char *label, const char *unit, const char *settings,
                    const char *what, size_t bytes)
{
    struct bench_samples theirs[ENGINES] = {0}, sigsegv = {0};
    for (int i = 0; i < bench_reps(); i++) {
        bench_add(&sigsegv, ask("sigsegv", settings, what, bytes));
        for (int k = 0; k < ENGINES; k++)
            if (can_run(engines[k]))
                bench_add(&theirs[k], ask(engines[k], settings, what, bytes));
    }
    for (int k = 0; k < ENGINES; k++) {
        char name[48];
        snprintf(name, sizeof name, "%s/%s", engines[k], label);
        if (can_run(engines[k]))
            bench_report(name, unit, &theirs[k], "sigsegv", &sigsegv);
    }
}

int main(int argc, char **argv)
{
    static const char *const blocks[] = {"4K", "64K", "256K", "1M", "2M"};
    if (argc == 4 && strcmp(argv[1], "--child") == 0)
        return child(argv[2], strtoull(argv[3], NULL, 10));
    bench_start(argc, argv, "engines");
    if (!can_run("async") && !can_run("uffd"))
        return 77;
    bench_settle();
    size_t bytes = bench_quick() ? 8 << 20 : 128 << 20;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        char label[32], settings[128];
        snprintf(label, sizeof label, "fault/%s", blocks[i]);
        snprintf(settings, sizeof settings,
                 "ADSM_BLOCK_SIZE=%s ADSM_ROLLING_SIZE=65536 "
                 "ADSM_ROLLING_LEARN=0",
                 blocks[i]);
        compare(label, "us", settings, "fault", i == 0 ? bytes / 8 : bytes);
    }
    compare("write", "ms", "", "write", bytes);
    compare("read", "ms", "", "read", bytes);
    compare("scatter", "ms", "", "scatter", bytes);
    return 0;
}
