/*
 * Video instructions: scalar and SIMD forms, with selectors, saturation and
 * what they do with their third operand.
 *
 * A case's EXTRA is the index of its description below, from which its text is
 * written and its result computed.
 */
#include "opcase.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

struct video {
    const char *name; /* without the number of parts */
    int parts;
    char types[4];                  /* u or s: d, a, b */
    const char *modifiers;          /* "", ".sat", ".lt", ".clamp.sat" … */
    const char *second;             /* "", ".add", ".min", ".max" */
    const char *dsel, *asel, *bsel; /* "", ".b0", ".h10" … */
};

enum { ROOM = 4000 };
static struct video known[ROOM];
static size_t known_count;

static bool has(const struct video *v, const char *modifier)
{
    return strstr(v->modifiers, modifier) != NULL;
}

static bool is(const struct video *v, const char *name)
{
    return strcmp(v->name, name) == 0;
}

/* Part `index` of `size` bits of the number. */
static sfp_i128 part(uint64_t from, int index, int size, bool is_signed)
{
    int64_t value =
        (int64_t)(from >> index * size & (((uint64_t)1 << size) - 1));
    if (is_signed && value >> (size - 1))
        value -= (int64_t)1 << size;
    return value;
}

static sfp_i128 clamped(sfp_i128 value, int size, bool is_signed)
{
    sfp_i128 one = 1;
    sfp_i128 most = is_signed ? (one << (size - 1)) - 1 : (one << size) - 1;
    sfp_i128 least = is_signed ? -(one << (size - 1)) : 0;
    return value < least ? least : value > most ? most : value;
}

static sfp_i128 shifted(const struct video *v, sfp_i128 x, sfp_i128 y)
{
    int by = has(v, ".wrap") ? (int)(y & 31) : y > 32 ? 32 : (int)y;
    return is(v, "vshl") ? x * ((sfp_i128)1 << by) : x >> by;
}

static sfp_i128 computed(const struct video *v, sfp_i128 x, sfp_i128 y)
{
    if (is(v, "vadd"))
        return x + y;
    if (is(v, "vsub"))
        return x - y;
    if (is(v, "vabsdiff"))
        return x < y ? y - x : x - y;
    if (is(v, "vmin"))
        return x < y ? x : y;
    if (is(v, "vmax"))
        return x < y ? y : x;
    if (is(v, "vavrg"))
        return x + y >= 0 ? (x + y + 1) >> 1 : (x + y) >> 1;
    if (is(v, "vset"))
        return has(v, ".eq")   ? x == y
               : has(v, ".ne") ? x != y
               : has(v, ".lt") ? x < y
               : has(v, ".le") ? x <= y
               : has(v, ".gt") ? x > y
                               : x >= y;
    return shifted(v, x, y);
}

/* Size in bits and place of the part a scalar selector names. */
static int selected(const char *selector, int *place)
{
    *place = *selector ? selector[2] - '0' : 0;
    return !*selector ? 32 : selector[1] == 'b' ? 8 : 16;
}

static bool shifts(const struct video *v)
{
    return is(v, "vshl") || is(v, "vshr");
}

/* .sat as hardware has it: a shift is limited by the type of d, whatever part
 * of it is written, and only what 34 bits hold of it counts; other results
 * for a part are limited as unsigned numbers; .u32 has no upper limit. */
static sfp_i128 saturated(const struct video *v, sfp_i128 r, int d_size)
{
    bool is_signed = v->types[0] == 's';
    if (shifts(v))
        return clamped(part((uint64_t)r, 0, 34, true), 32, is_signed);
    if (d_size < 32 && r < 0)
        return ((uint64_t)1 << (d_size - is_signed)) - 1;
    if (d_size < 32 || is_signed)
        return clamped(r, d_size, is_signed);
    return r < 0 ? 0 : r;
}

/* Which of the two .min takes. Shifts and differences are compared in 64 bits,
 * other results as their 32 bits extended with sign. */
