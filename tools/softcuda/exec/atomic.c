/*
 * atom and red: one lane after the other, with the host's own atomics, since
 * other workers and other devices' copies may touch the same memory.
 *
 * Lock: none.
 */
#include "exec/address.h"
#include "exec/control.h"
#include "exec/half.h"

/* Repeat until nobody came between; `next` computes from old, b, c. */
#define LOOP(name, t, next)                                                    \
    static t name(t *p, t b, t c)                                              \
    {                                                                          \
        t old = __atomic_load_n(p, __ATOMIC_RELAXED);                          \
        (void)c;                                                               \
        while (!__atomic_compare_exchange_n(                                   \
            p, &old, (t)(next), true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {   \
        }                                                                      \
        return old;                                                            \
    }
#define DIRECT(name, t, function)                                              \
    static t name(t *p, t b, t c)                                              \
    {                                                                          \
        (void)c;                                                               \
        return function(p, b, __ATOMIC_SEQ_CST);                               \
    }
#define CAS(name, t)                                                           \
    static t name(t *p, t b, t c)                                              \
    {                                                                          \
        __atomic_compare_exchange_n(p, &b, c, false, __ATOMIC_SEQ_CST,         \
                                    __ATOMIC_SEQ_CST);                         \
        return b;                                                              \
    }

#define WIDTH(w)                                                               \
    DIRECT(add_##w, uint##w##_t, __atomic_fetch_add)                           \
    DIRECT(and_##w, uint##w##_t, __atomic_fetch_and)                           \
    DIRECT(or_##w, uint##w##_t, __atomic_fetch_or)                             \
    DIRECT(xor_##w, uint##w##_t, __atomic_fetch_xor)                           \
    DIRECT(exch_##w, uint##w##_t, __atomic_exchange_n)                         \
    CAS(cas_##w, uint##w##_t)                                                  \
    LOOP(min_u##w, uint##w##_t, old < b ? old : b)                             \
    LOOP(max_u##w, uint##w##_t, old > b ? old : b)                             \
    LOOP(min_s##w, uint##w##_t, (int##w##_t)old < (int##w##_t)b ? old : b)     \
    LOOP(max_s##w, uint##w##_t, (int##w##_t)old > (int##w##_t)b ? old : b)

WIDTH(32)
WIDTH(64)
CAS(cas_16, uint16_t)
LOOP(inc_32, uint32_t, old >= b ? 0 : old + 1)
LOOP(dec_32, uint32_t, old == 0 || old > b ? b : old - 1)
LOOP(add_f32, uint32_t, sc_f32_bits(sc_bits_f32(old) + sc_bits_f32(b)))
LOOP(add_f64, uint64_t, sc_f64_bits(sc_bits_f64(old) + sc_bits_f64(b)))
LOOP(add_f16, uint16_t,
     sc_f64_f16((double)sc_f16_f32(old) + (double)sc_f16_f32(b), SC_RN))
LOOP(add_bf16, uint16_t,
     sc_f64_bf16((double)sc_bf16_f32(old) + (double)sc_bf16_f32(b), SC_RN))

static uint32_t pair_f16(uint32_t x, uint32_t y)
{
    uint16_t low = sc_f64_f16((double)sc_f16_f32((uint16_t)x) +
                                  (double)sc_f16_f32((uint16_t)y),
                              SC_RN);
    uint16_t high = sc_f64_f16((double)sc_f16_f32((uint16_t)(x >> 16)) +
                                   (double)sc_f16_f32((uint16_t)(y >> 16)),
                               SC_RN);
    return low | (uint32_t)high << 16;
}

static uint32_t pair_bf16(uint32_t x, uint32_t y)
{
    uint16_t low = sc_f64_bf16((double)sc_bf16_f32((uint16_t)x) +
                                   (double)sc_bf16_f32((uint16_t)y),
                               SC_RN);
    uint16_t high = sc_f64_bf16((double)sc_bf16_f32((uint16_t)(x >> 16)) +
                                    (double)sc_bf16_f32((uint16_t)(y >> 16)),
                                SC_RN);
    return low | (uint32_t)high << 16;
}

LOOP(add_f16x2, uint32_t, pair_f16(old, b))
LOOP(add_bf16x2, uint32_t, pair_bf16(old, b))

#define HANDLER(name, t)                                                       \
    static const struct sc_op *run_##name(const struct sc_op *op,              \
                                          struct sc_strip *strip)              \
    {                                                                          \
        const t *b = SC_SLOT(const t, b);                                      \
        const t *c = SC_SLOT(const t, c);                                      \
        t *d = op->d == ~0u ? NULL : SC_SLOT(t, d);                            \
        strip->cta->access = op;                                               \
        uint64_t heard = 0;                                                    \
        for (uint32_t w = 0; w < strip->padded / 32; w++) {                    \
            for (uint32_t left = strip->bits[w]; left; left &= left - 1) {     \
                uint32_t lane = w * 32 + (uint32_t)__builtin_ctz(left);        \
                uint64_t at = sc_address_at(op, strip, lane, op->e);           \
                char *p =                                                      \
                    sc_address_lane(strip, (enum sc_address_mode)op->mode,     \
                                    lane, at, sizeof(t));                      \
                if (!p)                                                        \
                    return sc_address_fault(strip, op, at, sizeof(t));         \
                t old = name((t *)(void *)p, b[lane], c[lane]);                \
                if (!d)                                                        \
                    continue;                                                  \
                d[lane] = old;                                                 \
                heard = sc_machine_hear(heard, at ^ lane, old);                \
            }                                                                  \
        }                                                                      \
        if (d)                                                                 \
            sc_machine_ask(strip, op, heard);                                  \
        return op + 1;                                                         \
    }

#define HANDLERS(w)                                                            \
    HANDLER(add_##w, uint##w##_t)                                              \
    HANDLER(and_##w, uint##w##_t)                                              \
    HANDLER(or_##w, uint##w##_t)                                               \
    HANDLER(xor_##w, uint##w##_t)                                              \
    HANDLER(exch_##w, uint##w##_t)                                             \
    HANDLER(cas_##w, uint##w##_t)                                              \
    HANDLER(min_u##w, uint##w##_t)                                             \
    HANDLER(max_u##w, uint##w##_t)                                             \
    HANDLER(min_s##w, uint##w##_t)                                             \
    HANDLER(max_s##w, uint##w##_t)

HANDLERS(32)
HANDLERS(64)
HANDLER(cas_16, uint16_t)
HANDLER(inc_32, uint32_t)
HANDLER(dec_32, uint32_t)
HANDLER(add_f32, uint32_t)
HANDLER(add_f64, uint64_t)
HANDLER(add_f16, uint16_t)
HANDLER(add_bf16, uint16_t)
HANDLER(add_f16x2, uint32_t)
HANDLER(add_bf16x2, uint32_t)

#define AT(kind, type, name) [SC_ATOM_##kind][SC_T_##type] = run_##name
#define BITS(w)                                                                \
    AT(ADD, u##w, add_##w), AT(ADD, s##w, add_##w), AT(AND, b##w, and_##w),    \
        AT(OR, b##w, or_##w), AT(XOR, b##w, xor_##w),                          \
        AT(EXCH, b##w, exch_##w), AT(CAS, b##w, cas_##w),                      \
        AT(MIN, u##w, min_u##w), AT(MAX, u##w, max_u##w),                      \
        AT(MIN, s##w, min_s##w), AT(MAX, s##w, max_s##w)

static const sc_handler table[SC_ATOM_COUNT][SC_T_COUNT] = {
    BITS(32),
    BITS(64),
    AT(CAS, b16, cas_16),
    AT(INC, u32, inc_32),
    AT(DEC, u32, dec_32),
    AT(ADD, f32, add_f32),
    AT(ADD, f64, add_f64),
    AT(ADD, f16, add_f16),
    AT(ADD, bf16, add_bf16),
    AT(ADD, f16x2, add_f16x2),
    AT(ADD, bf16x2, add_bf16x2),
};

sc_handler sc_atomic_find(enum sc_atomic kind, enum sc_type type)
{
    return table[kind][type];
}
