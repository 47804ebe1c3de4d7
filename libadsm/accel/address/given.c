/*
 * Spans at host addresses that are the program's.
 */
#include "accel/address/way.h"
#include "accel/device.h"

int adsm_address_give(struct adsm_accel *accel, void *host, size_t bytes,
                      bool home, struct adsm_span *span)
{
    *span = (struct adsm_span){
        .host = host, .bytes = bytes, .strategy = ADSM_GIVEN};
    int status =
        home ? accel->ops->memory_alloc(accel, bytes, &span->device) : ADSM_OK;
    span->handle = span->device.at;
    return status;
}

static int given_free(struct adsm_accel *accel, struct adsm_span *span)
{
    return span->handle ? accel->ops->memory_free(accel, span->device)
                        : ADSM_OK;
}

const struct adsm_address_way adsm_address_given = {
    .name = "given",
    .free = given_free,
};
