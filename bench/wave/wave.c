/*
 * The scheme of the wave programs: velocities in, source, damping, snapshots.
 */
#include "wave.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define SPEED_MIN 1.0f
#define SPEED_MAX 100000.0f

/* Width of the damped border and its factor at the outermost cell. The three
 * axes add up in a corner; the scheme stays stable below 4/9. */
#define BORDER_CELLS 10
#define BORDER_LOSS  0.14f

/* Cells of the slowest medium per wavelength of the wavelet's peak: enough for
 * an eighth-order stencil to carry its spectrum. */
#define CELLS_PER_WAVE 6.0f

static void speed_check(struct wave *wave, const float *speed)
{
    wave->min_speed = SPEED_MAX;
    wave->max_speed = SPEED_MIN;
    for (size_t i = 0; i < wave->cells; i++) {
        if (!(speed[i] >= SPEED_MIN && speed[i] <= SPEED_MAX))
            wave_die(wave, WAVE_EXIT_INPUT,
                     "'%s' has a velocity of %g m/s in cell %zu, it must be "
                     "%g to %g",
                     wave->options.volume, (double)speed[i], i,
                     (double)SPEED_MIN, (double)SPEED_MAX);
        wave->min_speed = fminf(wave->min_speed, speed[i]);
        wave->max_speed = fmaxf(wave->max_speed, speed[i]);
    }
}

/* The system refuses memory it cannot reach; a preloaded runtime can. */
static const char *hint(void)
{
    return errno == EFAULT ? " (run this program with adsm-run)" : "";
}

void wave_read_speed(struct wave *wave, float *speed)
{
    errno = 0;
    size_t got = fread(speed, sizeof *speed, wave->cells, wave->in);
    if (ferror(wave->in))
        wave_die(wave, WAVE_EXIT_INPUT, "cannot read '%s': %s%s",
                 wave->options.volume, strerror(errno), hint());
    if (got != wave->cells)
        wave_die(wave, WAVE_EXIT_INPUT,
                 "'%s' is truncated: it ends after %zu of %zu velocities",
                 wave->options.volume, got, wave->cells);
    fclose(wave->in);
    wave->in = NULL;
    speed_check(wave, speed);

    /* 0.9 of the largest stable step, h / v * 2 / sqrt(3 * sum |c|). */
    float spacing = wave->model.spacing_m;
    wave->step_s = 0.4f * spacing / wave->max_speed;
    float ratio = wave->step_s / spacing;
    wave->factor = ratio * ratio;
    wave->peak_hz = wave->min_speed / (CELLS_PER_WAVE * spacing);
}

static float loss_at(int i, int n)
{
    int from_edge = i < n - 1 - i ? i : n - 1 - i;
    int depth = WAVE_RADIUS + BORDER_CELLS - from_edge;
    if (depth <= 0)
        return 0.0f;
    float part = fminf(1.0f, (float)depth / BORDER_CELLS);
    return BORDER_LOSS * part * part;
}

void wave_fill_damping(const struct wave *wave, float *damping)
{
    for (int i = 0; i < wave->nx; i++)
        *damping++ = loss_at(i, wave->nx);
    for (int i = 0; i < wave->ny; i++)
        *damping++ = loss_at(i, wave->ny);
    for (int i = 0; i < wave->nz; i++)
        *damping++ = loss_at(i, wave->nz);
}

/* Ricker's wavelet, begun where it has faded to nothing. */
float wave_wavelet(const struct wave *wave, int step)
{
    double at = step * (double)wave->step_s * wave->peak_hz - 1.2;
    double square = M_PI * at * (M_PI * at);
    return (float)((1 - 2 * square) * exp(-square));
}

bool wave_wants(const struct wave *wave, int step)
{
    int every = wave->options.every;
    if (step + 1 == wave->options.steps)
        return true;
    return wave->out && every > 0 && (step + 1) % every == 0;
}

static uint32_t frames_wanted(const struct wave *wave)
{
    int steps = wave->options.steps, every = wave->options.every;
    if (every == 0)
        return 1;
    return (uint32_t)(steps / every + (steps % every != 0));
}

static _Noreturn void write_failed(const struct wave *wave)
{
    wave_die(wave, WAVE_EXIT_INPUT, "cannot write '%s': %s", wave->options.out,
             strerror(errno));
}

void wave_write(struct wave *wave, const float *pressure)
{
    if (!wave->out)
        return;
    if (!wave->out_begun) {
        struct volume header = wave->model;
        header.frames = frames_wanted(wave);
        header.interval_s = wave->step_s * (float)wave->options.every;
        if (!volume_write_header(wave->out, &header))
            write_failed(wave);
        wave->out_begun = true;
    }
    if (fwrite(pressure, sizeof *pressure, wave->cells, wave->out) !=
        wave->cells)
        write_failed(wave);
}

uint64_t wave_digest(const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash;
}
