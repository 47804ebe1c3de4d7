/*
 * Strategy "window": reserve a big range of addresses, valid for host and
 * device, and map device memory into it span by span.
 *
 * The range is chosen by the driver; on the host it is a placeholder, which is
 * checked once for the whole range. When a window is full another is reserved.
 */
#include "accel/device.h"
#include "accel/error.h"
#include "base/option.h"
#include "os/vm.h"

#define LEAST_WINDOW_BYTES ((size_t)64 << 20)
#define USUAL_WINDOW_BYTES ((size_t)64 << 30)

static size_t round_up(size_t bytes)
{
    return (bytes + ADSM_SPAN_BYTES - 1) / ADSM_SPAN_BYTES * ADSM_SPAN_BYTES;
}

/* Size of a window: the option, or room for four times the device's memory. */
static size_t wished_bytes(struct adsm_accel *accel)
{
    size_t option = (size_t)adsm_options_get()->window_size;
    size_t total = accel->address.device_bytes;
    if (option)
        return round_up(option);
    return 4 * total > USUAL_WINDOW_BYTES ? round_up(4 * total)
                                          : USUAL_WINDOW_BYTES;
}

/* Is the reserved range usable on the host? */
static int check(struct adsm_daddr at, size_t bytes)
{
    if (at.at % ADSM_SPAN_BYTES)
        return adsm_accel_fail(
            ADSM_E_LIMIT, "reserved addresses are not 2 MiB aligned", NULL);
    if ((at.at + bytes) >> 47)
        return adsm_accel_fail(
            ADSM_E_LIMIT, "reserved addresses are no host addresses", NULL);
    if (!adsm_vm_is_placeholder(at.at, bytes))
        return adsm_accel_fail(ADSM_E_LIMIT,
                               "something is mapped on the host where "
                               "the driver reserved addresses",
                               NULL);
    return ADSM_OK;
}

/* Reserve a window, halving down to `least`; address->lock is held. */
static int open_window(struct adsm_accel *accel, size_t bytes, size_t least)
{
    struct adsm_address *address = &accel->address;
    uint32_t i = atomic_load_explicit(&address->windows, memory_order_relaxed);
    if (i == ADSM_WINDOWS)
        return adsm_accel_fail(ADSM_E_LIMIT, "all address windows are full; ",
                               "raise ADSM_WINDOW_SIZE", NULL);
    struct adsm_window *window = &address->window[i];
    int status = accel->ops->range_reserve(accel, bytes, &window->at);
    while (status != ADSM_OK && bytes / 2 >= least &&
           adsm_accel_health(accel) == ADSM_OK) {
        bytes = round_up(bytes / 2);
        status = accel->ops->range_reserve(accel, bytes, &window->at);
    }
    if (status != ADSM_OK)
        return status;
    window->bytes = bytes;
    status = check(window->at, bytes);
    if (status == ADSM_OK)
        status = adsm_granules_init(&window->granules, bytes / ADSM_SPAN_BYTES);
    if (status != ADSM_OK) {
        (void)accel->ops->range_free(accel, window->at, bytes);
        return status;
    }
    /* Release: walkers of the list see a complete window. */
    atomic_store_explicit(&address->windows, i + 1, memory_order_release);
    return ADSM_OK;
}

/* Take addresses from the windows there are. */
static bool take(struct adsm_accel *accel, size_t bytes, uint64_t *at)
{
    struct adsm_address *address = &accel->address;
    uint32_t n = atomic_load_explicit(&address->windows, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++) {
        struct adsm_window *window = &address->window[i];
        size_t first =
            adsm_granules_take(&window->granules, bytes / ADSM_SPAN_BYTES);
        if (first == SIZE_MAX)
            continue;
        *at = window->at.at + first * ADSM_SPAN_BYTES;
        return true;
    }
    return false;
}

static bool give(struct adsm_accel *accel, uint64_t at, size_t bytes)
{
    struct adsm_address *address = &accel->address;
    uint32_t n = atomic_load_explicit(&address->windows, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++) {
        struct adsm_window *window = &address->window[i];
        if (at - window->at.at < window->bytes)
            return adsm_granules_give(&window->granules,
                                      (at - window->at.at) / ADSM_SPAN_BYTES,
                                      bytes / ADSM_SPAN_BYTES);
    }
    return false;
}

