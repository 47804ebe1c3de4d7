/*
 * Acoustic waves in three dimensions on libadsm, in parts on every device.
 *
 * Owns the calls and their arrays. Volumes have no home: each device holds the
 * planes that its part of a call reads or writes, and the CPU uses all of them
 * meanwhile, by the same pointers. What is read, written and printed is in
 * wave.h. One thread.
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
    CHECK(adsmKernelGet(&kernel, module, "wave_part", ADSM_ONLY_ARGUMENTS));
    return kernel;
}

static float *array_alloc(adsmBox shape)
{
    float *values = adsmAllocArray(sizeof *values, shape, ADSM_NO_HOME);
    if (!values)
        check(adsmLastStatus(), "adsmAllocArray");
    return values;
}

/* The cells that change: those that have WAVE_RADIUS others on every side. */
static adsmBox inner_cells(void)
{
    return (adsmBox){
        3,
        {WAVE_RADIUS, WAVE_RADIUS, WAVE_RADIUS},
        {wave.nz - WAVE_RADIUS, wave.ny - WAVE_RADIUS, wave.nx - WAVE_RADIUS}};
}

/* All cells around that the kernel looks at; none lies outside the volume. */
static adsmArg neighbours(const float *volume)
{
    adsmArg arg = adsmCross(volume, WAVE_RADIUS, WAVE_RADIUS, ADSM_EDGE_NONE);
    arg.radius[2] = WAVE_RADIUS; /* the macro is for two dimensions */
    return arg;
}

static void step_call(adsmKernel *kernel, float *before, const float *now,
                      const float *speed, const float *damping)
{
    CHECK(adsmCallWith(adsmWith(.devices = ADSM_ALL_DEVICES), kernel,
                       inner_cells(), adsmInOut(before), neighbours(now),
                       adsmIn(speed), adsmAll(damping), adsmVal(wave.nx),
                       adsmVal(wave.ny), adsmVal(wave.nz),
                       adsmVal(wave.factor)));
}

int main(int argc, char **argv)
{
    wave_open(&wave, argc, argv);
    adsmKernel *kernel = kernel_load();

    adsmBox volume = adsmR3(wave.nz, wave.ny, wave.nx);
    float *before = array_alloc(volume);
    float *now = array_alloc(volume);
    float *speed = array_alloc(volume);
    float *damping = array_alloc(adsmR1((long)wave.damping_count));

    wave_phase(&wave, WAVE_READ);
    wave_read_speed(&wave, speed);
    wave_fill_damping(&wave, damping);
    memset(before, 0, wave.cells * sizeof *before);
    memset(now, 0, wave.cells * sizeof *now);

    for (int step = 0; step < wave.options.steps; step++) {
        wave_phase(&wave, WAVE_INJECT);
        now[wave.source] += wave_wavelet(&wave, step);

        wave_phase(&wave, WAVE_COMPUTE);
        step_call(kernel, before, now, speed, damping);
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
