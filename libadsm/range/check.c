/* What kernels do beyond what is declared; see check.h. */
#include "range/check.h"

#include "accel/move.h"
#include "accel/store.h"
#include "range/box.h"
#include "range/copy.h"
#include "range/prepare.h"

#include <stdlib.h>
#include <string.h>

enum {
    GUARD = 16 << 10, /* a kernel's mistake is often by a row */
    BETWEEN = 4,      /* elements on either side of a view's rows */
    NUMBERS = 200,    /* of the 254 that a map has for copies */
};

size_t adsm_check_guard(void)
{
    return adsm_check_is_on() ? GUARD : 0;
}

int adsm_check_parts(int parts, int wants)
{
    int most = wants > 0 ? NUMBERS / wants : parts;
    if (!adsm_check_is_on() || most >= parts)
        return parts;
    return most > 0 ? most : 1;
}

/* ---- copies ----------------------------------------------------------------- */

void adsm_check_widen(struct adsm_want *want)
{
    adsmBox *room = &want->room;
    /* A pointer's rows are as long as the array's. What surrounds a part with
     * edges lies between its rows already. */
    if (!adsm_check_is_on() || want->flat || want->rows ||
        adsm_prepare_has_margin(want) || adsm_box_is_empty(room))
        return;
    for (int d = 1; d < room->nd; d++) {
        long unit = d == room->nd - 1 ? (long)want->array.elem : 1;
        room->lo[d] -= BETWEEN * unit;
        room->hi[d] += BETWEEN * unit;
    }
}

/* All of a copy's memory. */
static struct adsm_place place_of(const struct adsm_copy *copy)
{
    return (struct adsm_place){.accel = copy->accel, .device = copy->range->at};
}

int adsm_check_fill(struct adsm_copy *copy)
{
    struct adsm_waits waits = {.count = 0};
    struct adsm_fence done;
    struct adsm_place to = place_of(copy), from = {.host = malloc(copy->bytes)};
    if (!from.host)
        return ADSM_E_NOMEM;
    memset(from.host, 0xff, copy->bytes);
    adsm_order_before_write(&copy->order, &copy->room, &waits);
    int rc = adsm_move(&to, &from, adsm_extent_of(copy->bytes), waits.fence,
                       waits.count, false, &done);
    int waited = adsm_fence_wait(done);
    free(from.host);
    return rc == ADSM_OK ? waited : rc;
}
