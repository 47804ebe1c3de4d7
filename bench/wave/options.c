/*
 * The command line of the wave programs and the opening of their files.
 */
#include "wave.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_DEFAULT 200
#define STEPS_MAX     10000000
#define EVERY_DEFAULT 40

static const char usage[] =
    "usage: %s [options]\n"
    "Propagates an acoustic wave through a volume of velocities.\n"
    "  --volume file  velocities (default: the model that comes with this)\n"
    "  --steps n      time steps (default %d)\n"
    "  --every k      steps between snapshots, 0 for only the last "
    "(default %d)\n"
    "  --out file     write the snapshots there\n"
    "  --png file     write a picture of a vertical slice there\n"
    "  --quiet        no progress and no report\n"
    "  --json         the report as one JSON object\n";

void wave_die(const struct wave *wave, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: ", wave->options.program);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    exit(status);
}

static int count_parse(const struct wave *wave, const char *option,
                       const char *text, int min, int max)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != 0 || value < min || value > max)
        wave_die(wave, WAVE_EXIT_INPUT,
                 "%s '%s' must be a whole number from %d to %d", option, text,
                 min, max);
    return (int)value;
}

static bool switch_parse(struct wave *wave, const char *arg)
{
    if (strcmp(arg, "--help") == 0) {
        printf(usage, wave->options.program, STEPS_DEFAULT, EVERY_DEFAULT);
        exit(0);
    }
    if (strcmp(arg, "--quiet") == 0)
        return wave->options.quiet = true;
    if (strcmp(arg, "--json") == 0)
        return wave->options.json = true;
    return false;
}

static void value_parse(struct wave *wave, const char *arg, const char *value)
{
    struct wave_options *options = &wave->options;
    if (strcmp(arg, "--volume") == 0)
        options->volume = value;
    else if (strcmp(arg, "--out") == 0)
        options->out = value;
    else if (strcmp(arg, "--png") == 0)
        options->png = value;
    else if (strcmp(arg, "--steps") == 0)
        options->steps = count_parse(wave, arg, value, 1, STEPS_MAX);
    else if (strcmp(arg, "--every") == 0)
        options->every = count_parse(wave, arg, value, 0, STEPS_MAX);
}

static bool takes_value(const char *arg)
{
    static const char *const names[] = {"--volume", "--out", "--png", "--steps",
                                        "--every"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(arg, names[i]) == 0)
            return true;
    return false;
}

static void options_parse(struct wave *wave, int argc, char **argv)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    wave->options = (struct wave_options){
        .program = slash      ? slash + 1
                   : argc > 0 ? argv[0]
                              : "wave",
        .volume = WAVE_DEFAULT_VOLUME,
        .steps = STEPS_DEFAULT,
        .every = EVERY_DEFAULT,
    };
    for (int i = 1; i < argc; i++) {
        if (switch_parse(wave, argv[i]))
            continue;
        if (!takes_value(argv[i]))
            wave_die(wave, WAVE_EXIT_INPUT,
                     "there is no option '%s', see --help", argv[i]);
        if (i + 1 == argc)
            wave_die(wave, WAVE_EXIT_INPUT, "%s needs a value, see --help",
                     argv[i]);
        value_parse(wave, argv[i], argv[i + 1]);
        i++;
    }
}

static void model_open(struct wave *wave)
{
    char why[200];
    const char *path = wave->options.volume;
    wave->in = fopen(path, "rb");
    if (!wave->in)
        wave_die(wave, WAVE_EXIT_INPUT, "cannot open '%s': %s", path,
                 strerror(errno));
    if (!volume_read_header(wave->in, &wave->model, why, sizeof why))
        wave_die(wave, WAVE_EXIT_INPUT, "'%s' %s", path, why);
    if (wave->model.frames != 1)
        wave_die(wave, WAVE_EXIT_INPUT,
                 "'%s' holds %u frames: a velocity model has one", path,
                 wave->model.frames);
}

static void snapshots_open(struct wave *wave)
{
    if (!wave->options.out)
        return;
    wave->out = fopen(wave->options.out, "wb");
    if (!wave->out)
        wave_die(wave, WAVE_EXIT_INPUT, "cannot write '%s': %s",
                 wave->options.out, strerror(errno));
}

/* Fails early rather than after the whole run. */
static void picture_probe(struct wave *wave)
{
    if (!wave->options.png)
        return;
    FILE *file = fopen(wave->options.png, "wb");
    if (!file || fclose(file) != 0)
        wave_die(wave, WAVE_EXIT_INPUT, "cannot write '%s': %s",
                 wave->options.png, strerror(errno));
}

static unsigned blocks_for(int cells, unsigned block)
{
    return ((unsigned)(cells - 2 * WAVE_RADIUS) + block - 1) / block;
}

static void geometry_set(struct wave *wave)
{
    const struct volume *model = &wave->model;
    wave->nx = (int)model->nx;
    wave->ny = (int)model->ny;
    wave->nz = (int)model->nz;
    wave->cells = volume_cells(model);
    wave->damping_count = (size_t)model->nx + model->ny + model->nz;

    /* Off centre and near the top: reflections come back to it. */
    size_t x = model->nx * 3 / 8, y = model->ny / 2, z = model->nz / 5;
    wave->source = (z * model->ny + y) * model->nx + x;

    wave->block[0] = WAVE_BLOCK_X;
    wave->block[1] = WAVE_BLOCK_Y;
    wave->block[2] = 1;
    wave->grid[0] = blocks_for(wave->nx, WAVE_BLOCK_X);
    wave->grid[1] = blocks_for(wave->ny, WAVE_BLOCK_Y);
    wave->grid[2] = blocks_for(wave->nz, 1);
}

void wave_open(struct wave *wave, int argc, char **argv)
{
    memset(wave, 0, sizeof *wave);
    wave->started_s = wave->phase_started_s = wave_clock();
    options_parse(wave, argc, argv);
    model_open(wave);
    snapshots_open(wave);
    picture_probe(wave);
    geometry_set(wave);
}
