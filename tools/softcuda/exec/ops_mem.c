/*
 * Loads and stores over the lanes of a strip.
 *
 * Sixteen lanes are looked at together: when their addresses are equal or
 * contiguous one check covers all of them. Every address is compared with its
 * window; holes of the device window fault and are caught by exec/fault.c.
 * Addresses have the width of their register, which is `at`, and go round in
 * it.
 * Lock: none.
 */
#include "exec/ops_parts.h"
#include "exec/address.h"

#include <string.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

typedef uint64_t vec64 __attribute__((vector_size(64), aligned(8)));
typedef uint32_t vec32 __attribute__((vector_size(64), aligned(4)));

#define IOTA64(from)                                                           \
    {                                                                          \
        from, from + 1, from + 2, from + 3, from + 4, from + 5, from + 6,      \
            from + 7                                                           \
    }

static inline bool is_zero(vec64 v)
{
#ifdef __AVX512F__
    __m512i raw = (__m512i)v;
    return _mm512_test_epi64_mask(raw, raw) == 0;
#else
    uint64_t any = 0;
    for (int i = 0; i < 8; i++)
        any |= v[i];
    return any == 0;
#endif
}

/* Whether 16 addresses are a[0] + i × (a[1] - a[0]) with a step of 0 or
 * `bytes`. */
static inline bool is_regular64(const uint64_t *a, uint64_t bytes,
                                uint64_t *step)
{
    static const vec64 low = IOTA64(0), high = IOTA64(8);
    *step = a[1] - a[0];
    if (*step != bytes && *step != 0)
        return false;
    vec64 first = *(const vec64 *)a - a[0];
    vec64 second = *(const vec64 *)(a + 8) - a[0];
    if (*step == 0)
        return is_zero(first | second);
    return is_zero((first ^ low * bytes) | (second ^ high * bytes));
}

static inline bool is_regular32(const uint32_t *a, uint32_t bytes,
                                uint64_t *step)
{
    static const vec32 iota = {0, 1, 2,  3,  4,  5,  6,  7,
                               8, 9, 10, 11, 12, 13, 14, 15};
    uint32_t width = a[1] - a[0];
    *step = width;
    if (width != bytes && width != 0)
        return false;
    vec32 from = *(const vec32 *)a - a[0];
    return is_zero((vec64)(width ? from ^ iota * bytes : from));
}

#define REGULAR(at, a, bytes, step)                                            \
    (sizeof(at) == 8                                                           \
         ? is_regular64((const uint64_t *)(const void *)(a), bytes, step)      \
         : is_regular32((const uint32_t *)(const void *)(a), bytes, step))

/* Host address of a run [at, at + span) in one space; NULL: look lane by
 * lane. */
static inline char *find_run(const struct sc_cta *cta,
                             enum sc_address_mode mode, uint64_t at,
                             uint64_t span, uint64_t bytes)
{
    if (at & (bytes - 1))
        return NULL;
    if (mode == SC_ADDR_GLOBAL || mode == SC_ADDR_GENERIC) {
        if (at - cta->window_base > cta->window_bytes - span)
            return NULL;
        return (char *)(uintptr_t)at;
    }
    if (mode == SC_ADDR_SHARED) {
        if (span > cta->shared_bytes || at > cta->shared_bytes - span)
            return NULL;
        return cta->shared + at;
    }
    return NULL;
}

static inline uint32_t chunk_bits(const struct sc_strip *strip, uint32_t lane)
{
    return strip->bits[lane / 32] >> lane % 32 & 0xffff;
}

#define DEFINE_LOAD(name, at, address_mode, mt, rt)                            \
    static const struct sc_op *name(const struct sc_op *op,                    \
                                    struct sc_strip *strip)                    \
    {                                                                          \
        struct sc_cta *cta = strip->cta;                                       \
        const at *a = SC_SLOT(const at, a);                                    \
        rt *d = SC_SLOT(rt, d);                                                \
        const enum sc_address_mode mode = address_mode;                        \
        cta->access = op;                                                      \
        for (uint32_t t = 0; t < strip->padded; t += SC_CHUNK) {               \
            uint32_t bits = chunk_bits(strip, t);                              \
            uint64_t step;                                                     \
            if (!bits)                                                         \
                continue;                                                      \
            if (bits == 0xffff && REGULAR(at, a + t, sizeof(mt), &step)) {     \
                const char *p = find_run(cta, mode, (at)(a[t] + (at)op->imm),  \
                                         step * 15 + sizeof(mt), sizeof(mt));  \
                if (p && step) {                                               \
                    const mt *from = (const mt *)(const void *)p;              \
                    SC_LANE_LOOP                                               \
                    for (uint32_t i = 0; i < SC_CHUNK; i++)                    \
                        d[t + i] = (rt)from[i];                                \
                    continue;                                                  \
                }                                                              \
                if (p) {                                                       \
                    const rt value = (rt) * (const mt *)(const void *)p;       \
                    SC_LANE_LOOP                                               \
                    for (uint32_t i = 0; i < SC_CHUNK; i++)                    \
                        d[t + i] = value;                                      \
                    continue;                                                  \
                }                                                              \
            }                                                                  \
            for (; bits; bits &= bits - 1) {                                   \
                uint32_t lane = t + (uint32_t)__builtin_ctz(bits);             \
                uint64_t where = (at)(a[lane] + (at)op->imm);                  \
                const char *p =                                                \
                    sc_address_lane(strip, mode, lane, where, sizeof(mt));     \
                if (__builtin_expect(!p, 0))                                   \
                    return sc_address_fault(strip, op, where, sizeof(mt));     \
                d[lane] = (rt) * (const mt *)(const void *)p;                  \
            }                                                                  \
        }                                                                      \
        return op + 1;                                                         \
    }

