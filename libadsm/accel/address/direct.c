/*
 * Strategy "direct": kernels use the host's pages, which are at one address for
 * both. For devices that share the host's memory; on others each access of a
 * kernel would go through the bus. Kernels on the host's own cores use them at an
 * address of their own.
 *
 * The memory manager closes the pages to the CPU while kernels use them, which
 * those must not notice: see adsm_cuda_direct_probe.
 *
 * A forked child does not get the pages, as it gets none of a span.
 */
#include "accel/address/way.h"
#include "accel/device.h"
#include "accel/error.h"
#include "base/option.h"
#include "os/fault_range.h"
#include "os/vm.h"

static int direct_probe(struct adsm_accel *accel)
{
    bool asked = adsm_options_get()->address == ADSM_OPT_ADDRESS_DIRECT;
    if (!accel->ops->direct_probe)
        return adsm_accel_fail(ADSM_E_UNSUPPORTED,
                               "the device has memory of its own", NULL);
    if (adsm_fault_range_is_lasting())
        return adsm_accel_fail(
            ADSM_E_UNSUPPORTED,
            "the fault engine uffd does not hear of accesses "
            "to the driver's pages",
            NULL);
    return accel->ops->direct_probe(accel, asked);
}

static int direct_alloc(struct adsm_accel *accel, size_t bytes,
                        struct adsm_span *span)
{
    struct adsm_direct direct;
    size_t page = adsm_vm_page_bytes();
    int status = accel->ops->direct_alloc(accel, bytes, &direct);
    if (status == ADSM_OK && (uintptr_t)direct.host % page != 0) {
        /* Others may have the rest of its first page. */
        status = accel->ops->direct_free(accel, direct.handle);
        if (status == ADSM_OK)
            status = accel->ops->direct_alloc(accel, bytes + page, &direct);
    }
    if (status != ADSM_OK)
        return status;
    size_t skipped = -(uintptr_t)direct.host % page;
    span->handle = (uintptr_t)direct.handle;
    span->host = direct.host + skipped;
    span->device = adsm_daddr_add(direct.device, skipped);
    adsm_vm_keep_from_children((uintptr_t)span->host, bytes);
    return ADSM_OK;
}

static int direct_free(struct adsm_accel *accel, struct adsm_span *span)
{
    return accel->ops->direct_free(accel, (void *)(uintptr_t)span->handle);
}

const struct adsm_address_way adsm_address_direct = {
    .name = "direct",
    .why = "the device shares the host's memory",
    .probe = direct_probe,
    .alloc = direct_alloc,
    .free = direct_free,
};
