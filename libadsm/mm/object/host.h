/*
 * Host parts: the pages of an object, which come by grains and are pinned for
 * the device, and their mapping at A. S is there from the beginning.
 *
 * Owns `backed`, `committed` and the time that pages take. Lock: the object's,
 * shared at least, where nothing else is said; taken here is one for all host
 * pages, rank OBJECT_LIST.
 */
#ifndef ADSM_MM_HOST_H
#define ADSM_MM_HOST_H

#include "mm/object/object.h"

/**
 * Map the object's pages at A, closed; those that were not committed are not
 * there. Idempotent. (mm/state/mapping.h knows what to do where none is left.)
 *
 * Return: ADSM_OK; ADSM_E_LIMIT: no mapping is left; ADSM_E_NOMEM
 * Thread: any; the object's lock is held, shared at least. Signal: fault path
 */
int adsm_object_map(struct adsm_object *object) ADSM_MUST_CHECK;

/** Objects that are mapped at A. Thread: any. Signal: any handler */
size_t adsm_object_mapped(void);

/**
 * Take the object from A. Its bytes and states stay: an access maps it again.
 * Its lock is held exclusively, or nobody finds it; none of its blocks is
 * watched (mm/watch/sparse.h).
 *
 * Return: ADSM_OK; ADSM_E_NOT_SHARED: it is not there; ADSM_E_LIMIT
 * Thread: any. Signal: fault path
 */
int adsm_object_unmap(struct adsm_object *object) ADSM_MUST_CHECK;

/** Give back pages and range of the arena; nobody uses the object, which is not
 *  at A any more. Thread: any. Signal: never */
void adsm_object_release_host(struct adsm_object *object);

/* ---- pages --------------------------------------------------------------- */

/**
 * Commit and pin the grains under [offset, offset + bytes), once each.
 *
 * Return: ADSM_OK; ADSM_E_NOMEM. Pages that cannot be pinned are no failure
 * Thread: any; the object's lock is held, shared at least. Signal: fault path
 */
int adsm_object_commit(struct adsm_object *object, size_t offset,
                       size_t bytes) ADSM_MUST_CHECK;

/** Are all of them committed? Lock: none; they stay so while it lives.
 *  Thread: any. Signal: any handler */
bool adsm_object_has(const struct adsm_object *object, size_t offset,
                     size_t bytes);

/** Grains that host pages are got by; the last one may be cut short. Thread:
 *  any. Signal: any handler */
size_t adsm_object_grains(const struct adsm_object *object);

/** Was any of them committed? Thread: any. Signal: any handler */
bool adsm_object_has_pages(const struct adsm_object *object);

/** Whether any object has ever had pages on the host, which it gets when the CPU
 *  first accesses it. Thread: any. Signal: any handler */
bool adsm_object_any_pages(void);

/** It has all of its pages from the beginning. Thread: the one that makes it.
 *  Signal: never */
void adsm_object_adopt_pages(struct adsm_object *object);

/**
 * Time this thread has spent in getting host pages from the system, which a
 * program of its own would spend when it first touches its memory.
 *
 * `add` adds what was spent outside adsm_object_commit.
 * Thread: any. Signal: fault path
 */
uint64_t adsm_object_memory_ns(void);
void adsm_object_memory_add(uint64_t ns);

#endif
