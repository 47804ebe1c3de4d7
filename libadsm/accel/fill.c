/* Fills, by the driver or by doubling; see fill.h. */
#include "accel/fill.h"

#include "accel/device.h"
#include "accel/extent.h"

#include <string.h>

enum { BEGINNING = 4096 };

/* The shortest pattern that gives the same bytes. */
static size_t shortest(const uint8_t *pattern, size_t width)
{
    while (width % 2 == 0 &&
           memcmp(pattern, pattern + width / 2, width / 2) == 0)
        width /= 2;
    return width;
}

/* ADSM_E_UNSUPPORTED: drivers set no such elements. */
static int set(struct adsm_accel *accel, adsm_stream stream,
               struct adsm_daddr to, const uint8_t *pattern, size_t width,
               size_t bytes)
{
    uint32_t value = 0;
    uint16_t two;
    if (width == 1)
        return adsm_extent_set(accel, stream, to, *pattern, bytes);
    if ((width != 2 && width != 4) || to.at % width != 0 ||
        !accel->ops->fill_device)
        return ADSM_E_UNSUPPORTED;
    memcpy(&two, pattern, sizeof two);
    if (width == 2)
        value = two;
    else
        memcpy(&value, pattern, sizeof value);
    return accel->ops->fill_device(accel, stream, to, value, (unsigned)width,
                                   bytes / width);
}

/* The first bytes, from the host: `*sent` of them. */
static int send(struct adsm_accel *accel, adsm_stream stream,
                struct adsm_daddr to, const uint8_t *pattern, size_t width,
                size_t bytes, size_t *sent)
{
    uint8_t beginning[BEGINNING];
    size_t n = 0;
    if (width > BEGINNING / 2) {
        *sent = width;
        return accel->ops->copy_up(accel, stream, to, pattern, width);
    }
    for (; n + width <= BEGINNING && n < bytes; n += width)
        memcpy(beginning + n, pattern, width);
    *sent = n;
    return accel->ops->copy_up(accel, stream, to, beginning, n);
}

static int double_up(struct adsm_accel *accel, adsm_stream stream,
                     struct adsm_daddr to, size_t there, size_t bytes)
{
    int rc = ADSM_OK;
    while (there < bytes && rc == ADSM_OK) {
        size_t n = there < bytes - there ? there : bytes - there;
        rc = accel->ops->copy_device(accel, stream, adsm_daddr_add(to, there),
                                     to, n);
        there += n;
    }
    return rc;
}

int adsm_fill(struct adsm_accel *accel, adsm_stream stream,
              struct adsm_daddr to, const void *pattern, size_t width,
              size_t bytes)
{
    size_t there = 0;
    width = shortest(pattern, width);
    int rc = set(accel, stream, to, pattern, width, bytes);
    if (rc != ADSM_E_UNSUPPORTED)
        return rc;
    rc = send(accel, stream, to, pattern, width, bytes, &there);
    return rc == ADSM_OK ? double_up(accel, stream, to, there, bytes) : rc;
}
