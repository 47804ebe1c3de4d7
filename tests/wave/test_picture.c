/* The picture: large enough, readable again, and showing both signs. */
#include "common/suite.h"
#include "picture.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NX 20
#define NY 16
#define NZ 24

static float pressure[NX * NY * NZ], speed[NX * NY * NZ];
static char why[200];

static struct picture scene(void)
{
    for (int i = 0; i < NX * NY * NZ; i++) {
        int x = i % NX;
        speed[i] = i < NX * NY * NZ / 2 ? 1500 : 4500;
        pressure[i] = x < 8 ? 1e-3f : x > 12 ? -1e-3f : 0;
    }
    return (struct picture){
        .pressure = pressure,
        .speed = speed,
        .volume = {NX, NY, NZ, .frames = 1, .spacing_m = 10},
        .y = 8,
        .source = (5 * NY + 8) * NX + 10,
        .time_s = 0.1f,
    };
}

struct census {
    int width, height;
    size_t red, blue;
};

static struct census picture_count(const char *path)
{
    struct census census = {0};
    png_image image = {.version = PNG_IMAGE_VERSION};
    ck_assert_msg(png_image_begin_read_from_file(&image, path), "%s",
                  image.message);
    image.format = PNG_FORMAT_RGB;
    unsigned char *pixels = malloc(PNG_IMAGE_SIZE(image));
    ck_assert(png_image_finish_read(&image, NULL, pixels, 0, NULL));
    census.width = (int)image.width;
    census.height = (int)image.height;
    for (size_t i = 0; i < PNG_IMAGE_SIZE(image); i += 3) {
        census.red += pixels[i] > pixels[i + 2] + 60;
        census.blue += pixels[i + 2] > pixels[i] + 60;
    }
    free(pixels);
    return census;
}

static char path[] = "/tmp/wave-picture-XXXXXX";

static void path_make(void)
{
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

START_TEST(small_slice_is_enlarged_and_coloured)
{
    path_make();
    struct picture picture = scene();
    ck_assert_msg(picture_write(&picture, path, why, sizeof why), "%s", why);
    struct census census = picture_count(path);
    ck_assert_int_ge(census.height, 512);
    ck_assert_int_gt(census.width, 400);
    size_t all = (size_t)census.width * (size_t)census.height;
    ck_assert_uint_gt(census.red, all / 5);
    ck_assert_uint_gt(census.blue, all / 5);
    unlink(path);
}
END_TEST

START_TEST(silence_has_no_colour_but_the_legend)
{
    path_make();
    struct picture picture = scene();
    memset(pressure, 0, sizeof pressure);
    ck_assert_msg(picture_write(&picture, path, why, sizeof why), "%s", why);
    struct census census = picture_count(path);
    ck_assert_uint_lt(census.red, 2000);
    ck_assert_uint_lt(census.blue, 2000);
    unlink(path);
}
END_TEST

START_TEST(full_disk_is_reported)
{
    struct picture picture = scene();
    if (access("/dev/full", W_OK) != 0)
        return;
    ck_assert(!picture_write(&picture, "/dev/full", why, sizeof why));
    ck_assert_msg(strstr(why, "No space"), "%s", why);
}
END_TEST

START_TEST(missing_folder_is_reported)
{
    struct picture picture = scene();
    ck_assert(!picture_write(&picture, "/dev/null/x.png", why, sizeof why));
    ck_assert_msg(strstr(why, "Not a directory"), "%s", why);
}
END_TEST

SUITE_MAIN("wave picture", 20, small_slice_is_enlarged_and_coloured,
           silence_has_no_colour_but_the_legend, full_disk_is_reported,
           missing_folder_is_reported)
