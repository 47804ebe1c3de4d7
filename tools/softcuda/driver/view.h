/*
 * A device's memory as the copy engines see it: the whole memory file mapped
 * once, at a place that the program never hears of. What the program gets as
 * device addresses stays inaccessible.
 *
 * Lock: one inside, a leaf, taken to open a view; then none.
 */
#ifndef SOFTCUDA_DRIVER_VIEW_H
#define SOFTCUDA_DRIVER_VIEW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sc_device;

/** Zeroed: not opened yet. */
struct sc_view {
    _Atomic(uint8_t *) base; /* NULL: not open */
    _Atomic bool refused;    /* for good */
    uint64_t bytes;          /* of the file */
    _Atomic uint64_t
        *present; /* a bit for each 64 KiB whose pages are mapped */
};

/**
 * Where part of a device's memory file can be reached, with its pages mapped.
 *
 * @offset, @bytes inside the file
 * Return: NULL: the system does not allow it, use system calls on the file
 * Thread: any
 */
uint8_t *sc_view_at(struct sc_device *device, uint64_t offset, uint64_t bytes);

/**
 * Where the file is mapped; pages may be missing, so only system calls that
 * make them may be given it.
 *
 * Return: as sc_view_at
 * Thread: any
 */
uint8_t *sc_view_base(struct sc_device *device);

/** Part of the file was given back to the system. Thread: any. */
void sc_view_forget(struct sc_device *device, uint64_t offset, uint64_t bytes);

/**
 * Is every byte of a range of the program's memory readable, or writable?
 * As far as mappings tell: a page that is poisoned or guarded does not count.
 *
 * Return: false where an access would raise a signal, or nobody can tell
 * Thread: any
 */
bool sc_view_can_read(uint64_t address, uint64_t bytes);
bool sc_view_can_write(uint64_t address, uint64_t bytes);

#endif
