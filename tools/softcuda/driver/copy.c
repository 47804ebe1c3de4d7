/*
 * Owns: what a copy's addresses mean, and its pieces.
 * Does not own: when it runs (sched.c), how a piece moves (move.c), pacing
 * (link.c).
 * Lock: none while moving; the memory lock per look-up.
 */
#include "driver/copy.h"

#include "driver/context.h"
#include "driver/device.h"
#include "driver/memory.h"
#include "driver/move.h"

/* An engine that sleeps takes some 10 us to begin. */
#define SHORT_BYTES (64u << 10)
#define SHORT_NS    20000u

void sc_copy_linear(struct sc_copy *copy, uint64_t dst, uint64_t src,
                    uint64_t bytes)
{
    *copy = (struct sc_copy){.dst = {.base = dst, .pitch = bytes},
                             .src = {.base = src, .pitch = bytes},
                             .width = bytes,
                             .height = 1,
                             .depth = 1};
}

uint64_t sc_copy_bytes(const struct sc_copy *copy)
{
    uint64_t bytes;
    /* More than there is where it does not fit: refused, and not nothing. */
    return __builtin_mul_overflow(copy->width, copy->height, &bytes) ||
                   __builtin_mul_overflow(bytes, copy->depth, &bytes)
               ? UINT64_MAX
               : bytes;
}

/* Bytes from the first to the last one a side touches; false: overflow. */
static bool extent(const struct sc_copy *copy, const struct sc_copy_side *side,
                   uint64_t *bytes)
{
    uint64_t rows, slices, end;
    return !__builtin_mul_overflow(copy->height - 1, side->pitch, &rows) &&
           !__builtin_mul_overflow(copy->depth - 1, side->slice, &slices) &&
           !__builtin_add_overflow(rows, slices, bytes) &&
           !__builtin_add_overflow(*bytes, copy->width, bytes) &&
           !__builtin_add_overflow(*bytes, side->base, &end);
}

static CUresult classify(const struct sc_copy *copy, struct sc_copy_side *side)
{
    uint64_t bytes;
    struct sc_block block;
    if (!extent(copy, side, &bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (!sc_memory_in_window(side->base)) {
        side->device = NULL;
        return side->base ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
    if (!sc_memory_lookup(side->base, &block) ||
        !sc_memory_covers(side->base, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    side->device = block.device;
    if (block.program) /* what the mirror is of is what counts */
        side->base = block.program + (side->base - block.address);
    return CUDA_SUCCESS;
}

CUresult sc_copy_classify(struct sc_copy *copy, CUcontext ctx)
{
    (void)ctx;
    if (sc_copy_bytes(copy) == 0)
        return CUDA_SUCCESS;
    SC_TRY(classify(copy, &copy->dst));
    return classify(copy, &copy->src);
}

bool sc_copy_is_pinned(const struct sc_copy *copy)
{
    const struct sc_copy_side *sides[] = {&copy->dst, &copy->src};
    for (int i = 0; i < 2; i++) {
        uint64_t bytes;
        if (!sides[i]->device && (!extent(copy, sides[i], &bytes) ||
                                  !sc_pinned_covers(sides[i]->base, bytes)))
            return false;
    }
    return true;
}

/* Is a side in one of our files? Page-locked memory is, and is found there where
 * it is the device's own as well: programs close such pages to the CPU, which is
 * nothing to hardware that knows where they are. */
static bool is_placed(const struct sc_copy_side *side)
{
    return side->device ||
           (sc_options.integrated && sc_memory_in_window(side->base));
}

/* Move up to `bytes`, as far as both sides are contiguous in their files. */
static uint64_t move_piece(const struct sc_copy *copy, uint64_t dst,
                           uint64_t src, uint64_t bytes)
{
    struct sc_place to, from;
    bool up = is_placed(&copy->dst), down = is_placed(&copy->src);
    if (up && !sc_memory_place(dst, &to))
        return 0;
    if (down && !sc_memory_place(src, &from))
        return 0;
    if (up && to.bytes < bytes)
        bytes = to.bytes;
    if (down && from.bytes < bytes)
        bytes = from.bytes;
    bool ok;
    if (up && down)
        ok = sc_move_peer(&to, &from, bytes);
    else if (up)
        ok = sc_move_up(&to, src, bytes);
    else if (down)
        ok = sc_move_down(dst, &from, bytes);
    else
        ok = sc_move_host(dst, src, bytes);
    return ok ? bytes : 0;
}

static struct sc_link *upload_link(const struct sc_copy *copy)
{
    return copy->dst.device ? &copy->dst.device->upload_link : NULL;
}

static struct sc_link *download_link(const struct sc_copy *copy)
{
    return copy->src.device ? &copy->src.device->download_link : NULL;
}

static bool is_cut(const struct sc_device *device)
{
    return device && atomic_load(&device->channel.cut);
}

static CUresult move_row(const struct sc_copy *copy, uint64_t dst, uint64_t src,
                         uint64_t bytes)
{
    struct sc_link *up = upload_link(copy), *down = download_link(copy);
    uint64_t chunk = up     ? sc_link_chunk(up)
                     : down ? sc_link_chunk(down)
                            : bytes;
    while (bytes > 0) {
        uint64_t n = move_piece(copy, dst, src, bytes < chunk ? bytes : chunk);
        if (n == 0)
            return is_cut(copy->dst.device) || is_cut(copy->src.device)
                       ? CUDA_ERROR_DEVICE_UNAVAILABLE
                       : CUDA_ERROR_INVALID_VALUE;
        if (up)
            sc_link_pass(up, n);
        if (down)
            sc_link_pass(down, n);
        dst += n;
        src += n;
        bytes -= n;
    }
    return CUDA_SUCCESS;
}

/* Join rows, then slices, that follow each other on both sides. */
static struct sc_copy collapse(struct sc_copy copy)
{
    if (copy.dst.pitch == copy.width && copy.src.pitch == copy.width) {
        copy.width *= copy.height;
        copy.height = 1;
        if (copy.dst.slice == copy.width && copy.src.slice == copy.width) {
            copy.width *= copy.depth;
            copy.depth = 1;
        }
    }
    return copy;
}

static CUresult move_rows(struct sc_copy copy)
{
    for (uint64_t z = 0; z < copy.depth; z++)
        for (uint64_t y = 0; y < copy.height; y++)
            SC_TRY(move_row(
                &copy, copy.dst.base + z * copy.dst.slice + y * copy.dst.pitch,
                copy.src.base + z * copy.src.slice + y * copy.src.pitch,
                copy.width));
    return CUDA_SUCCESS;
}

bool sc_copy_is_short(const struct sc_copy *copy)
{
    uint64_t bytes = sc_copy_bytes(copy);
    return bytes <= SHORT_BYTES &&
           sc_link_wire_ns(upload_link(copy), bytes) <= SHORT_NS &&
           sc_link_wire_ns(download_link(copy), bytes) <= SHORT_NS;
}

CUresult sc_copy_run(const struct sc_copy *copy)
{
    sc_link_open(upload_link(copy));
    sc_link_open(download_link(copy));
    CUresult result = move_rows(collapse(*copy));
    sc_link_close(upload_link(copy));
    sc_link_close(download_link(copy));
    return result;
}
