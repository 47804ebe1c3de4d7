/*
 * Several devices on the CUDA driver API. See team.h.
 */
#include "common/team.h"

static void peers_open(const struct team *team)
{
    for (int d = 0; d < team->count; d++)
        for (int peer = 0; peer < team->count; peer++) {
            int reached = 0;
            if (peer != d)
                CHECK(cuDeviceCanAccessPeer(&reached, d, peer));
            if (!reached)
                continue;
            team_use(team, d);
            CHECK(cuCtxEnablePeerAccess(team->device[peer].context, 0));
        }
}

void team_open(struct team *team, const char *kernel, long most)
{
    int there = 0;
    CHECK(cuInit(0));
    CHECK(cuDeviceGetCount(&there));
    team->count = there < TEAM_DEVICES ? there : TEAM_DEVICES;
    if (team->count > most)
        team->count = (int)most;
    for (int d = 0; d < team->count; d++) {
        struct team_device *device = &team->device[d];
        CUdevice ordinal;
        CUmodule module;
        CHECK(cuDeviceGet(&ordinal, d));
        CHECK(cuDevicePrimaryCtxRetain(&device->context, ordinal));
        team_use(team, d);
        CHECK(cuModuleLoadData(&module, bench_ptx));
        device->kernel = cuda_kernel(module, kernel);
        for (int s = 0; s < TEAM_STREAMS; s++)
            CHECK(cuStreamCreate(&device->stream[s], CU_STREAM_NON_BLOCKING));
    }
    peers_open(team);
}

void team_use(const struct team *team, int device)
{
    CHECK(cuCtxSetCurrent(team->device[device].context));
}

long team_first(const struct team *team, long n, int device)
{
    return (n * device + team->count / 2) / team->count;
}

CUdeviceptr team_alloc(long first, long count, size_t elem)
{
    CUdeviceptr memory = 0;
    if (count > 0)
        CHECK(cuMemAlloc(&memory, (size_t)count * elem));
    return memory - (CUdeviceptr)first * elem;
}

void team_free(CUdeviceptr base, long first, size_t elem)
{
    CHECK(cuMemFree(base + (CUdeviceptr)first * elem));
}

void *team_host_alloc(size_t bytes)
{
    void *memory = NULL;
    CHECK(cuMemHostAlloc(&memory, bytes, CU_MEMHOSTALLOC_PORTABLE));
    return memory;
}

CUevent team_event(void)
{
    CUevent event;
    CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}

unsigned team_blocks(long count, unsigned block)
{
    return (unsigned)((count + (long)block - 1) / (long)block);
}

void team_wait(const struct team *team)
{
    enum bench_phase before = bench_enter(BENCH_KERNEL);
    for (int d = 0; d < team->count; d++) {
        team_use(team, d);
        CHECK(cuCtxSynchronize());
    }
    bench_enter(before);
}

void team_close(struct team *team)
{
    for (int d = 0; d < team->count; d++) {
        team_use(team, d);
        for (int s = 0; s < TEAM_STREAMS; s++)
            CHECK(cuStreamDestroy(team->device[d].stream[s]));
        CHECK(cuDevicePrimaryCtxRelease(d));
    }
}
