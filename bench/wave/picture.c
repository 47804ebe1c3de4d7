/*
 * A picture of a wave field over its velocity model. See picture.h.
 */
#include "picture.h"
#include "canvas.h"
#include "png_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EDGE_PIXELS   512 /* least length of the longer edge */
#define MARGIN_LEFT   64
#define MARGIN_TOP    56
#define MARGIN_RIGHT  24
#define MARGIN_BOTTOM 64
#define LETTERS       2 /* scale of the lettering */
#define BAR_PIXELS    120
#define LOUD_PART     0.975 /* this part of the slice is below full colour */

static const struct rgb ink = {40, 40, 40};
static const struct rgb high = {190, 20, 40};
static const struct rgb low = {20, 80, 180};

/* One vertical slice, copied together from both volumes. */
struct slice {
    int nx, nz;
    float *pressure, *speed; /* nz rows of nx */
    float loud;              /* pressure of full colour */
    float slow, fast;        /* range of speeds, m/s */
};

static int float_compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The pressure that all but the loudest cells stay below; never zero. */
static float loudness(const struct slice *slice, float *scratch)
{
    size_t n = (size_t)slice->nx * slice->nz;
    for (size_t i = 0; i < n; i++)
        scratch[i] = fabsf(slice->pressure[i]);
    qsort(scratch, n, sizeof *scratch, float_compare);
    float loud = scratch[(size_t)(LOUD_PART * (double)(n - 1))];
    return loud > 0 ? loud : scratch[n - 1] > 0 ? scratch[n - 1] : 1.0f;
}

static bool slice_create(struct slice *slice, const struct picture *picture)
{
    const struct volume *v = &picture->volume;
    *slice = (struct slice){.nx = (int)v->nx, .nz = (int)v->nz};
    size_t n = (size_t)v->nx * v->nz, row_bytes = v->nx * sizeof(float);
    float *scratch = malloc(n * sizeof(float));
    slice->pressure = malloc(n * sizeof(float));
    slice->speed = malloc(n * sizeof(float));
    if (!scratch || !slice->pressure || !slice->speed) {
        free(scratch);
        return false;
    }
    for (uint32_t z = 0; z < v->nz; z++) {
        size_t from = ((size_t)z * v->ny + picture->y) * v->nx;
        size_t to = (size_t)z * v->nx;
        memcpy(slice->pressure + to, picture->pressure + from, row_bytes);
        memcpy(slice->speed + to, picture->speed + from, row_bytes);
    }
    slice->slow = INFINITY;
    slice->fast = 0;
    for (size_t i = 0; i < n; i++) {
        slice->slow = fminf(slice->slow, slice->speed[i]);
        slice->fast = fmaxf(slice->fast, slice->speed[i]);
    }
    slice->loud = loudness(slice, scratch);
    free(scratch);
    return true;
}

static void slice_destroy(struct slice *slice)
{
    free(slice->pressure);
    free(slice->speed);
}

/* Bilinear, held constant beyond the outermost cell centres. */
static float sample(const struct slice *slice, const float *values, float x,
                    float z)
{
    x = fminf(fmaxf(x, 0), (float)(slice->nx - 1));
    z = fminf(fmaxf(z, 0), (float)(slice->nz - 1));
    int i = (int)x < slice->nx - 1 ? (int)x : slice->nx - 2;
    int k = (int)z < slice->nz - 1 ? (int)z : slice->nz - 2;
    float fx = x - (float)i, fz = z - (float)k;
    const float *at = values + (size_t)k * slice->nx + i;
    float upper = at[0] + fx * (at[1] - at[0]);
    float lower = at[slice->nx] + fx * (at[slice->nx + 1] - at[slice->nx]);
    return upper + fz * (lower - upper);
}

static uint8_t mix(uint8_t from, uint8_t to, float part)
{
    return (uint8_t)lrintf((float)from + part * (float)(to - from));
}

static struct rgb grey(float part)
{
    uint8_t level = mix(236, 96, part);
    return (struct rgb){level, level, level};
}

/* `pressure` in units of full colour; weak waves are lifted to be seen. */
static struct rgb tint(struct rgb under, float pressure)
{
    struct rgb over = pressure > 0 ? high : low;
    float part = 0.92f * powf(fminf(fabsf(pressure), 1), 0.7f);
    return (struct rgb){mix(under.r, over.r, part), mix(under.g, over.g, part),
                        mix(under.b, over.b, part)};
}

static float speed_part(const struct slice *slice, float speed)
{
    float range = slice->fast - slice->slow;
    return range > 0 ? (speed - slice->slow) / range : 0;
}

static void field_draw(struct canvas *canvas, const struct slice *slice,
                       int zoom)
{
    for (int j = 0; j < slice->nz * zoom; j++)
        for (int i = 0; i < slice->nx * zoom; i++) {
            float x = ((float)i + 0.5f) / (float)zoom - 0.5f;
            float z = ((float)j + 0.5f) / (float)zoom - 0.5f;
            struct rgb under =
                grey(speed_part(slice, sample(slice, slice->speed, x, z)));
            float pressure = sample(slice, slice->pressure, x, z);
            canvas_set(canvas, MARGIN_LEFT + i, MARGIN_TOP + j,
                       tint(under, pressure / slice->loud));
        }
}

