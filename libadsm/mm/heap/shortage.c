/* One line at the first allocation that the device refuses; shortage.h. */
#include "mm/heap/shortage.h"

#include "base/log.h"
#include "mm/object/list.h"
#include "mm/object/object.h"

struct holdings {
    size_t objects, object_bytes;
    size_t slabs, slab_bytes;
};

static int add(struct adsm_object *object, void *context)
{
    struct holdings *held = context;
    if (object->slab) {
        held->slabs++;
        held->slab_bytes += object->bytes;
    } else {
        held->objects++;
        held->object_bytes += object->bytes;
    }
    return ADSM_OK;
}

static double mib(size_t bytes)
{
    return (double)bytes / (1 << 20);
}

void adsm_shortage_tell(struct adsm_accel *accel, size_t bytes)
{
    static _Atomic bool told;
    struct holdings held = {0};
    size_t free_bytes = 0, total_bytes = 0;
    if (atomic_exchange(&told, true))
        return;
    /* A list that cannot be walked, or a device that does not answer, leaves
     * zeros; the line is about the allocation. */
    (void)adsm_object_each(accel, false, add, &held);
    (void)adsm_accel_memory(accel, &free_bytes, &total_bytes);
    size_t used = held.object_bytes + held.slab_bytes;
    size_t mapped = adsm_address_mapped(accel);
    adsm_log(ADSM_LOG_WARN,
             "device %d has no room for %.3f MiB: libadsm holds %.3f MiB in "
             "%zu objects, %.3f in %zu slabs of small ones and %.3f unused "
             "beside them; of the device's %.3f MiB %.3f are free",
             adsm_accel_device(accel), mib(bytes), mib(held.object_bytes),
             held.objects, mib(held.slab_bytes), held.slabs,
             mib(mapped > used ? mapped - used : 0), mib(total_bytes),
             mib(free_bytes));
}
