/* Who is asked for an object's holders; see holders.h. */
#include "mm/object/holders.h"

static const struct adsm_holders_ops *above;

void adsm_holders_set(const struct adsm_holders_ops *ops)
{
    above = ops;
}

int adsm_object_gather(struct adsm_object *object,
                       const struct adsm_cause *cause)
{
    return adsm_object_is_gathered(object) || object->homeless
               ? ADSM_OK
               : above->gather(object, cause);
}

int adsm_holders_fetch(struct adsm_object *object, size_t offset, size_t bytes,
                       const struct adsm_cause *cause)
{
    return above->fetch(object, offset, bytes, cause);
}

void adsm_holders_await(struct adsm_object *object, size_t offset, size_t bytes)
{
    if (object->holders)
        above->await(object, offset, bytes);
}

void adsm_holders_forget(struct adsm_object *object, size_t offset,
                         size_t bytes)
{
    if (object->holders)
        above->forget(object, offset, bytes);
}

void adsm_holders_destroy(struct adsm_object *object)
{
    if (object->holders)
        above->destroy(object);
}

int adsm_holders_adopt(struct adsm_object *object)
{
    return above->adopt(object);
}

int adsm_holders_prepare(const struct adsm_call *call)
{
    return above->prepare(call);
}

int adsm_holders_pin(const void *one, const void *other,
                     struct adsm_object *pinned[2])
{
    return above->pin(one, other, pinned);
}

bool adsm_holders_make_room(struct adsm_accel *accel, size_t bytes)
{
    return above->make_room(accel, bytes);
}
