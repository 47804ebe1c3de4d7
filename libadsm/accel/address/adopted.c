/*
 * Spans over memory that the program allocated by itself.
 *
 * The driver gives small allocations of the same page, and what is mapped to
 * addresses piece by piece may lie side by side. A span has whole pages, and
 * whole allocations, for a pointer into one may reach all of it: so it grows at
 * both ends until nothing goes on there.
 */
#include "accel/address/way.h"
#include "accel/device.h"
#include "accel/error.h"
#include "accel/extent.h"
#include "base/option.h"
#include "os/barrier.h"
#include "os/vm.h"

#include <stdlib.h>

/* What drivers align allocations to, and variables of modules. */
enum { ALLOCATION_ALIGN = 512, VARIABLE_ALIGN = 4 };

struct growth {
    const struct adsm_accel_ops *ops;
    struct adsm_memory first; /* what was asked for */
    uint64_t begin, end;      /* of the allocations so far */
    struct adsm_extents *extents;
};

static uint64_t page_of(uint64_t at)
{
    return at & ~(uint64_t)(adsm_vm_page_bytes() - 1);
}

/* The first page border from `at` on. */
static uint64_t page_behind(uint64_t at)
{
    return page_of(at + adsm_vm_page_bytes() - 1);
}

static int add(struct growth *growth, const struct adsm_memory *memory)
{
    uint64_t end = memory->begin.at + memory->bytes;
    if (memory->begin.at < growth->begin)
        growth->begin = memory->begin.at;
    if (end > growth->end)
        growth->end = end;
    return adsm_extents_add(growth->extents,
                            (struct adsm_extent){memory->begin.at, end});
}

/* An allocation at `at` that belongs to the same accel. */
static bool find(const struct growth *growth, uint64_t at,
                 struct adsm_memory *memory)
{
    return growth->ops->memory_find((struct adsm_daddr){at}, memory) ==
               ADSM_OK &&
           at - memory->begin.at < memory->bytes &&
           memory->context == growth->first.context &&
           memory->ordinal == growth->first.ordinal;
}

/* Another one on the first page, or, of what is mapped, right before it. */
static bool find_below(const struct growth *growth, struct adsm_memory *memory)
{
    uint64_t step =
        growth->begin % ALLOCATION_ALIGN ? VARIABLE_ALIGN : ALLOCATION_ALIGN;
    if (growth->first.mapped && find(growth, growth->begin - 1, memory))
        return true;
    for (uint64_t at = growth->begin; at > page_of(growth->begin);) {
        at = (at - 1) / step * step;
        if (find(growth, at, memory))
            return true;
    }
    return false;
}

static bool find_above(const struct growth *growth, struct adsm_memory *memory)
{
    uint64_t step =
        growth->begin % ALLOCATION_ALIGN ? VARIABLE_ALIGN : ALLOCATION_ALIGN;
    if (growth->first.mapped && find(growth, growth->end, memory))
        return true;
    for (uint64_t at = growth->end; at < page_behind(growth->end);
         at = at / step * step + step)
        if (find(growth, at, memory))
            return true;
    return false;
}

static int grow(struct growth *growth)
{
    struct adsm_memory next;
    int status = add(growth, &growth->first);
    while (status == ADSM_OK && find_below(growth, &next))
        status = add(growth, &next);
    while (status == ADSM_OK && find_above(growth, &next))
        status = add(growth, &next);
    return status;
}

static void forget(struct adsm_extents *extents)
{
    if (extents)
        free(extents->list);
    free(extents);
}

/* Only what is not one allocation from a page border on has to be cut. */
static struct adsm_extents *keep_extents(const struct adsm_span *span,
                                         struct adsm_extents *extents)
{
    if (extents->count > 1 ||
        extents->list[0].begin != (uint64_t)(uintptr_t)span->host)
        return extents;
    forget(extents);
    return NULL;
}

int adsm_address_find(struct adsm_accel *accel,
                      const struct adsm_memory *memory, struct adsm_span *span,
                      size_t *bytes)
{
    struct growth growth = {
        .ops = accel->ops, .first = *memory, .begin = UINT64_MAX};
    *span = (struct adsm_span){.strategy = ADSM_ADOPTED};
    growth.extents = calloc(1, sizeof *growth.extents);
    int status = growth.extents ? grow(&growth) : ADSM_E_NOMEM;
    if (status != ADSM_OK) {
        forget(growth.extents);
        return status;
    }
    uint64_t begin = page_of(growth.begin);
    span->host = (uint8_t *)(uintptr_t)begin;
    span->device.at = begin;
    span->bytes = page_behind(growth.end) - begin;
    span->handle = begin;
    *bytes = growth.end - begin;
    span->extents = keep_extents(span, growth.extents);
    return ADSM_OK;
}

int adsm_address_claim_found(struct adsm_accel *accel, struct adsm_span *span)
{
    bool claimed;
    int status = adsm_address_claim(span->device.at, span->bytes, &claimed);
    if (claimed)
        span->handle |= 1;
    if (status == ADSM_OK && span->extents)
        status = adsm_extent_enter(accel->extents, span->extents);
    return status;
}

bool adsm_address_is_whole(const struct adsm_span *span, uint64_t begin)
{
    return !span->extents && (uint64_t)(uintptr_t)span->host == begin;
}

bool adsm_address_adopts(const char **why)
{
    const struct adsm_options *options = adsm_options_get();
    adsm_barrier_prepare();
    *why = options->oversubscribe ? "ADSM_OVERSUBSCRIBE moves arrays"
           : options->fault_engine == ADSM_OPT_FAULT_ENGINE_UFFD
               ? "the fault engine uffd sees its own ranges only"
           : !adsm_barrier_can()
               ? "the kernel has no membarrier, or denies it, and this "
                 "processor knows no other way to stop calls on their way"
               : NULL;
    return options->address == ADSM_OPT_ADDRESS_ADOPT && !*why;
}

/* What a program allocates is found again, and its placeholder is free. */
static int try_to_find(struct adsm_accel *accel, struct adsm_daddr at)
{
    struct adsm_memory memory;
    struct adsm_span span;
    size_t bytes;
    int status = accel->ops->memory_find(at, &memory);
    if (status == ADSM_E_NOT_FOUND)
        return adsm_accel_fail(ADSM_E_UNSUPPORTED,
                               "the driver does not tell of its allocations",
                               NULL);
    if (status == ADSM_OK)
        status = adsm_address_find(accel, &memory, &span, &bytes);
    if (status != ADSM_OK)
        return status;
    status = adsm_address_claim_found(accel, &span);
    (void)!adsm_address_free(accel, &span);
    return status;
}

int adsm_address_try_adopting(struct adsm_accel *accel)
{
    struct adsm_daddr at;
    int status = accel->ops->memory_alloc(accel, ADSM_GRANULE_BYTES, &at);
    /* A full device says nothing about addresses. */
    if (status != ADSM_OK)
        return status == ADSM_E_DEVICE_NOMEM ? ADSM_OK : status;
    status = try_to_find(accel, at);
    int freed = accel->ops->memory_free(accel, at);
    return status == ADSM_OK ? freed : status;
}

/* The memory is the program's. */
static int adopted_free(struct adsm_accel *accel, struct adsm_span *span)
{
    if (span->extents)
        adsm_extent_remove(accel->extents, span->extents);
    forget(span->extents);
    adsm_address_withdraw(span);
    return ADSM_OK;
}

const struct adsm_address_way adsm_address_adopted = {
    .name = "adopted",
    .free = adopted_free,
};
