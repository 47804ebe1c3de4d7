/*
 * Pictures by gnuplot.
 *
 * A script goes into a file of its own, what gnuplot makes of it comes back whole
 * and is then written: so a picture that was there before is not lost to one that
 * fails.
 */
#ifndef ADSM_INFO_PICTURE_H
#define ADSM_INFO_PICTURE_H

#include <stdbool.h>
#include <stdio.h>

/** Where to write a script for a PNG of so many pixels; NULL: no memory, said. */
FILE *picture_begin(int width, int height);

/** Draw it to `path`. Return: false: said why not */
bool picture_end(FILE *script, const char *path);

/** A text of others as one of gnuplot's. */
void picture_text(FILE *script, const char *text);

#endif
