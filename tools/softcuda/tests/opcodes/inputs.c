/*
 * Special values by input class, their combinations, and random filling.
 *
 * The lists hold the traps: widths and their neighbours, values half way
 * between two results of a narrower format, subnormals, NaN payloads.
 */
#include "inputs.h"

#include <stdlib.h>
#include <string.h>

struct specials {
    const uint64_t *values;
    size_t count;
};

#define LIST(name, ...)                                                        \
    static const uint64_t name##_values[] = {__VA_ARGS__};                     \
    static const struct specials name = {name##_values, sizeof name##_values / \
                                                            sizeof(uint64_t)}

/* clang-format off */
LIST(int16, 0, 1, 2, 3, 7, 8, 0x55, 0x7f, 0x80, 0xff, 0x100, 0x1234, 0x7ffe,
     0x7fff, 0x8000, 0x8001, 0xaaaa, 0xff7f, 0xff80, 0xfffe, 0xffff);
LIST(int32, 0, 1, 2, 3, 10, 31, 32, 33, 0x7f, 0x80, 0xff, 0x7fff, 0x8000,
     0xffff, 0x10000, 0x00800000, 0x01000001, 0x12345678, 0x40000000,
     0x55555555, 0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0xaaaaaaaa,
     0xffff8000, 0xffffff80, 0xfffffffe, 0xffffffff);
LIST(int64, 0, 1, 2, 3, 10, 63, 64, 0x80, 0xffff, 0x7fffffff, 0x80000000,
     0xffffffff, 0x100000000, 0x100000001, 0x1fffffffff, 0x20000000000001,
     0x0123456789abcdef, 0x4000000000000000, 0x5555555555555555,
     0x7fffff4000000000, 0x7ffffffffffffdff, 0x7ffffffffffffffe,
     0x7fffffffffffffff, 0x8000000000000000, 0x8000000000000001,
     0xffffffff00000000, 0xffffffff7fffffff, 0xffffffff80000000,
     0xfffffffffffffffe, 0xffffffffffffffff);
LIST(shifts, 0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255,
     256, 0x10001, 0x80000000, 0xffffffff);
LIST(positions, 0, 1, 4, 7, 15, 16, 31, 32, 33, 40, 63, 64, 65, 100, 255);
LIST(float16, 0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x8400, 0x1400,
     0x3555, 0x3800, 0x3bff, 0x3c00, 0xbc00, 0x3c01, 0x3e00, 0x4000, 0xc100,
     0x4248, 0x57f8, 0x5800, 0x6400, 0x77ff, 0x7800, 0xf800, 0x7bff, 0xfbff,
     0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xfe55, 0x7fff);
LIST(bfloat16, 0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x0080, 0x8080, 0x3eab,
     0x3f00, 0x3f7f, 0x3f80, 0xbf80, 0x3f81, 0x3fc0, 0x4000, 0xc020, 0x4049,
     0x42fe, 0x4300, 0x4b00, 0x5f00, 0x7e7f, 0x7f00, 0xff00, 0x7f7f, 0xff7f,
     0x7f80, 0xff80, 0x7f81, 0x7fc0, 0xffc5, 0x7fff);
LIST(float32, 0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x00400000,
     0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x00800001, 0x0c000000,
     0x1effffff, 0x33000000, 0x33000001, 0x33800000, 0x38800000, 0x3eaaaaab,
     0x3f000000, 0xbf000000, 0x3f7fffff, 0x3f800000, 0xbf800000, 0x3f800001,
     0x3f801000, 0x3f803000, 0x3f808000, 0x3fc00000, 0x40000000, 0x40200000,
     0xc0400000, 0x40490fdb, 0x4b000000, 0x4b800001, 0x477fefff, 0x477ff000,
     0x5f000000, 0x7e800000, 0x7f000000, 0xff000000, 0x7f7fffff, 0xff7fffff,
     0x7f800000, 0xff800000, 0x7f800001, 0x7fc00000, 0xffc12345);
