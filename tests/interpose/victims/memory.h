/*
 * Memory under test for the libc victims: `plain` is ordinary memory, `shared`
 * is device memory in one of four states. Contents and output are the same.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include "victim.h"

#include <unistd.h>

enum memory_state {
    MEMORY_DEVICE, /* the device wrote it last                             */
    MEMORY_DIRTY,  /* the CPU wrote it last                                */
    MEMORY_READ,   /* the device wrote it, the CPU has read it             */
    MEMORY_MIXED,  /* a bit of everything                                  */
    MEMORY_STATES
};

static bool memory_is_shared;

/** "plain" or "shared" from the command line. */
static inline void memory_start(int argc, char **argv)
{
    memory_is_shared = argc > 1 && strcmp(argv[1], "shared") == 0;
    if (memory_is_shared)
        victim_start();
}

/** Two neighbouring regions of `bytes` each (a multiple of 2 MiB); as two
 *  allocations where the addresses can be had, else as one. */
static inline uint8_t *memory_pair(size_t bytes)
{
    enum { TRIES = 16 };
    CUdeviceptr at[TRIES];
    if (!memory_is_shared)
        return mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < TRIES; i++) {
        CHECK(cuMemAlloc(&at[i], bytes));
        for (int k = 0; k < i; k++) {
            CUdeviceptr low = at[i] < at[k] ? at[i] : at[k];
            if (low + bytes == at[i] + at[k] - low)
                return (uint8_t *)low;
        }
    }
    CHECK(cuMemAlloc(&at[0], 2 * bytes));
    return (uint8_t *)at[0];
}

/** Fill with one value, leaving it in `state`; a multiple of 8 bytes. */
static inline void memory_fill(uint8_t *at, size_t bytes, uint8_t value,
                               enum memory_state state)
{
    volatile uint8_t *byte = at;
    if (!memory_is_shared || state == MEMORY_DIRTY) {
        for (size_t i = 0; i < bytes; i += 8)
            *(volatile uint64_t *)(at + i) = value * 0x0101010101010101u;
        return;
    }
    size_t half = bytes / 2;
    CHECK(cuMemsetD8((CUdeviceptr)at, value, half));
    CHECK(cuMemsetD8((CUdeviceptr)at + half, value, bytes - half));
    if (state == MEMORY_READ)
        (void)victim_hash(at, bytes);
    for (size_t i = 0; state == MEMORY_MIXED && i < bytes; i += 36864) {
        if (i % 73728)
            byte[i] = value;
        else
            (void)byte[i];
    }
}

/** A file with `bytes` of its own content, that goes away with the process. */
static inline int memory_file(size_t bytes)
{
    uint8_t *content = malloc(bytes);
    FILE *stream = tmpfile();
    if (!stream || !content)
        exit(3);
    int file = dup(fileno(stream));
    victim_write(content, bytes, 1);
    if (pwrite(file, content, bytes, 0) != (ssize_t)bytes)
        exit(3);
    free(content);
    fclose(stream);
    return file;
}

/** Thrice the words and one more; by a kernel, `step` of victim.h, where the
 *  memory is shared. */
static inline void memory_step(CUfunction step, uint8_t *at, uint32_t n)
{
    CUdeviceptr words = (CUdeviceptr)at;
    uint32_t k = 1;
    void *arguments[] = {&words, &n, &k};
    for (uint32_t i = 0; !memory_is_shared && i < n; i++)
        ((volatile uint32_t *)at)[i] = ((volatile uint32_t *)at)[i] * 3 + 1;
    if (memory_is_shared)
        CHECK(cuLaunchKernel(step, (n + 255) / 256, 1, 1, 256, 1, 1, 0, NULL,
                             arguments, NULL));
}

/** A sum of what the device has in a pair of `bytes` each. */
static inline uint64_t memory_device_hash(const uint8_t *at, size_t bytes)
{
    if (!memory_is_shared)
        return victim_hash(at, 2 * bytes);
    uint8_t *host = malloc(2 * bytes);
    CHECK(cuMemcpyDtoH(host, (CUdeviceptr)at, bytes));
    CHECK(cuMemcpyDtoH(host + bytes, (CUdeviceptr)at + bytes, bytes));
    uint64_t hash = victim_hash(host, 2 * bytes);
    free(host);
    return hash;
}

#endif
