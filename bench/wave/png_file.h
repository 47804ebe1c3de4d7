/*
 * A canvas as a PNG file.
 *
 * Owns the file; reads the pixels where they lie. No locks; no state.
 */
#ifndef BENCH_WAVE_PNG_FILE_H
#define BENCH_WAVE_PNG_FILE_H

#include <stddef.h>

#include "canvas.h"

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
