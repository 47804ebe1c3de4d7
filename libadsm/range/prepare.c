/* Boxes of arrays as boxes of maps; see prepare.h. */
#include "range/prepare.h"

#include "accel/error.h"
#include "range/box.h"

adsmBox adsm_prepare_bytes(size_t object_bytes)
{
    return (adsmBox){.nd = 1, .hi = {(long)object_bytes}};
}

adsmBox adsm_prepare_shape(const struct adsm_array *array, size_t object_bytes)
{
    adsmBox shape = array->shape;
    long inner = 1;
    if (array->origin != 0 || shape.nd == 1)
        return adsm_prepare_bytes(object_bytes);
    for (int d = 1; d < shape.nd; d++)
        inner *= shape.hi[d];
    shape.hi[0] = ((long)object_bytes + inner - 1) / inner;
    return shape;
}

/* Do rows and planes of the array lie in the map as in a box of its own? */
static bool is_alike(const struct adsm_array *array, const adsmBox *whole)
{
    if (array->shape.nd != whole->nd || (whole->nd > 1 && array->origin != 0))
        return false;
    for (int d = 1; d < whole->nd; d++)
        if (array->shape.hi[d] != whole->hi[d])
            return false;
    return true;
}

bool adsm_prepare_has_margin(const struct adsm_want *want)
{
    return want->edge != ADSM_EDGE_NONE &&
           !adsm_box_within(&want->around, &want->array.shape);
}

adsmBox adsm_prepare_flat(const struct adsm_array *array, const adsmBox *box)
{
    size_t pitch[3];
    adsm_box_pitches(&array->shape, pitch);
    long begin = (long)array->origin, end = begin + 1;
    for (int d = 0; d < box->nd; d++) {
        begin += box->lo[d] * (long)pitch[d];
        end += (box->hi[d] - 1) * (long)pitch[d];
    }
    return (adsmBox){.nd = 1, .lo = {begin}, .hi = {end}};
}

static adsmBox in_map(const struct adsm_array *array, bool alike,
                      const adsmBox *box)
{
    if (adsm_box_is_empty(box))
        return (adsmBox){.nd = alike ? box->nd : 1};
    return alike ? *box : adsm_prepare_flat(array, box);
}

static void widen_rows(adsmBox *box, const adsmBox *whole)
{
    for (int d = 1; d < whole->nd; d++) {
        if (box->lo[d] > 0)
            box->lo[d] = 0;
        if (box->hi[d] < whole->hi[d])
            box->hi[d] = whole->hi[d];
    }
}

int adsm_prepare_want(struct adsm_want *want, const adsmBox *whole)
{
    const struct adsm_array *array = &want->array;
    /* In one dimension any array is the map's, shifted. */
    bool alike = is_alike(array, whole) && array->origin == 0;
    want->framed =
        !alike && array->shape.nd > 1 && adsm_prepare_has_margin(want);
    if (want->framed && !adsm_box_is_empty(&want->write))
        return adsm_accel_fail(
            ADSM_E_UNSUPPORTED,
            "an argument that is written has elements beyond the edge of an "
            "array that shares its object with others: ADSM_EDGE_NONE, or an "
            "array of adsmAllocArray, can be had",
            NULL);
    want->flat = !alike && !want->framed;
    want->reads = in_map(array, alike, &want->read);
    want->writes = in_map(array, alike, &want->write);
    want->room =
        want->framed ? want->around : in_map(array, alike, &want->around);
    if (want->rows && !want->flat)
        widen_rows(&want->room, &array->shape);
    return ADSM_OK;
}

struct adsm_stretches adsm_stretches_of(const adsmBox *shape,
                                        const adsmBox *box, size_t origin)
{
    struct adsm_stretches s = {
        .box = *box, .origin = origin, .stepped = box->nd - 1, .flat = true};
    adsm_box_pitches(shape, s.pitch);
    while (s.stepped > 0 && box->lo[s.stepped] == shape->lo[s.stepped] &&
           box->hi[s.stepped] == shape->hi[s.stepped])
        s.stepped--;
    for (int d = 0; d < box->nd; d++)
        s.at[d] = box->lo[d];
    s.ended = box->nd == 0 || adsm_box_is_empty(box); /* none is wanted */
    return s;
}

struct adsm_stretches adsm_prepare_writes(const struct adsm_want *want)
{
    if (want->flat)
        return adsm_stretches_of(&want->array.shape, &want->write,
                                 want->array.origin);
    return (struct adsm_stretches){.stretch = want->writes,
                                   .ended = adsm_box_is_empty(&want->writes)};
}

/* Step to the next stretch; behind the last one it has ended. */
static void step(struct adsm_stretches *s)
{
    for (int d = s->stepped - 1; d >= 0; d--) {
        if (++s->at[d] < s->box.hi[d])
            return;
        s->at[d] = s->box.lo[d];
    }
    s->ended = true;
}

bool adsm_stretches_next(struct adsm_stretches *s)
{
    if (s->ended)
        return false;
    if (!s->flat) {
        s->ended = true;
        return true;
    }
    size_t begin = s->origin, bytes = s->pitch[s->stepped];
    for (int d = 0; d < s->box.nd; d++)
        begin += (size_t)s->at[d] * s->pitch[d];
    bytes *= (size_t)(s->box.hi[s->stepped] - s->box.lo[s->stepped]);
    s->stretch =
        (adsmBox){.nd = 1, .lo = {(long)begin}, .hi = {(long)(begin + bytes)}};
    step(s);
    return true;
}
