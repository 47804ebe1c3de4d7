/*
 * Strategy "window": reserve a big range of addresses, valid for host and
 * device, and map device memory into it span by span. What of a span is less
 * than the driver maps at once lies in granules that others share.
 *
 * The range is chosen by the driver; on the host it is a placeholder, which is
 * checked once for the whole range. When a window is full another is reserved.
 */
#include "accel/address/way.h"
#include "accel/device.h"
#include "accel/error.h"
#include "accel/launched.h"
#include "base/option.h"
#include "os/vm.h"

#include <stdlib.h>

#define LEAST_WINDOW_BYTES ((size_t)64 << 20)
#define USUAL_WINDOW_BYTES ((size_t)64 << 30)
#define MOST_GRANULE_BYTES ((size_t)32 << 20)

/* What is mapped at once: as little as the driver and the shares allow. */
static size_t granule_of(const struct adsm_accel *accel)
{
    return accel->address->granule_bytes;
}

static size_t round_up(const struct adsm_accel *accel, size_t bytes)
{
    size_t granule = granule_of(accel);
    return (bytes + granule - 1) / granule * granule;
}

/* Parts of a shared granule that `bytes` take. */
static size_t parts(const struct adsm_accel *accel, size_t bytes)
{
    size_t part = accel->address->shares.page_bytes;
    return (bytes + part - 1) / part;
}

/* What of `bytes` lies in granules of their own; the rest, less than a granule,
 * is shared. A rest that takes all parts of one has it for itself. */
static size_t whole_of(const struct adsm_accel *accel, size_t bytes,
                       size_t *rest)
{
    size_t whole = bytes / granule_of(accel) * granule_of(accel);
    *rest = bytes - whole;
    if (parts(accel, *rest) < ADSM_SHARE_PAGES)
        return whole;
    *rest = 0;
    return whole + granule_of(accel);
}

/* Size of a window: the option, or room for four times the device's memory. */
static size_t wished_bytes(struct adsm_accel *accel)
{
    size_t option = (size_t)adsm_options_get()->window_size;
    size_t total = accel->address->device_bytes;
    if (option)
        return round_up(accel, option);
    return 4 * total > USUAL_WINDOW_BYTES ? round_up(accel, 4 * total)
                                          : USUAL_WINDOW_BYTES;
}

/* Is the reserved range usable on the host? */
static int check(const struct adsm_accel *accel, struct adsm_daddr at,
                 size_t bytes)
{
    if (at.at % granule_of(accel))
        return adsm_accel_fail(ADSM_E_LIMIT,
                               "reserved addresses are not aligned to granules",
                               NULL);
    if ((at.at + bytes) >> 47)
        return adsm_accel_fail(
            ADSM_E_LIMIT, "reserved addresses are no host addresses", NULL);
    return adsm_address_look(at.at, bytes,
                             "something is mapped on the host where the "
                             "driver reserved addresses");
}

/* Which granules are in use, and which of them are shared. */
static int make_maps(struct adsm_window *window, size_t granules)
{
    int status = adsm_granules_init(&window->granules, granules);
    if (status != ADSM_OK)
        return status;
    window->shared = calloc(granules, sizeof *window->shared);
    window->away = calloc(granules, sizeof *window->away);
    if (window->shared && window->away)
        return ADSM_OK;
    free(window->shared);
    free((void *)window->away);
    adsm_granules_fini(&window->granules);
    return adsm_accel_fail(ADSM_E_NOMEM,
                           "no memory for the map of an address window", NULL);
}

