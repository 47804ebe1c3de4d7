/*
 * A small accelerator in this process, for unit tests of what is built on
 * struct adsm_accel_ops: a back end as the CUDA one is, of which a test can say
 * when work runs and which call fails.
 *
 * Device memory is memory of the process behind addresses that the host cannot
 * use. Work that is enqueued stays in its stream until somebody waits for it,
 * and then just what the waiter has asked for runs, so whoever forgot to ask
 * for an order does not get it by luck. Work on memory that was given back, on
 * host memory that is not there any more, or in a stream of another device ends
 * the process. Windows of addresses are not supported, nor do PTX or a driver
 * come into it: kernels are C functions.
 *
 * Lock: one for everything. Thread: any. Signal: as of adsm_accel_ops; tests
 * take no signal while they are in here.
 */
#ifndef TESTS_SMALL_DEVICE_H
#define TESTS_SMALL_DEVICE_H

#include "accel/device.h"

#define SMALL_OPS(X)                                                           \
    X(start)                                                                   \
    X(describe)                                                                \
    X(context_primary)                                                         \
    X(context_wait)                                                            \
    X(stream_create)                                                           \
    X(stream_destroy)                                                          \
    X(stream_order)                                                            \
    X(event_create)                                                            \
    X(event_destroy)                                                           \
    X(event_record)                                                            \
    X(event_query)                                                             \
    X(event_wait)                                                              \
    X(copy_up)                                                                 \
    X(copy_down)                                                               \
    X(copy_down_now)                                                           \
    X(copy_device)                                                             \
    X(set_device)                                                              \
    X(copy_up_rect)                                                            \
    X(copy_down_rect)                                                          \
    X(copy_device_rect)                                                        \
    X(peer_can)                                                                \
    X(copy_peer)                                                               \
    X(copy_peer_rect)                                                          \
    X(host_call)                                                               \
    X(host_pin)                                                                \
    X(host_unpin)                                                              \
    X(memory_alloc)                                                            \
    X(memory_free)                                                             \
    X(memory_info)                                                             \
    X(launch)

enum small_op {
#define SMALL_OP(name) SMALL_##name,
    SMALL_OPS(SMALL_OP)
#undef SMALL_OP
        SMALL_ANY, /* whichever is called */
};

/** When work runs that nobody waits for. */
enum small_pace {
    SMALL_LATE,  /* not at all                                      */
    SMALL_EAGER, /* as soon as it is enqueued                       */
    SMALL_MIXED, /* some of it, in some stream, drawn by chance     */
};

enum { SMALL_DEVICES = 4, SMALL_ARGUMENTS = 8 };

/** A kernel: a function, and how large its arguments are. */
struct small_kernel {
    void (*run)(void *const *arguments);
    size_t bytes[SMALL_ARGUMENTS];
    int count;
};

/** Be the accelerator from now on, with this many devices. Called once, before
 *  the runtime looks for one. */
void small_begin(int devices);

void small_set_pace(enum small_pace pace);
void small_set_memory(int ordinal, size_t bytes); /* how much there is   */
void small_set_boxes(bool taken); /* false: boxes go by rows             */
void small_set_peers(bool reach); /* to be said before it is asked       */

/** The n-th call from here on, 1 being the next, of one entry or of any fails
 *  with a status; entries that give something back do so all the same. A wait
 *  fails when it is named only: else the caller may take it for a lost device. */
void small_fail(enum small_op op, unsigned n, int status);

/** Has it come to that? No call fails from here on. */
bool small_has_failed(void);

/** The device is lost: its work does not run, all its calls say so. */
void small_lose(int ordinal);

/** Run all work of all streams. */
void small_run(void);

/** What the process would see at an address of a device. */
void *small_at(struct adsm_daddr at);

/** Calls of an entry so far; bytes of device memory, of all devices, that are
 *  not given back; page-locked host ranges; pieces of work that have not run. */
unsigned small_calls(enum small_op op);
size_t small_memory_used(void);
size_t small_pinned(void);
size_t small_pending(void);

#endif
