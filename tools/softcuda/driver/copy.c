/*
 * Owns: what a copy's addresses mean and moving its bytes with system calls,
 * so that an unreadable host buffer is an error, never a signal.
 * Does not own: when it runs (sched.c), pacing (link.c).
 * Lock: none while moving; the memory lock per look-up.
 */
#include "driver/copy.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "driver/context.h"
#include "driver/device.h"
#include "driver/memory.h"

#define BOUNCE_BYTES (256u << 10)

static pthread_mutex_t scratch_lock = PTHREAD_MUTEX_INITIALIZER;

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
    return copy->width * copy->height * copy->depth;
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

/* System calls directly: a library preloaded into the program may hook the
 * C library's wrappers, and hardware would not notice that either. */
static bool transfer(long number, int fd, uint64_t buffer, uint64_t bytes,
                     uint64_t offset)
{
    while (bytes > 0) {
        long n = syscall(number, fd, buffer, bytes, offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        buffer += (uint64_t)n;
        bytes -= (uint64_t)n;
        offset += (uint64_t)n;
    }
    return true;
}

static bool write_at(int fd, uint64_t buffer, uint64_t bytes, uint64_t offset)
{
    return transfer(SYS_pwrite64, fd, buffer, bytes, offset);
}

static bool read_at(int fd, uint64_t buffer, uint64_t bytes, uint64_t offset)
{
    return transfer(SYS_pread64, fd, buffer, bytes, offset);
}

static bool move_host(uint64_t dst, uint64_t src, uint64_t bytes)
{
    bool ok = true;
    int fd = sc_memory_host_file();
    pthread_mutex_lock(&scratch_lock);
    while (ok && bytes > 0) {
        uint64_t n = bytes < SC_SCRATCH_BYTES ? bytes : SC_SCRATCH_BYTES;
        ok = write_at(fd, src, n, SC_HOST_FILE_BYTES) &&
             read_at(fd, dst, n, SC_HOST_FILE_BYTES);
        src += n;
        dst += n;
        bytes -= n;
    }
    pthread_mutex_unlock(&scratch_lock);
    return ok;
}

static bool move_peer(const struct sc_place *dst, const struct sc_place *src,
                      uint64_t bytes)
{
    uint8_t *bounce = malloc(BOUNCE_BYTES);
    bool ok = bounce != NULL;
    for (uint64_t done = 0; ok && done < bytes;) {
        uint64_t n = bytes - done < BOUNCE_BYTES ? bytes - done : BOUNCE_BYTES;
        ok = read_at(src->file, (uint64_t)(uintptr_t)bounce, n,
                     src->offset + done) &&
             write_at(dst->file, (uint64_t)(uintptr_t)bounce, n,
                      dst->offset + done);
        done += n;
    }
    free(bounce);
    return ok;
}

/* Move up to `bytes`, as far as both sides are contiguous in their files. */
static uint64_t move_piece(const struct sc_copy *copy, uint64_t dst,
                           uint64_t src, uint64_t bytes)
{
    struct sc_place to, from;
    if (copy->dst.device && !sc_memory_place(dst, &to))
        return 0;
    if (copy->src.device && !sc_memory_place(src, &from))
        return 0;
    if (copy->dst.device && to.bytes < bytes)
        bytes = to.bytes;
    if (copy->src.device && from.bytes < bytes)
        bytes = from.bytes;
    bool ok;
    if (copy->dst.device && copy->src.device)
        ok = move_peer(&to, &from, bytes);
    else if (copy->dst.device)
        ok = write_at(to.file, src, bytes, to.offset);
    else if (copy->src.device)
        ok = read_at(from.file, dst, bytes, from.offset);
    else
        ok = move_host(dst, src, bytes);
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
            return CUDA_ERROR_INVALID_VALUE;
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

CUresult sc_copy_run(const struct sc_copy *copy)
{
    sc_link_open(upload_link(copy));
    sc_link_open(download_link(copy));
    CUresult result = move_rows(collapse(*copy));
    sc_link_close(upload_link(copy));
    sc_link_close(download_link(copy));
    return result;
}
