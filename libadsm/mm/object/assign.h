/*
 * Assignment of objects to kernels (the paper, section 3.3).
 *
 * An object assigned to at least one kernel is released and acquired by calls
 * of those kernels only; one assigned to none belongs to every kernel. Does not
 * know what a kernel is.
 *
 * Lock: the object's, in which its list lies; taken here, but by reaches.
 */
#ifndef ADSM_MM_ASSIGN_H
#define ADSM_MM_ASSIGN_H

#include "mm/object/object.h"

/**
 * Assign the object at `address` to a kernel, or take that back.
 *
 * @kernel  any pointer that stands for the kernel; compared only
 * Return: ADSM_OK; ADSM_E_NOT_SHARED; ADSM_E_UNSUPPORTED (small objects share
 *         a slab); ADSM_E_LIMIT (assigned to ADSM_OBJECT_KERNELS already);
 *         ADSM_E_NOT_FOUND (was not assigned)
 * Thread: any, no lock of an object or of a later rank held. Signal: never
 */
int adsm_assign_attach(const void *address, const void *kernel) ADSM_MUST_CHECK;
int adsm_assign_detach(const void *address, const void *kernel) ADSM_MUST_CHECK;

/** The kernel is being unloaded: no object is assigned to it any more. Thread:
 *  any, no lock of rank OBJECT_TABLE or later held. Signal: never */
void adsm_assign_forget(const void *kernel);

/** May a call of `kernel` (NULL: any kernel) use the object? Thread: any; the
 *  object's lock is held, shared at least. Signal: any handler */
bool adsm_assign_reaches(const void *kernel, const struct adsm_object *object);

#endif
