/* Which kernels an object is assigned to. */
#include "mm/object/assign.h"

#include "mm/object/index.h"
#include "mm/object/list.h"

/* Position of a kernel in the object's list; its length when absent. */
static uint32_t position(const struct adsm_object *object, const void *kernel)
{
    uint32_t i = 0;
    while (i < object->kernel_count && object->kernels[i] != kernel)
        i++;
    return i;
}

static void take_out(struct adsm_object *object, uint32_t i)
{
    object->kernels[i] = object->kernels[--object->kernel_count];
}

/* Find the object and hold its lock exclusively. */
static int lock_object(const void *address, struct adsm_object **object)
{
    struct adsm_object *found = adsm_index_acquire_alone(address);
    if (!found)
        return ADSM_E_NOT_SHARED;
    if (found->slab) {
        adsm_rwlock_release(&found->lock);
        return ADSM_E_UNSUPPORTED;
    }
    *object = found;
    return ADSM_OK;
}

int adsm_assign_attach(const void *address, const void *kernel)
{
    struct adsm_object *object;
    int rc = lock_object(address, &object);
    if (rc != ADSM_OK)
        return rc;
    uint32_t i = position(object, kernel);
    if (i == ADSM_OBJECT_KERNELS)
        rc = ADSM_E_LIMIT;
    else if (i == object->kernel_count)
        object->kernels[object->kernel_count++] = kernel;
    adsm_rwlock_release(&object->lock);
    return rc;
}

int adsm_assign_detach(const void *address, const void *kernel)
{
    struct adsm_object *object;
    int rc = lock_object(address, &object);
    if (rc != ADSM_OK)
        return rc;
    uint32_t i = position(object, kernel);
    if (i == object->kernel_count)
        rc = ADSM_E_NOT_FOUND;
    else
        take_out(object, i);
    adsm_rwlock_release(&object->lock);
    return rc;
}

static int forget(struct adsm_object *object, void *kernel)
{
    adsm_rwlock_acquire(&object->lock);
    uint32_t i = position(object, kernel);
    if (atomic_load(&object->live) && i < object->kernel_count)
        take_out(object, i);
    adsm_rwlock_release(&object->lock);
    return ADSM_OK;
}

void adsm_assign_forget(const void *kernel)
{
    (void)adsm_object_each(NULL, false, forget, (void *)kernel);
}

bool adsm_assign_reaches(const void *kernel, const struct adsm_object *object)
{
    return !kernel || object->kernel_count == 0 ||
           position(object, kernel) < object->kernel_count;
}