static void frame_draw(struct canvas *canvas, int width, int height)
{
    int x = MARGIN_LEFT - 1, y = MARGIN_TOP - 1;
    canvas_fill(canvas, x, y, width + 2, 1, ink);
    canvas_fill(canvas, x, y + height + 1, width + 2, 1, ink);
    canvas_fill(canvas, x, y, 1, height + 2, ink);
    canvas_fill(canvas, x + width + 1, y, 1, height + 2, ink);
}

/* A round number of metres that gives about five marks. */
static float mark_distance(float length_m)
{
    float rough = length_m / 5;
    float power = powf(10, floorf(log10f(rough)));
    float digit = rough / power;
    return power * (digit < 1.5f   ? 1
                    : digit < 3.5f ? 2
                    : digit < 7.5f ? 5
                                   : 10);
}

static void axis_draw(struct canvas *canvas, int pixels, float length_m,
                      bool down)
{
    float distance = mark_distance(length_m);
    for (int i = 0; (float)i * distance <= length_m; i++) {
        char text[16];
        int at = (int)((float)i * distance / length_m * (float)(pixels - 1));
        snprintf(text, sizeof text, "%g", (double)((float)i * distance));
        int wide = canvas_text_width(LETTERS, text);
        if (down) {
            canvas_fill(canvas, MARGIN_LEFT - 7, MARGIN_TOP + at, 6, 1, ink);
            canvas_text(canvas, MARGIN_LEFT - 10 - wide, MARGIN_TOP + at - 7,
                        LETTERS, ink, text);
        } else {
            canvas_fill(canvas, MARGIN_LEFT + at, MARGIN_TOP - 7, 1, 6, ink);
            canvas_text(canvas, MARGIN_LEFT + at - wide / 2, MARGIN_TOP - 26,
                        LETTERS, ink, text);
        }
    }
}

static void legend_draw(struct canvas *canvas, const struct slice *slice,
                        int bottom)
{
    char slow[24], fast[32];
    snprintf(slow, sizeof slow, "%.0f", (double)slice->slow);
    snprintf(fast, sizeof fast, "%.0f m/s", (double)slice->fast);
    int y = bottom + 36, x = MARGIN_LEFT;
    canvas_text(canvas, x, y, LETTERS, ink, slow);
    x += canvas_text_width(LETTERS, slow);
    for (int i = 0; i < BAR_PIXELS; i++)
        canvas_fill(canvas, x + i, y, 1, 14, grey((float)i / BAR_PIXELS));
    x += BAR_PIXELS + 6;
    canvas_text(canvas, x, y, LETTERS, ink, fast);

    x = canvas->width - MARGIN_RIGHT - BAR_PIXELS - 132;
    canvas_text(canvas, x, y, LETTERS, ink, "pressure -");
    x += canvas_text_width(LETTERS, "pressure -");
    for (int i = 0; i < BAR_PIXELS; i++) {
        float part = 2 * (float)i / (BAR_PIXELS - 1) - 1;
        canvas_fill(canvas, x + i, y, 1, 14, tint(grey(0), part));
    }
    canvas_text(canvas, x + BAR_PIXELS + 4, y, LETTERS, ink, "+");
}

static void source_draw(struct canvas *canvas, const struct picture *picture,
                        int zoom)
{
    size_t column = picture->source % picture->volume.nx;
    size_t plane = (size_t)picture->volume.nx * picture->volume.ny;
    int x = MARGIN_LEFT + (int)column * zoom + zoom / 2;
    int y = MARGIN_TOP + (int)(picture->source / plane) * zoom + zoom / 2;
    canvas_fill(canvas, x - 7, y - 1, 15, 3, ink);
    canvas_fill(canvas, x - 1, y - 7, 3, 15, ink);
}

static void lettering_draw(struct canvas *canvas, const struct picture *picture,
                           int bottom)
{
    char text[64];
    snprintf(text, sizeof text, "depth over distance in m, t = %.3f s",
             (double)picture->time_s);
    canvas_text(canvas, MARGIN_LEFT, 6, LETTERS, ink, text);
    float y_m = (float)picture->y * picture->volume.spacing_m;
    snprintf(text, sizeof text, "slice at y = %g m, + is the source",
             (double)y_m);
    canvas_text(canvas, MARGIN_LEFT, bottom + 10, LETTERS, ink, text);
}

bool picture_write(const struct picture *picture, const char *path, char *why,
                   size_t why_bytes)
{
    struct slice slice;
    struct canvas canvas = {0};
    int longer =
        (int)(picture->volume.nx > picture->volume.nz ? picture->volume.nx
                                                      : picture->volume.nz);
    int zoom = (EDGE_PIXELS + longer - 1) / longer;
    int width = (int)picture->volume.nx * zoom;
    int height = (int)picture->volume.nz * zoom;
    bool good = slice_create(&slice, picture) &&
                canvas_create(&canvas, MARGIN_LEFT + width + MARGIN_RIGHT,
                              MARGIN_TOP + height + MARGIN_BOTTOM);
    if (good) {
        float spacing = picture->volume.spacing_m;
        field_draw(&canvas, &slice, zoom);
        frame_draw(&canvas, width, height);
        axis_draw(&canvas, width, spacing * (float)slice.nx, false);
        axis_draw(&canvas, height, spacing * (float)slice.nz, true);
        source_draw(&canvas, picture, zoom);
        lettering_draw(&canvas, picture, MARGIN_TOP + height);
        legend_draw(&canvas, &slice, MARGIN_TOP + height);
        good = png_save(&canvas, path, why, why_bytes);
    } else {
        snprintf(why, why_bytes, "out of memory");
    }
    canvas_destroy(&canvas);
    slice_destroy(&slice);
    return good;
}
