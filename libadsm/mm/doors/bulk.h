/*
 * Door 3: memcpy, memmove, memset, memcmp, and the host sides of CUDA copies.
 *
 * Each function accepts any mix of plain and shared memory and does what its
 * libc namesake does, choosing per piece between device copy, device set, DMA
 * and CPU by state and size. Large INVALID pieces never visit the host. Owns
 * nothing: what it uses it lends (mm/doors/loan.h) or overwrites
 * (mm/doors/boundary.h).
 *
 * Lock: none of its own. Thread: any, no lock held. Signal: never.
 */
#ifndef ADSM_MM_BULK_H
#define ADSM_MM_BULK_H

#include "base/status.h"

#include <stddef.h>

/**
 * memmove over plain and shared memory.
 *
 * Return: ADSM_OK; ADSM_E_DEVICE(_LOST), ADSM_E_NOMEM: bytes up to some point
 *         were copied
 */
int adsm_bulk_move(void *to, const void *from, size_t bytes) ADSM_MUST_CHECK;

/**
 * Copy from, or to, memory of the program's that may be shared, or not be there,
 * and that another thread may free meanwhile: `to` of a get and `from` of a put
 * are the runtime's own. What is no longer shared the kernel copies, which finds
 * where memory ends.
 *
 * @moved  receives how many bytes were copied: less where memory ends
 * Return: ADSM_OK; ADSM_E_DEVICE(_LOST), ADSM_E_NOMEM
 */
int adsm_bulk_get(void *to, const void *from, size_t bytes,
                  size_t *moved) ADSM_MUST_CHECK;
int adsm_bulk_put(void *to, const void *from, size_t bytes,
                  size_t *moved) ADSM_MUST_CHECK;

/** memset. Return: as above */
int adsm_bulk_set(void *to, int value, size_t bytes) ADSM_MUST_CHECK;

/** memcmp; the order goes to *order. Return: ADSM_OK; why bytes cannot be had */
int adsm_bulk_compare(const void *a, const void *b, size_t bytes,
                      int *order) ADSM_MUST_CHECK;

#endif
