/*
 * Spans whose device memory comes and goes while their addresses stay.
 *
 * Only a window has addresses without memory. A movable span is made of pieces,
 * a granule each, which the driver has side by side in the window: of a device
 * that is full, pieces that one span gives up are what another is made of,
 * wherever they lie, and without asking the driver for memory again. Between
 * the two they are kept in a list. Under overlay and translate the driver gives
 * addresses and memory together, so nothing of theirs is movable.
 *
 * Owns the pieces that are kept. Lock: address->lock, for the list only.
 */
#include "accel/address/way.h"
#include "accel/device.h"
#include "accel/error.h"
#include "accel/launched.h"
#include "os/vm.h"

#include <stdlib.h>
#include <string.h>

static size_t count_of(const struct adsm_accel *accel, size_t bytes)
{
    size_t granule = accel->address->granule_bytes;
    return (bytes + granule - 1) / granule;
}

size_t adsm_address_taken(const struct adsm_accel *accel,
                          const struct adsm_span *span)
{
    return count_of(accel, span->bytes) * accel->address->granule_bytes;
}

size_t adsm_address_kept(struct adsm_accel *accel)
{
    adsm_lock_acquire(&accel->address->lock);
    size_t bytes = accel->address->spares * accel->address->granule_bytes;
    adsm_lock_release(&accel->address->lock);
    return bytes;
}

/* The window knows which granules there is nothing to open of. */
static void set_away(struct adsm_accel *accel, struct adsm_span *span,
                     bool away)
{
    span->away = away;
    adsm_window_mark(accel, span->device.at, adsm_address_taken(accel, span),
                     away);
}

int adsm_address_alloc_movable(struct adsm_accel *accel, size_t bytes,
                               struct adsm_span *span)
{
    memset(span, 0, sizeof *span);
    int status = adsm_address_choose(accel);
    if (status != ADSM_OK)
        return status;
    if (accel->address->strategy != ADSM_WINDOW ||
        accel->address->forced_status != ADSM_OK)
        return adsm_accel_fail(ADSM_E_UNSUPPORTED,
                               "memory can leave its addresses in a window "
                               "only",
                               NULL);
    if (bytes > accel->address->device_bytes)
        return adsm_accel_fail(ADSM_E_DEVICE_NOMEM,
                               "the device has less memory than that", NULL);
    size_t count = count_of(accel, bytes), page = adsm_vm_page_bytes();
    span->pieces = calloc(count, sizeof *span->pieces);
    if (!span->pieces)
        return adsm_accel_fail(ADSM_E_NOMEM, "no memory for a span", NULL);
    status = adsm_window_take(accel, count * accel->address->granule_bytes,
                              &span->device.at);
    if (status != ADSM_OK) {
        free(span->pieces);
        memset(span, 0, sizeof *span);
        return status;
    }
    span->host = (uint8_t *)(uintptr_t)span->device.at;
    span->bytes = (bytes + page - 1) / page * page;
    span->strategy = ADSM_WINDOW;
    set_away(accel, span, true);
    return ADSM_OK;
}

/* ---- pieces ---------------------------------------------------------------- */

/* Keep a piece; what there is no room to note goes back to the driver. */
static void keep(struct adsm_accel *accel, uint64_t piece)
{
    struct adsm_address *address = accel->address;
    adsm_lock_acquire(&address->lock);
    if (address->spares == address->spare_room) {
        size_t room = address->spare_room ? 2 * address->spare_room : 64;
        uint64_t *more = realloc(address->spare, room * sizeof *more);
        if (more) {
            address->spare = more;
            address->spare_room = room;
        }
    }
    bool kept = address->spares < address->spare_room;
    if (kept)
        address->spare[address->spares++] = piece;
    adsm_lock_release(&address->lock);
    if (!kept)
        (void)accel->ops->piece_free(accel, piece);
}

static bool take_kept(struct adsm_accel *accel, uint64_t *piece)
{
    struct adsm_address *address = accel->address;
    adsm_lock_acquire(&address->lock);
    bool any = address->spares > 0;
    if (any)
        *piece = address->spare[--address->spares];
    adsm_lock_release(&address->lock);
    return any;
}

static void keep_all(struct adsm_accel *accel, struct adsm_span *span,
                     size_t count)
{
    for (size_t i = count; i-- > 0;)
        keep(accel, span->pieces[i]);
}

void adsm_address_trim(struct adsm_accel *accel)
{
    uint64_t piece;
    while (take_kept(accel, &piece))
        (void)accel->ops->piece_free(accel, piece);
}

/* ---- coming and going ------------------------------------------------------ */

int adsm_address_occupy(struct adsm_accel *accel, struct adsm_span *span)
{
    size_t count = count_of(accel, span->bytes), got = 0;
    size_t granule = accel->address->granule_bytes;
    int status = span->away ? adsm_accel_usable(accel) : ADSM_OK;
    if (!span->away || status != ADSM_OK)
        return status;
    while (got < count && status == ADSM_OK) {
        if (!take_kept(accel, &span->pieces[got]))
            status =
                accel->ops->piece_create(accel, granule, &span->pieces[got]);
        got += status == ADSM_OK;
    }
    if (status == ADSM_OK)
        status = accel->ops->pieces_map(accel, span->device, granule,
                                        span->pieces, count);
    if (status == ADSM_OK)
        set_away(accel, span, false);
    else
        keep_all(accel, span, got);
    return status;
}

int adsm_address_vacate(struct adsm_accel *accel, struct adsm_span *span)
{
    if (span->away)
        return ADSM_OK;
    int status = accel->ops->pieces_unmap(accel, span->device,
                                          adsm_address_taken(accel, span));
    if (status != ADSM_OK)
        return status;
    set_away(accel, span, true);
    keep_all(accel, span, count_of(accel, span->bytes));
    return ADSM_OK;
}

int adsm_movable_free(struct adsm_accel *accel, struct adsm_span *span)
{
    bool away = span->away;
    int status = adsm_address_vacate(accel, span);
    if (!away && status == ADSM_OK)
        adsm_address_trim(accel);
    adsm_window_mark(accel, span->device.at, adsm_address_taken(accel, span),
                     false);
    /* Addresses that could not be unmapped are not handed out again. */
    if (status == ADSM_OK && !adsm_window_give(accel, span->device.at,
                                               adsm_address_taken(accel, span)))
        status =
            adsm_accel_fail(ADSM_E_INVALID, "a span was freed twice", NULL);
    free(span->pieces);
    return status == ADSM_OK ? adsm_accel_health(accel) : status;
}
