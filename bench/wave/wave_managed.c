/*
 * Acoustic waves in three dimensions on managed memory.
 * Every volume exists once and the driver moves its pages; nothing is copied.
 *
 * Owns the device: its memory, its kernel, the order of work on it. What it
 * reads, writes and prints is in wave.h. One thread.
 */
#include "wave.h"

#include <cuda.h>

#include "managed/hints.h"

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

static float *managed_alloc(size_t count)
{
    CUdeviceptr address;
    CHECK(cuMemAllocManaged(&address, count * sizeof(float),
                            CU_MEM_ATTACH_GLOBAL));
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

/* What the CPU has made and only kernels read from here on. */
static void input_give(const float *values, size_t count)
{
    CHECK(hint_read_mostly(values, count * sizeof *values));
    CHECK(hint_to_device(values, count * sizeof *values));
}

static void volume_clear(float *volume)
{
    CHECK(hint_prefer_device(volume, wave.cells * sizeof *volume));
    CHECK(cuMemsetD32((CUdeviceptr)volume, 0, wave.cells));
}

static void source_add(float *now, int step)
{
    CHECK(hint_to_host(now + wave.source, sizeof *now));
    now[wave.source] += wave_wavelet(&wave, step);
    CHECK(hint_to_device(now + wave.source, sizeof *now));
}

static void snapshot_write(float *now, int step)
{
    size_t bytes = wave.cells * sizeof *now;
    CHECK(hint_to_host(now, bytes));
    wave_write(&wave, now);
    if (step + 1 < wave.options.steps)
        CHECK(hint_to_device(now, bytes));
}

int main(int argc, char **argv)
{
    wave_open(&wave, argc, argv);
    CUfunction kernel = kernel_load();

    float *before = managed_alloc(wave.cells);
    float *now = managed_alloc(wave.cells);
    float *speed = managed_alloc(wave.cells);
    float *damping = managed_alloc(wave.damping_count);

    wave_phase(&wave, WAVE_READ);
    wave_read_speed(&wave, speed);
    wave_fill_damping(&wave, damping);
    input_give(speed, wave.cells);
    input_give(damping, wave.damping_count);
    volume_clear(before);
    volume_clear(now);
    /* The CPU touches no managed memory while the device works. */
    CHECK(cuCtxSynchronize());

    for (int step = 0; step < wave.options.steps; step++) {
        wave_phase(&wave, WAVE_INJECT);
        source_add(now, step);

        wave_phase(&wave, WAVE_COMPUTE);
        step_launch(kernel, before, now, speed, damping);
        float *next = before;
        before = now;
        now = next;

        wave_phase(&wave, WAVE_WRITE);
        if (wave_wants(&wave, step))
            snapshot_write(now, step);
        wave_progress(&wave, step);
    }
    wave_finish(&wave, now, speed);

    CHECK(cuMemFree((CUdeviceptr)damping));
    CHECK(cuMemFree((CUdeviceptr)speed));
    CHECK(cuMemFree((CUdeviceptr)now));
    CHECK(cuMemFree((CUdeviceptr)before));
    return 0;
}
