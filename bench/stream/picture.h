/*
 * Pictures of the stream: read from PNG files into shared memory, and made.
 */
#ifndef BENCH_STREAM_PICTURE_H
#define BENCH_STREAM_PICTURE_H

#include <stdbool.h>
#include <stddef.h>

/** A picture on its way; its arrays are used again for others. */
struct picture {
    int width, height;
    unsigned *pixels;    /* shared: as grey.h has them                     */
    unsigned char *grey; /* shared: what they become                       */
    long room;           /* pixels that the arrays have                    */
};

enum { PICTURE_SIDE = 32768, PICTURE_WHY = 160 };

static inline long picture_pixels(const struct picture *picture)
{
    return (long)picture->width * picture->height;
}

/**
 * Read a PNG file of any kind, 16 bits a channel at most, up to PICTURE_SIDE
 * pixels wide and high.
 *
 * @picture  its arrays are made larger where they are too small
 * @why      receives one sentence on failure
 * Return: true when all of it is read
 * Thread: the owner of the picture. Signal: never
 */
bool picture_load(struct picture *picture, const char *path,
                  char why[PICTURE_WHY]);

/** Write what the pixels became. As png_save. */
bool picture_store(const struct picture *picture, const char *path,
                   char why[PICTURE_WHY]);

/** Arrays for so many pixels. Return: false: no memory */
bool picture_room(struct picture *picture, long pixels);

/** Give the arrays back. */
void picture_free(struct picture *picture);

/**
 * Make a PNG file: soft colours, edges and some noise, other ones for each seed
 * and the same ones for the same.
 *
 * Return: as png_save
 */
bool picture_make(const char *path, int width, int height, unsigned seed,
                  char why[PICTURE_WHY]);

#endif
