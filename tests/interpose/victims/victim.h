/*
 * What the victims share. A victim is a CUDA driver program or a plain libc
 * program that knows nothing of this project; the same work is done bare and
 * preloaded and must print the same.
 *
 * Functions here use no function of libc on the memory under test, so that
 * looking at a result never is what is tested.
 */
#ifndef VICTIM_H
#define VICTIM_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CHECK(call)                                                            \
    do {                                                                       \
        CUresult check_ = (call);                                              \
        if (check_ != CUDA_SUCCESS) {                                          \
            printf("%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, check_);  \
            exit(3);                                                           \
        }                                                                      \
    } while (0)

/** words[i] = words[i] * 3 + k for i < n, one thread each. */
#define VICTIM_STEP                                                            \
    ".visible .entry step(.param .u64 p, .param .u32 n, .param .u32 k)\n"      \
    "{\n"                                                                      \
    ".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<5>;\n"                 \
    "ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [n];\n"                        \
    "ld.param.u32 %r7, [k];\n"                                                 \
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"    \
    "mad.lo.s32 %r5, %r2, %r3, %r4;\n"                                         \
    "setp.ge.u32 %p1, %r5, %r1;\n@%p1 bra DONE;\n"                             \
    "cvta.to.global.u64 %rd2, %rd1;\nmul.wide.u32 %rd3, %r5, 4;\n"             \
    "add.s64 %rd4, %rd2, %rd3;\nld.global.u32 %r6, [%rd4];\n"                  \
    "mul.lo.u32 %r6, %r6, 3;\nadd.u32 %r6, %r6, %r7;\n"                        \
    "st.global.u32 [%rd4], %r6;\n"                                             \
    "DONE:\nret;\n}\n"

static const char victim_ptx[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n" VICTIM_STEP;

static uint64_t victim_seed = 0x9e3779b97f4a7c15u;

static inline uint64_t victim_random(uint64_t below)
{
    victim_seed ^= victim_seed << 13;
    victim_seed ^= victim_seed >> 7;
    victim_seed ^= victim_seed << 17;
    return victim_seed % below;
}

/** A sum of bytes and places, by loads of eight bytes and single ones. */
static inline uint64_t victim_hash(const volatile uint8_t *at, size_t bytes)
{
    uint64_t hash = 0xcbf29ce484222325u;
    size_t i = 0;
    for (; i < bytes && (uintptr_t)(at + i) % 8; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    for (; i + 8 <= bytes; i += 8)
        hash = (hash ^ *(const volatile uint64_t *)(at + i)) * 0x100000001b3u;
    for (; i < bytes; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash ^ hash >> 29;
}

/** Pattern byte `i` of generation `seed`. */
static inline uint8_t victim_byte(size_t i, unsigned seed)
{
    return (uint8_t)(i * 13 + (i >> 8) * 7 + seed * 31);
}

static inline void victim_write(volatile uint8_t *to, size_t bytes,
                                unsigned seed)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = victim_byte(i, seed);
}

/** First device, its primary context. */
static inline void victim_start(void)
{
    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
}

/** Every third word, so that the rest keeps its value: by the CPU where the device
 *  has them, or by copies with room for them at `host`. */
static inline void victim_change(CUdeviceptr words, unsigned n, unsigned seed,
                                 uint32_t *host)
{
    volatile uint32_t *to = host ? host : (uint32_t *)words;
    if (host)
        CHECK(cuMemcpyDtoH(host, words, n * 4));
    for (unsigned i = seed % 3; i < n; i += 3)
        to[i] = to[i] * 7 + seed;
    if (host)
        CHECK(cuMemcpyHtoD(words, host, n * 4));
}

/** What `enqueue` gives the stream, by way of a graph, which is waited for. */
static inline void victim_by_graph(CUstream stream, void (*enqueue)(unsigned),
                                   unsigned value)
{
    CUgraph graph;
    CUgraphExec exec;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    enqueue(value);
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
}

/** Does a thread of this process sleep? */
static inline bool victim_sleeps(int thread)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    FILE *stream = fopen(path, "r");
    if (!stream || fscanf(stream, "%*d (%*[^)]) %c", &state) != 1)
        state = 0;
    if (stream)
        fclose(stream);
    return state == 'S';
}

#endif
