/*
 * Ranges that a system call may use as they are, with no loan.
 *
 * A read loan is a look: when the host has all bytes of the range, the kernel
 * gets the shadow, and nothing is held afterwards. So no lock is taken for it.
 *
 * What the kernel writes to a range of DIRTY blocks arrives like stores of the
 * CPU: at A, which is open. A block that another thread's call or write-back
 * closes meanwhile ends the call early, and `adsm_in_place_lasts` says so: this is
 * for calls that can be made again. It also tells of what may have arrived
 * behind the closing all the same, since devices write to pages that they found
 * when the call began (direct I/O).
 *
 * Memory that the device shares (mm/state/direct.h) has no S, and is lent.
 *
 * Locks: none. Of an object that is freed meanwhile any answer is right.
 * Order: who closes a block counts before it changes the protection, and holds
 * the block, or the object's lock exclusively, from before that on.
 */
#ifndef ADSM_MM_IN_PLACE_H
#define ADSM_MM_IN_PLACE_H

#include "mm/object/object.h"

/** A range that is written at A. */
struct adsm_in_place {
    const struct adsm_object *object;
    uint32_t closings; /* of the object, when it began */
};

/**
 * The longest prefix of [address, +*bytes) in one object, if the host has it.
 *
 * @bytes  receives its length
 * Return: its address at S; NULL: a loan is needed, or it is plain memory
 * Thread: any; none that runs a host function. Signal: any handler
 */
void *adsm_in_place_read(const void *address, size_t *bytes);

/** May all of [address, +bytes), in one object, be written as it is?
 *  Thread: any; none that runs a host function. Signal: any handler */
bool adsm_in_place_write(const void *address, size_t bytes,
                         struct adsm_in_place *place);

/** Was no block of the object closed since? Thread: any. Signal: any handler */
bool adsm_in_place_lasts(const struct adsm_in_place *place);

#endif
