/*
 * Memory of the program's that it gives for a while: mapped a second time as a
 * shadow (os/arena.h has others), and closed where it was.
 *
 * What is shared, of a file or anonymous, is mapped once more and nothing is
 * copied. The system maps private memory at one place only: its bytes go to
 * memory of the shadow, some at a time, and come back so.
 *
 * Owns no state. Thread: any; nobody uses the memory meanwhile. Signal: never
 */
#ifndef ADSM_OS_GIVEN_H
#define ADSM_OS_GIVEN_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct adsm_given {
    uint8_t *at, *shadow; /* NULL: there is none */
    size_t bytes;
    bool is_private;
};

/**
 * Take whole pages of memory that can be read and written. They are a placeholder
 * then, as of adsm_vm_reserve, and the shadow has their bytes.
 *
 * @why  what is wrong with them, of ADSM_E_INVALID
 * Return: ADSM_OK; ADSM_E_INVALID; ADSM_E_NOMEM; ADSM_E_LIMIT; ADSM_E_SYSTEM: all
 *         is as it was
 */
ADSM_MUST_CHECK adsm_status_t adsm_given_take(void *at, size_t bytes,
                                              struct adsm_given *given,
                                              const char **why);

/** Give them back, with what the shadow has, which goes. Where private memory is
 *  not to be had the program keeps the shadow's, which is shared with children
 *  of a fork. */
void adsm_given_back(struct adsm_given *given);

#endif
