/*
 * An RGB image in memory with rectangles and small lettering.
 *
 * Owns the pixels and the letter shapes. Does not own files or meaning.
 * Drawing outside the image is cut off. No locks; no state of its own.
 */
#ifndef BENCH_WAVE_CANVAS_H
#define BENCH_WAVE_CANVAS_H

#include <stdbool.h>
#include <stdint.h>

#define CANVAS_LETTER_WIDTH  6
#define CANVAS_LETTER_HEIGHT 8

struct rgb {
    uint8_t r, g, b;
};

struct canvas {
    int width, height;  /* pixels */
    struct rgb *pixels; /* row by row, from the top */
};

/**
 * Make a white canvas.
 *
 * Return: false when there is not enough memory (nothing to destroy then)
 * Thread: any
 * Signal: never
 */
bool canvas_create(struct canvas *canvas, int width, int height);

/** Free the pixels. Thread: any. Signal: never. */
void canvas_destroy(struct canvas *canvas);

/** Colour one pixel. Thread: owner of the canvas. Signal: any handler. */
void canvas_set(struct canvas *canvas, int x, int y, struct rgb colour);

/** Colour a rectangle. Thread: owner of the canvas. Signal: any handler. */
void canvas_fill(struct canvas *canvas, int x, int y, int width, int height,
                 struct rgb colour);

/**
 * Write text in letters of CANVAS_LETTER_WIDTH x CANVAS_LETTER_HEIGHT pixels
 * times `scale`; digits, lower case and - + . , = / ( ) are known, others leave
 * a gap.
 *
 * @x, @y  upper left corner in pixels
 * Thread: owner of the canvas
 * Signal: any handler
 */
void canvas_text(struct canvas *canvas, int x, int y, int scale,
                 struct rgb colour, const char *text);

/** Pixels canvas_text would take along x. Thread: any. Signal: any handler. */
int canvas_text_width(int scale, const char *text);

#endif
