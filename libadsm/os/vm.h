/*
 * Address space: reserve, map, protect, look.
 *
 * Owns the mmap family and its errors. Does not know objects or blocks. No
 * lock: the kernel orders the calls. Addresses and sizes are multiples of the
 * page size throughout; the callers' blocks are.
 */
#ifndef ADSM_OS_VM_H
#define ADSM_OS_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum adsm_prot { ADSM_PROT_NONE, ADSM_PROT_READ, ADSM_PROT_READ_WRITE };

/** Page size in bytes. Thread: any. Signal: any handler. */
size_t adsm_vm_page_bytes(void);

/**
 * Most mappings a process may have (vm.max_map_count).
 *
 * Return: number of mappings; 65530 when the system does not say
 * Thread: any
 * Signal: never (reads a file)
 */
size_t adsm_vm_map_limit(void);

/**
 * Reserve addresses: PROT_NONE, no memory, no swap accounting, not inherited
 * by fork.
 *
 * @bytes  size; @align  power of two, 0 for a page
 * @hint   wished address (multiple of align), 0 for none; not a promise
 * Return: the address; 0 when there is no room
 * Thread: any
 * Signal: fault path
 */
uintptr_t adsm_vm_reserve(size_t bytes, size_t align, uintptr_t hint);

/**
 * The same at exactly this address, if nothing is mapped there.
 *
 * Return: whether they are reserved; false also where there is no room
 * Thread: any
 * Signal: fault path
 */
bool adsm_vm_reserve_at(uintptr_t addr, size_t bytes);

/**
 * Give addresses back to the system, whatever is mapped there.
 *
 * Thread: any
 * Signal: fault path
 */
void adsm_vm_release(uintptr_t addr, size_t bytes);

/**
 * Change the protection of a mapped range.
 *
 * Return: ADSM_OK; ADSM_E_LIMIT (the kernel has no mapping left: widen the
 *         range to a neighbour of the same protection, or open it whole);
 *         ADSM_E_SYSTEM. On error a front part of the range may have changed.
 * Thread: any
 * Signal: fault path
 */
ADSM_MUST_CHECK adsm_status_t adsm_vm_protect(uintptr_t addr, size_t bytes,
                                              enum adsm_prot prot);

/** Mappings to set aside before an allocation, and those without which not
 *  even a mapping can be exchanged for another. */
enum { ADSM_VM_SPARE = 64, ADSM_VM_SPARE_LAST = 16 };

/**
 * Set mappings aside for when the system grants no more, `mappings` of them at
 * least, and give all of them back to be used.
 *
 * Return: take: whether so many are there; release: how many there were
 * Thread: any
 * Signal: fault path
 */
bool adsm_vm_spare_take(size_t mappings);
size_t adsm_vm_spare_release(void);

/**
 * Map a part of a file at exactly this address, shared, in place of whatever
 * is there, and keep it from forked children, from core files, and from being
 * locked in memory with all that the program locks.
 *
 * @fd @offset  file and first byte in it (page multiple)
 * Return: ADSM_OK; ADSM_E_LIMIT (no mapping or address space left);
 *         ADSM_E_SYSTEM
 * Thread: any
 * Signal: fault path
 */
ADSM_MUST_CHECK adsm_status_t adsm_vm_map_file(uintptr_t addr, size_t bytes,
                                               int fd, uint64_t offset,
                                               enum adsm_prot prot);

/**
 * Map once more, at exactly this address and closed, what adsm_vm_map_file has
 * mapped at `open` to be read and written. Needs no descriptor.
 *
 * Return: ADSM_OK; ADSM_E_LIMIT (no mapping or address space left);
 *         ADSM_E_SYSTEM
 * Thread: any
 * Signal: fault path
 */
ADSM_MUST_CHECK adsm_status_t adsm_vm_map_again(uintptr_t addr, size_t bytes,
                                                const void *open);

/** Let core files have these pages, which are there. Costs mappings; at their
 *  limit nothing changes. Thread: any. Signal: fault path */
void adsm_vm_dump(uintptr_t addr, size_t bytes);

/** Keep mapped pages from forked children. Where the system does not, children
 *  have them. Thread: any. Signal: fault path */
void adsm_vm_keep_from_children(uintptr_t addr, size_t bytes);

/**
 * Put a placeholder (as adsm_vm_reserve) at exactly this address, in place of
 * whatever is there.
 *
 * Return: ADSM_OK; ADSM_E_LIMIT; ADSM_E_SYSTEM
 * Thread: any
 * Signal: fault path
 */
ADSM_MUST_CHECK adsm_status_t adsm_vm_placeholder(uintptr_t addr, size_t bytes);

/**
 * Make pages present ahead of their first touch. Does nothing on kernels
 * without MADV_POPULATE (before 5.14), where the touch itself will fault them
 * in, nor where the protection does not allow the access.
 *
 * @write  populate for writing
 * Return: ADSM_OK; ADSM_E_NOMEM (the pages cannot be had)
 * Thread: any
 * Signal: fault path
 */
ADSM_MUST_CHECK adsm_status_t adsm_vm_populate(uintptr_t addr, size_t bytes,
                                               bool write);

/**
 * Is the whole range unmapped or an anonymous private PROT_NONE mapping, so
 * that nobody's data is lost by mapping over it?
 *
 * Return: ADSM_OK: it is; ADSM_E_INVALID: it is not. Of /proc/self/maps, which
 *         tells: ADSM_E_NOMEM: no file descriptor or memory is left to read
 *         it; ADSM_E_SYSTEM: it cannot be read
 * Thread: any (a snapshot)
 * Signal: never (slow)
 */
ADSM_MUST_CHECK adsm_status_t adsm_vm_look(uintptr_t addr, size_t bytes);

/** Whether that is ADSM_OK. */
bool adsm_vm_is_placeholder(uintptr_t addr, size_t bytes);

/**
 * How often access to some range has been taken away or lowered so far. The
 * fault engine compares it to tell a fault that made no progress from one
 * that came back for a reason.
 *
 * Thread: any
 * Signal: any handler
 */
uint64_t adsm_vm_closings(void);

#endif
