/*
 * One program of threads that do everything at once to shared memory, each to
 * bytes of its own, and know what every one of these must be.
 *
 * An object's bytes are dealt out in stripes, which share blocks at their ends:
 * what one thread's call, kernel or fault does to a block must leave its
 * neighbours' bytes alone. What must be there is in plain memory (`expected`).
 * The order of a thread's operations follows from the seed; how threads meet
 * does not.
 */
#ifndef TESTS_STRESS_STRESS_H
#define TESTS_STRESS_STRESS_H

#include <cuda.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    WORKERS = 4,
    OBJECTS = 10,
    OBJECT_BYTES = 1 << 20,
    STRIPE_BYTES = 20000,
    STRIPES = OBJECT_BYTES / STRIPE_BYTES / WORKERS, /* of each thread     */
    TAIL_BYTES = 64, /* of a stripe: its thread's handlers'                */
    FILE_BYTES = 64 << 10,
    SLOT_BYTES = 6000, /* of the memory that handlers touch, each thread's */
};

struct worker {
    int id;
    uint64_t random;
    const char *doing; /* the operation that is under way                 */
    long done;
    bool saw_error; /* after the device was killed                        */
    volatile sig_atomic_t in_cuda; /* a handler may not touch memory now   */
    volatile sig_atomic_t returns; /* where a SIGSEGV jumps: `back` is set */
    sigjmp_buf back;
    long handled; /* signals that touched this thread's slot              */
    int file, ends[2];
    FILE *stream;
    CUstream queue;
    uint8_t content[FILE_BYTES];  /* of the file                           */
    uint8_t buffer[STRIPE_BYTES]; /* plain memory                          */
};

/** Bytes of one object that are a worker's own. */
struct range {
    uint8_t *at, *expected;
    size_t bytes;
};

extern uint8_t *objects[OBJECTS];
extern uint8_t (*expected)[OBJECT_BYTES];
extern uint8_t *slots; /* shared memory that handlers touch */
extern CUfunction kernel_mix, kernel_fill;
extern uint64_t seed;
extern atomic_bool stopping;
extern atomic_bool killed; /* from now on calls may fail */
extern _Thread_local struct worker *self;

/** A number below `most` that follows from the seed. */
uint64_t draw(struct worker *w, uint64_t most);

/** Do one random operation. Ends the program where a byte is wrong or a call
 *  fails that must not; notes it in saw_error once the device was killed. */
void operate(struct worker *w);

/** Something is not as it must be: say it with the seed, and end. */
_Noreturn void stress_fail(const struct worker *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** What scenarios do beside the workers, until `stopping`. */
void send_signals(struct worker *workers);
void fork_children(struct worker *workers);
void free_under_readers(struct worker *workers);
void kill_device_soon(struct worker *workers);

/** Handler of SIGUSR1 and SIGALRM: loads and stores in shared memory. */
void touch_slot(int number);

#endif
