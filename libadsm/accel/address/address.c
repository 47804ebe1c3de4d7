/*
 * Which address strategy an accel uses; see address.h.
 *
 * Chosen at the first use: the first of direct, window, overlay, translate whose
 * probe succeeds, or the one ADSM_ADDRESS names.
 */
#include "accel/address/way.h"
#include "accel/device.h"
#include "accel/error.h"
#include "accel/store.h"
#include "base/log.h"
#include "base/option.h"
#include "os/vm.h"

#include <string.h>

static const struct adsm_address_way *const ways[] = {
    [ADSM_DIRECT] = &adsm_address_direct,
    [ADSM_WINDOW] = &adsm_address_window,
    [ADSM_OVERLAY] = &adsm_address_overlay,
    [ADSM_TRANSLATE] = &adsm_address_translate,
    [ADSM_RESERVED] = &adsm_address_reserved,
    [ADSM_ADOPTED] = &adsm_address_adopted,
    [ADSM_GIVEN] = &adsm_address_given,
};

/* What an accel may use. */
enum { WAYS = ADSM_RESERVED };

const char *adsm_strategy_name(enum adsm_strategy strategy)
{
    return (unsigned)strategy <= ADSM_GIVEN ? ways[strategy]->name : "?";
}

void adsm_address_init(struct adsm_address *address)
{
    adsm_lock_init(&address->lock, ADSM_RANK_ACCEL);
}

/* Add to a sentence; what does not fit is cut. */
static void append(char *sentence, size_t bytes, const char *text)
{
    size_t used = strlen(sentence);
    strncpy(sentence + used, text, bytes - used - 1);
}

int adsm_address_look(uint64_t at, size_t bytes, const char *taken)
{
    switch (adsm_vm_look(at, bytes)) {
    case ADSM_OK:
        return ADSM_OK;
    case ADSM_E_INVALID:
        return adsm_accel_fail(ADSM_E_LIMIT, taken, NULL);
    case ADSM_E_NOMEM:
        return adsm_accel_fail(ADSM_E_NOMEM,
                               "no file descriptor is left to look at "
                               "/proc/self/maps (ulimit -n)",
                               NULL);
    default:
        return adsm_accel_fail(ADSM_E_LIMIT, "cannot read /proc/self/maps",
                               NULL);
    }
}

/* ADSM_ADDRESS names one: no other is tried. address->lock is held. */
static int force(struct adsm_accel *accel, enum adsm_strategy strategy)
{
    struct adsm_address *address = accel->address;
    int status = ways[strategy]->probe(accel);
    address->strategy = strategy;
    address->forced_status = status;
    append(address->why, sizeof address->why, "ADSM_ADDRESS asks for it");
    if (status == ADSM_OK || status == ADSM_E_NOMEM)
        return status;
    append(address->why, sizeof address->why, ", but ");
    append(address->why, sizeof address->why, adsm_accel_error_text());
    adsm_log(ADSM_LOG_WARN, "ADSM_ADDRESS=%s cannot be had: %s",
             ways[strategy]->name, adsm_accel_error_text());
    return ADSM_OK;
}

/* Take the first that works. address->lock is held. */
static int address_probe(struct adsm_accel *accel)
{
    struct adsm_address *address = accel->address;
    for (unsigned i = 0; i < WAYS; i++) {
        address->strategy = (enum adsm_strategy)i;
        int status = ways[i]->probe(accel);
        address->forced_status = status;
        if (status == ADSM_OK)
            append(address->why, sizeof address->why, ways[i]->why);
        if (status == ADSM_OK || status == ADSM_E_NOMEM)
            return status;
        if (i == ADSM_DIRECT)
            continue; /* most devices have memory of their own: no news */
        append(address->why, sizeof address->why, "no ");
        append(address->why, sizeof address->why, ways[i]->name);
        append(address->why, sizeof address->why, " (");
        append(address->why, sizeof address->why, adsm_accel_error_text());
        append(address->why, sizeof address->why, "); ");
    }
    return ADSM_OK;
}

