/*
 * The driver's end of the command ring of one device.
 */
#ifndef SOFTCUDA_DRIVER_CHANNEL_H
#define SOFTCUDA_DRIVER_CHANNEL_H

#include "driver/file.h"
#include "driver/sched.h"

/** Under sc_sched_lock, except what is marked. */
struct sc_channel {
    struct sc_shared *shared;  /* fixed after start */
    struct sc_file socket;     /* fixed after start */
    _Atomic bool cut;          /* a descriptor is gone: never cleared */
    _Atomic uint32_t watched;  /* its end would be noticed; a futex */
    uint32_t head;             /* bytes ever written */
    _Atomic uint32_t reaped;   /* results ever taken; read without the lock */
    struct sc_op_queue ready;  /* waiting for room in the ring */
    struct sc_op_queue flight; /* in the ring, completed in order */
    uint32_t in_flight;
};

/** Start the completion thread of a connected device. Return: false: none. */
bool sc_channel_start(struct sc_device *device);

/** Send a ready command, now or when there is room.
 *  Thread: holds sc_sched_lock. */
void sc_channel_push(struct sc_device *device, struct sc_op *op);

/** Somebody waits for an operation: make sure its completion is noticed.
 *  Thread: holds sc_sched_lock. */
void sc_channel_want(struct sc_op *op);

/** Is the device on the processor of the calling thread, whose spinning would
 *  keep it from working? Thread: any */
bool sc_channel_is_beside(const struct sc_device *device);

/** A spinning thread collects results itself: the device need not wake anybody
 *  until sc_channel_unquiet.  Return: whether that has to be called. */
bool sc_channel_quiet(struct sc_device *device);

/** Let the device wake the completion thread again. */
void sc_channel_unquiet(struct sc_device *device);

/** Collect results if there are any, without waiting for a lock.
 *  Thread: any, sc_sched_lock not held. */
void sc_channel_help(struct sc_device *device);

/** Stop the kernels of a context that are in the ring; they end with
 *  CUDA_ERROR_LAUNCH_TIMEOUT.  Thread: holds sc_sched_lock. */
void sc_channel_cancel(struct sc_device *device, CUcontext ctx);

/** The program has closed a descriptor that the device needs: say so once, and
 *  have the completion thread give the device up.
 *  @number of the descriptor. Thread: any. Signal: never */
void sc_channel_cut(struct sc_device *device, int number);

/** The device process is gone: fail what it still had to do.
 *  Thread: holds sc_sched_lock. */
void sc_channel_fail(struct sc_device *device);

/** Pass a file through the socket, without blocking.
 *  Return: false when the socket is full or closed, or there is no file. */
bool sc_channel_send_file(int socket, int fd);

#endif