static bool is_less(const struct video *v, sfp_i128 r, uint64_t c)
{
    bool is_signed = v->types[is(v, "vset") ? 1 : 0] == 's';
    bool wide = is(v, "vabsdiff") || (shifts(v) && !has(v, ".sat"));
    uint64_t x = wide ? (uint64_t)r : (uint64_t)part((uint64_t)r, 0, 32, true);
    uint64_t y = (uint64_t)part(c, 0, 32, is_signed);
    return is_signed ? (int64_t)x < (int64_t)y : x < y;
}

/* A part of d receives the low bits of the result, but .h1 its upper half. */
static uint64_t merged(const struct video *v, uint64_t t, uint64_t c)
{
    int d, size = selected(v->dsel, &d);
    uint64_t ones = (((uint64_t)1 << size) - 1) << d * size;
    return (size == 16 ? t & ones : t << d * size & ones) | (c & ~ones);
}

static uint64_t r_scalar(const struct video *v, const uint64_t *in)
{
    int a, b, d, a_size = selected(v->asel, &a), b_size = selected(v->bsel, &b),
                 d_size = selected(v->dsel, &d);
    sfp_i128 r = computed(v, part(in[0], a, a_size, v->types[1] == 's'),
                          part(in[1], b, b_size, v->types[2] == 's'));
    if (has(v, ".sat"))
        r = saturated(v, r, d_size);
    uint64_t t = (uint64_t)r & 0xffffffff, c = in[2];
    if (*v->dsel)
        t = merged(v, t, c);
    else if (!strcmp(v->second, ".add"))
        t += c;
    else if (*v->second && is_less(v, r, c) != !strcmp(v->second, ".min"))
        t = c;
    return t & 0xffffffff;
}

/* The i-th digit from the right, or what an empty selector means. */
static int digit(const char *selector, int i, int usual)
{
    size_t n = strlen(selector);
    return n ? selector[n - 1 - (size_t)i] - '0' : usual;
}

static bool writes(const struct video *v, int i)
{
    return !*v->dsel || strchr(v->dsel + 2, '0' + i) != NULL;
}

static uint64_t r_simd(const struct video *v, const uint64_t *in)
{
    int size = 32 / v->parts;
    uint64_t both = in[1] << 32 | (in[0] & 0xffffffff), result = 0, sum = in[2];
    for (int i = 0; i < v->parts; i++) {
        sfp_i128 r = computed(
            v, part(both, digit(v->asel, i, i), size, v->types[1] == 's'),
            part(both, digit(v->bsel, i, i + v->parts), size,
                 v->types[2] == 's'));
        if (has(v, ".sat"))
            r = clamped(r, size, v->types[0] == 's');
        if (!writes(v, i))
            r = part(in[2], i, size, false);
        else
            sum += (uint64_t)r;
        result |= (uint64_t)part((uint64_t)r, 0, size, false) << i * size;
    }
    return (*v->second ? sum : result) & 0xffffffff;
}

static uint64_t r_video(const struct op_case *c, const uint64_t *in)
{
    const struct video *v = &known[ARG_EXTRA(c)];
    return v->parts > 1 ? r_simd(v, in) : r_scalar(v, in);
}

static void add(struct op_table *table, struct video v)
{
    bool third = v.parts > 1 || *v.second || *v.dsel;
    struct op_case c = {.signature = third ? "W WiWiWi" : "W WiWi",
                        .reference = r_video,
                        .arg = EXTRA(known_count)};
    char number[2] = {(char)('0' + v.parts), 0}, types[32];
    ck_assert(known_count < ROOM);
    known[known_count++] = v;
    snprintf(types, sizeof types, ".%c32.%c32.%c32", v.types[0], v.types[1],
             v.types[2]);
    op_emit(table, c, "%s%s%s%s%s %%d%s,%%a%s,%%b%s%s", v.name,
            v.parts > 1 ? number : "", is(&v, "vset") ? types + 4 : types,
            v.modifiers, v.second, v.dsel, v.asel, v.bsel, third ? ",%c" : "");
}

