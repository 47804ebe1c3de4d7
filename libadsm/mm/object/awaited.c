/* Waits for tasks that are not begun yet; see awaited.h. */
#include "mm/object/awaited.h"

#include "mm/object/block.h"
#include "mm/object/index.h"

_Atomic uint32_t adsm_awaited_tasks;
static const struct adsm_awaited_ops *ops;

void adsm_awaited_set(const struct adsm_awaited_ops *its)
{
    ops = its;
}

bool adsm_block_is_awaited(const struct adsm_object *object, uint32_t i,
                           bool writes)
{
    size_t begin = adsm_block_begin(object, i);
    return adsm_object_is_awaited(object) &&
           ops->meets(object, begin, adsm_block_begin(object, i + 1) - begin,
                      writes);
}

void adsm_awaited_wait(const void *address, size_t bytes, bool writes)
{
    struct adsm_object *object = adsm_index_acquire(address);
    if (!object)
        return;
    size_t offset = (size_t)((const uint8_t *)address - object->host);
    size_t left = object->bytes - offset;
    uint32_t first = adsm_block_of(object, offset);
    uint32_t last =
        adsm_block_of(object, offset + (bytes < left ? bytes : left) - 1);
    size_t begin = adsm_block_begin(object, first);
    size_t end = adsm_block_begin(object, last + 1);
    bool awaited = adsm_object_is_awaited(object);
    adsm_rwlock_release_shared(&object->lock);
    if (awaited)
        ops->await(object, begin, end - begin, writes);
}

void adsm_await_all_tasks(void)
{
    if (atomic_load_explicit(&adsm_awaited_tasks, memory_order_acquire) > 0)
        ops->await(NULL, 0, 0, true);
}