/* Reserve a window, halving down to `least`; address->lock is held. */
static int open_window(struct adsm_accel *accel, size_t bytes, size_t least)
{
    struct adsm_address *address = accel->address;
    uint32_t i = atomic_load_explicit(&address->windows, memory_order_relaxed);
    if (i == ADSM_WINDOWS)
        return adsm_accel_fail(ADSM_E_LIMIT, "all address windows are full; ",
                               "raise ADSM_WINDOW_SIZE", NULL);
    struct adsm_window *window = &address->window[i];
    int status = accel->ops->range_reserve(accel, bytes, &window->at);
    while (status != ADSM_OK && bytes / 2 >= least &&
           adsm_accel_health(accel) == ADSM_OK) {
        bytes = round_up(accel, bytes / 2);
        status = accel->ops->range_reserve(accel, bytes, &window->at);
    }
    if (status != ADSM_OK)
        return status;
    window->bytes = bytes;
    status = check(accel, window->at, bytes);
    if (status == ADSM_OK)
        status = make_maps(window, bytes / granule_of(accel));
    if (status != ADSM_OK) {
        (void)accel->ops->range_free(accel, window->at, bytes);
        return status;
    }
    /* Release: walkers of the list see a complete window. */
    atomic_store_explicit(&address->windows, i + 1, memory_order_release);
    return ADSM_OK;
}

/* Take addresses from the windows there are. */
static bool window_take(struct adsm_accel *accel, size_t bytes, uint64_t *at)
{
    struct adsm_address *address = accel->address;
    uint32_t n = atomic_load_explicit(&address->windows, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++) {
        struct adsm_window *window = &address->window[i];
        size_t first =
            adsm_granules_take(&window->granules, bytes / granule_of(accel));
        if (first == SIZE_MAX)
            continue;
        *at = window->at.at + first * granule_of(accel);
        return true;
    }
    return false;
}

/* The window around an address, and the granule; NULL in none. */
static struct adsm_window *find(struct adsm_accel *accel, uint64_t at,
                                size_t *granule)
{
    struct adsm_address *address = accel->address;
    uint32_t n = atomic_load_explicit(&address->windows, memory_order_acquire);
    *granule = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct adsm_window *window = &address->window[i];
        *granule = (at - window->at.at) / granule_of(accel);
        if (at - window->at.at < window->bytes)
            return window;
    }
    return NULL;
}

bool adsm_address_is_reserved(uint64_t at)
{
    size_t granule;
    for (struct adsm_accel *accel = adsm_accel_first(); accel;
         accel = accel->next)
        if (find(accel, at, &granule))
            return true;
    return false;
}

void adsm_window_mark(struct adsm_accel *accel, uint64_t at, size_t bytes,
                      bool away)
{
    size_t granule;
    struct adsm_window *window = find(accel, at, &granule);
    for (size_t i = 0; window && i < bytes / granule_of(accel); i++)
        atomic_store(&window->away[granule + i], away);
}

bool adsm_window_give(struct adsm_accel *accel, uint64_t at, size_t bytes)
{
    size_t granule;
    struct adsm_window *window = find(accel, at, &granule);
    return window && adsm_granules_give(&window->granules, granule,
                                        bytes / granule_of(accel));
}

/* Take addresses, opening a further window when none has room; address->lock
 * is held. */
static int take_or_open(struct adsm_accel *accel, size_t bytes, uint64_t *at)
{
    if (window_take(accel, bytes, at))
        return ADSM_OK;
    size_t wish = accel->address->window[0].bytes;
    int status = open_window(accel, wish > bytes ? wish : bytes, bytes);
    if (status == ADSM_OK && !window_take(accel, bytes, at))
        return adsm_accel_fail(ADSM_E_LIMIT, "no device addresses left", NULL);
    return status;
}

/* As take_or_open, without the lock. */
int adsm_window_take(struct adsm_accel *accel, size_t bytes, uint64_t *at)
{
    if (window_take(accel, bytes, at))
        return ADSM_OK;
    adsm_lock_acquire(&accel->address->lock);
    int status = take_or_open(accel, bytes, at);
    adsm_lock_release(&accel->address->lock);
    return status;
}

/* Map the granule at `at`, in which a run of `bytes` ends; where it begins.
 * address->lock is held. */
