/*
 * Pixels, a canvas' or others, as a PNG file.
 *
 * Owns the file; reads the pixels where they lie. No locks; no state.
 */
#ifndef BENCH_WAVE_PNG_FILE_H
#define BENCH_WAVE_PNG_FILE_H

#include <stddef.h>

#include "canvas.h"

/** Rows from the top, without gaps. */
struct png_pixels {
    int width, height;
    bool is_grey; /* a byte for a pixel; else red, green and blue */
    bool is_fast; /* compressed less, in less time                */
    const void *bytes;
};

/** As png_save, of any pixels. */
bool png_store(const struct png_pixels *from, const char *path, char *why,
               size_t why_bytes);

/**
 * Write all pixels to `path`.
 *
 * @why  receives one sentence on failure
 * Return: true when the whole file is written
 * Thread: any
 * Signal: never
 */
bool png_save(const struct canvas *canvas, const char *path, char *why,
              size_t why_bytes);

#endif
