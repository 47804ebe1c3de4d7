/*
 * Clock, progress and report of the wave programs.
 */
#include "wave.h"
#include "picture.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PROGRESS_AFTER_S 2.0
#define PROGRESS_TTY_S   0.2
#define PROGRESS_LOG_S   5.0

static const char *const phase_names[WAVE_PHASES] = {
    [WAVE_SETUP] = "setup",     [WAVE_READ] = "read",
    [WAVE_COMPUTE] = "compute", [WAVE_INJECT] = "inject",
    [WAVE_WRITE] = "write",
};

double wave_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void wave_phase(struct wave *wave, enum wave_phase phase)
{
    double now = wave_clock();
    wave->seconds[wave->phase] += now - wave->phase_started_s;
    wave->phase = phase;
    wave->phase_started_s = now;
}

void wave_progress(struct wave *wave, int step)
{
    if (wave->options.quiet)
        return;
    bool tty = isatty(STDERR_FILENO);
    double now = wave->phase_started_s, ran = now - wave->started_s;
    double pause = tty ? PROGRESS_TTY_S : PROGRESS_LOG_S;
    bool last = step + 1 == wave->options.steps;
    if (wave->progress_s == 0.0) {
        if (last || (!tty && ran < PROGRESS_AFTER_S))
            return;
    } else if (!last && now - wave->progress_s < pause) {
        return;
    }
    wave->progress_s = now;
    int done = step + 1, steps = wave->options.steps;
    fprintf(stderr, "%s%s: step %d of %d, %.1f s, %.1f s to go%s",
            tty ? "\r\033[K" : "", wave->options.program, done, steps, ran,
            ran / done * (steps - done), tty && !last ? "" : "\n");
}

static void report_json(const struct wave *wave, double total, uint64_t digest)
{
    printf("{\"program\":\"%s\",\"steps\":%d,\"cells\":%zu,\"seconds\":%.6f",
           wave->options.program, wave->options.steps, wave->cells, total);
    for (int i = 0; i < WAVE_PHASES; i++)
        printf(",\"%s_s\":%.6f", phase_names[i], wave->seconds[i]);
    printf(",\"bytes_up\":%" PRIu64 ",\"bytes_down\":%" PRIu64
           ",\"digest\":\"%016" PRIx64 "\"}\n",
           wave->bytes_up, wave->bytes_down, digest);
}

static void report_text(const struct wave *wave, double total, uint64_t digest)
{
    printf("%s: %d x %d x %d cells of %g m, %d steps of %.3g ms: %.3f s\n",
           wave->options.program, wave->nx, wave->ny, wave->nz,
           (double)wave->model.spacing_m, wave->options.steps,
           1e3 * (double)wave->step_s, total);
    for (int i = 0; i < WAVE_PHASES; i++)
        printf("  %-8s %8.3f s\n", phase_names[i], wave->seconds[i]);
    printf("  digest   %016" PRIx64 "\n", digest);
    if (wave->options.out)
        printf("  snapshots in %s\n", wave->options.out);
    if (wave->options.png)
        printf("  picture in %s\n", wave->options.png);
}

static void picture_make(struct wave *wave, const float *pressure,
                         const float *speed)
{
    if (!wave->options.png)
        return;
    struct picture picture = {
        .pressure = pressure,
        .speed = speed,
        .volume = wave->model,
        .y = (uint32_t)(wave->source / wave->model.nx % wave->model.ny),
        .source = wave->source,
        .time_s = (float)wave->options.steps * wave->step_s,
    };
    char why[160];
    if (!picture_write(&picture, wave->options.png, why, sizeof why))
        wave_die(wave, WAVE_EXIT_INPUT, "cannot write '%s': %s",
                 wave->options.png, why);
}

void wave_finish(struct wave *wave, const float *pressure, const float *speed)
{
    wave_phase(wave, WAVE_WRITE);
    if (wave->out && fclose(wave->out) != 0)
        wave_die(wave, WAVE_EXIT_INPUT, "cannot write '%s': %s",
                 wave->options.out, strerror(errno));
    picture_make(wave, pressure, speed);
    wave_phase(wave, WAVE_SETUP);

    double total = wave_clock() - wave->started_s;
    uint64_t digest = wave_digest(pressure, wave->cells * sizeof *pressure);
    if (wave->options.json)
        report_json(wave, total, digest);
    else if (!wave->options.quiet)
        report_text(wave, total, digest);
    if (fflush(stdout) != 0)
        wave_die(wave, WAVE_EXIT_INPUT, "cannot write the report: %s",
                 strerror(errno));
}