static int map_share(struct adsm_accel *accel, uint64_t at, size_t bytes,
                     struct adsm_share **share, uint64_t *begin)
{
    struct adsm_daddr device = {at};
    uint64_t handle;
    size_t i;
    struct adsm_window *window = find(accel, at, &i);
    int status =
        accel->ops->range_map(accel, device, granule_of(accel), &handle);
    if (status != ADSM_OK)
        return status;
    struct adsm_share *before = i > 0 ? window->shared[i - 1] : NULL;
    struct adsm_share *after =
        i + 1 < window->granules.count ? window->shared[i + 1] : NULL;
    *share = adsm_share_create(&accel->address->shares, at, handle, before,
                               after, parts(accel, bytes), begin);
    if (!*share) {
        (void)accel->ops->range_unmap(accel, device, granule_of(accel), handle);
        return adsm_accel_fail(ADSM_E_NOMEM,
                               "no memory for the map of a granule", NULL);
    }
    window->shared[i] = *share;
    if (*begin < at)
        *share = before;
    return ADSM_OK;
}

/* Unmap a granule that nobody shares any more. Drivers wait for kernels then,
 * which is not done under the lock. */
static int unmap_share(struct adsm_accel *accel, struct adsm_share *share)
{
    int status = accel->ops->range_unmap(accel, (struct adsm_daddr){share->at},
                                         granule_of(accel), share->handle);
    /* Addresses that could not be unmapped are not handed out again. */
    if (status == ADSM_OK)
        adsm_window_give(accel, share->at, granule_of(accel));
    adsm_share_destroy(share);
    return status;
}

/* Give pages of shared granules back, and those with the last of theirs. */
static int free_pages(struct adsm_accel *accel, struct adsm_share *share,
                      uint64_t at, size_t bytes)
{
    struct adsm_share *empty[2];
    size_t granule;
    adsm_lock_acquire(&accel->address->lock);
    bool gave = adsm_share_give(&accel->address->shares, share, at,
                                parts(accel, bytes), empty);
    for (int i = 0; i < 2; i++)
        if (empty[i])
            find(accel, empty[i]->at, &granule)->shared[granule] = NULL;
    adsm_lock_release(&accel->address->lock);
    if (!gave)
        return adsm_accel_fail(ADSM_E_INVALID, "a span was freed twice", NULL);
    int status = adsm_accel_health(accel);
    for (int i = 0; i < 2; i++) {
        int unmapped = empty[i] ? unmap_share(accel, empty[i]) : ADSM_OK;
        status = status == ADSM_OK ? unmapped : status;
    }
    return status;
}

/* Less than a granule: from one that has room, or a further one. */
static int alloc_pages(struct adsm_accel *accel, size_t bytes,
                       struct adsm_span *span)
{
    uint64_t at = 0;
    int status = adsm_accel_usable(accel); /* the driver may not be asked */
    if (status != ADSM_OK)
        return status;
    adsm_lock_acquire(&accel->address->lock);
    span->share = adsm_share_take(&accel->address->shares, parts(accel, bytes),
                                  &span->device.at);
    if (!span->share) {
        status = take_or_open(accel, granule_of(accel), &at);
        if (status == ADSM_OK) {
            status =
                map_share(accel, at, bytes, &span->share, &span->device.at);
            if (status != ADSM_OK)
                adsm_window_give(accel, at, granule_of(accel));
        }
    }
    adsm_lock_release(&accel->address->lock);
    return status;
}

/* Whole granules in one mapping, and what is left in one that others share. */
static int alloc_granules(struct adsm_accel *accel, size_t bytes,
                          struct adsm_span *span)
{
    size_t rest, whole = whole_of(accel, bytes, &rest);
    uint64_t at; /* of the rest; what lies before it is not shared */
    int status =
        adsm_window_take(accel, round_up(accel, bytes), &span->device.at);
    if (status != ADSM_OK)
        return status;
    status = accel->ops->range_map(accel, span->device, whole, &span->handle);
    if (status == ADSM_OK && rest > 0) {
        adsm_lock_acquire(&accel->address->lock);
        status =
            map_share(accel, span->device.at + whole, rest, &span->share, &at);
        adsm_lock_release(&accel->address->lock);
        if (status != ADSM_OK)
            (void)accel->ops->range_unmap(accel, span->device, whole,
                                          span->handle);
    }
    if (status != ADSM_OK)
        adsm_window_give(accel, span->device.at, round_up(accel, bytes));
    return status;
}

