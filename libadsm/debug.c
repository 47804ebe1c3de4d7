/* For debuggers: see debug.h. */
#include "debug.h"

#include <stdint.h>

#include "base/lock.h"
#include "mm/doors/touch.h"
#include "mm/object/index.h"
#include "os/fault.h"
#include "os/vm.h"

static const char *debug_refused(void)
{
    if (adsm_fault_in_driver())
        return "this thread was stopped inside the CUDA driver, which cannot "
               "be "
               "asked for more now; go on to where it has left it (finish), or "
               "select another thread";
    if (adsm_quiet_is_on())
        return "this thread was stopped inside libadsm, or in a call that "
               "libadsm makes for it; go on to where it has left that "
               "(finish), "
               "or select another thread";
    return NULL;
}

static const char *debug_touch(uintptr_t at, enum adsm_access access)
{
    const char *why = debug_refused();
    if (why != NULL)
        return why;
    adsm_quiet_enter();
    bool open = adsm_touch(at, access, 0);
    adsm_quiet_leave();
    return open ? NULL
                : "the data cannot be had from the device; libadsm has said "
                  "why on standard error";
}

const char *adsm_debug_fetch(const void *address, size_t bytes, int write)
{
    uintptr_t at = (uintptr_t)address, end = at + bytes;
    size_t page = adsm_vm_page_bytes();
    const char *why = NULL;
    if (end < at)
        return "there is no range that large";
    while (at != 0 && at < end && why == NULL) {
        if (adsm_index_find((const void *)at) != NULL) {
            why = debug_touch(at, write ? ADSM_WRITE : ADSM_READ);
            at = (at / page + 1) * page;
        } else {
            at = adsm_index_border(at);
        }
    }
    return why;
}
