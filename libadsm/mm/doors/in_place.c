/* Ranges that a system call may use as they are; see in_place.h. */
#include "mm/doors/in_place.h"

#include "mm/heap/life.h"
#include "mm/object/block.h"
#include "mm/object/host.h"
#include "mm/object/index.h"
#include "mm/watch/ahead.h"

/* Object around an address whose memory on the host is there, at S as well. */
static const struct adsm_object *find(const void *address, size_t *offset)
{
    const struct adsm_object *object = adsm_index_find(address);
    if (!object || object->direct ||
        !atomic_load_explicit(&object->backed, memory_order_acquire))
        return NULL;
    *offset = (size_t)((const uint8_t *)address - object->host);
    return *offset < object->bytes ? object : NULL;
}

void *adsm_in_place_read(const void *address, size_t *bytes)
{
    size_t offset;
    const struct adsm_object *object = find(address, &offset);
    /* What is adopted may be given up beside the look, and S with it: it waits
     * for loans alone. */
    if (!object || *bytes == 0 || adsm_object_is_adopted(object))
        return NULL;
    if (*bytes > object->bytes - offset)
        *bytes = object->bytes - offset;
    uint32_t last = adsm_block_of(object, offset + *bytes - 1);
    for (uint32_t i = adsm_block_of(object, offset); i <= last; i++) {
        if (adsm_block_state(object, i) == ADSM_INVALID)
            return NULL;
        adsm_ahead_read(object, i);
    }
    return adsm_object_has(object, offset, *bytes)
               ? object->shadow.shadow + offset
               : NULL;
}

/* Open and held by nobody. That nobody has the lock alone is asked first: who
 * takes it later, or holds the block later, counts later. */
static bool is_open(const struct adsm_object *object, uint32_t i)
{
    enum { SEEN = ADSM_BLOCK_STATE | ADSM_BLOCK_BUSY | ADSM_BLOCK_MAPPED };
    return (atomic_load(&object->blocks[i]) & SEEN) ==
           (ADSM_DIRTY | ADSM_BLOCK_MAPPED);
}

bool adsm_in_place_write(const void *address, size_t bytes,
                         struct adsm_in_place *place)
{
    size_t offset;
    const struct adsm_object *object = find(address, &offset);
    if (!object || bytes == 0 || bytes > object->bytes - offset)
        return false;
    *place = (struct adsm_in_place){object, atomic_load(&object->closings)};
    if (adsm_rwlock_is_taken(&object->lock))
        return false;
    uint32_t last = adsm_block_of(object, offset + bytes - 1);
    for (uint32_t i = adsm_block_of(object, offset); i <= last; i++)
        if (!is_open(object, i))
            return false;
    return true;
}

bool adsm_in_place_lasts(const struct adsm_in_place *place)
{
    return atomic_load(&place->object->closings) == place->closings;
}
