/*
 * What the parts of the random test through the library share; see live.c.
 *
 * An array of the program: shared memory, and beside it plain memory that holds
 * what is to be found there. Each element belongs to the main thread, which
 * alone makes calls, or to a toucher, whose elements no kernel writes or reads.
 */
#ifndef TESTS_RANGE_LIVE_H
#define TESTS_RANGE_LIVE_H

#include "adsm.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { ARRAYS = 8, TOUCHERS = 2, LONGEST = 8192 };

struct live_array {
    pthread_rwlock_t lock; /* shared to touch it, exclusively to renew it */
    int *p, *base;         /* where it begins, and the object it lies in */
    int *flat;             /* what is to be found */
    uint8_t *owner;        /* of each element: 0 the main thread */
    long *owned;           /* elements of touchers before each; n + 1 */
    long n;                /* elements there are, also beyond the shape */
    adsmBox shape;
    int home, number;
};

struct live_random {
    uint64_t state;
};

static inline long draw(struct live_random *r, long below)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return (long)((r->state >> 33) % (uint64_t)below);
}

extern struct live_array live_arrays[ARRAYS];
extern bool live_tight;   /* devices may have no memory left */
extern long live_refused; /* calls that had none */

/* ---- what happened (live.c) ----------------------------------------------- */

/** Remember what is done, for the report. Thread: the main one */
void live_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Report and end the program. Thread: any */
_Noreturn void live_stop(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/** Did it succeed? False where a device had no memory and that may be; any other
 *  failure ends the program. */
bool live_done(int status, const char *what);

/* ---- arrays (live_array.c) --------------------------------------------------- */

/** Another array in its place. */
void live_renew(struct live_random *r, struct live_array *a);

/** One with `nd` dimensions; NULL: none was found. */
struct live_array *live_pick(struct live_random *r, int nd);

/** Say that it is another array of `nd` dimensions. */
void live_shape(struct live_random *r, struct live_array *a, int nd);

/** A box of its shape, often all of it. */
adsmBox live_box(struct live_random *r, const struct live_array *a);

/** Elements of touchers in a box, after it was grown by `radius` and cut off at
 *  the array's edges. */
long live_owned(const struct live_array *a, const adsmBox *box,
                const int radius[3]);

/** Number of an element. */
static inline long live_at(const struct live_array *a, long z, long y, long x)
{
    const long *n = a->shape.hi;
    return a->shape.nd == 3   ? (z * n[1] + y) * n[2] + x
           : a->shape.nd == 2 ? y * n[1] + x
                              : x;
}

/** A stretch that belongs to `owner`, at most `most` elements; false: none was
 *  found. */
bool live_stretch(struct live_random *r, const struct live_array *a, int owner,
                  long most, long *at, long *n);

/** Is what is there what is to be found? */
void live_compare(const struct live_array *a, long at, long n,
                  const char *what);
void live_compare_all(const char *what);

/* ---- what the CPU does (live_cpu.c) ------------------------------------------- */

/** One access of an owner to what is his; the array is locked. */
void live_access(struct live_random *r, struct live_array *a, int owner);

/** Threads that touch until `*stop`. */
void live_touchers_begin(uint64_t seed);
void live_touchers_end(void);

/* ---- what devices do (live_call.c) ---------------------------------------------- */

void live_kernels(const char *path);

/** One call, launch or hint. */
void live_call(struct live_random *r);

/** adsmPrefetch and its like (live_hint.c). */
void live_hint(struct live_random *r);

#endif
