/*
 * What the parts of the random test through the library share; see live.c.
 *
 * An array of the program: shared memory, and beside it plain memory that holds
 * what is to be found there. Each element belongs to somebody: to a toucher,
 * whose elements no kernel writes or reads; to one caller, who alone makes calls
 * on it, in no order with those of others; or to all callers, one of whom has
 * the array at a time.
 */
#ifndef TESTS_RANGE_LIVE_H
#define TESTS_RANGE_LIVE_H

#include "adsm.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Owners are callers, the last of which is the runtime's thread (`then`), and
 * behind them touchers. */
enum { ARRAYS = 8, CALLERS = 5, RUNTIME = CALLERS - 1, TOUCHERS = 2 };
enum { ANY_CALLER = 255, LONGEST = 8192 };

struct live_array {
    pthread_rwlock_t lock; /* shared to use it, exclusively to renew it */
    pthread_mutex_t calls; /* who makes calls on it, unless it is divided */
    int *p, *base;         /* where it begins, and the object it lies in */
    int *flat;             /* what is to be found */
    uint8_t *owner;        /* of each element */
    bool divided;          /* callers have elements of their own */
    /* Elements before each that a caller may not use; n + 1. */
    long *foreign[CALLERS];
    long n; /* elements there are, also beyond the shape */
    adsmBox shape;
    int home, number;
};

struct live_follow;

/* A caller or a toucher, and the arrays that it has just now. */
struct live_thread {
    uint64_t random;
    int owner;
    struct live_array *held[ARRAYS];
    int helds;
    struct live_follow *follow; /* of the call that it makes */
};

static inline long draw(struct live_thread *t, long below)
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    return (long)((t->random >> 33) % (uint64_t)below);
}

/* What software devices have for %globaltimer. */
static inline long live_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

extern struct live_array live_arrays[ARRAYS];
extern int live_callers;          /* besides the runtime's thread */
extern bool live_tight;           /* devices may have no memory left */
extern _Atomic long live_refused; /* calls that had none */
extern _Atomic long live_made;    /* calls that were made */
extern _Atomic long live_beside;  /* of these, in no order with others */

/* ---- what happened (live.c) ----------------------------------------------- */

/** Remember what is done, for the report. Thread: a caller */
void live_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Report and end the program. Thread: any */
_Noreturn void live_stop(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/** Did it succeed? False where a device had no memory and that may be; any other
 *  failure ends the program. */
bool live_done(int status, const char *what);

/* ---- arrays (live_array.c) --------------------------------------------------- */

/** Another array in its place. The thread has none. */
void live_renew(struct live_thread *t, struct live_array *a);

/** Have an array until live_let_go, or live_let_all_go; false: another has it. */
bool live_hold(struct live_thread *t, struct live_array *a);
void live_let_all_go(struct live_thread *t);

/** Any array, as if by live_hold; NULL: none could be had. */
struct live_array *live_any(struct live_thread *t);

/** One with `nd` dimensions; NULL: none could be had. */
struct live_array *live_pick(struct live_thread *t, int nd);

/** Say that it is another array of `nd` dimensions; it is not divided. */
void live_shape(struct live_thread *t, struct live_array *a, int nd);

/** Say that it has rows of `nx`. False: it stays as it is. */
bool live_shape_rows(struct live_array *a, long nx);

/** A box of its shape, often all of it, or all the thread's own. */
adsmBox live_box(struct live_thread *t, const struct live_array *a);

/** Elements that a caller may not use in a box, after it was grown by `radius`
 *  and cut off at the array's edges. */
long live_foreign(const struct live_thread *t, const struct live_array *a,
                  const adsmBox *box, const int radius[3]);

/** Number of an element. */
static inline long live_at(const struct live_array *a, long z, long y, long x)
{
    const long *n = a->shape.hi;
    return a->shape.nd == 3   ? (z * n[1] + y) * n[2] + x
           : a->shape.nd == 2 ? y * n[1] + x
                              : x;
}

/** A stretch that the thread may use, at most `most` elements; false: none was
 *  found. */
bool live_stretch(struct live_thread *t, const struct live_array *a, long most,
                  long *at, long *n);

/** Is what is there what is to be found? */
void live_compare(const struct live_array *a, long at, long n,
                  const char *what);
void live_compare_all(const char *what);

/* ---- what the CPU does (live_cpu.c) ------------------------------------------- */

/** One access of a thread to what is its own; it has the array. */
void live_access(struct live_thread *t, struct live_array *a);

/** One to elements that are its own, at most LONGEST. */
void live_access_to(struct live_thread *t, struct live_array *a, long at,
                    long n);

/** The thread makes no more, and ends. */
void live_access_end(void);

/** Threads that touch until the end. */
void live_touchers_begin(uint64_t seed);
void live_touchers_end(void);

/* ---- what devices do (live_call.c, live_boxed.c, live_plain.c) ------------------ */

void live_call_begin(void);
void live_boxed_begin(void);
void live_plain_begin(void);

/** A kernel of a file in tests/call. */
adsmKernel *live_kernel(const char *file, const char *name, adsmReach reach);

/** A time soon, for kernels that wait until then. */
static inline long live_some_time(struct live_thread *t)
{
    return live_now() + draw(t, 2000 * 1000);
}

/** Was it made? `bad`: it must not be. Refused ones change nothing. */
bool live_was_made(struct live_thread *t, const adsmOpts *opts, bool bad,
                   int status, const char *what);

/** How a call is made. */
struct live_way {
    adsmOpts opts;
    bool bad; /* no device takes such a block */
};

struct live_way live_some_way(struct live_thread *t, const adsmBox *range);

static inline bool live_way_made(struct live_thread *t,
                                 const struct live_way *way, int status,
                                 const char *what)
{
    return live_was_made(t, &way->opts, way->bad, status, what);
}

/** Remember such a call, of an array to an array. */
void live_note_call(const struct live_thread *t, const char *what,
                    const struct live_way *way, const adsmBox *box,
                    const struct live_array *a, const struct live_array *b);

/** One call, launch or hint. */
void live_call(struct live_thread *t);

/** Threads that use the arrays of the call that the thread has made. */
void live_arrive(struct live_thread *t);

/** One whose arguments name their boxes. */
void live_boxed(struct live_thread *t);

/** One on one device. */
void live_plain(struct live_thread *t);

/** adsmPrefetch and its like (live_hint.c). */
void live_hint(struct live_thread *t);

/* ---- what follows calls (live_follow.c) ------------------------------------------ */

/** Draw what a call comes behind and what follows it. */
void live_follow_draw(struct live_thread *t, adsmOpts *opts);

/** The part with which the last call of this thread failed. */
int live_failed_part(void);

/** What is in the elements of its own is what is to be there. */
void live_take_as_found(struct live_thread *t);

/** The call that it was drawn for is made, or was refused. */
void live_follow_made(struct live_thread *t, const adsmOpts *opts, int status);

/** Wait for a call that somebody made, or ask whether it has ended. */
void live_follow_wait(struct live_thread *t);

/** No more calls are made: all that was to follow has, once. */
void live_follow_end(void);

/** Two calls, one behind the other, told by the devices' clocks (live_order.c). */
void live_order_begin(void);
void live_order_end(void);
void live_order(struct live_thread *t);

#endif
