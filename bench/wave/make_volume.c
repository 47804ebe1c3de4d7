/*
 * wave-volume: writes a layered velocity model with a salt body.
 *
 * Owns the model: water over layers whose interfaces undulate, and one salt
 * body with a rough surface pushed up through them. The same size and seed
 * give the same bytes everywhere: speeds are rounded to whole m/s, so the last
 * bits of the mathematics do not show. Writes plane by plane, so the size is
 * bounded by the disk only.
 */
#include "volume.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LAYERS 5
#define WAVES  4

struct undulation {
    double kx, ky, phase, height;
};

struct model {
    struct volume volume;
    uint64_t random;
    struct undulation interface[LAYERS][WAVES];
    struct undulation skin[WAVES];
};

/* Top of each layer as a fraction of the depth, and its speed in m/s. */
static const double layer_top[LAYERS] = {0.0, 0.22, 0.42, 0.62, 0.82};
static const double layer_speed[LAYERS] = {1500, 1950, 2400, 2900, 3400};
static const double salt_speed = 4500;

static const char usage[] =
    "usage: wave-volume [--size NXxNYxNZ] [--spacing metres] [--seed n] file\n"
    "Writes a velocity model of NXxNYxNZ cells (default 72x48x72, each edge\n"
    "16 to 4096) with cells of the given size (default 10 m) to `file`.\n";

static _Noreturn void die(const char *format, const char *what)
{
    fprintf(stderr, "wave-volume: ");
    fprintf(stderr, format, what);
    fprintf(stderr, "\n");
    exit(2);
}

/* splitmix64, as a fraction in [0, 1) */
static double random_next(struct model *model)
{
    uint64_t z = model->random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void undulations_make(struct model *model, struct undulation *set,
                             double height)
{
    for (int i = 0; i < WAVES; i++)
        set[i] = (struct undulation){
            .kx = 2 * M_PI * (0.4 + 0.6 * i) * (0.7 + random_next(model)),
            .ky = 2 * M_PI * (0.3 + 0.4 * i) * (0.7 + random_next(model)),
            .phase = 2 * M_PI * random_next(model),
            .height = height / (1 + i),
        };
}

static double undulation_at(const struct undulation *set, double x, double y)
{
    double sum = 0;
    for (int i = 0; i < WAVES; i++)
        sum +=
            set[i].height * sin(set[i].kx * x + set[i].ky * y + set[i].phase);
    return sum;
}

/* A dome on a stem: an ellipsoid that widens towards the bottom. */
static bool is_salt(const struct model *model, double x, double y, double z)
{
    double dx = x - 0.62, dy = y - 0.5;
    double rough = 1 + undulation_at(model->skin, x + z, y - z);
    double radius = 0.2 * rough;
    double dz = (z - 0.58) / 1.15;
    double stem = z > 0.58 ? 0.13 * rough * (1 + 0.6 * (z - 0.58)) : 0;
    double across = dx * dx + dy * dy;
    return across + dz * dz < radius * radius || across < stem * stem;
}

static double speed_at(const struct model *model, double x, double y, double z)
{
    if (is_salt(model, x, y, z))
        return salt_speed;
    int layer = LAYERS - 1;
    while (layer > 0 &&
           z < layer_top[layer] + undulation_at(model->interface[layer], x, y))
        layer--;
    /* Sediments harden with depth; water does not. */
    double hardening = layer == 0 ? 0 : 300 * (z - layer_top[layer]);
    return layer_speed[layer] + hardening;
}

static void plane_fill(const struct model *model, uint32_t k, float *plane)
{
    const struct volume *v = &model->volume;
    /* One unit of length for all axes keeps the salt body round. */
    double unit = 1.0 / (v->nx > v->nz ? v->nx : v->nz);
    double y_shift = 0.5 - 0.5 * v->ny * unit;
    double x_shift = 0.5 - 0.5 * v->nx * unit;
    for (uint32_t j = 0; j < v->ny; j++)
        for (uint32_t i = 0; i < v->nx; i++)
            *plane++ = (float)round(speed_at(model, (i + 0.5) * unit + x_shift,
                                             (j + 0.5) * unit + y_shift,
                                             (k + 0.5) / v->nz));
}

static void model_write(const struct model *model, const char *path)
{
    const struct volume *v = &model->volume;
    size_t plane_cells = (size_t)v->nx * v->ny;
    float *plane = malloc(plane_cells * sizeof *plane);
    FILE *file = fopen(path, "wb");
    bool good = plane && file && volume_write_header(file, v);
    for (uint32_t k = 0; good && k < v->nz; k++) {
        plane_fill(model, k, plane);
        good = fwrite(plane, sizeof *plane, plane_cells, file) == plane_cells;
    }
    int why = errno;
    if (file && fclose(file) != 0 && good) {
        good = false;
        why = errno;
    }
    free(plane);
    if (!good) {
        fprintf(stderr, "wave-volume: cannot write '%s': %s\n", path,
                strerror(why));
        exit(2);
    }
}

static void size_parse(struct volume *volume, const char *text)
{
    int end = 0;
    char sign = strpbrk(text, "-+ ") ? '-' : 0;
    if (sign ||
        sscanf(text, "%6" SCNu32 "x%6" SCNu32 "x%6" SCNu32 "%n", &volume->nx,
               &volume->ny, &volume->nz, &end) != 3 ||
        text[end] != 0)
        die("--size '%s' is not NXxNYxNZ, such as 128x96x128", text);
}

static double number_parse(const char *option, const char *text, double min,
                           double max)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != 0 || !(value >= min && value <= max)) {
        fprintf(stderr, "wave-volume: %s '%s' must be a number from %g to %g\n",
                option, text, min, max);
        exit(2);
    }
    return value;
}

static const char *arguments_parse(struct model *model, int argc, char **argv)
{
    const char *path = NULL;
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        if (strcmp(arg, "--help") == 0) {
            fputs(usage, stdout);
            exit(0);
        }
        if (strncmp(arg, "--", 2) != 0) {
            if (path)
                die("there is one output file, '%s' is a second one", arg);
            path = arg;
            continue;
        }
        if (i + 1 == argc)
            die("%s needs a value (see --help)", arg);
        const char *value = argv[++i];
        if (strcmp(arg, "--size") == 0)
            size_parse(&model->volume, value);
        else if (strcmp(arg, "--spacing") == 0)
            model->volume.spacing_m =
                (float)number_parse(arg, value, 1e-6, 1e6);
        else if (strcmp(arg, "--seed") == 0)
            model->random = (uint64_t)number_parse(arg, value, 0, 0x1p53);
        else
            die("there is no option %s (see --help)", arg);
    }
    if (!path)
        die("which file is to be written? (see --help)%s", "");
    return path;
}

int main(int argc, char **argv)
{
    struct model model = {
        .volume = {72, 48, 72, .frames = 1, .spacing_m = 10},
        .random = 1,
    };
    const char *path = arguments_parse(&model, argc, argv);
    char why[160];
    if (!volume_is_valid(&model.volume, why, sizeof why))
        die("the model asked for %s", why);
    for (int i = 0; i < LAYERS; i++)
        undulations_make(&model, model.interface[i], 0.04);
    undulations_make(&model, model.skin, 0.12);
    model_write(&model, path);
    return 0;
}
