/*
 * Paging: which grains of an object lie on huge pages, and which of these A
 * maps as one.
 *
 * A change of protection costs one entry of the page table for a grain that is
 * mapped as one. Protecting a part of it makes the kernel drop the mapping, not
 * the page: the blocks that are open fill their part of the page table again,
 * until an access opens all of it.
 *
 * Owns the member `paging` of `struct adsm_object`. Does not decide what opens
 * together (mm/watch/grain.h).
 * Lock: the object's, shared at least; a grain is joined by who holds all its
 * blocks. Thread: any. Signal: fault path. Where nothing else is said.
 */
#ifndef ADSM_MM_PAGING_H
#define ADSM_MM_PAGING_H

#include "mm/object/block.h"

/**
 * Decide for a new object whose blocks are there.
 *
 * @alone  it is no slab, whose allocations come one after the other
 * Return: ADSM_OK; ADSM_E_NOMEM
 * Thread: the one that makes it. Signal: never
 */
int adsm_paging_init(struct adsm_object *object, bool alone) ADSM_MUST_CHECK;
void adsm_paging_fini(struct adsm_object *object);

/** Grains that the object has all of: the rest of the last one is another's, or
 *  nobody's, at A. Lock: none. Signal: any handler */
size_t adsm_paging_grains(const struct adsm_object *object);

/** Is it known to be on a huge page that A has in no small pieces? Only of an
 *  object that has some. */
bool adsm_paging_is_whole(const struct adsm_object *object, size_t grain);

/** That grain of a new object, if it has all of it, lies on a huge page already.
 *  Thread: the one that makes it. Signal: fault path */
void adsm_paging_found(struct adsm_object *object, size_t grain);

/** Is it known to be on a huge page? Any grain of any object. */
bool adsm_paging_is_huge(const struct adsm_object *object, size_t grain);

/** Grains [offset, + bytes) are about to get their pages: huge ones, where that
 *  is possible, and they have none yet. */
void adsm_paging_make(struct adsm_object *object, size_t offset, size_t bytes);

/** The protection of [offset, + bytes) is about to change: what is not a whole
 *  grain of it loses its huge mapping, and its blocks their page table. */
void adsm_paging_split(struct adsm_object *object, size_t offset, size_t bytes);

/** All of [offset, + bytes) gets small pieces at A, whatever its protection. */
void adsm_paging_shatter(struct adsm_object *object, size_t offset,
                         size_t bytes);

/** [offset, + bytes) has one protection, which allows something: join grains
 *  whose mapping was split. To be called before their page table is filled in;
 *  `joined` when that has been done. */
void adsm_paging_join(struct adsm_object *object, size_t offset, size_t bytes);
void adsm_paging_joined(struct adsm_object *object, size_t offset,
                        size_t bytes);

/** Nothing is mapped at A any more. */
void adsm_paging_unmapped(struct adsm_object *object);

#endif
