/*
 * Public entry points of fills and copies; see api.c.
 */
#include "adsm.h"

#include "api_parts.h"
#include "base/cancel.h"
#include "call/bytes.h"
#include "call/call.h"

/* Those that hold for a call, with what is set from outside. */
static int take_options(const adsmOpts *given, adsmOpts *room,
                        const adsmOpts **opts)
{
    int rc = adsm_api_bring_up();
    if (rc == ADSM_OK)
        rc = adsm_api_options(given, room, opts);
    if (rc != ADSM_OK || !*opts)
        return rc;
    *room = **opts;
    adsm_call_override(room);
    *opts = room;
    return ADSM_OK;
}

adsmStatus adsmFillV(const adsmOpts *given, void *to, size_t bytes,
                     const void *pattern, size_t pattern_bytes)
{
    ADSM_NOT_CANCELLED;
    adsmOpts room;
    const adsmOpts *opts;
    int rc = take_options(given, &room, &opts);
    if (rc == ADSM_OK)
        rc = adsm_bytes_fill(opts, adsm_api_device(), to, bytes, pattern,
                             pattern_bytes);
    return adsm_api_done(rc);
}

adsmStatus adsmMemset(void *to, int byte, size_t bytes)
{
    unsigned char pattern = (unsigned char)byte;
    return adsmFillV(NULL, to, bytes, &pattern, 1);
}

adsmStatus adsmCopyV(const adsmOpts *given, void *to, const void *from,
                     size_t bytes)
{
    ADSM_NOT_CANCELLED;
    adsmOpts room;
    const adsmOpts *opts;
    int rc = take_options(given, &room, &opts);
    if (rc == ADSM_OK)
        rc = adsm_bytes_copy(opts, adsm_api_device(), to, from, bytes);
    return adsm_api_done(rc);
}

adsmStatus adsmCopy(void *to, const void *from, size_t bytes)
{
    return adsmCopyV(NULL, to, from, bytes);
}
