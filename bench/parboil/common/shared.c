/*
 * adsm.h, checked and timed. See shared.h.
 */
#include "common/shared.h"

#include <string.h>

void shared_check(adsmStatus status, const char *call)
{
    if (status == ADSM_OK)
        return;
    const char *detail = adsmErrorDetail();
    bench_die(BENCH_EXIT_DEVICE, "%s gave %s: %s", call, adsmErrorName(status),
              *detail ? detail : adsmErrorText(status));
}

adsmModule *shared_load(void)
{
    adsmModule *module;
    CHECK(adsmModuleLoad(&module, bench_ptx, strlen(bench_ptx)));
    return module;
}

adsmKernel *shared_kernel(adsmModule *module, const char *name)
{
    adsmKernel *kernel;
    CHECK(adsmKernelGet(&kernel, module, name, ADSM_ONLY_ARGUMENTS));
    return kernel;
}

void *shared_alloc(size_t bytes)
{
    void *address = adsmAlloc(bytes);
    if (!address)
        shared_check(adsmLastStatus(), "adsmAlloc");
    return address;
}

void shared_free(void *address)
{
    CHECK(adsmFree(address));
}

void shared_launch_v(adsmKernel *kernel, struct bench_dim grid,
                     struct bench_dim block, int count, const adsmArg *args)
{
    enum bench_phase before = bench_enter(BENCH_KERNEL);
    CHECK(adsmLaunchV(kernel, adsmDim3(grid.x, grid.y, grid.z),
                      adsmDim3(block.x, block.y, block.z), 0, count, args));
    bench_launched();
    bench_enter(before);
}

void shared_wait(void)
{
    enum bench_phase before = bench_enter(BENCH_KERNEL);
    CHECK(adsmSync());
    bench_enter(before);
}
