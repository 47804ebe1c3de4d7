/*
 * Parameters of kernels, remembered; see params.h.
 *
 * A table of a fixed size: a function has one place in it, where it takes the
 * turn of another. A writer makes the place's version odd, and even again; a
 * reader that has met the same even version before and after has copied what
 * one writer wrote. A writer that never comes back, because a handler of the
 * program jumped out of it, costs the place and nothing else.
 */
#include "interpose/cuda/params.h"

#include "base/status.h"
#include "interpose/cuda/driver.h"
#include "interpose/cuda/module.h"

#include <string.h>

enum { PLACES_LOG2 = 8, PLACES = 1 << PLACES_LOG2 };

struct place {
    _Atomic uint32_t version; /* odd: being written                          */
    _Atomic uint32_t count;
    _Atomic(CUfunction) kernel;
    _Atomic uint64_t age;
    _Atomic uint32_t
        at[ADSM_PARAMETERS_MOST]; /* offset << 16 | bytes           */
};

static struct place places[PLACES];

/* Of what is remembered; what is of another age is forgotten. Never 0. */
static _Atomic uint64_t age = 1;

static struct place *place_of(CUfunction kernel)
{
    uint64_t mixed = (uintptr_t)kernel * UINT64_C(0x9e3779b97f4a7c15);
    return &places[mixed >> (64 - PLACES_LOG2)];
}

/* Acquire throughout: the version is looked at again behind the last of them,
 * and whoever sees a value of a later writer sees its odd version, too. */
#define LOOK(field) atomic_load_explicit(&(field), memory_order_acquire)

/* Release throughout: none of them is seen before the odd version. */
#define PUT(field, value)                                                      \
    atomic_store_explicit(&(field), value, memory_order_release)

static bool recall(CUfunction kernel, uint64_t now,
                   struct device_params *params)
{
    struct place *place = place_of(kernel);
    uint32_t version = LOOK(place->version);
    if (version % 2 || LOOK(place->kernel) != kernel || LOOK(place->age) != now)
        return false;
    params->count = LOOK(place->count);
    for (unsigned i = 0; i < params->count; i++) {
        uint32_t at = LOOK(place->at[i]);
        params->at[i] = (struct adsm_parameter){.offset = (uint16_t)(at >> 16),
                                                .bytes = (uint16_t)at};
    }
    return LOOK(place->version) == version;
}

static void remember(CUfunction kernel, uint64_t now,
                     const struct device_params *params)
{
    struct place *place = place_of(kernel);
    uint32_t version = LOOK(place->version);
    if (version % 2 ||
        !atomic_compare_exchange_strong(&place->version, &version, version + 1))
        return;
    PUT(place->kernel, kernel);
    PUT(place->age, now);
    PUT(place->count, params->count);
    for (unsigned i = 0; i < params->count; i++)
        PUT(place->at[i],
            (uint32_t)params->at[i].offset << 16 | params->at[i].bytes);
    PUT(place->version, version + 2);
}

/* As code/layout.h has it. */
static int ask_driver(void *kernel, unsigned index, size_t *offset,
                      size_t *bytes)
{
    switch (cuda_driver_parameter(kernel, index, offset, bytes)) {
    case CUDA_SUCCESS:
        return ADSM_OK;
    case CUDA_ERROR_INVALID_VALUE:
        return ADSM_E_NOT_FOUND;
    case CUDA_ERROR_NOT_FOUND:
        return ADSM_E_UNSUPPORTED;
    default:
        return ADSM_E_DEVICE;
    }
}

/* Return: whether the answer is one for good. */
static bool ask(CUfunction kernel, struct device_params *params)
{
    hook_enter();
    struct adsm_code *code = cuda_module_hold(kernel);
    struct adsm_layout layout = {.at = params->at};
    if (code)
        layout = adsm_code_layout(code, ask_driver, kernel);
    else
        layout.count = adsm_layout_ask(params->at, ask_driver, kernel);
    bool is_known = layout.count >= 0 && layout.count <= ADSM_PARAMETERS_MOST;
    params->count = is_known ? (unsigned)layout.count : 0;
    if (code && params->count)
        memcpy(params->at, layout.at, params->count * sizeof *layout.at);
    cuda_module_release(code);
    hook_leave();
    return layout.count != ADSM_LAYOUT_REFUSED;
}

void cuda_params_of(CUfunction kernel, struct device_params *params)
{
    /* Before anybody is asked: what is said may be old behind that. */
    uint64_t now = LOOK(age);
    if (!recall(kernel, now, params) && ask(kernel, params))
        remember(kernel, now, params);
}

void cuda_params_forget(void)
{
    atomic_fetch_add(&age, 1);
}
