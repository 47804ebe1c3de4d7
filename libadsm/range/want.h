/*
 * The words of a call over several devices: arrays, and what its parts use of
 * them.
 *
 * The structures alone, which whoever makes a call fills in; what is done with
 * them is spread.h's. Boxes count bytes in their innermost dimension.
 */
#ifndef ADSM_RANGE_WANT_H
#define ADSM_RANGE_WANT_H

#include "accel/types.h"
#include "adsm.h"

struct adsm_check;
struct adsm_copy;
struct adsm_object;

/** A row-major array in an object. Of one whose memory host and devices share
 *  (mm/state/direct.h) there are no copies. */
struct adsm_array {
    struct adsm_object *object;
    uint32_t generation;    /* the object's when it was found */
    size_t origin;          /* of its first byte in the object */
    size_t elem;            /* bytes of an element */
    adsmBox shape;          /* from 0 on; innermost in bytes */
    const uint8_t *direct;  /* where it begins there; else NULL */
    struct adsm_daddr used; /* ... and to kernels               */
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

#endif
