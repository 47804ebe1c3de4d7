/* Transfers between the host pages and copies of an object; see carry.h. */
#include "range/carry.h"

#include "accel/move.h"
#include "mm/object/host.h"
#include "mm/state/coherence.h"
#include "mm/state/mapping.h"

#include <stdlib.h>
#include <string.h>

/* ---- places ---------------------------------------------------------------- */

/* Distances between rows and planes from those between neighbours in each
 * dimension; what a box has one of does not matter. */
static void set_pitches(struct adsm_place *place, int nd, const size_t pitch[3])
{
    place->pitch[0] = nd > 1 ? pitch[nd - 2] : 0;
    place->pitch[1] = nd > 2 ? pitch[nd - 3] : 0;
}

static struct adsm_place place_in_copy(const struct adsm_copy *copy,
                                       const adsmBox *box)
{
    struct adsm_place place = {.accel = copy->accel};
    place.device = adsm_daddr_add(
        copy->at, adsm_box_offset(box, &copy->room, copy->pitch));
    set_pitches(&place, box->nd, copy->pitch);
    return place;
}

static struct adsm_place place_on_host(struct adsm_object *object,
                                       const adsmBox *box)
{
    const adsmBox *whole = adsm_ranged_shape(object);
    struct adsm_place place = {.accel = NULL};
    size_t pitch[3];
    adsm_box_pitches(whole, pitch);
    place.host = object->shadow.shadow + adsm_box_offset(box, whole, pitch);
    set_pitches(&place, box->nd, pitch);
    return place;
}

static struct adsm_extent extent_of(const adsmBox *box)
{
    size_t n[3] = {1, 1, 1};
    for (int d = 0; d < box->nd; d++)
        n[d + 3 - box->nd] = (size_t)(box->hi[d] - box->lo[d]);
    return (struct adsm_extent){.bytes = n[2], .rows = n[1], .planes = n[0]};
}

void adsm_carry_host_range(const adsmBox *whole, const adsmBox *box,
                           size_t *begin, size_t *end)
{
    size_t pitch[3];
    adsm_box_pitches(whole, pitch);
    *begin = adsm_box_offset(box, whole, pitch);
    *end = *begin + 1;
    for (int d = 0; d < box->nd; d++)
        *end += (size_t)(box->hi[d] - box->lo[d] - 1) * pitch[d];
}

/* ---- one transfer ----------------------------------------------------------- */

/* The host pages of a box are there; what of the object has them in hand? */
static int prepare_host(struct adsm_object *object, const adsmBox *box,
                        bool writes, struct adsm_waits *waits)
{
    struct adsm_flights *flights = &adsm_ranged(object)->flights;
    size_t begin, end;
    adsm_carry_host_range(adsm_ranged_shape(object), box, &begin, &end);
    if (writes)
        adsm_flights_before_write(flights, begin, end, waits);
    else
        adsm_flights_before_read(flights, begin, end, waits);
    int rc = adsm_mapping_shadow(object);
    return rc == ADSM_OK ? adsm_object_commit(object, begin, end - begin) : rc;
}

static void remember(struct adsm_object *object, struct adsm_copy *copy,
                     const adsmBox *box, bool writes, struct adsm_fence done)
{
    if (!copy) {
        struct adsm_flight flight = {.fence = done, .down = writes};
        adsm_carry_host_range(adsm_ranged_shape(object), box, &flight.begin,
                              &flight.end);
        adsm_flights_add(&adsm_ranged(object)->flights, flight);
    } else if (writes) {
        adsm_order_written(&copy->order, box, done);
    } else {
        adsm_order_read(&copy->order, done);
    }
}

int adsm_carry_enqueue(struct adsm_object *object, struct adsm_copy *to,
                       const adsmBox *to_box, struct adsm_copy *from,
                       const adsmBox *from_box, struct adsm_fence *done,
                       const struct adsm_cause *cause)
{
    struct adsm_waits waits = {.count = 0};
    int rc = ADSM_OK;
    *done = (struct adsm_fence){0};
    if (from)
        adsm_order_before_read(&from->order, from_box, &waits);
    else
        rc = prepare_host(object, from_box, false, &waits);
    if (to)
        adsm_order_before_write(&to->order, to_box, &waits);
    else if (rc == ADSM_OK)
        rc = prepare_host(object, to_box, true, &waits);
    if (rc != ADSM_OK)
        return rc;
    struct adsm_place source =
        from ? place_in_copy(from, from_box) : place_on_host(object, from_box);
    struct adsm_place target =
        to ? place_in_copy(to, to_box) : place_on_host(object, to_box);
    size_t begin, end;
    adsm_carry_host_range(adsm_ranged_shape(object), to_box, &begin, &end);
    struct adsm_cause its = adsm_object_cause(object, begin, cause);
    bool noted = (from && from->home) || (to && to->home);
    return adsm_move(&target, &source, extent_of(to_box), waits.fence,
                     waits.count, noted, done, &its);
}

int adsm_carry_to(struct adsm_object *object, struct adsm_copy *to,
                  const adsmBox *to_box, struct adsm_copy *from,
                  const adsmBox *from_box, const struct adsm_cause *cause)
{
    struct adsm_fence done;
    int rc =
        adsm_carry_enqueue(object, to, to_box, from, from_box, &done, cause);
    if (done.seq > 0) { /* a part of one that failed may be on its way */
        remember(object, from, from_box, false, done);
        remember(object, to, to_box, true, done);
    }
    return rc;
}

/* The array's last row may end behind the object, where nothing is. */
int adsm_carry(struct adsm_object *object, struct adsm_copy *to,
               struct adsm_copy *from, const adsmBox *box,
               const struct adsm_cause *cause)
{
    const adsmBox *whole = adsm_ranged_shape(object);
    adsmBox real[ADSM_BOX_CUTS];
    size_t begin, end;
    int rc = ADSM_OK;
    adsm_carry_host_range(whole, box, &begin, &end);
    if (end <= object->bytes)
        return adsm_carry_to(object, to, box, from, box, cause);
    int n = adsm_box_of_bytes(whole, 0, object->bytes, real);
    for (int i = 0; i < n && rc == ADSM_OK; i++) {
        adsmBox piece = adsm_box_meet(&real[i], box);
        if (!adsm_box_is_empty(&piece))
            rc = adsm_carry_to(object, to, &piece, from, &piece, cause);
    }
    return rc;
}

int adsm_carry_fill(struct adsm_copy *to, const adsmBox *box,
                    const void *element, size_t bytes,
                    const struct adsm_cause *cause)
{
    struct adsm_extent extent = extent_of(box);
    struct adsm_waits waits = {.count = 0};
    struct adsm_fence done;
    size_t all = extent.bytes * extent.rows * extent.planes, begin, end;
    uint8_t *padding = malloc(all);
    if (!padding)
        return ADSM_E_NOMEM;
    for (size_t at = 0; at < all; at += bytes)
        memcpy(padding + at, element, bytes);
    adsm_order_before_write(&to->order, box, &waits);
    struct adsm_place source = {
        .host = padding, .pitch = {extent.bytes, extent.bytes * extent.rows}};
    struct adsm_place target = place_in_copy(to, box);
    adsm_carry_host_range(adsm_ranged_shape(to->object), box, &begin, &end);
    struct adsm_cause its = adsm_object_cause(to->object, begin, cause);
    int rc = adsm_move(&target, &source, extent, waits.fence, waits.count,
                       false, &done, &its);
    if (done.seq > 0)
        adsm_order_written(&to->order, box, done);
    free(padding); /* plain memory has been read on return */
    return rc;
}
