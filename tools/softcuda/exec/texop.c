/*
 * Texture and surface instructions, lane after lane; see exec/control.h.
 *
 * Lock: none.
 */
#include "exec/texture.h"
#include "exec/control.h"
#include "exec/half.h"

#include <string.h>

#define FOR_LANES(t)                                                           \
    for (uint32_t t = 0; t < strip->lanes; t++)                                \
        if (strip->bits[t / 32] >> t % 32 & 1)

static const struct sc_texture_form *form_of(const struct sc_op *op,
                                             struct sc_strip *strip)
{
    strip->cta->access = op;
    return &strip->cta->code->textures[op->target];
}

static struct sc_texture_window window_of(const struct sc_strip *strip)
{
    return (struct sc_texture_window){.base = strip->cta->window_base,
                                      .bytes = strip->cta->window_bytes};
}

static uint32_t word(const struct sc_strip *strip, uint32_t slot, uint32_t lane)
{
    uint32_t value = 0;
    if (slot != SC_NO_SLOT)
        memcpy(&value, strip->file + slot + (size_t)lane * 4, sizeof value);
    return value;
}

static uint64_t handle_of(const struct sc_strip *strip,
                          const struct sc_texture_form *form, uint32_t lane)
{
    uint64_t handle;
    memcpy(&handle, strip->file + form->handle + (size_t)lane * 8,
           sizeof handle);
    return handle;
}

static void store(struct sc_strip *strip, uint32_t slot, uint32_t bytes,
                  uint32_t lane, uint64_t value)
{
    if (slot != SC_NO_SLOT)
        memcpy(strip->file + slot + (size_t)lane * bytes, &value, bytes);
}

static void request_of(const struct sc_strip *strip,
                       const struct sc_texture_form *form, uint32_t lane,
                       struct sc_texture_request *r)
{
    *r = (struct sc_texture_request){
        .handle = handle_of(strip, form, lane),
        .shape = (enum sc_texture_shape)form->shape,
        .lod_mode = (enum sc_texture_lod)form->lod_mode,
        .integer = form->integer,
        .gather = form->gather,
        .layer = (int32_t)word(strip, form->layer, lane)};
    for (int i = 0; i < 3; i++) {
        uint32_t x = word(strip, form->x[i], lane);
        r->at[i] = (int32_t)x;
        r->x[i] = sc_bits_f32(x);
        r->dx[i] = sc_bits_f32(word(strip, form->dx[i], lane));
        r->dy[i] = sc_bits_f32(word(strip, form->dy[i], lane));
        r->offset[i] = (int32_t)word(strip, form->offset[i], lane);
    }
    uint32_t lod = word(strip, form->lod, lane);
    r->lod = form->integer ? (float)(int32_t)lod : sc_bits_f32(lod);
}

static uint16_t half_of(uint32_t bits)
{
    return sc_f64_f16((double)sc_bits_f32(bits), SC_RN);
}

const struct sc_op *sc_op_tex(const struct sc_op *op, struct sc_strip *strip)
{
    const struct sc_texture_form *form = form_of(op, strip);
    const struct sc_texture_window window = window_of(strip);
    FOR_LANES(t)
    {
        struct sc_texture_request request;
        uint32_t result[4];
        uint64_t bad;
        request_of(strip, form, t, &request);
        if (!sc_texture_fetch(&window, &request, result, &bad))
            return sc_machine_fault(strip, op, SC_EXEC_ILLEGAL_ADDRESS, bad);
        for (uint32_t i = 0; i < form->count; i++) {
            uint32_t value = result[i];
            if (form->packed)
                value = half_of(result[2 * i]) |
                        (uint32_t)half_of(result[2 * i + 1]) << 16;
            else if (form->bytes == 2)
                value = half_of(value);
            store(strip, form->data[i], form->bytes, t, value);
        }
        store(strip, form->present, 4, t, ~0u);
    }
    return op + 1;
}

const struct sc_op *sc_op_txq(const struct sc_op *op, struct sc_strip *strip)
{
    const struct sc_texture_form *form = form_of(op, strip);
    const struct sc_texture_window window = window_of(strip);
    FOR_LANES(t)
    {
        uint32_t result;
        uint64_t bad;
        if (!sc_texture_ask(&window, handle_of(strip, form, t),
                            (enum sc_texture_query)form->query,
                            word(strip, form->lod, t), &result, &bad))
            return sc_machine_fault(strip, op, SC_EXEC_ILLEGAL_ADDRESS, bad);
        store(strip, form->data[0], 4, t, result);
    }
    return op + 1;
}

