/*
 * Video instructions, lane after lane; see ptx/video.h.
 *
 * Intermediate results have the 33 and 34 bits that PTX gives them.
 * Lock: none.
 */
#include "ptx/video.h"
#include "exec/control.h"

#include <string.h>

typedef __int128 wide;

/* The digit-th `bits` bits of `from`. */
static int64_t extract(uint64_t from, uint32_t digit, uint32_t bits,
                       bool is_signed)
{
    uint64_t up = from >> digit * bits << (64 - bits);
    return is_signed ? (int64_t)up >> (64 - bits)
                     : (int64_t)(up >> (64 - bits));
}

static int64_t extract_part(uint32_t from, uint32_t part, bool is_signed)
{
    return extract(from, part & 3, 8u << (part >> 2), is_signed);
}

static bool compare(int64_t x, int64_t y, enum sc_video_compare how)
{
    switch (how) {
    case SC_EQ:
        return x == y;
    case SC_NE:
        return x != y;
    case SC_LT:
        return x < y;
    case SC_LE:
        return x <= y;
    case SC_GT:
        return x > y;
    default:
        return x >= y;
    }
}

static uint32_t amount(int64_t y, bool wrap)
{
    return wrap ? (uint32_t)y & 31 : y > 32 ? 32 : (uint32_t)y;
}

static wide compute(const struct sc_video *v, int64_t x, int64_t y)
{
    switch ((enum sc_video_kind)v->kind) {
    case SC_VIDEO_ADD:
        return x + y;
    case SC_VIDEO_SUB:
        return x - y;
    case SC_VIDEO_AVRG:
        return (x + y + (x + y >= 0)) >> 1;
    case SC_VIDEO_ABSDIFF:
        return x > y ? x - y : y - x;
    case SC_VIDEO_MIN:
        return x < y ? x : y;
    case SC_VIDEO_MAX:
        return x > y ? x : y;
    case SC_VIDEO_SET:
        return compare(x, y, (enum sc_video_compare)v->compare);
    case SC_VIDEO_SHL:
        return (wide)x * ((wide)1 << amount(y, v->wrap));
    default:
        return x >> amount(y, v->wrap);
    }
}

static wide saturate(wide r, uint32_t bits, bool is_signed)
{
    wide most = ((wide)1 << (is_signed ? bits - 1 : bits)) - 1;
    wide least = is_signed ? -most - 1 : 0;
    return r > most ? most : r < least ? least : r;
}

static uint32_t ones(uint32_t bits)
{
    return bits < 32 ? (1u << bits) - 1 : ~0u;
}

static uint32_t one(const struct sc_video *v, uint32_t a, uint32_t b,
                    uint32_t c)
{
    wide r = compute(v, extract_part(a, (uint32_t)v->a, v->a_signed),
                     extract_part(b, (uint32_t)v->b, v->b_signed));
    uint32_t bits = 8u << (v->written >> 2), shift = (v->written & 3) * bits;
    if (v->sat)
        r = saturate(r, bits, v->d_signed);
    int64_t t = extract((uint64_t)r, 0, 33, true);
    int64_t third = extract(c, 0, 32, v->d_signed);
    switch ((enum sc_video_second)v->second) {
    case SC_VIDEO_MERGE:
        return ((uint32_t)t & ones(bits)) << shift |
               (c & ~(ones(bits) << shift));
    case SC_VIDEO_PLUS:
        return (uint32_t)(t + third);
    case SC_VIDEO_LEAST:
        return (uint32_t)(t < third ? t : third);
    case SC_VIDEO_MOST:
        return (uint32_t)(t > third ? t : third);
    default:
        return (uint32_t)t;
    }
}

static uint32_t many(const struct sc_video *v, uint32_t a, uint32_t b,
                     uint32_t c)
{
    uint64_t both = (uint64_t)b << 32 | a;
    uint32_t bits = 32u / v->parts, result = c;
    for (uint32_t i = 0; i < v->parts; i++) {
        if (!(v->written >> i & 1))
            continue;
        wide r = compute(
            v, extract(both, (uint32_t)(v->a >> 4 * i & 15), bits, v->a_signed),
            extract(both, (uint32_t)(v->b >> 4 * i & 15), bits, v->b_signed));
        if (v->sat)
            r = saturate(r, bits, v->d_signed);
        if (v->second == SC_VIDEO_PLUS)
            result += (uint32_t)r;
        else
            result = (result & ~(ones(bits) << i * bits)) |
                     ((uint32_t)r & ones(bits)) << i * bits;
    }
    return result;
}

const struct sc_op *sc_op_video(const struct sc_op *op, struct sc_strip *strip)
{
    struct sc_video v;
    memcpy(&v, &op->imm, sizeof v);
    const uint32_t *a = (const uint32_t *)(void *)(strip->file + op->a);
    const uint32_t *b = (const uint32_t *)(void *)(strip->file + op->b);
    const uint32_t *c = (const uint32_t *)(void *)(strip->file + op->c);
    uint32_t *d = (uint32_t *)(void *)(strip->file + op->d);
    for (uint32_t t = 0; t < strip->lanes; t++)
        if (strip->mask[t])
            d[t] = v.parts > 1 ? many(&v, a[t], b[t], c[t])
                               : one(&v, a[t], b[t], c[t]);
    return op + 1;
}
