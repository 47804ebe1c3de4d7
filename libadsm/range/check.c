/* What kernels do beyond what is declared; see check.h. */
#include "range/check.h"

#include "accel/move.h"
#include "accel/store.h"
#include "mm/object/object.h"
#include "range/box.h"
#include "range/copy.h"
#include "range/prepare.h"

#include <stdlib.h>
#include <string.h>

enum {
    GUARD = 16 << 10, /* a kernel's mistake is often by a row */
    BETWEEN = 4,      /* elements on either side of a view's rows */
};

size_t adsm_check_guard(void)
{
    return adsm_check_is_on() ? GUARD : 0;
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
    struct adsm_cause its =
        adsm_object_cause(copy->object, 0, ADSM_CAUSE(check));
    int rc = adsm_move(&to, &from, adsm_extent_of(copy->bytes), waits.fence,
                       waits.count, false, &done, &its);
    int waited = adsm_fence_wait(done);
    free(from.host);
    return rc == ADSM_OK ? waited : rc;
}

/* What a copy's memory holds when all that uses it has ended. */
static int download(const struct adsm_copy *copy, uint8_t **image)
{
    struct adsm_waits waits = {.count = 0};
    struct adsm_fence done;
    struct adsm_place from = place_of(copy), to = {.host = malloc(copy->bytes)};
    *image = to.host;
    if (!to.host)
        return ADSM_E_NOMEM;
    adsm_order_all(&copy->order, &waits);
    struct adsm_cause its =
        adsm_object_cause(copy->object, 0, ADSM_CAUSE(check));
    int rc = adsm_move(&to, &from, adsm_extent_of(copy->bytes), waits.fence,
                       waits.count, false, &done, &its);
    int waited = adsm_fence_wait(done);
    return rc == ADSM_OK ? waited : rc;
}

/* ---- what differs -------------------------------------------------------------- */

/* What a want may write is the same in both. */
static void allow(const struct adsm_want *want, uint8_t *before,
                  const uint8_t *after)
{
    const struct adsm_copy *copy = want->copy;
    long first = want->flat ? copy->room.lo[0] : 0;
    struct adsm_stretches s =
        want->flat ? adsm_prepare_writes(want)
                   : adsm_stretches_of(&copy->room, &want->writes, 0);
    for (int d = 0; d < copy->room.nd && !want->flat; d++)
        first += copy->room.lo[d] * (long)copy->pitch[d];
    while (adsm_stretches_next(&s)) {
        size_t at = copy->guard + (size_t)(s.stretch.lo[0] - first);
        memcpy(before + at, after + at,
               (size_t)(s.stretch.hi[0] - s.stretch.lo[0]));
    }
}

static long floor_div(long a, long b)
{
    return a / b - (a % b < 0);
}

/* Which element of the array a kernel means by byte `at` of the room, which may
 * lie beside it. Return: whether the array has it */
static bool find_index(const struct adsm_want *want, long at, long index[3])
{
    const struct adsm_copy *copy = want->copy;
    const adsmBox *shape = &want->array.shape;
    size_t natural[3];
    const size_t *pitch = want->flat ? natural : copy->pitch;
    bool inside = true;
    adsm_box_pitches(shape, natural);
    if (want->flat)
        at += copy->room.lo[0] - (long)want->array.origin;
    for (int d = 0; d < shape->nd; d++) {
        index[d] = floor_div(at, (long)pitch[d]);
        at -= index[d] * (long)pitch[d];
        index[d] += want->flat ? 0 : copy->room.lo[d];
        inside = inside && index[d] >= 0 && index[d] < shape->hi[d];
    }
    index[shape->nd - 1] =
        floor_div(index[shape->nd - 1], (long)want->array.elem);
    return inside;
}

static void compare(const struct adsm_want *want, const uint8_t *before,
                    const uint8_t *after, struct adsm_check *check)
{
    const struct adsm_copy *copy = want->copy;
    size_t end = copy->bytes - copy->guard, first = copy->bytes;
    if (memcmp(before, after, copy->bytes) == 0)
        return;
    for (size_t at = copy->bytes; at-- > 0;)
        if (before[at] != after[at]) {
            first = at;
            check->bytes++;
        }
    check->found = true;
    check->is_index =
        find_index(want, (long)first - (long)copy->guard, check->index) ||
        (first >= copy->guard && first < end);
    check->is_behind = first >= end;
    check->distance = first >= end ? first - end : copy->guard - first;
}

/* ---- parts --------------------------------------------------------------------- */

static bool is_first(const struct adsm_part *part, int i)
{
    for (int k = 0; k < i; k++)
        if (part->wants[k].copy == part->wants[i].copy)
            return false;
    return true;
}

int adsm_check_before(struct adsm_part *part)
{
    int rc = ADSM_OK;
    if (!adsm_check_is_on())
        return ADSM_OK;
    part->check = calloc(1, sizeof *part->check +
                                (size_t)part->count * sizeof(uint8_t *));
    if (!part->check)
        return ADSM_E_NOMEM;
    for (int i = 0; rc == ADSM_OK && i < part->count; i++)
        if (is_first(part, i))
            rc = download(part->wants[i].copy, &part->check->before[i]);
    return rc;
}

/* One copy; images of those behind the first that differs are dropped unseen. */
static int check_copy(struct adsm_part *part, int i)
{
    struct adsm_check *check = part->check;
    const struct adsm_want *want = &part->wants[i];
    uint8_t *after;
    int rc = download(want->copy, &after);
    for (int k = i; rc == ADSM_OK && k < part->count; k++)
        if (part->wants[k].copy == want->copy)
            allow(&part->wants[k], check->before[i], after);
    if (rc == ADSM_OK)
        compare(want, check->before[i], after, check);
    if (check->found)
        check->want = i;
    free(after);
    return rc;
}

int adsm_check_after(struct adsm_part *part, struct adsm_fence fence)
{
    struct adsm_check *check = part->check;
    if (!check)
        return ADSM_OK;
    int rc = adsm_fence_wait(fence);
    for (int i = 0; i < part->count; i++) {
        if (rc == ADSM_OK && check->before[i] && !check->found)
            rc = check_copy(part, i);
        free(check->before[i]);
        check->before[i] = NULL;
    }
    return rc;
}

void adsm_check_forget(struct adsm_part *part)
{
    for (int i = 0; part->check && i < part->count; i++)
        free(part->check->before[i]);
    free(part->check);
    part->check = NULL;
}
