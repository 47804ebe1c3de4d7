/*
 * Sequential CPU write of a large object under rolling-update, blocks of the
 * default size, against a plain memset of touched memory of the same size.
 *
 * The object's blocks are READ_ONLY before each repetition, so every block
 * faults once and is written back by the adaptive rolling size while the CPU
 * goes on. `until-sent` adds the time until the device has everything; its
 * peer writes plain memory first and uploads it in one piece afterwards.
 */
#include "adsm.h"
#include "bench.h"
#include "init.h"
#include "mm/boundary.h"
#include "mm/index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void settle(uint8_t *p, size_t bytes)
{
    struct adsm_accel *accel = adsm_index_find(p)->home;
    if (adsm_boundary_device_read(p, bytes, adsm_accel_launch_stream(accel)) ||
        adsm_dma_drain(accel))
        exit(1);
}

static double write_ms(uint8_t *p, size_t bytes, int value)
{
    uint64_t start = bench_now();
    memset(p, value, bytes);
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
    struct bench_samples ours = {0}, sent = {0}, peer = {0}, serial = {0};
    write_ms(plain, bytes, 1);
    write_ms(p, bytes, 1);
    settle(p, bytes);
    for (int i = 0; i < bench_reps(); i++) {
        bench_add(&peer, write_ms(plain, bytes, i));
        bench_add(&serial, write_then_upload_ms(p, plain, bytes, i));
        uint64_t start = bench_now();
        bench_add(&ours, write_ms(p, bytes, i));
        settle(p, bytes);
        bench_add(&sent, (double)(bench_now() - start) / 1e6);
    }
    char name[64];
    snprintf(name, sizeof name, "rolling/%zuMiB", bytes >> 20);
    bench_report(name, "ms", &ours, "memset of touched memory", &peer);
    snprintf(name, sizeof name, "until-sent/%zuMiB", bytes >> 20);
    bench_report(name, "ms", &sent, "memset, then one upload", &serial);
    return 0;
}