/* @brief one selector of each operand is enough */
static void add_scalar(struct op_table *table, const char *name,
                       const char *types, const char *modifiers, bool brief)
{
    static const struct {
        const char *second, *dsel, *asel, *bsel;
    } shapes[] = {
        {"", "", "", ""},          {"", "", ".b1", ".h1"},
        {"", "", ".h0", ".b3"},    {".add", "", "", ""},
        {".add", "", ".b2", ""},   {".min", "", "", ""},
        {".max", "", "", ".b0"},   {"", ".b2", "", ""},
        {"", ".h1", ".b0", ""},    {"", ".h0", "", ".h0"},
        {"", ".b0", ".b3", ".b3"},
    };
    bool compares = !strcmp(name, "vmin") || !strcmp(name, "vmax");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct video v = {.name = name,
                          .parts = 1,
                          .modifiers = modifiers,
                          .second = shapes[i].second,
                          .dsel = shapes[i].dsel,
                          .asel = shapes[i].asel,
                          .bsel = shapes[i].bsel};
        if (compares && *v.second && strcmp(v.second, ".add") != 0)
            continue;
        if (brief && (*v.asel || *v.bsel) && strcmp(v.second, ".max") != 0)
            continue;
        memcpy(v.types, types, 3);
        add(table, v);
    }
}

static void add_simd(struct op_table *table, const char *name,
                     const char *types, const char *modifiers, bool brief)
{
    static const char *const masks[2][4] = {{"", ".h1", ".h0", ".h10"},
                                            {"", ".b2", ".b310", ".b3210"}};
    static const char *const places[2][4] = {
        {"", ".h32", ".h13", ".h00"}, {"", ".b7654", ".b0426", ".b5555"}};
    for (int parts = 2; parts <= 4; parts += 2)
        for (int i = 0; i < 8; i += brief ? 4 : 1) {
            bool plus = i >= 4;
            if (plus && has(&(struct video){.modifiers = modifiers}, ".sat"))
                continue;
            struct video v = {.name = name,
                              .parts = parts,
                              .modifiers = modifiers,
                              .second = plus ? ".add" : "",
                              .dsel = masks[parts / 4][i % 4],
                              .asel = places[parts / 4][i % 4],
                              .bsel = places[parts / 4][i * 3 % 4]};
            memcpy(v.types, types, 3);
            add(table, v);
        }
}

void table_video(struct op_table *table)
{
    static const char *const names[] = {"vadd", "vsub", "vabsdiff",
                                        "vmin", "vmax", "vavrg"};
    static const char *const types[] = {"uuu", "sss", "sus", "uus",
                                        "usu", "uss", "suu", "ssu"};
    static const char *const compares[] = {".eq", ".ne", ".lt",
                                           ".le", ".gt", ".ge"};
    table->name = "video";
    known_count = 0;
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < 8; k++)
            for (int sat = 0; sat < 2; sat++) {
                if (i < 5)
                    add_scalar(table, names[i], types[k], sat ? ".sat" : "",
                               k > 2);
                add_simd(table, names[i], types[k], sat ? ".sat" : "", k > 2);
            }
    for (size_t i = 0; i < 6; i++) {
        add_scalar(table, "vset", i % 2 ? "uss" : "uuu", compares[i], false);
        add_simd(table, "vset", i % 2 ? "uuu" : "uss", compares[i], false);
        for (size_t k = 0; k < 8; k++) {
            if (types[k][0] != 'u')
                continue;
            add_scalar(table, "vset", types[k], compares[i], true);
            add_simd(table, "vset", types[k], compares[i], true);
        }
    }
    for (int i = 0; i < 4; i++) {
        static const char *const ways[] = {".clamp", ".wrap", ".sat.clamp",
                                           ".sat.wrap"};
        add_scalar(table, "vshl", i % 2 ? "uuu" : "ssu", ways[i], false);
        add_scalar(table, "vshr", i % 2 ? "ssu" : "uuu", ways[i], false);
        add_scalar(table, "vshl", "suu", ways[i], false);
        for (size_t k = 0; k < 8; k++) {
            if (types[k][2] != 'u')
                continue;
            add_scalar(table, "vshl", types[k], ways[i], true);
            add_scalar(table, "vshr", types[k], ways[i], true);
        }
    }
}