/* Host address of `bytes` bytes of one lane's access; NULL in *memory when it
 * lies outside and that is allowed. */
static bool find_bytes(struct sc_strip *strip, const struct sc_op *op,
                       const struct sc_texture_form *form, uint32_t lane,
                       uint32_t bytes, char **memory)
{
    const struct sc_texture_window window = window_of(strip);
    int32_t at[3];
    uint64_t bad;
    for (int i = 0; i < 3; i++)
        at[i] = (int32_t)word(strip, form->x[i], lane);
    bool good =
        sc_surface_find(&window, handle_of(strip, form, lane),
                        (enum sc_texture_shape)form->shape, at,
                        (int32_t)word(strip, form->layer, lane), bytes,
                        (enum sc_surface_bound)form->bound, memory, &bad);
    if (!good)
        sc_machine_fault(strip, op, SC_EXEC_ILLEGAL_ADDRESS, bad);
    return good;
}

/* Registers hold bytes in 16 bits. */
static uint32_t slot_bytes(const struct sc_texture_form *form)
{
    return form->bytes == 1 ? 2 : form->bytes;
}

const struct sc_op *sc_op_suld(const struct sc_op *op, struct sc_strip *strip)
{
    const struct sc_texture_form *form = form_of(op, strip);
    FOR_LANES(t)
    {
        char *memory;
        if (!find_bytes(strip, op, form, t, form->bytes * form->count, &memory))
            return NULL;
        for (uint32_t i = 0; i < form->count; i++) {
            uint64_t value = 0;
            if (memory)
                memcpy(&value, memory + i * form->bytes, form->bytes);
            store(strip, form->data[i], slot_bytes(form), t, value);
        }
    }
    return op + 1;
}

const struct sc_op *sc_op_sust(const struct sc_op *op, struct sc_strip *strip)
{
    const struct sc_texture_form *form = form_of(op, strip);
    FOR_LANES(t)
    {
        char *memory;
        if (!find_bytes(strip, op, form, t, form->bytes * form->count, &memory))
            return NULL;
        for (uint32_t i = 0; memory && i < form->count; i++)
            memcpy(memory + i * form->bytes,
                   strip->file + form->data[i] + (size_t)t * slot_bytes(form),
                   form->bytes);
    }
    return op + 1;
}

#define REDUCE(name, u, s)                                                     \
    static void name(u *p, u b, enum sc_sured kind, bool is_signed)            \
    {                                                                          \
        u old = __atomic_load_n(p, __ATOMIC_RELAXED), next;                    \
        do {                                                                   \
            bool less = is_signed ? (s)b < (s)old : b < old;                   \
            next = kind == SC_SURED_ADD             ? old + b                  \
                   : kind == SC_SURED_AND           ? old & b                  \
                   : kind == SC_SURED_OR            ? old | b                  \
                   : (kind == SC_SURED_MIN) == less ? b                        \
                                                    : old;                     \
        } while (!__atomic_compare_exchange_n(                                 \
            p, &old, next, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));         \
    }
REDUCE(reduce_32, uint32_t, int32_t)
REDUCE(reduce_64, uint64_t, int64_t)

const struct sc_op *sc_op_sured(const struct sc_op *op, struct sc_strip *strip)
{
    const struct sc_texture_form *form = form_of(op, strip);
    enum sc_sured kind = (enum sc_sured)op->flags;
    FOR_LANES(t)
    {
        char *memory;
        uint64_t value = 0;
        if (!find_bytes(strip, op, form, t, form->bytes, &memory))
            return NULL;
        memcpy(&value, strip->file + form->data[0] + (size_t)t * form->bytes,
               form->bytes);
        if (memory && form->bytes == 4)
            reduce_32((uint32_t *)(void *)memory, (uint32_t)value, kind,
                      op->imm);
        else if (memory)
            reduce_64((uint64_t *)(void *)memory, value, kind, op->imm);
    }
    return op + 1;
}
