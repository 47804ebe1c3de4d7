/*
 * adsm.h over several devices, checked and timed. See device.h.
 */
#include "common/device.h"

adsmKernel *device_kernel(const char *name)
{
    static adsmModule *module;
    if (!module)
        module = shared_load();
    return shared_kernel(module, name);
}

void *device_array(size_t elem, adsmBox shape)
{
    void *array = adsmAllocArray(elem, shape, ADSM_NO_HOME);
    if (!array)
        shared_check(adsmLastStatus(), "adsmAllocArray");
    return array;
}

void device_call_v(adsmOpts opts, adsmKernel *kernel, adsmBox range, int count,
                   const adsmArg *args)
{
    enum bench_phase before = bench_enter(BENCH_KERNEL);
    opts.devices = ADSM_ALL_DEVICES;
    CHECK(adsmCallRangeV(kernel, range, &opts, count, args));
    bench_launched();
    bench_enter(before);
}
