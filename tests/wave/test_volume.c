/* The volume file: what is written is read, what is wrong is refused. */
#include "common/suite.h"
#include "volume.h"

#include <math.h>
#include <string.h>

static const struct volume small = {
    .nx = 16, .ny = 17, .nz = 18, .frames = 1, .spacing_m = 12.5f};

static char why[200];

/* A file of the given header, `values` zeros behind it, cut to `bytes`. */
static FILE *file_make(const struct volume *volume, size_t values)
{
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    ck_assert(volume_write_header(file, volume));
    for (size_t i = 0; i < values; i++)
        ck_assert_uint_eq(fwrite(&(float){0}, sizeof(float), 1, file), 1);
    rewind(file);
    return file;
}

static void refused(const struct volume *volume, size_t values,
                    const char *because)
{
    struct volume got;
    FILE *file = file_make(volume, values);
    ck_assert(!volume_read_header(file, &got, why, sizeof why));
    ck_assert_msg(strstr(why, because), "said '%s', not '%s'", why, because);
    fclose(file);
}

START_TEST(header_written_is_read_back)
{
    struct volume got;
    FILE *file = file_make(&small, volume_cells(&small));
    ck_assert_msg(volume_read_header(file, &got, why, sizeof why), "%s", why);
    ck_assert_mem_eq(&got, &small, sizeof got);
    ck_assert_int_eq(ftell(file), VOLUME_HEADER_BYTES);
    fclose(file);
}
END_TEST

START_TEST(header_has_the_documented_layout)
{
    static const unsigned char bytes[VOLUME_HEADER_BYTES] = {
        'A', 'D', 'S', 'M', 'V', 'O', 'L', '1', 16, 0, 0, 0,    17,   0, 0,
        0,   18,  0,   0,   0,   1,   0,   0,   0,  0, 0, 0x48, 0x41, 0};
    unsigned char got[VOLUME_HEADER_BYTES];
    FILE *file = file_make(&small, 0);
    ck_assert_uint_eq(fread(got, sizeof got, 1, file), 1);
    ck_assert_mem_eq(got, bytes, sizeof got);
    fclose(file);
}
END_TEST

START_TEST(empty_file_is_truncated)
{
    struct volume got;
    FILE *file = tmpfile();
    ck_assert(!volume_read_header(file, &got, why, sizeof why));
    ck_assert_msg(strstr(why, "truncated"), "%s", why);
    fclose(file);
}
END_TEST

START_TEST(other_magic_is_no_volume)
{
    struct volume got;
    FILE *file = file_make(&small, volume_cells(&small));
    ck_assert_int_eq(fputc('B', file), 'B');
    rewind(file);
    ck_assert(!volume_read_header(file, &got, why, sizeof why));
    ck_assert_msg(strstr(why, "not a volume file"), "%s", why);
    fclose(file);
}
END_TEST

START_TEST(missing_values_are_truncated)
{
    refused(&small, volume_cells(&small) - 1, "truncated");
    refused(&small, 0, "truncated");
}
END_TEST

START_TEST(more_values_are_too_long)
{
    refused(&small, volume_cells(&small) + 1, "too long");
}
END_TEST

START_TEST(absurd_edges_are_named)
{
    struct volume volume = small;
    volume.nx = 0;
    refused(&volume, 0, "nx = 0");
    volume = small;
    volume.ny = VOLUME_EDGE_MIN - 1;
    refused(&volume, 0, "ny = 15");
    volume = small;
    volume.nz = UINT32_MAX;
    refused(&volume, 0, "nz = 4294967295");
}
END_TEST

START_TEST(too_many_cells_are_refused)
{
    struct volume volume = {4096, 4096, 4096, .frames = 1, .spacing_m = 1};
    refused(&volume, 0, "cells");
}
END_TEST

START_TEST(frame_count_that_overflows_is_truncated)
{
    struct volume volume = {4096, 4096, 128, .frames = UINT32_MAX,
                            .spacing_m = 1};
    refused(&volume, 0, "truncated");
    volume.frames = 0;
    refused(&volume, 0, "no frame");
}
END_TEST

START_TEST(spacing_that_is_no_length_is_refused)
{
    static const float wrong[] = {0, -1, NAN, INFINITY, 1e-30f};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct volume volume = small;
        volume.spacing_m = wrong[i];
        refused(&volume, volume_cells(&small), "cell size");
    }
}
END_TEST

SUITE_MAIN("wave volume", 10, header_written_is_read_back,
           header_has_the_documented_layout, empty_file_is_truncated,
           other_magic_is_no_volume, missing_values_are_truncated,
           more_values_are_too_long, absurd_edges_are_named,
           too_many_cells_are_refused, frame_count_that_overflows_is_truncated,
           spacing_that_is_no_length_is_refused)
