/*
 * Acoustic waves in three dimensions on libadsm.
 *
 * Owns the device: its memory, its kernel, the order of work on it. What it
 * reads, writes and prints is in wave.h. One thread.
 */
#include "wave.h"

#include <adsm.h>
#include <string.h>

static struct wave wave;

/* Errors of the device end the program. */
static void check(adsmStatus status, const char *call)
{
    if (status == ADSM_OK)
        return;
    const char *detail = adsmErrorDetail();
    wave_die(&wave, WAVE_EXIT_DEVICE, "%s gave %s: %s", call,
             adsmErrorName(status), *detail ? detail : adsmErrorText(status));
}

#define CHECK(call) check(call, #call)

static adsmKernel *kernel_load(void)
{
    adsmModule *module;
    adsmKernel *kernel;
    CHECK(adsmModuleLoad(&module, wave_ptx, strlen(wave_ptx)));
    CHECK(adsmKernelGet(&kernel, module, "wave_step", ADSM_ONLY_ARGUMENTS));
    return kernel;
}

static float *shared_alloc(size_t count)
{
    float *values = adsmAlloc(count * sizeof *values);
    if (!values)
        check(adsmLastStatus(), "adsmAlloc");
    return values;
}

static void step_launch(adsmKernel *kernel, float *before, const float *now,
                        const float *speed, const float *damping)
{
    adsmDim grid = adsmDim3(wave.grid[0], wave.grid[1], wave.grid[2]);
    adsmDim block = adsmDim3(wave.block[0], wave.block[1], wave.block[2]);
    CHECK(adsmLaunch(kernel, grid, block, 0, adsmInOut(before), adsmIn(now),
                     adsmIn(speed), adsmIn(damping), adsmVal(wave.nx),
                     adsmVal(wave.ny), adsmVal(wave.nz), adsmVal(wave.factor)));
    CHECK(adsmSync());
}

int main(int argc, char **argv)
{
    wave_open(&wave, argc, argv);
    adsmKernel *kernel = kernel_load();

    float *before = shared_alloc(wave.cells);
    float *now = shared_alloc(wave.cells);
    float *speed = shared_alloc(wave.cells);
    float *damping = shared_alloc(wave.damping_count);

    wave_phase(&wave, WAVE_READ);
    wave_read_speed(&wave, speed);
    wave_fill_damping(&wave, damping);
    memset(before, 0, wave.cells * sizeof *before);
    memset(now, 0, wave.cells * sizeof *now);

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

    CHECK(adsmFree(damping));
    CHECK(adsmFree(speed));
    CHECK(adsmFree(now));
    CHECK(adsmFree(before));
    return 0;
}