LIST(float64, 0x0000000000000000, 0x8000000000000000, 0x0000000000000001,
     0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000,
     0x8010000000000000, 0x3690000000000000, 0x36a0000000000000,
     0x380fffffe0000000, 0x3810000000000000, 0x3fd5555555555555,
     0x3fe0000000000000, 0xbfe0000000000000, 0x3fefffffffffffff,
     0x3ff0000000000000, 0xbff0000000000000, 0x3ff0000000000001,
     0x3ff0000010000000, 0x3ff0000010000001, 0x3ff0000030000000,
     0x3ff0020000000000, 0x3ff8000000000000, 0x4000000000000000,
     0x4004000000000000, 0xc008000000000000, 0x400921fb54442d18,
     0x40efffe000000000, 0x41e0000000000000, 0x4330000000000000,
     0x4340000000000001, 0x43e0000000000000, 0x47efffffe0000000,
     0x47efffffefffffff, 0x47effffff0000000, 0x7fe0000000000000,
     0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000,
     0xfff0000000000000, 0x7ff0000000000001, 0x7ff8000000000000,
     0xfff8000000012345);
/* Numbers around the ranges and half points of every integer type. */
LIST(near16, 0x0000, 0x8000, 0x0001, 0x8001, 0x3400, 0x3800, 0xb800, 0x3801,
     0x37ff, 0x3a00, 0x3c00, 0xbc00, 0x3e00, 0xbe00, 0x4100, 0xc100, 0x4300,
     0x57f0, 0x57f4, 0x5800, 0x5bf8, 0x5bfc, 0x5c00, 0xd800, 0xd804, 0xd808,
     0x6400, 0x7800, 0xf800, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00,
     0xfe55);
LIST(nearb16, 0x0000, 0x8000, 0x0001, 0x8001, 0x3e80, 0x3f00, 0xbf00, 0x3f01,
     0x3eff, 0x3f40, 0x3f80, 0xbf80, 0x3fc0, 0xbfc0, 0x4020, 0xc020, 0x4060,
     0x42fe, 0x42ff, 0x4300, 0x437f, 0x4380, 0xc300, 0xc301, 0x46ff, 0x4700,
     0x4780, 0xc700, 0x4f00, 0x4f80, 0xcf00, 0x5f00, 0x5f80, 0xdf00, 0x7f80,
     0xff80, 0x7f81, 0x7fc0, 0xffc5);
LIST(near32, 0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x3e800000,
     0x3effffff, 0x3f000000, 0xbf000000, 0x3f000001, 0x3f400000, 0x3f7fffff,
     0x3f800000, 0xbf800000, 0x3fc00000, 0xbfc00000, 0x40200000, 0xc0200000,
     0x40600000, 0x42fe0000, 0x42ff0000, 0x43000000, 0xc3000000, 0xc3008000,
     0xc3010000, 0x437f0000, 0x437f8000, 0x43800000, 0x46fffe00, 0x46ffff00,
     0x47000000, 0xc7000000, 0xc7000100, 0x477fff00, 0x477fff80, 0x47800000,
     0x4affffff, 0x4b000001, 0x4effffff, 0x4f000000, 0xcf000000, 0xcf000001,
     0x4f7fffff, 0x4f800000, 0x5effffff, 0x5f000000, 0xdf000000, 0xdf000001,
     0x5f7fffff, 0x5f800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
     0x7f800001, 0x7fc00000, 0xffc12345);
LIST(near64, 0x0000000000000000, 0x8000000000000000, 0x0000000000000001,
     0x8000000000000001, 0x3fdfffffffffffff, 0x3fe0000000000000,
     0xbfe0000000000000, 0x3fe0000000000001, 0x3fefffffffffffff,
     0x3ff0000000000000, 0xbff0000000000000, 0x3ff8000000000000,
     0xbff8000000000000, 0x4004000000000000, 0xc004000000000000,
     0x405fc00000000000, 0x405fe00000000000, 0x4060000000000000,
     0xc060000000000000, 0xc060100000000000, 0x406fe00000000000,
     0x406ff00000000000, 0x40dfffc000000000, 0x40dfffe000000000,
     0xc0e0000000000000, 0xc0e0001000000000, 0x40efffe000000000,
     0x40effff000000000, 0x41dfffffffc00000, 0x41dfffffffe00000,
     0x41e0000000000000, 0xc1e0000000000000, 0xc1e0000000100000,
     0xc1e0000000200000, 0x41efffffffe00000, 0x41effffffff00000,
     0x41f0000000000000, 0x432fffffffffffff, 0x4330000000000001,
     0x43dfffffffffffff, 0x43e0000000000000, 0xc3e0000000000000,
     0xc3e0000000000001, 0x43efffffffffffff, 0x43f0000000000000,
     0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000,
     0xfff0000000000000, 0x7ff0000000000001, 0x7ff8000000000000,
     0xfff8000000012345);
