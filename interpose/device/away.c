/* Copies and sets on the host part; see away.h. */
#include "interpose/device/away.h"

#include "base/option.h"
#include "interpose/device/serve.h"
#include "interpose/hook.h"
#include "mm/doors/bulk.h"
#include "mm/object/movable.h"

#include <string.h>

/* Where a range lies: in no object, in one, out of the one where it begins. */
struct place {
    bool shared, away, fits;
};

static struct place place_of(uint64_t address, size_t bytes)
{
    struct place place = {.fits = true};
    struct adsm_object *object =
        address ? adsm_index_acquire((const void *)address) : NULL;
    if (!object)
        return place;
    size_t left = object->bytes - (size_t)((uint8_t *)address - object->host);
    place = (struct place){true, adsm_object_is_away(object), bytes <= left};
    adsm_rwlock_release_shared(&object->lock);
    return place;
}

/* May anything be away, where this work is not recorded instead of run? */
static bool may_apply(struct device_order order, size_t bytes)
{
    return hook_unlikely(adsm_options_get()->oversubscribe) && bytes > 0 &&
           device_is_serving() && !adsm_turn_is_mine() &&
           !order.driver->records(order.stream);
}

static bool is_known(const struct place *place, struct device_side side)
{
    return place->shared || side.on_host;
}

bool device_away_copy(struct device_order order, struct device_side to,
                      struct device_side from, size_t bytes, int *status)
{
    if (!may_apply(order, bytes))
        return false;
    struct place target = place_of(to.at, bytes);
    struct place source = place_of(from.at, bytes);
    if ((!target.away && !source.away) || !is_known(&target, to) ||
        !is_known(&source, from))
        return false;
    *status = ADSM_E_NOT_SHARED;
    if ((target.fits || to.on_host) && (source.fits || from.on_host))
        *status = order.driver->wait(order.stream);
    if (*status)
        return true;
    hook_enter();
    *status = adsm_bulk_move((void *)to.at, (const void *)from.at, bytes);
    hook_leave();
    return true;
}

/* As many copies of a value as go at once. */
struct pattern {
    _Alignas(16) uint8_t bytes[4096];
};

static void fill(struct pattern *pattern, const void *value, size_t element)
{
    for (size_t i = 0; i < sizeof pattern->bytes; i += element)
        memcpy(pattern->bytes + i, value, element);
}

static bool is_one_byte(const uint8_t *value, size_t element)
{
    return element == 1 || memcmp(value, value + 1, element - 1) == 0;
}

static int set(uint8_t *to, const void *value, size_t element, size_t bytes)
{
    struct pattern pattern;
    int status = ADSM_OK;
    if (is_one_byte(value, element))
        return adsm_bulk_set(to, *(const uint8_t *)value, bytes);
    fill(&pattern, value, element);
    for (size_t n; bytes > 0 && !status; to += n, bytes -= n) {
        n = bytes < sizeof pattern.bytes ? bytes : sizeof pattern.bytes;
        status = adsm_bulk_move(to, pattern.bytes, n);
    }
    return status;
}

bool device_away_set(struct device_order order, uint64_t to, const void *value,
                     size_t element, size_t bytes, int *status)
{
    if (!may_apply(order, bytes))
        return false;
    struct place target = place_of(to, bytes);
    if (!target.away)
        return false;
    *status = ADSM_E_NOT_SHARED;
    if (target.fits && to % element == 0)
        *status = order.driver->wait(order.stream);
    if (*status)
        return true;
    hook_enter();
    *status = set((uint8_t *)to, value, element, bytes);
    hook_leave();
    return true;
}
