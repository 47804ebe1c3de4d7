/*
 * Mappings set aside: see os/vm.h. Protections that alternate page by page take
 * two mappings each, and taking the difference away gives them back.
 */
#include "os/vm.h"

#include "base/lock.h"

static struct adsm_lock lock = ADSM_LOCK_INIT(ADSM_RANK_POOL);
static uintptr_t area; /* lock */
static size_t pairs;   /* lock */

static size_t area_bytes(void)
{
    return (ADSM_VM_SPARE + 1) * adsm_vm_page_bytes();
}

bool adsm_vm_spare_take(size_t mappings)
{
    size_t page = adsm_vm_page_bytes();
    adsm_lock_acquire(&lock);
    if (area == 0)
        area = adsm_vm_reserve(area_bytes(), 0, 0);
    while (area != 0 && 2 * pairs < mappings &&
           adsm_vm_protect(area + (2 * pairs + 1) * page, page,
                           ADSM_PROT_READ) == ADSM_OK)
        pairs++;
    bool there = 2 * pairs >= mappings;
    adsm_lock_release(&lock);
    return there;
}

size_t adsm_vm_spare_release(void)
{
    adsm_lock_acquire(&lock);
    size_t released = 2 * pairs;
    if (pairs > 0 &&
        adsm_vm_protect(area, area_bytes(), ADSM_PROT_NONE) != ADSM_OK)
        released = 0;
    if (released > 0)
        pairs = 0;
    adsm_lock_release(&lock);
    return released;
}
