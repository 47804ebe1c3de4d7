/*
 * Pixels as a PNG file. See png_file.h.
 */
#include "png_file.h"

#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <string.h>

bool png_store(const struct png_pixels *from, const char *path, char *why,
               size_t why_bytes)
{
    png_image image = {
        .version = PNG_IMAGE_VERSION,
        .width = (png_uint_32)from->width,
        .height = (png_uint_32)from->height,
        .format = from->is_grey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB,
        .flags = from->is_fast ? PNG_IMAGE_FLAG_FAST : 0,
    };
    FILE *file = fopen(path, "wb");
    if (!file) {
        snprintf(why, why_bytes, "%s", strerror(errno));
        return false;
    }
    errno = 0;
    bool good = png_image_write_to_stdio(&image, file, 0, from->bytes, 0, NULL);
    if (!good)
        snprintf(why, why_bytes, "%s",
                 errno != 0 ? strerror(errno) : image.message);
    if (fclose(file) != 0 && good) {
        snprintf(why, why_bytes, "%s", strerror(errno));
        good = false;
    }
    return good;
}

bool png_save(const struct canvas *canvas, const char *path, char *why,
              size_t why_bytes)
{
    const struct png_pixels pixels = {.width = canvas->width,
                                      .height = canvas->height,
                                      .bytes = canvas->pixels};
    return png_store(&pixels, path, why, why_bytes);
}