#define DEFINE_STORE(name, at, address_mode, mt, rt)                           \
    static const struct sc_op *name(const struct sc_op *op,                    \
                                    struct sc_strip *strip)                    \
    {                                                                          \
        struct sc_cta *cta = strip->cta;                                       \
        const at *a = SC_SLOT(const at, a);                                    \
        const rt *b = SC_SLOT(const rt, b);                                    \
        const enum sc_address_mode mode = address_mode;                        \
        cta->access = op;                                                      \
        for (uint32_t t = 0; t < strip->padded; t += SC_CHUNK) {               \
            uint32_t bits = chunk_bits(strip, t);                              \
            uint64_t step;                                                     \
            if (!bits)                                                         \
                continue;                                                      \
            if (bits == 0xffff && REGULAR(at, a + t, sizeof(mt), &step)) {     \
                char *p = find_run(cta, mode, (at)(a[t] + (at)op->imm),        \
                                   step * 15 + sizeof(mt), sizeof(mt));        \
                if (p && step) {                                               \
                    mt *to = (mt *)(void *)p;                                  \
                    SC_LANE_LOOP                                               \
                    for (uint32_t i = 0; i < SC_CHUNK; i++)                    \
                        to[i] = (mt)b[t + i];                                  \
                    continue;                                                  \
                }                                                              \
            }                                                                  \
            for (; bits; bits &= bits - 1) {                                   \
                uint32_t lane = t + (uint32_t)__builtin_ctz(bits);             \
                uint64_t where = (at)(a[lane] + (at)op->imm);                  \
                char *p =                                                      \
                    sc_address_lane(strip, mode, lane, where, sizeof(mt));     \
                if (__builtin_expect(!p, 0))                                   \
                    return sc_address_fault(strip, op, where, sizeof(mt));     \
                *(mt *)(void *)p = (mt)b[lane];                                \
            }                                                                  \
        }                                                                      \
        return op + 1;                                                         \
    }

