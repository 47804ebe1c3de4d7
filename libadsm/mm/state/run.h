/*
 * What is done with a run of blocks, adjacent ones of one object, each with one
 * transfer or one change of protection: the mechanism below the states. Nothing
 * here knows the protocol, or decides what a block's next state is.
 *
 * Protection is set at A, transfers use the shadow. A flush is enqueued and not
 * waited for; a fetch is.
 *
 * Owns `sent` of `struct adsm_object`.
 * Lock: the object's, shared for blocks that the caller holds, or exclusively.
 * Thread: any. Signal: fault path.
 */
#ifndef ADSM_MM_RUN_H
#define ADSM_MM_RUN_H

#include "mm/object/block.h"

/** Where blocks [first, first + count) lie in their object: bytes, and whole
 *  pages, since the last block of an object owns the rest of its last page. */
size_t adsm_run_offset(const struct adsm_object *object, uint32_t first);
size_t adsm_run_bytes(const struct adsm_object *object, uint32_t first,
                      uint32_t count);
size_t adsm_run_page_bytes(const struct adsm_object *object, uint32_t first,
                           uint32_t count);

/**
 * Protect them as `state` asks for. _all: all or nothing, where at the limit on
 * mappings the system changes a part of the range before it says no.
 *
 * Return: ADSM_OK; ADSM_E_LIMIT
 */
int adsm_run_protect(struct adsm_object *object, uint32_t first, uint32_t count,
                     enum adsm_state state);
int adsm_run_protect_all(struct adsm_object *object, uint32_t first,
                         uint32_t count, enum adsm_state state) ADSM_MUST_CHECK;

/**
 * Show bytes [begin, end) of the object, as far as they lie in held block `i`,
 * as a block in state `as`; its own state stays. At the limit on mappings what
 * was open stays open until the block's next change of state.
 *
 * Return: ADSM_OK; ADSM_E_LIMIT
 */
int adsm_run_show(struct adsm_object *object, uint32_t i, size_t begin,
                  size_t end, enum adsm_state as);

/**
 * Have pages of the host for them. @open: an access waits for the blocks;
 * elsewhere the mapping may be missing, as long as the first access to come gets
 * one.
 *
 * Return: ADSM_OK; ADSM_E_NOMEM; ADSM_E_LIMIT
 */
int adsm_run_prepare(struct adsm_object *object, uint32_t first, uint32_t count,
                     bool open) ADSM_MUST_CHECK;

/** Bring them from where they are current into the shadow, but for bytes that
 *  stay with the CPU (mm/watch/keep.h). Return: ADSM_OK; a device's error */
int adsm_run_fetch(struct adsm_object *object, uint32_t first, uint32_t count,
                   const struct adsm_cause *cause) ADSM_MUST_CHECK;

/** The same for some bytes of blocks that stay INVALID. */
int adsm_run_fetch_bytes(struct adsm_object *object, size_t offset,
                         size_t bytes,
                         const struct adsm_cause *cause) ADSM_MUST_CHECK;

/** Send them to the home: of watched ones what was written. Return: ADSM_OK; a
 *  device's error */
int adsm_run_flush(struct adsm_object *object, uint32_t first, uint32_t count,
                   const struct adsm_cause *cause) ADSM_MUST_CHECK;

/** Wait until they are no longer on their way to the device: the host's bytes
 *  may change then. Device work that was enqueued behind an upload relies on
 *  what was there before. */
void adsm_run_await_uploads(struct adsm_object *object, uint32_t first,
                            uint32_t count);

/**
 * Fill in the page table at A for blocks that are open, as the CPU's first
 * accesses would; but for those that are watched, where that would count as
 * written. _small: by pages as they are, joined into no large one.
 */
void adsm_run_populate(struct adsm_object *object, uint32_t first,
                       uint32_t count, bool write);
void adsm_run_populate_small(struct adsm_object *object, uint32_t first,
                             uint32_t count, bool write);

#endif
