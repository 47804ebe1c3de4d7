/*
 * Strategy "translate": device memory where the driver puts it, host addresses
 * elsewhere. Always possible; the address is not the same for both sides. And
 * "reserved": the host addresses alone.
 */
#include "accel/address/way.h"
#include "accel/device.h"
#include "accel/error.h"
#include "os/vm.h"

/* Tracts of the index of its own, which cost nothing here. */
static size_t host_bytes(size_t bytes)
{
    return (bytes + ADSM_GRANULE_BYTES - 1) / ADSM_GRANULE_BYTES *
           ADSM_GRANULE_BYTES;
}

static int translate_probe(struct adsm_accel *accel)
{
    return ADSM_OK;
}

static int reserve(struct adsm_accel *accel, size_t bytes,
                   struct adsm_span *span)
{
    (void)accel;
    uintptr_t host = adsm_vm_reserve(host_bytes(bytes), ADSM_GRANULE_BYTES, 0);
    if (!host)
        return adsm_accel_fail(ADSM_E_NOMEM,
                               "no host addresses are left for an object "
                               "(ulimit -v?)",
                               NULL);
    span->host = (uint8_t *)host;
    return ADSM_OK;
}

static int release(struct adsm_accel *accel, struct adsm_span *span)
{
    (void)accel;
    adsm_vm_release((uintptr_t)span->host, host_bytes(span->bytes));
    return ADSM_OK;
}

static int translate_alloc(struct adsm_accel *accel, size_t bytes,
                           struct adsm_span *span)
{
    int status = reserve(accel, bytes, span);
    if (status != ADSM_OK)
        return status;
    status = accel->ops->memory_alloc(accel, bytes, &span->device);
    if (status != ADSM_OK)
        adsm_vm_release((uintptr_t)span->host, host_bytes(bytes));
    span->handle = span->device.at;
    return status;
}

static int translate_free(struct adsm_accel *accel, struct adsm_span *span)
{
    (void)release(accel, span);
    return accel->ops->memory_free(accel, span->device);
}

const struct adsm_address_way adsm_address_translate = {
    .name = "translate",
    .why = "host and device addresses differ",
    .probe = translate_probe,
    .alloc = translate_alloc,
    .free = translate_free,
};

const struct adsm_address_way adsm_address_reserved = {
    .name = "reserved",
    .alloc = reserve,
    .free = release,
};
