/*
 * Ranges of shared memory at A: mapped, opened and closed by the fault engine
 * in use, which is who hears of accesses to what is closed.
 *
 * An engine owns its ranges from attach to detach. Before the first and behind
 * the last of them lies a placeholder (os/vm.h), of which nobody hears unless
 * the engine says so. Does not know objects or blocks. Addresses and sizes are
 * multiples of the page size.
 *
 * Lock: none of ours; calls about one page must not meet each other.
 */
#ifndef ADSM_OS_FAULT_RANGE_H
#define ADSM_OS_FAULT_RANGE_H

#include "os/vm.h"

/**
 * Map the pages of `shadow` at exactly this address as well, closed: see
 * adsm_vm_map_again.
 *
 * Return: ADSM_OK; ADSM_E_LIMIT; ADSM_E_SYSTEM
 * Thread: any
 * Signal: fault path
 */
ADSM_MUST_CHECK adsm_status_t adsm_fault_range_attach(uintptr_t addr,
                                                      size_t bytes,
                                                      const void *shadow);

/** Put a placeholder in its place, as a whole: see adsm_vm_placeholder.
 *  Return, Thread, Signal: as attach */
ADSM_MUST_CHECK adsm_status_t adsm_fault_range_detach(uintptr_t addr,
                                                      size_t bytes);

/**
 * Allow what `prot` says in a part of an attached range. What is taken away is
 * taken away on return: no thread's store comes after it.
 *
 * Return: as adsm_vm_protect; ADSM_E_NOMEM
 * Thread: any
 * Signal: fault path
 */
ADSM_MUST_CHECK adsm_status_t adsm_fault_range_protect(uintptr_t addr,
                                                       size_t bytes,
                                                       enum adsm_prot prot);

/** Make pages of an open part present: see adsm_vm_populate. */
ADSM_MUST_CHECK adsm_status_t adsm_fault_range_populate(uintptr_t addr,
                                                        size_t bytes,
                                                        bool write);

/** Let core files have these pages: see adsm_vm_dump. */
void adsm_fault_range_dump(uintptr_t addr, size_t bytes);

/**
 * Must an object be attached from its beginning to its end, since nobody hears
 * of accesses to the placeholder?
 *
 * Thread: any. Signal: any handler
 */
bool adsm_fault_range_is_lasting(void);

#endif
