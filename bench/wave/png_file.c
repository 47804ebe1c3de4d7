/*
 * A canvas as a PNG file. See png_file.h.
 */
#include "png_file.h"

#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <string.h>

bool png_save(const struct canvas *canvas, const char *path, char *why,
              size_t why_bytes)
{
    png_image image = {
        .version = PNG_IMAGE_VERSION,
        .width = (png_uint_32)canvas->width,
        .height = (png_uint_32)canvas->height,
        .format = PNG_FORMAT_RGB,
    };
    FILE *file = fopen(path, "wb");
    if (!file) {
        snprintf(why, why_bytes, "%s", strerror(errno));
        return false;
    }
    errno = 0;
    bool good =
        png_image_write_to_stdio(&image, file, 0, canvas->pixels, 0, NULL);
    if (!good)
        snprintf(why, why_bytes, "%s",
                 errno != 0 ? strerror(errno) : image.message);
    if (fclose(file) != 0 && good) {
        snprintf(why, why_bytes, "%s", strerror(errno));
        good = false;
    }
    return good;
}
