/*
 * What the wave programs share: everything that is not about the device.
 *
 * Owns the command line, the velocity file, the source, the damping factors,
 * snapshots, progress, the picture and the report. Does not own volumes: each
 * program allocates its own and passes pointers, and nothing here knows
 * whether a pointer is host or device memory. No locks.
 *
 * These functions end the program on bad input, with one message on stderr and
 * status WAVE_EXIT_INPUT: they are the front half of main(), not a library.
 * Unless said otherwise only the main thread calls them, and no signal handler.
 */
#ifndef BENCH_WAVE_WAVE_H
#define BENCH_WAVE_WAVE_H

#include "volume.h"
#include "wave_stencil.h"

#define WAVE_EXIT_INPUT  2
#define WAVE_EXIT_DEVICE 3

/** The compiled kernel, NUL-terminated PTX text. */
extern const char wave_ptx[];

enum wave_phase {
    WAVE_SETUP,
    WAVE_READ,
    WAVE_COMPUTE,
    WAVE_INJECT,
    WAVE_WRITE,
    WAVE_PHASES
};

struct wave_options {
    const char *program; /* name without folder */
    const char *volume;  /* file to read */
    const char *out;     /* file of snapshots, or NULL */
    const char *png;     /* file of the picture, or NULL */
    int steps;
    int every; /* steps between snapshots, 0 = only the last */
    bool quiet, json;
};

struct wave {
    struct wave_options options;
    struct volume model;
    FILE *in, *out;
    bool out_begun; /* the header of `out` is written */

    /* Volumes: cells in x-fastest order; `source` is a cell's index. */
    int nx, ny, nz;
    size_t cells, damping_count, source;

    /* Scheme, known once the velocities are read. */
    float min_speed, max_speed; /* m/s */
    float step_s, factor;       /* time step; (time step / cell size)^2 */
    float peak_hz;              /* of the wavelet */

    /* Launch geometry: one thread per inner cell. */
    unsigned grid[3], block[3];

    /* Bytes the program itself copied between host and device. */
    uint64_t bytes_up, bytes_down;

    /* Clock: seconds per phase, and what runs now. */
    double seconds[WAVE_PHASES], started_s, phase_started_s, progress_s;
    enum wave_phase phase;
};

/**
 * Read the command line, open the velocity file, check its header.
 *
 * @wave  zeroed or not; completely set
 * Return: only when everything is usable; phase WAVE_SETUP runs
 */
void wave_open(struct wave *wave, int argc, char **argv);

/**
 * Fill `speed` from the velocity file and choose time step and wavelet.
 *
 * @speed  wave->cells values, m/s
 */
void wave_read_speed(struct wave *wave, float *speed);

/**
 * Fill the damping factors: zero inside, rising in the last cells of each axis.
 *
 * @damping  wave->damping_count values: x planes, then y, then z
 */
void wave_fill_damping(const struct wave *wave, float *damping);

/** What the source adds to its cell before time step `step`. */
float wave_wavelet(const struct wave *wave, int step);

/** Charge the time from here on to `phase`. */
void wave_phase(struct wave *wave, enum wave_phase phase);

/** Whether the volume is wanted after `step`: every k steps and at the end. */
bool wave_wants(const struct wave *wave, int step);

/**
 * Append the volume to the file of snapshots, if there is one.
 *
 * @pressure  wave->cells values, given to fwrite as they are
 */
void wave_write(struct wave *wave, const float *pressure);

/** Show how far the run is, if it is long enough to wonder. */
void wave_progress(struct wave *wave, int step);

/**
 * Close the snapshots, draw the picture, print the report.
 *
 * @pressure, @speed  wave->cells values each
 */
void wave_finish(struct wave *wave, const float *pressure, const float *speed);

/** Print "program: message" and end with `status`. */
_Noreturn void wave_die(const struct wave *wave, int status, const char *format,
                        ...) __attribute__((format(printf, 3, 4)));

/** 64-bit FNV-1a of `bytes` bytes. Thread: any. Signal: any handler. */
uint64_t wave_digest(const void *data, size_t bytes);

/** Seconds of the monotonic clock. Thread: any. Signal: any handler. */
double wave_clock(void);

#endif
