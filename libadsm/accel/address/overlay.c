/*
 * Strategy "overlay": an ordinary device allocation whose addresses nobody
 * uses on the host.
 *
 * Drivers keep the host addresses of device memory free or hold them with
 * PROT_NONE placeholders, as the one address space of host and device demands;
 * that is checked for each span, and managed memory is refused. A span begins
 * at a page: where the driver's allocation does not, one a page longer is taken
 * in its place.
 */
#include "accel/address/way.h"
#include "accel/device.h"
#include "accel/error.h"
#include "os/vm.h"

static uintptr_t align(struct adsm_daddr base)
{
    size_t page = adsm_vm_page_bytes();
    return (base.at + page - 1) / page * page;
}

/* An allocation that has room for `bytes` from its first page border on. */
static int allocate(struct adsm_accel *accel, size_t bytes,
                    struct adsm_daddr *base)
{
    int status = accel->ops->memory_alloc(accel, bytes, base);
    if (status != ADSM_OK || align(*base) == base->at)
        return status;
    (void)accel->ops->memory_free(accel, *base);
    return accel->ops->memory_alloc(accel, bytes + adsm_vm_page_bytes(), base);
}

int adsm_address_claim(uint64_t at, size_t bytes, bool *claimed)
{
    *claimed = false;
    if ((at + bytes) >> 47)
        return adsm_accel_fail(
            ADSM_E_LIMIT, "the driver's addresses are no host addresses", NULL);
    *claimed = adsm_vm_reserve_at(at, bytes);
    if (*claimed)
        return ADSM_OK;
    return adsm_address_look(at, bytes,
                             "something is mapped on the host where the "
                             "driver put device memory");
}

static int claim(struct adsm_accel *accel, struct adsm_daddr base, size_t bytes,
                 bool *claimed)
{
    if (accel->ops->memory_is_managed(accel, base))
        return adsm_accel_fail(ADSM_E_LIMIT, "the driver gives managed memory",
                               NULL);
    return adsm_address_claim(align(base), bytes, claimed);
}

static int overlay_alloc(struct adsm_accel *accel, size_t bytes,
                         struct adsm_span *span)
{
    struct adsm_daddr base;
    bool claimed;
    int status = allocate(accel, bytes, &base);
    if (status != ADSM_OK)
        return status;
    status = claim(accel, base, bytes, &claimed);
    if (status != ADSM_OK) {
        (void)accel->ops->memory_free(accel, base);
        return status;
    }
    span->host = (uint8_t *)align(base);
    span->device.at = (uint64_t)align(base);
    /* Allocations are aligned to more than two: the lowest bit is free. */
    span->handle = base.at | (claimed ? 1 : 0);
    return ADSM_OK;
}

void adsm_address_withdraw(struct adsm_span *span)
{
    if (span->handle & 1)
        adsm_vm_release((uintptr_t)span->host, span->bytes);
    span->handle &= ~UINT64_C(1);
}

static int overlay_free(struct adsm_accel *accel, struct adsm_span *span)
{
    /* Before the memory goes: afterwards the addresses may be another's. */
    adsm_address_withdraw(span);
    return accel->ops->memory_free(accel, (struct adsm_daddr){span->handle});
}

static int overlay_probe(struct adsm_accel *accel)
{
    struct adsm_span span = {.bytes = ADSM_GRANULE_BYTES};
    int status = overlay_alloc(accel, ADSM_GRANULE_BYTES, &span);
    /* A full device says nothing about addresses. */
    if (status == ADSM_E_DEVICE_NOMEM)
        return ADSM_OK;
    return status == ADSM_OK ? overlay_free(accel, &span) : status;
}

const struct adsm_address_way adsm_address_overlay = {
    .name = "overlay",
    .why = "the host addresses of device memory are the driver's placeholders",
    .probe = overlay_probe,
    .alloc = overlay_alloc,
    .free = overlay_free,
};
