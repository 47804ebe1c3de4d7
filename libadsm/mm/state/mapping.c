/* Who gives up a mapping at A, and who gets one; see mapping.h. */
#include "mm/state/mapping.h"

#include "base/log.h"
#include "mm/object/host.h"
#include "mm/object/list.h"
#include "mm/state/dirty.h"
#include "os/fault_range.h"
#include "os/vm.h"

int adsm_mapping_take(struct adsm_object *object)
{
    adsm_dirty_unwatch(object, 0, object->block_count);
    return adsm_object_unmap(object);
}

/* The same, if it is there and nobody uses it just now. */
static int try_take(struct adsm_object *object)
{
    int rc = ADSM_E_NOT_SHARED;
    if (!adsm_rwlock_try(&object->lock))
        return rc;
    if (atomic_load(&object->live))
        rc = adsm_mapping_take(object);
    adsm_rwlock_release(&object->lock);
    return rc;
}

/* The objects that have been at A longest. Return: how many */
static size_t unmap_some(void)
{
    enum { AT_ONCE = 64 };
    /* Not all: one instruction may need two objects. */
    size_t most = adsm_object_mapped() / 2;
    if (adsm_fault_range_is_lasting())
        return 0;
    return adsm_object_rotate(most < AT_ONCE ? most : AT_ONCE, try_take);
}

bool adsm_mapping_make_room(void)
{
    size_t spare = adsm_vm_spare_release();
    size_t unmapped = unmap_some();
    (void)adsm_vm_spare_take(ADSM_VM_SPARE_LAST);
    return spare > ADSM_VM_SPARE_LAST || unmapped > 0;
}

int adsm_mapping_provide(void)
{
    while (!adsm_vm_spare_take(ADSM_VM_SPARE)) {
        (void)adsm_vm_spare_release();
        if (unmap_some() > 0)
            continue;
        (void)adsm_vm_spare_take(ADSM_VM_SPARE);
        return ADSM_E_LIMIT;
    }
    return ADSM_OK;
}

int adsm_mapping_back(struct adsm_object *object)
{
    /* Acquire: pairs with adsm_object_map, the mapping is there. */
    if (atomic_load_explicit(&object->backed, memory_order_acquire))
        return ADSM_OK;
    int rc = adsm_object_map(object);
    while (rc == ADSM_E_LIMIT && adsm_mapping_make_room())
        rc = adsm_object_map(object);
    return rc;
}

int adsm_mapping_shadow(struct adsm_object *object)
{
    if (atomic_load_explicit(&object->backed, memory_order_acquire))
        return ADSM_OK;
    int rc = adsm_object_map(object);
    return rc == ADSM_E_LIMIT ? ADSM_OK : rc;
}

void adsm_mapping_give_back(struct adsm_object *object)
{
    int rc = adsm_object_unmap(object);
    while (rc == ADSM_E_LIMIT && adsm_mapping_make_room())
        rc = adsm_object_unmap(object);
    if (rc != ADSM_OK && rc != ADSM_E_NOT_SHARED)
        adsm_log(ADSM_LOG_ERROR, "cannot give back host addresses of %zu bytes",
                 object->span.bytes);
}
