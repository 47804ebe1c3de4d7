/*
 * From what a part uses of an array to boxes of an object's map.
 *
 * An object has one shape at a time. Boxes of an array with just that shape are
 * boxes of the map; of any other they become stretches of bytes, which is exact
 * for what is written and may be more than is needed for what is read. Pure.
 * Thread: any. Signal: never.
 */
#ifndef ADSM_RANGE_PREPARE_H
#define ADSM_RANGE_PREPARE_H

#include "range/want.h"

/** The shape that an object gets for the sake of one array: rows and planes like
 *  the array's, and enough of them to cover the object; bytes for an array that
 *  begins inside it. */
adsmBox adsm_prepare_shape(const struct adsm_array *array, size_t object_bytes);

/** The shape of bytes, in which every array can be had. */
adsmBox adsm_prepare_bytes(size_t object_bytes);

/** Fill in what `begin` finds: reads, writes, room, flat, framed. `whole` is the
 *  map's shape. Return: ADSM_OK; ADSM_E_UNSUPPORTED: it is written and would be
 *  framed */
int adsm_prepare_want(struct adsm_want *want,
                      const adsmBox *whole) ADSM_MUST_CHECK;

/** From the first byte of a box of an array to behind its last, in the object. */
adsmBox adsm_prepare_flat(const struct adsm_array *array, const adsmBox *box);

/** Does the kernel look beyond the array's edge? */
bool adsm_prepare_has_margin(const struct adsm_want *want);

/*
 * What a flat want writes, as stretches of bytes in the map's one dimension; of
 * another its one box.
 *
 *     for (struct adsm_stretches s = adsm_prepare_writes(want);
 *          adsm_stretches_next(&s);)
 *         ... s.stretch
 */
struct adsm_stretches {
    adsmBox stretch; /* in the map */
    adsmBox box;     /* of the array, innermost in bytes */
    long at[3];      /* of the next one */
    size_t pitch[3], origin;
    int stepped; /* dimensions that are gone through one by one */
    bool flat, ended;
};

struct adsm_stretches adsm_prepare_writes(const struct adsm_want *want);
bool adsm_stretches_next(struct adsm_stretches *stretches);

/** The stretches of a box of an array in memory that is laid out like it. */
struct adsm_stretches adsm_stretches_of(const adsmBox *shape,
                                        const adsmBox *box, size_t origin);

#endif