/* Take addresses, opening a further window when none has room. */
static int take_or_open(struct adsm_accel *accel, size_t bytes, uint64_t *at)
{
    if (take(accel, bytes, at))
        return ADSM_OK;
    adsm_lock_acquire(&accel->address.lock);
    int status = ADSM_OK;
    if (!take(accel, bytes, at)) {
        size_t wish = accel->address.window[0].bytes;
        status = open_window(accel, wish > bytes ? wish : bytes, bytes);
        if (status == ADSM_OK && !take(accel, bytes, at))
            status =
                adsm_accel_fail(ADSM_E_LIMIT, "no device addresses left", NULL);
    }
    adsm_lock_release(&accel->address.lock);
    return status;
}

static int span_alloc(struct adsm_accel *accel, size_t bytes,
                      struct adsm_span *span)
{
    uint64_t at = 0;
    /* Do not spend a window on what can never be mapped. */
    if (bytes > accel->address.device_bytes)
        return adsm_accel_fail(ADSM_E_DEVICE_NOMEM,
                               "the device has less memory than that", NULL);
    int status = take_or_open(accel, bytes, &at);
    if (status != ADSM_OK)
        return status;
    span->device.at = at;
    span->host = (uint8_t *)(uintptr_t)at;
    status = accel->ops->range_map(accel, span->device, bytes, &span->handle);
    if (status != ADSM_OK)
        give(accel, at, bytes);
    return status;
}

static int span_free(struct adsm_accel *accel, struct adsm_span *span)
{
    int status =
        accel->ops->range_unmap(accel, span->device, span->bytes, span->handle);
    /* Addresses that could not be unmapped are not handed out again. */
    if (status == ADSM_OK && !give(accel, span->device.at, span->bytes))
        return adsm_accel_fail(ADSM_E_INVALID, "a span was freed twice", NULL);
    return status;
}

/* Reserve the first window and see one span through it. */
static int probe(struct adsm_accel *accel)
{
    size_t granule = 0, free_bytes;
    int status = accel->ops->range_granule(accel, &granule);
    if (status == ADSM_OK)
        status = accel->ops->memory_info(accel, &free_bytes,
                                         &accel->address.device_bytes);
    if (status != ADSM_OK)
        return status;
    if (granule == 0 || ADSM_SPAN_BYTES % granule)
        return adsm_accel_fail(ADSM_E_UNSUPPORTED,
                               "device memory can only be mapped in pieces "
                               "that are no part of 2 MiB",
                               NULL);
    status = open_window(accel, wished_bytes(accel), LEAST_WINDOW_BYTES);
    if (status != ADSM_OK)
        return status;
    struct adsm_span span = {.bytes = ADSM_SPAN_BYTES};
    status = span_alloc(accel, ADSM_SPAN_BYTES, &span);
    /* A full device says nothing about addresses. */
    if (status == ADSM_E_DEVICE_NOMEM)
        return ADSM_OK;
    if (status == ADSM_OK) {
        status = check(span.device, ADSM_SPAN_BYTES);
        int freed = span_free(accel, &span);
        status = status == ADSM_OK ? freed : status;
    }
    if (status != ADSM_OK)
        adsm_address_fini(accel);
    return status;
}

void adsm_address_fini(struct adsm_accel *accel)
{
    struct adsm_address *address = &accel->address;
    uint32_t n =
        atomic_exchange_explicit(&address->windows, 0, memory_order_acq_rel);
    for (uint32_t i = 0; i < n; i++) {
        struct adsm_window *window = &address->window[i];
        (void)accel->ops->range_free(accel, window->at, window->bytes);
        adsm_granules_fini(&window->granules);
    }
}

const struct adsm_address_way adsm_address_window = {
    .name = "window",
    .why = "the driver reserves addresses that are free on the host",
    .probe = probe,
    .alloc = span_alloc,
    .free = span_free,
};
