/* Copies and sets on the host part; see away.h. */
#include "interpose/cuda/away.h"

#include "base/option.h"
#include "interpose/cuda/capture.h"
#include "interpose/cuda/context.h"
#include "interpose/cuda/driver.h"
#include "interpose/cuda/result.h"
#include "mm/bulk.h"
#include "mm/residence.h"

#include <string.h>

/* Where a range lies: in no object, in one, out of the one where it begins. */
struct place {
    bool shared, away, fits;
};

static struct place place_of(CUdeviceptr address, size_t bytes)
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
static bool may_apply(struct cuda_order order, size_t bytes)
{
    return hook_unlikely(adsm_options_get()->oversubscribe) && bytes > 0 &&
           cuda_is_serving() && !adsm_turn_is_mine() &&
           !cuda_is_capturing(order.stream);
}

static bool is_known(const struct place *place, struct cuda_side side)
{
    return place->shared || side.on_host;
}

bool cuda_away_copy(struct cuda_order order, struct cuda_side to,
                    struct cuda_side from, size_t bytes, CUresult *result)
{
    if (!may_apply(order, bytes))
        return false;
    struct place target = place_of(to.at, bytes);
    struct place source = place_of(from.at, bytes);
    if ((!target.away && !source.away) || !is_known(&target, to) ||
        !is_known(&source, from))
        return false;
    *result = CUDA_ERROR_INVALID_VALUE;
    if ((target.fits || to.on_host) && (source.fits || from.on_host))
        *result = cuda_seen(cuda_driver_wait(order.stream));
    if (*result)
        return true;
    hook_enter();
    int status = adsm_bulk_move((void *)to.at, (const void *)from.at, bytes);
    hook_leave();
    *result = cuda_result("a copy of memory that is not on the device", status);
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

bool cuda_away_set(struct cuda_order order, CUdeviceptr to, const void *value,
                   size_t element, size_t bytes, CUresult *result)
{
    if (!may_apply(order, bytes))
        return false;
    struct place target = place_of(to, bytes);
    if (!target.away)
        return false;
    *result = CUDA_ERROR_INVALID_VALUE;
    if (target.fits && to % element == 0)
        *result = cuda_seen(cuda_driver_wait(order.stream));
    if (*result)
        return true;
    hook_enter();
    int status = set((uint8_t *)to, value, element, bytes);
    hook_leave();
    *result = cuda_result("a set of memory that is not on the device", status);
    return true;
}
