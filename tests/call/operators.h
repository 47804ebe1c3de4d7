/* Every operator, shipped and of operators.cu, with what the CPU makes of it. */
#ifndef TESTS_CALL_OPERATORS_H
#define TESTS_CALL_OPERATORS_H

#include "adsm_skeleton.h"
#include "call/fixture.h"
#include "call/tree.h"

#include <math.h>

struct pair {
    float x, y;
};
struct pixel {
    uint8_t r, g, b;
};
struct chain {
    int a, b, unused;
};
struct wide {
    int a, b, more[7];
};

#define TREE_OF(name, type, ...)                                               \
    static inline void name(void *r_, const void *a_, const void *b_)          \
    {                                                                          \
        type a, b, r;                                                          \
        memcpy(&a, a_, sizeof a);                                              \
        memcpy(&b, b_, sizeof b);                                              \
        r = __VA_ARGS__;                                                       \
        memcpy(r_, &r, sizeof r);                                              \
    }
#define TREE_INTEGERS(t, type, bits)                                           \
    TREE_OF(sum_##t, type, (type)((bits)a + (bits)b))                          \
    TREE_OF(product_##t, type, (type)((bits)a * (bits)b))                      \
    TREE_OF(min_##t, type, b < a ? b : a)                                      \
    TREE_OF(max_##t, type, b > a ? b : a)                                      \
    TREE_OF(and_##t, type, a &b)                                               \
    TREE_OF(or_##t, type, a | b)                                               \
    TREE_OF(xor_##t, type, a ^ b)
#define TREE_REALS(t, type)                                                    \
    TREE_OF(sum_##t, type, a + b)                                              \
    TREE_OF(product_##t, type, a *b)                                           \
    TREE_OF(min_##t, type, b < a ? b : a)                                      \
    TREE_OF(max_##t, type, b > a ? b : a)
TREE_INTEGERS(i32, int32_t, uint32_t)
TREE_INTEGERS(u32, uint32_t, uint32_t)
TREE_INTEGERS(i64, int64_t, uint64_t)
TREE_INTEGERS(u64, uint64_t, uint64_t)
TREE_REALS(f32, float)
TREE_REALS(f64, double)
TREE_OF(longest, struct pair, a.y >= b.y ? a : b)
TREE_OF(brightest, struct pixel,
        (struct pixel){a.r > b.r ? a.r : b.r, a.g > b.g ? a.g : b.g, a.b ^ b.b})
TREE_OF(chain, struct chain,
        (struct chain){(int)((unsigned)a.a * (unsigned)b.a),
                       (int)((unsigned)a.b *(unsigned)b.a + (unsigned)b.b), 0})

static inline void wide(void *r_, const void *a_, const void *b_)
{
    struct wide a, b;
    memcpy(&a, a_, sizeof a);
    memcpy(&b, b_, sizeof b);
    a.b = (int)((unsigned)a.b * (unsigned)b.a + (unsigned)b.b);
    a.a = (int)((unsigned)a.a * (unsigned)b.a);
    for (int i = 0; i < 7; i++)
        a.more[i] ^= b.more[i];
    memcpy(r_, &a, sizeof a);
}

/* A row of the table: `shipped` or found by name. */
struct known {
    const char *name;
    bool shipped;
    adsmOp op;
    adsmType type;
    struct tree tree;
};

#define KNOWN(o, O, t, T, type)                                                \
    {                                                                          \
#o "_" #t, true, ADSM_##O, ADSM_##T,                                   \
        {                                                                      \
            sizeof(type), o##_##t,                                             \
            {                                                                  \
                0                                                              \
            }                                                                  \
        }                                                                      \
    }
#define KNOWN_ORDERED(t, T, type)                                              \
    KNOWN(sum, SUM, t, T, type), KNOWN(product, PRODUCT, t, T, type),          \
        KNOWN(min, MIN, t, T, type), KNOWN(max, MAX, t, T, type)
#define KNOWN_BITS(t, T, type)                                                 \
    KNOWN_ORDERED(t, T, type), KNOWN(and, AND, t, T, type),                    \
        KNOWN(or, OR, t, T, type), KNOWN(xor, XOR, t, T, type)
#define KNOWN_OWN(name, type)                                                  \
    {                                                                          \
#name, false, ADSM_SUM, ADSM_I32,                                      \
        {                                                                      \
            sizeof(type), name,                                                \
            {                                                                  \
                0                                                              \
            }                                                                  \
        }                                                                      \
    }

static struct known known[] = {
    KNOWN_BITS(i32, I32, int32_t),   KNOWN_BITS(u32, U32, uint32_t),
    KNOWN_BITS(i64, I64, int64_t),   KNOWN_BITS(u64, U64, uint64_t),
    KNOWN_ORDERED(f32, F32, float),  KNOWN_ORDERED(f64, F64, double),
    KNOWN_OWN(longest, struct pair), KNOWN_OWN(brightest, struct pixel),
    KNOWN_OWN(chain, struct chain),  KNOWN_OWN(wide, struct wide),
};
enum { KNOWNS = sizeof known / sizeof *known };

/* OPERATORS_PTX: the path of operators.ptx. */
static inline adsmModule *own_module(void)
{
    static adsmModule *module;
    if (!module)
        must(adsmModuleLoad(&module, OPERATORS_PTX, 0));
    return module;
}

static inline const adsmOperator *operator_of(const struct known *k)
{
    const adsmOperator *op;
    if (k->shipped)
        op = adsmOperatorOf(k->op, k->type);
    else
        must(adsmOperatorGet(&op, own_module(), k->name));
    ck_assert_msg(op, "%s", k->name);
    return op;
}

static inline struct known *known_of(const char *name)
{
    for (int i = 0; i < KNOWNS; i++)
        if (strcmp(known[i].name, name) == 0)
            return &known[i];
    ck_abort_msg("no operator '%s'", name);
    return NULL;
}

/* The identity: what changes no element. */
static inline const uint8_t *none_of(struct known *k)
{
    static const double far[2] = {INFINITY, -INFINITY};
    uint8_t *none = k->tree.none;
    double d = k->op == ADSM_PRODUCT ? 1 : 0;
    bool real = k->type == ADSM_F32 || k->type == ADSM_F64;
    int64_t i = k->op == ADSM_PRODUCT ? 1 : k->op == ADSM_AND ? -1 : 0;
    bool wide = k->type == ADSM_I64 || k->type == ADSM_U64;
    bool is_signed = k->type == ADSM_I32 || k->type == ADSM_I64;
    if (!k->shipped) {
        if (strcmp(k->name, "chain") == 0 || strcmp(k->name, "wide") == 0)
            none[0] = 1;
        return none;
    }
    if (real && (k->op == ADSM_MIN || k->op == ADSM_MAX))
        d = far[k->op == ADSM_MAX];
    float f = (float)d;
    if (k->op == ADSM_MIN)
        i = is_signed ? wide ? INT64_MAX : INT32_MAX : -1;
    if (k->op == ADSM_MAX)
        i = is_signed ? wide ? INT64_MIN : INT32_MIN : 0;
    if (real)
        memcpy(none, k->type == ADSM_F32 ? (void *)&f : (void *)&d,
               k->tree.elem);
    else
        memcpy(none, &i, k->tree.elem);
    return none;
}

static inline uint64_t next_random(void)
{
    static uint64_t seed = 88172645463325252u;
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* Numbers of which sums are rounded and products neither vanish nor overflow;
 * y of pairs have ties. */
static inline void fill_random(const struct known *k, void *x, long n)
{
    bool product = k->op == ADSM_PRODUCT;
    for (long i = 0; i < n; i++) {
        uint8_t *to = (uint8_t *)x + (size_t)i * k->tree.elem;
        uint64_t r[TREE_MOST / 8] = {next_random(), next_random()};
        for (size_t j = 2; j * 8 < k->tree.elem; j++)
            r[j] = next_random();
        double d = (double)(r[0] >> 11) / (1ull << 53);
        d = product ? 0.5 + d * 0.81 : (d - 0.5) * (1 << r[1] % 20);
        float f = (float)d;
        struct pair p = {(float)i, (float)(r[1] % 50)};
        if (k->shipped && k->type == ADSM_F32)
            memcpy(to, &f, sizeof f);
        else if (k->shipped && k->type == ADSM_F64)
            memcpy(to, &d, sizeof d);
        else if (strcmp(k->name, "longest") == 0)
            memcpy(to, &p, sizeof p);
        else
            memcpy(to, r, k->tree.elem);
    }
}

#endif
