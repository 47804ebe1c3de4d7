/*
 * Reading bytes that may not be there, and undoing compression.
 */
#ifndef SOFTCUDA_PTX_UNPACK_H
#define SOFTCUDA_PTX_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Longest text taken out of an image, in bytes. */
#define SC_UNPACK_LIMIT ((size_t)256 << 20)

enum sc_packing { SC_PACKED_NOT, SC_PACKED_LZ4, SC_PACKED_ZSTD };

/**
 * Copy memory of this process that may be unmapped.
 *
 * @at any value; @bytes to copy
 * Return: false when not all of it is readable
 * Thread: any
 */
bool sc_unpack_peek(void *to, const void *at, size_t bytes);

/** What an image holds, as it is packed there. */
struct sc_packed {
    enum sc_packing packing;
    char *payload; /* malloc'ed */
    size_t bytes, full_bytes;
};

/**
 * Copy a payload out of an image.
 *
 * @payload any value; @bytes it takes in the image
 * @full_bytes once unpacked, as the image says; 0 when not packed
 * @packed receives the copy, to be unpacked
 * Return: false when the payload cannot be read, is too long or memory ran out
 * Thread: any
 */
bool sc_unpack_copy(enum sc_packing packing, const void *payload, size_t bytes,
                    size_t full_bytes, struct sc_packed *packed);

/**
 * Undo the compression of a copy, which is freed.
 *
 * @text receives the bytes with a NUL behind them, malloc'ed
 * Return: length of the text; SIZE_MAX when the payload is damaged or memory
 *         ran out
 * Thread: any
 */
size_t sc_unpack(struct sc_packed *packed, char **text);

#endif