#define LOADS(m, at, mode)                                                     \
    DEFINE_LOAD(load_u8_2_##m, at, mode, uint8_t, uint16_t)                    \
    DEFINE_LOAD(load_u8_4_##m, at, mode, uint8_t, uint32_t)                    \
    DEFINE_LOAD(load_u8_8_##m, at, mode, uint8_t, uint64_t)                    \
    DEFINE_LOAD(load_s8_2_##m, at, mode, int8_t, uint16_t)                     \
    DEFINE_LOAD(load_s8_4_##m, at, mode, int8_t, uint32_t)                     \
    DEFINE_LOAD(load_s8_8_##m, at, mode, int8_t, uint64_t)                     \
    DEFINE_LOAD(load_u16_2_##m, at, mode, uint16_t, uint16_t)                  \
    DEFINE_LOAD(load_u16_4_##m, at, mode, uint16_t, uint32_t)                  \
    DEFINE_LOAD(load_u16_8_##m, at, mode, uint16_t, uint64_t)                  \
    DEFINE_LOAD(load_s16_4_##m, at, mode, int16_t, uint32_t)                   \
    DEFINE_LOAD(load_s16_8_##m, at, mode, int16_t, uint64_t)                   \
    DEFINE_LOAD(load_u32_4_##m, at, mode, uint32_t, uint32_t)                  \
    DEFINE_LOAD(load_u32_8_##m, at, mode, uint32_t, uint64_t)                  \
    DEFINE_LOAD(load_s32_8_##m, at, mode, int32_t, uint64_t)                   \
    DEFINE_LOAD(load_u64_8_##m, at, mode, uint64_t, uint64_t)                  \
    DEFINE_STORE(store_1_2_##m, at, mode, uint8_t, uint16_t)                   \
    DEFINE_STORE(store_1_4_##m, at, mode, uint8_t, uint32_t)                   \
    DEFINE_STORE(store_1_8_##m, at, mode, uint8_t, uint64_t)                   \
    DEFINE_STORE(store_2_2_##m, at, mode, uint16_t, uint16_t)                  \
    DEFINE_STORE(store_2_4_##m, at, mode, uint16_t, uint32_t)                  \
    DEFINE_STORE(store_2_8_##m, at, mode, uint16_t, uint64_t)                  \
    DEFINE_STORE(store_4_4_##m, at, mode, uint32_t, uint32_t)                  \
    DEFINE_STORE(store_4_8_##m, at, mode, uint32_t, uint64_t)                  \
    DEFINE_STORE(store_8_8_##m, at, mode, uint64_t, uint64_t)

LOADS(global, uint64_t, SC_ADDR_GLOBAL)
LOADS(shared32, uint32_t, SC_ADDR_SHARED)
LOADS(shared64, uint64_t, SC_ADDR_SHARED)
LOADS(other32, uint32_t, (enum sc_address_mode)op->mode)
LOADS(other64, uint64_t, (enum sc_address_mode)op->mode)

enum form { GLOBAL, SHARED32, SHARED64, OTHER32, OTHER64, FORMS };

/* Memory type × register size, registers of 2, 4, 8 bytes. */
#define LOAD_TYPES(m)                                                          \
    {                                                                          \
        [SC_T_u8] = {load_u8_2_##m, load_u8_4_##m, load_u8_8_##m},             \
        [SC_T_b8] = {load_u8_2_##m, load_u8_4_##m, load_u8_8_##m},             \
        [SC_T_s8] = {load_s8_2_##m, load_s8_4_##m, load_s8_8_##m},             \
        [SC_T_u16] = {load_u16_2_##m, load_u16_4_##m, load_u16_8_##m},         \
        [SC_T_b16] = {load_u16_2_##m, load_u16_4_##m, load_u16_8_##m},         \
        [SC_T_f16] = {load_u16_2_##m, NULL, NULL},                             \
        [SC_T_bf16] = {load_u16_2_##m, NULL, NULL},                            \
        [SC_T_s16] = {load_u16_2_##m, load_s16_4_##m, load_s16_8_##m},         \
        [SC_T_u32] = {NULL, load_u32_4_##m, load_u32_8_##m},                   \
        [SC_T_b32] = {NULL, load_u32_4_##m, load_u32_8_##m},                   \
        [SC_T_s32] = {NULL, load_u32_4_##m, load_s32_8_##m},                   \
        [SC_T_f32] = {NULL, load_u32_4_##m, NULL},                             \
        [SC_T_f16x2] = {NULL, load_u32_4_##m, NULL},                           \
        [SC_T_bf16x2] = {NULL, load_u32_4_##m, NULL},                          \
        [SC_T_u64] = {NULL, NULL, load_u64_8_##m},                             \
        [SC_T_s64] = {NULL, NULL, load_u64_8_##m},                             \
        [SC_T_b64] = {NULL, NULL, load_u64_8_##m}, [SC_T_f64] = {              \
            NULL,                                                              \
            NULL,                                                              \
            load_u64_8_##m                                                     \
        }                                                                      \
    }

static const sc_handler loads[FORMS][SC_T_COUNT][3] = {
    [GLOBAL] = LOAD_TYPES(global),     [SHARED32] = LOAD_TYPES(shared32),
    [SHARED64] = LOAD_TYPES(shared64), [OTHER32] = LOAD_TYPES(other32),
    [OTHER64] = LOAD_TYPES(other64),
};

/* Memory bytes 1, 2, 4, 8 × register bytes 2, 4, 8. */
#define STORE_SIZES(m)                                                         \
    {                                                                          \
        {store_1_2_##m, store_1_4_##m, store_1_8_##m},                         \
            {store_2_2_##m, store_2_4_##m, store_2_8_##m},                     \
            {NULL, store_4_4_##m, store_4_8_##m},                              \
        {                                                                      \
            NULL, NULL, store_8_8_##m                                          \
        }                                                                      \
    }

static const sc_handler stores[FORMS][4][3] = {
    [GLOBAL] = STORE_SIZES(global),     [SHARED32] = STORE_SIZES(shared32),
    [SHARED64] = STORE_SIZES(shared64), [OTHER32] = STORE_SIZES(other32),
    [OTHER64] = STORE_SIZES(other64),
};

static enum form form_of(enum sc_address_mode mode, unsigned address_bytes)
{
    if (mode == SC_ADDR_SHARED)
        return address_bytes == 8 ? SHARED64 : SHARED32;
    if (address_bytes != 8)
        return OTHER32;
    return mode == SC_ADDR_GLOBAL ? GLOBAL : OTHER64;
}

sc_handler SC_ISA_NAME(sc_load)(enum sc_type type, unsigned reg_bytes,
                                enum sc_address_mode mode,
                                unsigned address_bytes)
{
    if (reg_bytes < 2 || reg_bytes > 8)
        return NULL;
    return loads[form_of(mode, address_bytes)][type][reg_bytes / 4];
}

sc_handler SC_ISA_NAME(sc_store)(unsigned bytes, unsigned reg_bytes,
                                 enum sc_address_mode mode,
                                 unsigned address_bytes)
{
    if (reg_bytes < 2 || reg_bytes > 8 || bytes > 8)
        return NULL;
    return stores[form_of(mode, address_bytes)][__builtin_ctz(bytes)]
                 [reg_bytes / 4];
}
