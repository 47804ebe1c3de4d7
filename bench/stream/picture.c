/* Pictures from PNG files and to them; see picture.h. */
#include "picture.h"

#include <adsm.h>
#include <png_file.h>

#include <errno.h>
#include <png.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool picture_room(struct picture *picture, long pixels)
{
    if (pixels <= picture->room)
        return true;
    picture_free(picture);
    picture->pixels =
        adsmAllocArray(sizeof *picture->pixels, adsmR1(pixels), ADSM_NO_HOME);
    picture->grey = adsmAllocArray(1, adsmR1(pixels), ADSM_NO_HOME);
    if (picture->pixels && picture->grey)
        picture->room = pixels;
    else
        picture_free(picture);
    return picture->room > 0;
}

void picture_free(struct picture *picture)
{
    /* What could not be freed is still the library's. */
    if (picture->pixels)
        (void)!adsmFree(picture->pixels);
    if (picture->grey)
        (void)!adsmFree(picture->grey);
    picture->pixels = NULL;
    picture->grey = NULL;
    picture->room = 0;
}

/* The rest of a file whose header was read. */
static bool read_pixels(struct picture *picture, png_image *image, char *why)
{
    if (image->width > PICTURE_SIDE || image->height > PICTURE_SIDE) {
        snprintf(why, PICTURE_WHY,
                 "a picture of %u x %u pixels; up to %d x %d are read",
                 (unsigned)image->width, (unsigned)image->height, PICTURE_SIDE,
                 PICTURE_SIDE);
        return false;
    }
    picture->width = (int)image->width;
    picture->height = (int)image->height;
    if (!picture_room(picture, picture_pixels(picture))) {
        snprintf(why, PICTURE_WHY, "no memory for %u x %u pixels: %s",
                 (unsigned)image->width, (unsigned)image->height,
                 adsmErrorDetail());
        return false;
    }
    image->format = PNG_FORMAT_RGBA;
    bool good = png_image_finish_read(image, NULL, picture->pixels, 0, NULL);
    if (!good)
        snprintf(why, PICTURE_WHY, "it is damaged or cut short: %s",
                 image->message);
    return good;
}

bool picture_load(struct picture *picture, const char *path,
                  char why[PICTURE_WHY])
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    FILE *file = fopen(path, "rb");
    if (!file) {
        snprintf(why, PICTURE_WHY, "%s", strerror(errno));
        return false;
    }
    bool good = png_image_begin_read_from_stdio(&image, file);
    if (!good)
        snprintf(why, PICTURE_WHY, "it is no PNG file that can be read: %s",
                 image.message);
    else
        good = read_pixels(picture, &image, why);
    png_image_free(&image);
    fclose(file);
    return good;
}

bool picture_store(const struct picture *picture, const char *path,
                   char why[PICTURE_WHY])
{
    const struct png_pixels pixels = {.width = picture->width,
                                      .height = picture->height,
                                      .is_grey = true,
                                      .is_fast = true,
                                      .bytes = picture->grey};
    return png_store(&pixels, path, why, PICTURE_WHY);
}

static uint8_t made(int x, int y, unsigned seed, unsigned channel)
{
    unsigned slope = (unsigned)x / 4 * (4 + 7 * channel) +
                     (unsigned)y / 4 * (23 - 8 * channel);
    unsigned edge = ((unsigned)x / 97 ^ (unsigned)y / 61) % 4 * 40;
    unsigned noise = ((unsigned)x * 2654435761u ^ (unsigned)y * 40503u) >> 31;
    return (uint8_t)(slope + edge * channel + noise + seed * 37);
}

bool picture_make(const char *path, int width, int height, unsigned seed,
                  char why[PICTURE_WHY])
{
    struct canvas canvas;
    if (!canvas_create(&canvas, width, height)) {
        snprintf(why, PICTURE_WHY, "no memory for %d x %d pixels", width,
                 height);
        return false;
    }
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            canvas.pixels[(size_t)y * (size_t)width + (size_t)x] = (struct rgb){
                made(x, y, seed, 0), made(x, y, seed, 1), made(x, y, seed, 2)};
    const struct png_pixels pixels = {.width = width,
                                      .height = height,
                                      .is_fast = true,
                                      .bytes = canvas.pixels};
    bool good = png_store(&pixels, path, why, PICTURE_WHY);
    canvas_destroy(&canvas);
    return good;
}
