/*
 * Owns: safe reads of an image and its decompression.
 * Does not own: the layout of images (fatbin.c).  No lock.
 */
#include "ptx/unpack.h"

#include <errno.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zstd.h>

/* What the densest stream of each kind can expand to, per byte. */
#define LZ4_DENSEST 256u

bool sc_unpack_peek(void *to, const void *at, size_t bytes)
{
    uint8_t *into = to;
    while (bytes > 0) {
        struct iovec here = {into, bytes};
        struct iovec there = {(void *)(uintptr_t)at, bytes};
        long n = syscall(SYS_process_vm_readv, getpid(), &here, 1ul, &there,
                         1ul, 0ul);
        if (n < 0 && (errno == ENOSYS || errno == EPERM)) {
            /* a sandbox forbids the question; trust the image then */
            memcpy(into, at, bytes);
            return true;
        }
        if (n <= 0)
            return false;
        into += n;
        at = (const uint8_t *)at + n;
        bytes -= (size_t)n;
    }
    return true;
}

static size_t unpack_lz4(const char *packed, size_t bytes, char *text,
                         size_t full_bytes)
{
    int n = LZ4_decompress_safe(packed, text, (int)bytes, (int)full_bytes);
    return n < 0 ? SIZE_MAX : (size_t)n;
}

static size_t unpack_zstd(const char *packed, size_t bytes, char *text,
                          size_t full_bytes)
{
    size_t n = ZSTD_decompress(text, full_bytes, packed, bytes);
    return ZSTD_isError(n) ? SIZE_MAX : n;
}

bool sc_unpack_copy(enum sc_packing packing, const void *payload, size_t bytes,
                    size_t full_bytes, struct sc_packed *packed)
{
    if (packing == SC_PACKED_NOT)
        full_bytes = bytes;
    if (bytes == 0 || bytes > SC_UNPACK_LIMIT || full_bytes > SC_UNPACK_LIMIT ||
        (packing == SC_PACKED_LZ4 && full_bytes / LZ4_DENSEST > bytes))
        return false;
    char *copy = malloc(bytes + 1);
    if (!copy || !sc_unpack_peek(copy, payload, bytes)) {
        free(copy);
        return false;
    }
    copy[bytes] = 0;
    *packed = (struct sc_packed){packing, copy, bytes, full_bytes};
    return true;
}

size_t sc_unpack(struct sc_packed *packed, char **text)
{
    char *from = packed->payload, *whole;
    packed->payload = NULL;
    *text = from;
    if (packed->packing == SC_PACKED_NOT)
        return strlen(from);
    size_t n = SIZE_MAX, full = packed->full_bytes;
    whole = malloc(full + 1);
    if (whole)
        n = packed->packing == SC_PACKED_LZ4
                ? unpack_lz4(from, packed->bytes, whole, full)
                : unpack_zstd(from, packed->bytes, whole, full);
    free(from);
    *text = n == SIZE_MAX ? NULL : whole;
    if (n == SIZE_MAX) {
        free(whole);
        return SIZE_MAX;
    }
    whole[n] = 0;
    return strlen(whole);
}
