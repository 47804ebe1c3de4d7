/*
 * Fault engine over mprotect, as sigsegv, that need not hear of every first
 * store: where a block is written here and there it stays open, and the kernel
 * notes which of its pages were (os/written.h). Which blocks these are is
 * mm/watch/sparse.h's matter; all that is closed faults as under sigsegv.
 */
#include "os/fault_engine.h"
#include "os/written.h"

static adsm_status_t engine_init(void)
{
    if (!adsm_written_init())
        return ADSM_E_UNSUPPORTED;
    adsm_status_t status = adsm_fault_sigsegv.init();
    if (status != ADSM_OK)
        adsm_written_fini();
    return status;
}

static void engine_fini(void)
{
    adsm_fault_sigsegv.fini();
    adsm_written_fini();
}

static void engine_set_flags(int flags)
{
    adsm_fault_sigsegv.set_flags(flags);
}

const struct adsm_fault_engine adsm_fault_async = {
    .name = "async",
    .ranges = &adsm_fault_ranges_protected,
    .catches = true,
    .refused = adsm_written_refused,
    .init = engine_init,
    .fini = engine_fini,
    .set_flags = engine_set_flags,
    .entry = adsm_fault_sigsegv_entry,
};
