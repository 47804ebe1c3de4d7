/*
 * Ranges in the hands of the engine in use: see os/fault_range.h. Without one
 * they are what mprotect makes of them.
 */
#include "os/fault_range.h"

#include "os/fault_engine.h"

const struct adsm_fault_ranges adsm_fault_ranges_protected = {
    .attach = adsm_vm_map_again,
    .detach = adsm_vm_placeholder,
    .protect = adsm_vm_protect,
    .populate = adsm_vm_populate,
    .dump = adsm_vm_dump,
};

static const struct adsm_fault_ranges *ranges(void)
{
    const struct adsm_fault_engine *engine = adsm_fault_engine();
    return engine != NULL ? engine->ranges : &adsm_fault_ranges_protected;
}

adsm_status_t adsm_fault_range_attach(uintptr_t addr, size_t bytes,
                                      const void *shadow)
{
    return ranges()->attach(addr, bytes, shadow);
}

adsm_status_t adsm_fault_range_detach(uintptr_t addr, size_t bytes)
{
    return ranges()->detach(addr, bytes);
}

adsm_status_t adsm_fault_range_protect(uintptr_t addr, size_t bytes,
                                       enum adsm_prot prot)
{
    return ranges()->protect(addr, bytes, prot);
}

adsm_status_t adsm_fault_range_populate(uintptr_t addr, size_t bytes,
                                        bool write)
{
    return ranges()->populate(addr, bytes, write);
}

void adsm_fault_range_dump(uintptr_t addr, size_t bytes)
{
    ranges()->dump(addr, bytes);
}

bool adsm_fault_range_is_lasting(void)
{
    return ranges()->lasting;
}
