/*
 * Input, comparison and picture of the programs. See program.h.
 */
#include "common/program.h"
#include "png_file.h"

#include <stdio.h>
#include <string.h>

static const char *picture_path;

void program_has_picture(void)
{
    bench_option("--png", "--png file     draw the result there",
                 &picture_path);
}

void program_open(int argc, char **argv, const char *kind,
                  const struct input_field *fields, int count, uint32_t *value)
{
    static char path[sizeof RANGES_DATA + 32];
    struct input input;
    snprintf(path, sizeof path, "%s/%s.par", RANGES_DATA, kind);
    input_open(&input, bench_open(argc, argv, path), kind, fields, count);
    input_expect(&input, 0);
    input_close(&input);
    memcpy(value, input.value, (size_t)count * sizeof *value);
}

bool program_draws(void)
{
    return picture_path != NULL;
}

void program_picture(struct canvas *canvas)
{
    char why[200];
    bool good = png_save(canvas, picture_path, why, sizeof why);
    canvas_destroy(canvas);
    if (!good)
        bench_die(BENCH_EXIT_INPUT, "cannot write '%s': %s", picture_path, why);
}

struct canvas program_canvas(int width, int height, struct rgb colour)
{
    struct canvas canvas;
    if (!canvas_create(&canvas, width, height))
        bench_die(BENCH_EXIT_INPUT, "out of memory for the picture");
    canvas_fill(&canvas, 0, 0, width, height, colour);
    return canvas;
}

static uint8_t ramp(float part, float from, float to)
{
    float level = (part - from) / (to - from);
    level = level < 0 ? 0 : level > 1 ? 1 : level;
    return (uint8_t)(255 * level);
}

struct rgb program_glow(float part)
{
    return (struct rgb){ramp(part, 0, 0.4f), ramp(part, 0.3f, 0.75f),
                        ramp(part, 0.7f, 1)};
}

void program_same(const char *what, const void *got, const void *want,
                  size_t count, size_t elem)
{
    for (size_t i = 0; i < count; i++) {
        const char *a = (const char *)got + i * elem;
        if (memcmp(a, (const char *)want + i * elem, elem) != 0)
            bench_die(BENCH_EXIT_WRONG,
                      "wrong result: %s %zu of %zu is not the CPU's", what, i,
                      count);
        bench_check(what, i, 0, 0, 0);
    }
}
