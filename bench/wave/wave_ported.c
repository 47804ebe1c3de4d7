/*
 * Acoustic waves in three dimensions on the CUDA driver API.
 *
 * Owns the device: its memory, its kernel, the order of work on it. What it
 * reads, writes and prints is in wave.h. One thread.
 */
#include "wave.h"

#include <cuda.h>

static struct wave wave;

/* Errors of the device end the program. */
static void check(CUresult result, const char *call)
{
    const char *name = "an unknown error";
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    wave_die(&wave, WAVE_EXIT_DEVICE, "%s gave %s", call, name);
}

#define CHECK(call) check(call, #call)

static CUfunction kernel_load(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, wave_ptx));
    CHECK(cuModuleGetFunction(&kernel, module, "wave_step"));
    return kernel;
}

static float *device_alloc(size_t count)
{
    CUdeviceptr address;
    CHECK(cuMemAlloc(&address, count * sizeof(float)));
    return (float *)address;
}

static void step_launch(CUfunction kernel, float *before, float *now,
                        float *speed, float *damping)
{
    void *arguments[] = {&before,  &now,     &speed,   &damping,
                         &wave.nx, &wave.ny, &wave.nz, &wave.factor};
    CHECK(cuLaunchKernel(kernel, wave.grid[0], wave.grid[1], wave.grid[2],
                         wave.block[0], wave.block[1], wave.block[2], 0, NULL,
                         arguments, NULL));
    CHECK(cuCtxSynchronize());
}

int main(int argc, char **argv)
{
    wave_open(&wave, argc, argv);
    CUfunction kernel = kernel_load();

    float *before = device_alloc(wave.cells);
    float *now = device_alloc(wave.cells);
    float *speed = device_alloc(wave.cells);
    float *damping = device_alloc(wave.damping_count);

    wave_phase(&wave, WAVE_READ);
    wave_read_speed(&wave, speed);
    wave_fill_damping(&wave, damping);
    CHECK(cuMemsetD32((CUdeviceptr)before, 0, wave.cells));
    CHECK(cuMemsetD32((CUdeviceptr)now, 0, wave.cells));

    for (int step = 0; step < wave.options.steps; step++) {
        wave_phase(&wave, WAVE_INJECT);
        now[wave.source] += wave_wavelet(&wave, step);

        wave_phase(&wave, WAVE_COMPUTE);
        step_launch(kernel, before, now, speed, damping);
        float *next = before;
        before = now;
        now = next;

        wave_phase(&wave, WAVE_WRITE);
        if (wave_wants(&wave, step))
            wave_write(&wave, now);
        wave_progress(&wave, step);
    }
    wave_finish(&wave, now, speed);

    CHECK(cuMemFree((CUdeviceptr)damping));
    CHECK(cuMemFree((CUdeviceptr)speed));
    CHECK(cuMemFree((CUdeviceptr)now));
    CHECK(cuMemFree((CUdeviceptr)before));
    return 0;
}
