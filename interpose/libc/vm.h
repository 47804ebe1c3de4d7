/*
 * Ranges of addresses of which a part may be shared, as calls on mappings get
 * them.
 *
 * Owns the walk over such a range, and whose call it is: the driver may do with
 * its own memory what the program may not. No lock.
 */
#ifndef INTERPOSE_LIBC_VM_H
#define INTERPOSE_LIBC_VM_H

#include "interpose/signals/mask.h"

/** What is done with a stretch of a range. Return: 0; -1 with errno. */
typedef int vm_stretch_fn(void *address, size_t bytes, int argument);

/**
 * Does a call of the program, on [address, +bytes), meet shared memory?
 *
 * Thread: any. Signal: any handler
 */
bool vm_concerns(const void *address, size_t bytes);

/**
 * Call `visit` for each stretch of [address, +bytes), up to the end of its last
 * page, that is shared, or for each that is not.
 *
 * Return: 0; what the first visit returned otherwise, which ends the walk
 * Thread: any. Signal: as of `visit`
 */
int vm_each(bool shared, const void *address, size_t bytes,
            vm_stretch_fn *visit, int argument);

/**
 * Say once what is not done with shared memory.
 *
 * @said  the flag of that message; @error  errno that is left
 * Return: -1
 * Thread: any. Signal: any handler
 */
int vm_refuse(atomic_flag *said, const char *message, const void *address,
              int error);

/** mseal, which libc has no function for: shared memory is as it asks. Thread:
 *  any. Signal: any handler */
int vm_seal(void *address, size_t bytes, unsigned long flags);

/** vm_refuse, once for each place in the source. */
#define VM_REFUSE(message, address, error)                                     \
    ({                                                                         \
        static atomic_flag vm_said = ATOMIC_FLAG_INIT;                         \
        vm_refuse(&vm_said, message, address, error);                          \
    })

/**
 * Is shared memory concerned by a call of this file or of advice.c, by number?
 * Where none is, the kernel is to be asked, not libc: its function may have been
 * made to make this very call (UCX's libucm does that).
 *
 * @words  its six arguments
 * Thread: any. Signal: any handler
 */
bool vm_call_concerns(long number, const uintptr_t *words);

#endif
