/*
 * Parameters of kernels, remembered; see params.h.
 *
 * A table of a fixed size: a function has one place in it, where it takes the
 * turn of another.
 */
#include "interpose/cuda/params.h"

#include "base/cell.h"
#include "base/status.h"
#include "interpose/cuda/driver.h"
#include "interpose/cuda/module.h"

#include <string.h>

/* Kernels with more parameters than are kept are asked for each time. */
enum { PLACES_LOG2 = 8, KEPT = 64 };

/* Whose they are, and how many. */
enum { KERNEL, AGE, COUNT, HEAD };

static struct place {
    adsm_cell cell;
    _Atomic uint64_t head[HEAD];
    _Atomic uint64_t at[KEPT / 2]; /* two of them each */
} places[1 << PLACES_LOG2];

/* Of what is remembered; what is of another age is forgotten. Never 0. */
static _Atomic uint64_t age = 1;

static struct place *place_of(CUfunction kernel)
{
    return &places[adsm_cell_of((uintptr_t)kernel, PLACES_LOG2)];
}

/* Offsets and sizes are of 16 bits. */
static uint64_t packed(const struct adsm_parameter *at)
{
    return (uint64_t)at->offset << 16 | at->bytes;
}

static struct adsm_parameter unpacked(uint64_t at)
{
    return (struct adsm_parameter){.offset = (uint16_t)(at >> 16),
                                   .bytes = (uint16_t)at};
}

static bool recall(CUfunction kernel, uint64_t now,
                   struct device_params *params)
{
    struct place *place = place_of(kernel);
    uint64_t head[HEAD], at;
    uint32_t version;
    if (!adsm_cell_begin(&place->cell, &version))
        return false;
    adsm_cell_read(place->head, head, HEAD);
    if (head[KERNEL] != (uintptr_t)kernel || head[AGE] != now)
        return false;
    params->count = (unsigned)head[COUNT];
    for (unsigned i = 0; i < params->count; i += 2) {
        adsm_cell_read(&place->at[i / 2], &at, 1);
        params->at[i] = unpacked(at);
        params->at[i + 1] = unpacked(at >> 32);
    }
    return adsm_cell_is(&place->cell, version);
}

static void remember(CUfunction kernel, uint64_t now,
                     const struct device_params *params)
{
    struct place *place = place_of(kernel);
    const uint64_t head[HEAD] = {(uintptr_t)kernel, now, params->count};
    if (params->count > KEPT || !adsm_cell_take(&place->cell))
        return;
    adsm_cell_write(place->head, head, HEAD);
    for (unsigned i = 0; i < params->count; i += 2) {
        uint64_t next = i + 1 < params->count ? packed(&params->at[i + 1]) : 0;
        adsm_cell_write(&place->at[i / 2],
                        &(uint64_t){packed(&params->at[i]) | next << 32}, 1);
    }
    adsm_cell_give(&place->cell);
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

uint64_t cuda_params_age(void)
{
    return atomic_load_explicit(&age, memory_order_acquire);
}

void cuda_params_of(CUfunction kernel, struct device_params *params)
{
    /* Before anybody is asked: what is said may be old behind that. */
    uint64_t now = cuda_params_age();
    if (!recall(kernel, now, params) && ask(kernel, params))
        remember(kernel, now, params);
}

void cuda_params_forget(void)
{
    atomic_fetch_add(&age, 1);
}
