/*
 * Objects over several devices: what a call in parts asks of them.
 *
 * A call states for each part and argument which box of an array the part reads
 * and which it writes (struct adsm_want). This layer finds or makes a copy of it
 * in the part's device, brings what the copy lacks, and says where it is:
 *
 *     adsm_spread_begin      copies, moves, states      (closes the gates)
 *       adsm_spread_order      a stream waits for them  \ for each part
 *       adsm_spread_launched   its fence is kept        /
 *     adsm_spread_end        who holds what now         (opens the gates)
 *
 * Nothing waits for a device. Boxes count bytes in their innermost dimension.
 * Does not split ranges and knows no kernels (call/call.c).
 *
 * Between begin and end the caller touches no shared memory. Thread: any.
 * Signal: never, unless said otherwise.
 */
#ifndef ADSM_RANGE_SPREAD_H
#define ADSM_RANGE_SPREAD_H

#include "accel/accel.h"
#include "adsm.h"
#include "mm/object/object.h"

struct adsm_check;
struct adsm_copy;

/** A row-major array in an object. Of one whose memory host and devices share
 *  (mm/state/direct.h) there are no copies. */
struct adsm_array {
    struct adsm_object *object;
    uint32_t generation;   /* the object's when it was found */
    size_t origin;         /* of its first byte in the object */
    size_t elem;           /* bytes of an element */
    adsmBox shape;         /* from 0 on; innermost in bytes */
    const uint8_t *direct; /* where it begins there; else NULL */
};

/** One argument of one part: what of the array it uses. One that uses several
 *  boxes is as many wants, side by side, which have one copy together. */
struct adsm_want {
    struct adsm_array array;
    adsmBox read, write; /* boxes within the shape; empty: none */
    /* What the kernel may address, beyond the shape where `edge` says what is
     * there: read and write boxes lie in it. */
    adsmBox around;
    adsmEdge edge;
    const void *pad; /* ADSM_EDGE_PAD: the element */
    bool rows;       /* the kernel takes a pointer: whole rows, no gaps */
    bool also;       /* of the argument before, with the same `around` */
    bool passing;    /* other boxes are likely in the next call */
    /* Found by begin, in the shape of the object's map: */
    struct adsm_copy *copy; /* where the part has it                     */
    adsmBox reads, writes;  /* the same bytes                            */
    adsmBox room;           /* what the copy must have memory for        */
    size_t brought;         /* bytes that came from elsewhere for it      */
    bool begun;             /* a use of the object's map, for all of the call */
    bool lent; /* no number for the copy: others are lent to system calls    */
    bool flat; /* the map's shape is another: boxes are stretches of bytes */
    /* The map's shape is another, and there is a margin: the copy holds nothing,
     * and its room, a box of the array, is filled for each call (edge.h). */
    bool framed;
};

/** What one device gets of a call. */
struct adsm_part {
    struct adsm_accel *accel;
    struct adsm_want *wants;
    int count;
    bool fetch;               /* bring what it writes to the host */
    bool launched;            /* by adsm_spread_launched; false before */
    uint32_t gates;           /* of the first one: those that are closed */
    struct adsm_check *check; /* what is wrong with it (range/check.h) */
};

/** How many parts may be begun together where each has up to `wants` arguments
 *  in one object: a copy takes one of the 254 numbers of its object's map, and
 *  those of parts that have ended can be given to others. 1 or more */
int adsm_spread_together(int wants);

/**
 * Make copies for all parts, enqueue what they lack, close the blocks that will
 * be written. Waits, a second at most, for system calls that are at work in what
 * has to go for that.
 *
 * @failed  number of the part that could not be had
 * Return: ADSM_OK: the gates are closed until adsm_spread_end. ADSM_E_NOT_SHARED
 *         (an object was freed); ADSM_E_DEVICE_NOMEM, ADSM_E_NOMEM, ADSM_E_LIMIT,
 *         a device's error: nothing was lost and nothing is closed
 */
int adsm_spread_begin(struct adsm_part *parts, int count,
                      int *failed) ADSM_MUST_CHECK;

/** What the kernel gets: address of the array's first byte as if the copy held
 *  all of it, and distances in bytes between rows and between planes. */
struct adsm_daddr adsm_spread_base(const struct adsm_want *want,
                                   size_t pitch[2]);

/** Make a stream of the part's device wait, on the device, for what the part's
 *  kernel reads, and for all who use what it writes. */
int adsm_spread_order(const struct adsm_part *part,
                      adsm_stream stream) ADSM_MUST_CHECK;

/** The part's kernel is enqueued and ends with `fence`. */
void adsm_spread_launched(struct adsm_part *part, struct adsm_fence fence);

/** All parts that will be are enqueued: the launched ones hold what they write,
 *  of the others nothing has changed. What parts with `fetch` write is enqueued
 *  for the host, part by part, so a CPU access waits for its own; where that
 *  fails it is brought when it is used. Opens the gates. */
void adsm_spread_end(struct adsm_part *parts, int count);

/* ---- arrays and hints ----------------------------------------------------- */

/** Say what array begins at `origin` (adsmShape). Return: ADSM_OK; ADSM_E_NOMEM;
 *  ADSM_E_NOT_SHARED (freed meanwhile) */
int adsm_spread_shape(const struct adsm_array *array) ADSM_MUST_CHECK;

/** The array that was said to begin at `address`. Return: ADSM_OK;
 *  ADSM_E_NOT_FOUND (object, generation and origin are set); ADSM_E_NOT_SHARED */
int adsm_spread_array(const void *address, struct adsm_array *array);

/** Allocate an array that has no home (adsmAllocArray). `accel` page-locks its
 *  host pages. */
int adsm_spread_alloc(struct adsm_accel *accel, size_t bytes,
                      void **host) ADSM_MUST_CHECK;

/** Bytes of a box that copies on a device have, as far as is known without
 *  looking at what the CPU has written since. Thread: any. Signal: never */
size_t adsm_spread_there(const struct adsm_array *array, const adsmBox *box,
                         const struct adsm_accel *accel);

/** adsmPrefetch, adsmDrop, adsmDiscard, adsmWaitFor; `accel` NULL: the host. */
int adsm_spread_prefetch(const struct adsm_array *array, const adsmBox *box,
                         struct adsm_accel *accel) ADSM_MUST_CHECK;
int adsm_spread_drop(const struct adsm_array *array, const adsmBox *box,
                     struct adsm_accel *accel) ADSM_MUST_CHECK;
int adsm_spread_discard(const struct adsm_array *array,
                        const adsmBox *box) ADSM_MUST_CHECK;
int adsm_spread_wait(const struct adsm_array *array, const adsmBox *box,
                     bool writes) ADSM_MUST_CHECK;

/** adsmCopies: at most `most` are stored. Return: how many there are */
int adsm_spread_copies(const struct adsm_array *array, adsmCopyInfo *out,
                       int most);

#endif
