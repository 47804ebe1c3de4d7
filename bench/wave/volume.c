/*
 * The volume file's header: packing, unpacking, checking. See volume.h.
 */
#include "volume.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

static const char magic[8] = {'A', 'D', 'S', 'M', 'V', 'O', 'L', '1'};

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "values are read and written as they lie in memory");

struct packed_header {
    char magic[8];
    uint32_t nx, ny, nz, frames;
    float spacing_m, interval_s;
};

_Static_assert(sizeof(struct packed_header) == VOLUME_HEADER_BYTES,
               "the header has no padding");

static bool edge_is_valid(const char *name, uint32_t edge, char *why,
                          size_t why_bytes)
{
    if (edge >= VOLUME_EDGE_MIN && edge <= VOLUME_EDGE_MAX)
        return true;
    snprintf(why, why_bytes, "has %s = %" PRIu32 ", it must be %d to %d", name,
             edge, VOLUME_EDGE_MIN, VOLUME_EDGE_MAX);
    return false;
}

bool volume_is_valid(const struct volume *volume, char *why, size_t why_bytes)
{
    if (!edge_is_valid("nx", volume->nx, why, why_bytes) ||
        !edge_is_valid("ny", volume->ny, why, why_bytes) ||
        !edge_is_valid("nz", volume->nz, why, why_bytes))
        return false;
    if (volume_cells(volume) > VOLUME_CELLS_MAX) {
        snprintf(why, why_bytes, "has %zu cells, at most %" PRIu64 " are read",
                 volume_cells(volume), VOLUME_CELLS_MAX);
        return false;
    }
    if (volume->frames == 0) {
        snprintf(why, why_bytes, "holds no frame, it must have at least one");
        return false;
    }
    if (!(volume->spacing_m >= 1e-6f && volume->spacing_m <= 1e6f)) {
        snprintf(why, why_bytes,
                 "has a cell size of %g m, it must be 1e-6 to 1e6",
                 (double)volume->spacing_m);
        return false;
    }
    if (!(volume->interval_s >= 0.0f && isfinite(volume->interval_s))) {
        snprintf(why, why_bytes,
                 "has a frame interval of %g s, it must be 0 or more",
                 (double)volume->interval_s);
        return false;
    }
    return true;
}

static bool length_is_right(FILE *file, const struct volume *volume, char *why,
                            size_t why_bytes)
{
    struct stat st;
    if (fstat(fileno(file), &st) != 0 || !S_ISREG(st.st_mode))
        return true;
    /* frames < 2^32 and a frame <= 2^33 bytes could overflow together. */
    uint64_t frame_bytes = volume_cells(volume) * sizeof(float);
    uint64_t data_bytes = (uint64_t)st.st_size - VOLUME_HEADER_BYTES;
    if (data_bytes % frame_bytes == 0 &&
        data_bytes / frame_bytes == volume->frames)
        return true;
    snprintf(why, why_bytes,
             "is %s: its header promises %" PRIu32 " frame%s of %" PRIu64
             " bytes, the file holds %" PRIu64 " bytes behind the header",
             data_bytes / frame_bytes < volume->frames ? "truncated"
                                                       : "too long",
             volume->frames, volume->frames == 1 ? "" : "s", frame_bytes,
             data_bytes);
    return false;
}

bool volume_read_header(FILE *file, struct volume *volume, char *why,
                        size_t why_bytes)
{
    struct packed_header header;
    errno = 0;
    if (fread(&header, sizeof header, 1, file) != 1) {
        if (ferror(file))
            snprintf(why, why_bytes, "cannot be read: %s", strerror(errno));
        else
            snprintf(why, why_bytes,
                     "is truncated: it ends within the %d-byte header",
                     VOLUME_HEADER_BYTES);
        return false;
    }
    if (memcmp(header.magic, magic, sizeof magic) != 0) {
        snprintf(why, why_bytes,
                 "is not a volume file: it does not begin with \"%.*s\"",
                 (int)sizeof magic, magic);
        return false;
    }
    *volume = (struct volume){
        .nx = header.nx,
        .ny = header.ny,
        .nz = header.nz,
        .frames = header.frames,
        .spacing_m = header.spacing_m,
        .interval_s = header.interval_s,
    };
    return volume_is_valid(volume, why, why_bytes) &&
           length_is_right(file, volume, why, why_bytes);
}

bool volume_write_header(FILE *file, const struct volume *volume)
{
    struct packed_header header = {
        .nx = volume->nx,
        .ny = volume->ny,
        .nz = volume->nz,
        .frames = volume->frames,
        .spacing_m = volume->spacing_m,
        .interval_s = volume->interval_s,
    };
    memcpy(header.magic, magic, sizeof magic);
    return fwrite(&header, sizeof header, 1, file) == 1;
}
