/*
 * Strategy "translate": device memory where the driver puts it, host addresses
 * elsewhere. Always possible; the address is not the same for both sides.
 */
#include "accel/device.h"
#include "accel/error.h"
#include "os/vm.h"

/* Tracts of the index of its own, which cost nothing here. */
static size_t host_bytes(size_t bytes)
{
    return (bytes + ADSM_GRANULE_BYTES - 1) / ADSM_GRANULE_BYTES *
           ADSM_GRANULE_BYTES;
}

static int probe(struct adsm_accel *accel)
{
    return ADSM_OK;
}

static int span_alloc(struct adsm_accel *accel, size_t bytes,
                      struct adsm_span *span)
{
    uintptr_t host = adsm_vm_reserve(host_bytes(bytes), ADSM_GRANULE_BYTES, 0);
    if (!host)
        return adsm_accel_fail(ADSM_E_NOMEM,
                               "no host addresses are left for an object "
                               "(ulimit -v?)",
                               NULL);
    int status = accel->ops->memory_alloc(accel, bytes, &span->device);
    if (status != ADSM_OK) {
        adsm_vm_release(host, host_bytes(bytes));
        return status;
    }
    span->host = (uint8_t *)host;
    span->handle = span->device.at;
    return ADSM_OK;
}

static int span_free(struct adsm_accel *accel, struct adsm_span *span)
{
    adsm_vm_release((uintptr_t)span->host, host_bytes(span->bytes));
    return accel->ops->memory_free(accel, span->device);
}

const struct adsm_address_way adsm_address_translate = {
    .name = "translate",
    .why = "host and device addresses differ",
    .probe = probe,
    .alloc = span_alloc,
    .free = span_free,
};
