/*
 * Mappings set aside: see os/vm.h. Protections that alternate page by page take
 * two mappings each, and taking the difference away gives them back.
 */
#include "os/vm.h"

#include "base/lock.h"

static struct {
    struct adsm_lock lock;
    uintptr_t area; /* lock */
    size_t pairs;   /* lock */
} spare = {.lock = ADSM_LOCK_INIT(ADSM_RANK_POOL)};

static size_t area_bytes(void)
{
    return (ADSM_VM_SPARE + 1) * adsm_vm_page_bytes();
}

bool adsm_vm_spare_take(size_t mappings)
{
    size_t page = adsm_vm_page_bytes();
    adsm_lock_acquire(&spare.lock);
    if (spare.area == 0)
        spare.area = adsm_vm_reserve(area_bytes(), 0, 0);
    while (spare.area != 0 && 2 * spare.pairs < mappings &&
           adsm_vm_protect(spare.area + (2 * spare.pairs + 1) * page, page,
                           ADSM_PROT_READ) == ADSM_OK)
        spare.pairs++;
    bool there = 2 * spare.pairs >= mappings;
    adsm_lock_release(&spare.lock);
    return there;
}

size_t adsm_vm_spare_release(void)
{
    adsm_lock_acquire(&spare.lock);
    size_t released = 2 * spare.pairs;
    if (spare.pairs > 0 &&
        adsm_vm_protect(spare.area, area_bytes(), ADSM_PROT_NONE) != ADSM_OK)
        released = 0;
    if (released > 0)
        spare.pairs = 0;
    adsm_lock_release(&spare.lock);
    return released;
}
