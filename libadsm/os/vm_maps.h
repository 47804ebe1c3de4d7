/*
 * The two ways to ask /proc/self/maps, an open descriptor of which is `maps`,
 * what adsm_vm_look asks (os/vm.h). Only that and its test use them.
 *
 * Return: ADSM_OK: the range is nobody's; ADSM_E_INVALID: it is not;
 *         ADSM_E_SYSTEM: this way does not tell
 * Thread: any (a snapshot). Signal: never (slow)
 */
#ifndef ADSM_OS_VM_MAPS_H
#define ADSM_OS_VM_MAPS_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/** By mapping, which Linux 6.11 answers. */
ADSM_MUST_CHECK adsm_status_t adsm_vm_maps_ask(int maps, uintptr_t addr,
                                               size_t bytes);

/** By reading all of it, which takes longer the more mappings there are. */
ADSM_MUST_CHECK adsm_status_t adsm_vm_maps_read(int maps, uintptr_t addr,
                                                size_t bytes);

#endif
