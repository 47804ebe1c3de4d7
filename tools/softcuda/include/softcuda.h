/*
 * What softcuda's libcuda.so.1 offers beyond the CUDA driver API: counters,
 * for tests and benches.  Look it up with dlsym; a real driver has it not.
 */
#ifndef SOFTCUDA_H
#define SOFTCUDA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct softcuda_stats {
    uint64_t upload_bytes;   /* moved to the device over its link */
    uint64_t download_bytes; /* moved from the device over its link */
    uint64_t launches;       /* kernels completed, on all devices */
    uint64_t kernel_ns;      /* time in them, on all devices */
    uint64_t native;         /* of the launches, by native code alone */
    uint64_t paced;          /* launches on this device under SOFTCUDA_PACE */
    uint64_t late;           /* of them, over 1 ms behind the pace */
};

/**
 * Read the counters of one device since cuInit.
 *
 * @ordinal of the device; @stats receives them
 * Return: 0, -1 before cuInit or when there is no such device
 * Thread: any
 */
int softcudaStats(int ordinal, struct softcuda_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
