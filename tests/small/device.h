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
 * the process. Kernels are C functions. Entries that no test needs are missing:
 * windows of addresses, modules, sets, host functions, timed events.
 *
 * Lock: one for everything; work runs under it. Thread: any; what a test sets it
 * sets while no other thread is in a call. Signal: as of adsm_accel_ops; tests
 * take no signal while they are in here.
 */
#ifndef TESTS_SMALL_DEVICE_H
#define TESTS_SMALL_DEVICE_H

#include "accel/device.h"

enum { SMALL_DEVICES = 4, SMALL_ARGUMENT_BYTES = 64 };

/** When work runs that nobody waits for. */
enum small_pace {
    SMALL_LATE,  /* not at all                                      */
    SMALL_EAGER, /* as soon as it is enqueued                       */
    SMALL_MIXED, /* some of it, in some stream, drawn by chance     */
};

/** A kernel: a function, and how large its one argument is. */
struct small_kernel {
    void (*run)(const void *argument);
    size_t bytes;
};

struct small {
    /* For tests to set. */
    enum small_pace pace;
    bool by_rows;                 /* boxes are refused                   */
    bool apart;                   /* devices do not reach each other     */
    bool lost[SMALL_DEVICES];     /* all its calls say so                */
    size_t memory[SMALL_DEVICES]; /* bytes that it has                   */
    /* For tests to look at. */
    size_t used[SMALL_DEVICES]; /* of these, not given back              */
    size_t pinned;              /* host ranges that are page-locked      */
};

extern struct small small;

/** Be the accelerator from now on, with this many devices. Called once, before
 *  the runtime looks for one. */
void small_begin(int devices);

/** The n-th call from here on, 1 being the next, of one entry (NULL: of any)
 *  fails with a status; entries that give something back do so all the same. A
 *  wait fails when it is named only: else the caller may take it for a lost
 *  device. */
void small_fail(const char *entry, unsigned n, int status);

/** Has it come to that? No call fails from here on. */
bool small_has_failed(void);

/** Run all work of all streams. */
void small_run(void);

/** What the process would see at an address of a device. */
void *small_at(struct adsm_daddr at);

#endif
