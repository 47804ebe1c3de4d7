/*
 * Door 4: the device works on objects: kernel calls and returns, and copies
 * and sets that the program asks of the device itself.
 *
 * Used by call/launch (our API: access modes known) and by the interposed
 * CUDA calls (everything may be touched, the program's own streams).
 *
 * Locks: callers hold none of rank GATE or later. A call holds gates from its
 * beginning to its end, a device-side overwrite the lock of its object; both
 * keep asynchronous signals away meanwhile. Nothing here is for handlers of
 * signals: flushes wait for memory and for the driver.
 */
#ifndef ADSM_MM_BOUNDARY_H
#define ADSM_MM_BOUNDARY_H

#include "mm/object/call.h"

/**
 * Release objects to the device before a call.
 *
 * Blocks that the call names get the event of their use. Of the others, those
 * of objects that the kernel may reach get what `rest` says: with `kernel` NULL
 * every object of the accel and of its peers, otherwise those assigned to it or
 * to no kernel. Flushes are enqueued and the stream is made to wait for them.
 * Objects the CPU is not near cost nothing. Before all that, what the call may
 * touch becomes resident (mm/object/holders.h).
 * The gates (mm/object/gate.h) of the accel, of its peers that the kernel may
 * reach and of what is named are closed until adsm_boundary_called or
 * adsm_boundary_call_failed: the caller touches no shared memory in between,
 * so it copies the launch's arguments first.
 *
 * Return: ADSM_OK, or the first failure: the caller must not launch, and the
 *         gates are open. ADSM_E_NOT_SHARED: an object that it names was freed
 *         since it was found, which ADSM_REST_UNTOUCHED passes over. ADSM_E_DEVICE_NOMEM: the device has no room for
 *         all that it may touch
 * Thread: any. Signal: never
 */
int adsm_boundary_call(struct adsm_call *call) ADSM_MUST_CHECK;

/** The driver refused the launch after adsm_boundary_call: the objects keep
 *  what they have, the gates open. Thread: that of the call. Signal: never */
void adsm_boundary_call_failed(const struct adsm_call *call);

/**
 * The call is enqueued: remember what later CPU accesses must wait for, then
 * open the gates. What is named gets a fence, except under ADSM_REST_READ and
 * ADSM_REST_UNTOUCHED; unless the rest is unused, the stream's lane is noted
 * for all.
 *
 * Return: ADSM_OK; a device error: the call is enqueued all the same
 * Thread: that of the call. Signal: never
 */
int adsm_boundary_called(const struct adsm_call *call) ADSM_MUST_CHECK;

/**
 * A part of a call (libadsm/range), which ends with the fence, uses memory that
 * the device shares, in place: close it to the CPU. Nothing is lost in between,
 * so no gate is needed.
 *
 * Return: ADSM_OK, also where the object was freed; ADSM_E_LIMIT; ADSM_E_NOMEM
 * Thread: any. Signal: never
 */
int adsm_boundary_used(const struct adsm_use *use,
                       struct adsm_fence fence) ADSM_MUST_CHECK;

/**
 * The program waited for device work: acquire (batch fetches everything). Call
 * after the driver's own wait succeeded.
 *
 * Return: ADSM_OK; the first failure of a fetch
 * Thread: any. Signal: never
 */
int adsm_boundary_return(struct adsm_accel *accel) ADSM_MUST_CHECK;

/**
 * A device-side operation on `stream` is about to read `bytes` at the shared
 * address: flush what is dirty there, order the stream behind it. The range may
 * lie in several objects; what is not shared, and what is behind it, is left
 * alone.
 *
 * Return: ADSM_OK; a device error
 * Thread: any. Signal: never
 */
int adsm_boundary_device_read(const void *address, size_t bytes,
                              adsm_stream stream) ADSM_MUST_CHECK;

/** A device-side overwrite in progress: holds the object's lock, and maybe its
 *  gate (adsm_turn_take). */
struct adsm_device_write {
    struct adsm_object *object; /* NULL: not shared, nothing is held */
    uint32_t gate;
};

/**
 * A device-side operation on `stream` is about to overwrite `bytes` at the
 * shared address: partly covered dirty blocks are flushed, all blocks of the
 * range become INVALID. Until adsm_boundary_device_written the CPU's faults on
 * the object wait, so that nobody fetches a block before the operation is
 * enqueued. The range lies in one object (a driver call's range does).
 *
 * Return: ADSM_OK, also where nothing is shared; ADSM_E_INVALID (range leaves
 *         the object); a device error: nothing is held
 * Thread: any, to the end the same. Signal: never
 */
int adsm_boundary_device_write(const void *address, size_t bytes,
                               adsm_stream stream,
                               struct adsm_device_write *write,
                               const struct adsm_cause *cause) ADSM_MUST_CHECK;

/**
 * The overwrite that `write` is about also overwrites parts of the range, which
 * ones is not known: what is dirty there is flushed, all blocks become INVALID,
 * so that each byte keeps its value where the operation leaves it alone.
 *
 * @address @bytes  a range within the object; @stream  the operation's
 * Return: ADSM_OK, also when nothing is held; ADSM_E_INVALID (range leaves the
 *         object); a device error: the object is still held in either case
 * Thread: that of the overwrite. Signal: never
 */
int adsm_boundary_device_write_parts(
    const void *address, size_t bytes, adsm_stream stream,
    const struct adsm_device_write *write) ADSM_MUST_CHECK;

/** The operation is enqueued (or failed): let the CPU in again. The caller has
 *  noted the stream's lane before. Thread: that of the overwrite.
 *  Signal: never */
void adsm_boundary_device_written(struct adsm_device_write *write);

/**
 * Somebody of whom nobody here hears uses what is adopted in a range, or all that
 * is adopted: what is dirty there is on the device when it returns, and all
 * blocks are INVALID. Not for what the CPU writes at the same time, of which
 * either may come first.
 *
 * Return: ADSM_OK, also where nothing is adopted; a device error
 * Thread: any; holds no lock. Signal: never
 */
int adsm_boundary_yield(const void *address, size_t bytes) ADSM_MUST_CHECK;
int adsm_boundary_yield_all(void) ADSM_MUST_CHECK;

/**
 * True when the range lies in one object, or none, and no block of it is on the
 * host or about to be. For reads only: the driver may be asked directly, there
 * is nothing to flush. A device write always goes through
 * adsm_boundary_device_write, which costs one uncontended lock then.
 *
 * Thread: any. Signal: fault path
 */
bool adsm_boundary_is_far(const void *address, size_t bytes);

#endif