static int choose_now(struct adsm_accel *accel)
{
    switch (adsm_options_get()->address) {
    case ADSM_OPT_ADDRESS_DIRECT:
        return force(accel, ADSM_DIRECT);
    case ADSM_OPT_ADDRESS_WINDOW:
        return force(accel, ADSM_WINDOW);
    case ADSM_OPT_ADDRESS_OVERLAY:
        return force(accel, ADSM_OVERLAY);
    case ADSM_OPT_ADDRESS_TRANSLATE:
        return force(accel, ADSM_TRANSLATE);
    default:
        return address_probe(accel);
    }
}

int adsm_address_choose(struct adsm_accel *accel)
{
    struct adsm_address *address = accel->address;
    int status = ADSM_OK;
    /* Acquire: the choice was written before the flag. */
    if (atomic_load_explicit(&address->chosen, memory_order_acquire))
        return ADSM_OK;
    adsm_lock_acquire(&address->lock);
    if (!atomic_load_explicit(&address->chosen, memory_order_relaxed)) {
        address->why[0] = '\0';
        status = choose_now(accel);
        if (status == ADSM_OK) {
            adsm_log(ADSM_LOG_INFO, "device %d: address strategy %s: %s",
                     accel->device, ways[address->strategy]->name,
                     address->why);
            atomic_store_explicit(&address->chosen, true, memory_order_release);
        }
    }
    adsm_lock_release(&address->lock);
    return status;
}

enum adsm_strategy adsm_address_strategy(struct adsm_accel *accel,
                                         const char **why)
{
    (void)adsm_address_choose(accel);
    if (why)
        *why = accel->address->why;
    return accel->address->strategy;
}

bool adsm_address_is(struct adsm_accel *accel, enum adsm_strategy strategy)
{
    return atomic_load_explicit(&accel->address->chosen,
                                memory_order_acquire) &&
           accel->address->strategy == strategy;
}

/* A span of `bytes` by one of the ways, in whole pages. */
static int address_take(struct adsm_accel *accel, enum adsm_strategy strategy,
                        size_t bytes, struct adsm_span *span)
{
    size_t page = adsm_vm_page_bytes();
    bytes = (bytes + page - 1) / page * page;
    int status = ways[strategy]->alloc(accel, bytes, span);
    /* What is kept for copies is nobody's. */
    while (status == ADSM_E_DEVICE_NOMEM && adsm_store_trim(accel, bytes) > 0)
        status = ways[strategy]->alloc(accel, bytes, span);
    if (status != ADSM_OK) {
        memset(span, 0, sizeof *span);
        return status;
    }
    span->bytes = bytes;
    span->strategy = strategy;
    return ADSM_OK;
}

static int check_bytes(size_t bytes)
{
    if (bytes == 0 || bytes > SIZE_MAX / 2)
        return adsm_accel_fail(ADSM_E_INVALID,
                               "a span must have between 1 byte and half of "
                               "the address space",
                               NULL);
    return ADSM_OK;
}

int adsm_address_alloc(struct adsm_accel *accel, size_t bytes, bool safe,
                       struct adsm_span *span)
{
    memset(span, 0, sizeof *span);
    int status = check_bytes(bytes);
    if (status != ADSM_OK || safe)
        return status == ADSM_OK
                   ? address_take(accel, ADSM_TRANSLATE, bytes, span)
                   : status;
    status = adsm_address_choose(accel);
    if (status != ADSM_OK)
        return status;
    enum adsm_strategy strategy = accel->address->strategy;
    if (accel->address->forced_status != ADSM_OK)
        return adsm_accel_fail(ADSM_E_UNSUPPORTED, "address strategy ",
                               ways[strategy]->name, ": ", accel->address->why,
                               NULL);
    return address_take(accel, strategy, bytes, span);
}

int adsm_address_reserve(size_t bytes, struct adsm_span *span)
{
    memset(span, 0, sizeof *span);
    int status = check_bytes(bytes);
    return status == ADSM_OK ? address_take(NULL, ADSM_RESERVED, bytes, span)
                             : status;
}

size_t adsm_address_mapped(struct adsm_accel *accel)
{
    return atomic_load_explicit(&accel->address->mapped, memory_order_relaxed);
}

int adsm_address_free(struct adsm_accel *accel, struct adsm_span *span)
{
    int status = span->pieces ? adsm_movable_free(accel, span)
                              : ways[span->strategy]->free(accel, span);
    memset(span, 0, sizeof *span);
    return status;
}
