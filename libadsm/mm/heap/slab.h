/*
 * Slabs: objects from which small allocations are carved, aligned to 512 bytes
 * as a driver's are, on which textures rely.
 *
 * A slab is one object to the coherence engine. Up to a page, allocations lie
 * one behind the other and share pages, which cannot be protected apart.
 * Larger ones have slots of one size. In the first slab of a size each has a
 * block of its own, so that what moves is the allocation. Where that leaves
 * more than a thirteenth of it unused, further slabs put several into a block
 * that they fill: a program with that many wants its memory.
 *
 * Owns the slots. Lock: one for all slabs, rank API, because a new slab is made
 * under it. A slab is destroyed with its last slot, except that the last slab
 * of its kind stays until device memory is short.
 */
#ifndef ADSM_MM_SLAB_H
#define ADSM_MM_SLAB_H

#include "mm/object/kind.h"
#include "mm/object/use.h"

/** Allocate `bytes` (1 .. 1 MiB) from a slab of `accel` whose blocks started
 *  in state `first`, and which has its memory as this kind does.
 *  Thread: any. Signal: never */
int adsm_slab_alloc(struct adsm_accel *accel, size_t bytes,
                    enum adsm_state first, const struct adsm_kind *memory,
                    void **host) ADSM_MUST_CHECK;

/** Free a slot; ADSM_E_NOT_SHARED when `host` is not the start of one.
 *  Thread: any; waits for kernels that use the slab. Signal: never */
int adsm_slab_free(struct adsm_object *object, void *host) ADSM_MUST_CHECK;

/** Base and size of the slot that contains `address`. Thread: any; holds no
 *  lock of rank API or later. Signal: never */
int adsm_slab_range(struct adsm_object *object, const void *address,
                    void **base, size_t *bytes) ADSM_MUST_CHECK;

/**
 * Narrow a use of a whole slab to the blocks that the allocation around
 * `address` lies in; unchanged where there is no such allocation, or the slab
 * is gone by now.
 *
 * Return: whether no other allocation lies in them too
 * Thread: any; takes the slabs' lock. Signal: never
 */
bool adsm_slab_blocks(struct adsm_use *use, const void *address);

/** Destroy the slabs of `accel` that nothing is allocated from.
 *  Return: whether there was one. Thread: any. Signal: never */
bool adsm_slab_trim(struct adsm_accel *accel);

/** The slabs of `accel` are being destroyed: drop them all. Thread: any. Signal: never */
void adsm_slab_forget(struct adsm_accel *accel);

#endif