static int window_alloc(struct adsm_accel *accel, size_t bytes,
                        struct adsm_span *span)
{
    /* Do not spend a window on what can never be mapped. */
    if (bytes > accel->address->device_bytes)
        return adsm_accel_fail(ADSM_E_DEVICE_NOMEM,
                               "the device has less memory than that", NULL);
    size_t rest;
    int status = whole_of(accel, bytes, &rest) == 0
                     ? alloc_pages(accel, bytes, span)
                     : alloc_granules(accel, bytes, span);
    span->host = (uint8_t *)(uintptr_t)span->device.at;
    return status;
}

static int window_free(struct adsm_accel *accel, struct adsm_span *span)
{
    size_t rest, whole = whole_of(accel, span->bytes, &rest);
    int status = ADSM_OK;
    if (rest > 0)
        status = free_pages(accel, span->share, span->device.at + whole, rest);
    if (whole == 0)
        return status;
    int unmapped =
        accel->ops->range_unmap(accel, span->device, whole, span->handle);
    if (unmapped != ADSM_OK)
        return unmapped;
    if (!adsm_window_give(accel, span->device.at, whole))
        return adsm_accel_fail(ADSM_E_INVALID, "a span was freed twice", NULL);
    return status;
}

/* Drivers map pieces of 2 MiB or less; of larger ones each takes as much from
 * the device, so a device soon has no room for them. */
static int choose_granule(struct adsm_accel *accel)
{
    struct adsm_address *address = accel->address;
    size_t asked = 0;
    int status = accel->ops->range_granule(accel, &asked);
    if (status != ADSM_OK)
        return status;
    if (asked && ADSM_GRANULE_BYTES % asked == 0)
        asked = ADSM_GRANULE_BYTES;
    if (asked < ADSM_GRANULE_BYTES || asked % ADSM_GRANULE_BYTES ||
        asked > MOST_GRANULE_BYTES)
        return adsm_accel_fail(ADSM_E_UNSUPPORTED,
                               "device memory can only be mapped in pieces "
                               "that are not 2 to 32 MiB",
                               NULL);
    address->granule_bytes = asked;
    address->shares.page_bytes = asked / ADSM_SHARE_PAGES;
    return ADSM_OK;
}

/* Of spans none is left. */
static void close_windows(struct adsm_accel *accel)
{
    struct adsm_address *address = accel->address;
    uint32_t n =
        atomic_exchange_explicit(&address->windows, 0, memory_order_acq_rel);
    for (uint32_t i = 0; i < n; i++) {
        struct adsm_window *window = &address->window[i];
        (void)accel->ops->range_free(accel, window->at, window->bytes);
        adsm_granules_fini(&window->granules);
        free(window->shared);
        free((void *)window->away);
    }
}

/* Reserve the first window and see one span through it; address->lock is held. */
static int window_probe(struct adsm_accel *accel)
{
    size_t free_bytes;
    int status = choose_granule(accel);
    if (status == ADSM_OK)
        status = accel->ops->memory_info(accel, &free_bytes,
                                         &accel->address->device_bytes);
    if (status != ADSM_OK)
        return status;
    status = open_window(accel, wished_bytes(accel), LEAST_WINDOW_BYTES);
    if (status != ADSM_OK)
        return status;
    struct adsm_span span = {.bytes = granule_of(accel)};
    status = window_alloc(accel, span.bytes, &span);
    /* A full device says nothing about addresses. */
    if (status == ADSM_E_DEVICE_NOMEM)
        return ADSM_OK;
    if (status == ADSM_OK) {
        status = check(accel, span.device, span.bytes);
        int freed = window_free(accel, &span);
        status = status == ADSM_OK ? freed : status;
    }
    if (status != ADSM_OK)
        close_windows(accel);
    return status;
}

void adsm_address_fini(struct adsm_accel *accel)
{
    struct adsm_address *address = accel->address;
    adsm_address_trim(accel);
    free(address->spare);
    address->spare = NULL;
    address->spare_room = 0;
    close_windows(accel);
}

const struct adsm_address_way adsm_address_window = {
    .name = "window",
    .why = "the driver reserves addresses that are free on the host",
    .probe = window_probe,
    .alloc = window_alloc,
    .free = window_free,
};