LIST(angles, 0x00000000, 0x80000000, 0x00000001, 0x3f800000, 0xbf800000,
     0x3fc90fdb, 0xbfc90fdb, 0x40490fdb, 0xc0490fdb, 0x4096cbe4, 0x40c90fdb,
     0xc0c90fdb, 0x3f490fdb, 0x3a83126f, 0x7f800000, 0xff800000, 0x7fc00000);
LIST(truths, 0, 1);
/* clang-format on */

static const struct specials *specials_of(char kind, char class)
{
    switch (class) {
    case 's':
        return &shifts;
    case 'p':
        return &positions;
    case 't':
        return &angles;
    case 'q':
        return &truths;
    case 'b':
        return &bfloat16;
    case 'm':
        return &nearb16;
    case 'f':
        return kind == 'H' ? &float16 : kind == 'W' ? &float32 : &float64;
    case 'n':
        return kind == 'H' ? &near16 : kind == 'W' ? &near32 : &near64;
    default:
        return kind == 'H' ? &int16 : kind == 'W' ? &int32 : &int64;
    }
}

uint64_t input_random(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *state = x;
    return x * 0x2545f4914f6cdd1d;
}

uint64_t input_seed(void)
{
    const char *text = getenv("OPCODES_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : 0;
    return seed ? seed : 20261;
}

static int width_of(char kind)
{
    return kind == 'H' ? 16 : kind == 'W' ? 32 : kind == 'D' ? 64 : 1;
}

static uint64_t masked(char kind, uint64_t value)
{
    int width = width_of(kind);
    return width == 64 ? value : value & (((uint64_t)1 << width) - 1);
}

/* A float with an exponent close to that of 1, so that sums do not vanish. */
static uint64_t moderate_float(char kind, uint64_t r)
{
    uint64_t spread = r >> 58 & 15;
    switch (kind) {
    case 'H':
        return (r & 0x83ff) | (8 + spread) << 10;
    case 'W':
        return (r & 0x807fffff) | (120 + spread) << 23;
    default:
        return (r & 0x800fffffffffffff) | (1016 + spread) << 52;
    }
}

static uint64_t packed_half(char class, uint64_t r, uint64_t *state)
{
    const struct specials *list = class == 'F' ? &float16 : &bfloat16;
    uint64_t low = list->values[(r >> 8) % list->count];
    uint64_t high = list->values[(r >> 24) % list->count];
    uint64_t any = input_random(state);
    if (r & 1)
        low = class == 'F' ? moderate_float('H', any) : any & 0xffff;
    if (r & 2)
        high = class == 'F' ? moderate_float('H', any >> 7) : any >> 48;
    return low | high << 16;
}

static uint64_t one_random(char kind, char class, uint64_t first,
                           uint64_t *state)
{
    uint64_t r = input_random(state), choice = r >> 32 & 7;
    uint64_t value = input_random(state);
    const struct specials *list = specials_of(kind, class);
    if (class == 'F' || class == 'B')
        return packed_half(class, r, state);
    if (class == 'q')
        return value & 1;
    if (class == 't')
        return (value & 0x807fffff) | (110 + (r & 31) % 23) << 23;
    if (choice <= 1 || class == 's' || class == 'p')
        return list->values[r % list->count];
    if (choice == 2)
        return masked(kind,
                      first ^ (r & 7) ^ (r >> 8 & 1) << (width_of(kind) - 1));
    if (choice <= 5 && (class == 'f' || class == 'n'))
        return moderate_float(kind, value);
    if (choice == 3 && class == 'i')
        value >>= r & 63;
    return masked(kind, value);
}

int input_fill(const char *signature, uint64_t *const *in, size_t lanes,
               uint64_t seed)
{
    const char *pairs = signature + 2;
    int n = (int)strlen(pairs) / 2;
    size_t combinations = n > 0;
    for (int k = 0; k < n; k++) {
        combinations *= specials_of(pairs[2 * k], pairs[2 * k + 1])->count;
        if (pairs[2 * k + 1] == 'F' || pairs[2 * k + 1] == 'B' ||
            combinations > lanes)
            combinations = lanes;
    }
    if (combinations > lanes * 4 / 5)
        combinations = 0;
    for (size_t lane = 0; lane < lanes; lane++) {
        size_t index = lane;
        for (int k = 0; k < n; k++) {
            char kind = pairs[2 * k], class = pairs[2 * k + 1];
            const struct specials *list = specials_of(kind, class);
            if (lane < combinations) {
                in[k][lane] = list->values[index % list->count];
                index /= list->count;
            } else {
                in[k][lane] = one_random(kind, class, in[0][lane], &seed);
            }
        }
    }
    return n;
}
