/*
 * Owns: copies of a run of bytes that goes on in the next row of an array.
 * Does not own: copies of rectangles (shaped.c), what an array is (array.c).
 */
#include "cudart/array.h"
#include "cudart/copy.h"
#include "cudart/shaped.h"

/* A place in an array: the run goes on from here. */
struct spot {
    size_t x, y, row;
};

/* Where a run of `count` bytes begins in `array`, which must hold it. */
static cudaError_t find(cudaArray_const_t array, size_t x, size_t y,
                        size_t count, struct spot *spot)
{
    size_t rows;
    *spot = (struct spot){.x = x, .y = y};
    SC_RT_TRY(sc_rt_array_rows(array, &spot->row, &rows));
    if (x >= spot->row || y >= rows || count > (rows - y) * spot->row - x)
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

static void advance(struct spot *spot, size_t bytes)
{
    size_t x = spot->x + bytes;
    spot->y += x / spot->row;
    spot->x = x % spot->row;
}

/* Width of the next rectangle of a run: whole rows from the start of one. */
static size_t next_width(const struct spot *spot, size_t count, size_t *height)
{
    size_t width = spot->row - spot->x;
    *height = 1;
    if (count < width)
        return count;
    if (spot->x == 0)
        *height = count / spot->row;
    return width;
}

static cudaError_t to_array(cudaArray_t dst, size_t x, size_t y,
                            const void *src, size_t count,
                            enum cudaMemcpyKind kind, struct sc_rt_when when)
{
    struct spot to;
    size_t height;
    const char *from = src;
    SC_RT_TRY(find(dst, x, y, count, &to));
    while (count > 0) {
        size_t width = next_width(&to, count, &height);
        SC_RT_TRY(sc_rt_to_array(dst, to.x, to.y, from, width, width, height,
                                 kind, when));
        from += width * height;
        count -= width * height;
        advance(&to, width * height);
    }
    return cudaSuccess;
}

static cudaError_t from_array(void *dst, cudaArray_const_t src, size_t x,
                              size_t y, size_t count, enum cudaMemcpyKind kind,
                              struct sc_rt_when when)
{
    struct spot from;
    size_t height;
    char *to = dst;
    SC_RT_TRY(find(src, x, y, count, &from));
    while (count > 0) {
        size_t width = next_width(&from, count, &height);
        SC_RT_TRY(sc_rt_from_array(to, width, src, from.x, from.y, width,
                                   height, kind, when));
        to += width * height;
        count -= width * height;
        advance(&from, width * height);
    }
    return cudaSuccess;
}

static cudaError_t between(cudaArray_t dst, size_t dx, size_t dy,
                           cudaArray_const_t src, size_t sx, size_t sy,
                           size_t count, struct sc_rt_when when)
{
    struct spot from, to;
    size_t height, other;
    SC_RT_TRY(find(dst, dx, dy, count, &to));
    SC_RT_TRY(find(src, sx, sy, count, &from));
    while (count > 0) {
        size_t width = next_width(&to, count, &height);
        size_t narrow = next_width(&from, count, &other);
        if (narrow != width) {
            width = narrow < width ? narrow : width;
            height = 1;
        }
        height = other < height ? other : height;
        SC_RT_TRY(sc_rt_between_arrays(dst, to.x, to.y, src, from.x, from.y,
                                       width, height, when));
        count -= width * height;
        advance(&to, width * height);
        advance(&from, width * height);
    }
    return cudaSuccess;
}

SC_RT_COPY(cudaMemcpyToArray,
           to_array(dst, wOffset, hOffset, src, count, kind, when),
           cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
           size_t count, enum cudaMemcpyKind kind)
SC_RT_COPY(cudaMemcpyFromArray,
           from_array(dst, src, wOffset, hOffset, count, kind, when), void *dst,
           cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
           enum cudaMemcpyKind kind)
SC_RT_COPY_NOW(cudaMemcpyArrayToArray,
               between(dst, wOffsetDst, hOffsetDst, src, wOffsetSrc, hOffsetSrc,
                       count, when),
               cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
               cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc,
               size_t count, enum cudaMemcpyKind kind)
