/*
 * Decodes video instructions; see exec/lower.h and exec/video.h.
 *
 * Lock: none.
 */
#include "exec/lower.h"
#include "exec/video.h"

#include <string.h>

static const struct form {
    enum sc_opcode opcode;
    enum sc_video_kind kind;
    uint32_t parts;
} forms[] = {
    {SC_OP_vadd, SC_VIDEO_ADD, 1},
    {SC_OP_vsub, SC_VIDEO_SUB, 1},
    {SC_OP_vabsdiff, SC_VIDEO_ABSDIFF, 1},
    {SC_OP_vmin, SC_VIDEO_MIN, 1},
    {SC_OP_vmax, SC_VIDEO_MAX, 1},
    {SC_OP_vset, SC_VIDEO_SET, 1},
    {SC_OP_vshl, SC_VIDEO_SHL, 1},
    {SC_OP_vshr, SC_VIDEO_SHR, 1},
    {SC_OP_vadd2, SC_VIDEO_ADD, 2},
    {SC_OP_vsub2, SC_VIDEO_SUB, 2},
    {SC_OP_vavrg2, SC_VIDEO_AVRG, 2},
    {SC_OP_vabsdiff2, SC_VIDEO_ABSDIFF, 2},
    {SC_OP_vmin2, SC_VIDEO_MIN, 2},
    {SC_OP_vmax2, SC_VIDEO_MAX, 2},
    {SC_OP_vset2, SC_VIDEO_SET, 2},
    {SC_OP_vadd4, SC_VIDEO_ADD, 4},
    {SC_OP_vsub4, SC_VIDEO_SUB, 4},
    {SC_OP_vavrg4, SC_VIDEO_AVRG, 4},
    {SC_OP_vabsdiff4, SC_VIDEO_ABSDIFF, 4},
    {SC_OP_vmin4, SC_VIDEO_MIN, 4},
    {SC_OP_vmax4, SC_VIDEO_MAX, 4},
    {SC_OP_vset4, SC_VIDEO_SET, 4},
};

static bool is_signed(struct sc_lower *lower, uint32_t index)
{
    enum sc_type type = lower->inst->types[index];
    if (type != SC_T_u32 && type != SC_T_s32)
        sc_lower_invalid(lower, "types are .u32 and .s32 in");
    return type == SC_T_s32;
}

static void take_types(struct sc_lower *lower, struct sc_video *v)
{
    bool sets = v->kind == SC_VIDEO_SET;
    uint32_t first = sets ? 0 : 1;
    if (lower->inst->type_count != first + 2)
        sc_lower_invalid(lower, "wrong number of types in");
    v->d_signed = sets ? 0 : is_signed(lower, 0);
    v->a_signed = is_signed(lower, first);
    v->b_signed = is_signed(lower, first + 1);
    bool shifts = v->kind == SC_VIDEO_SHL || v->kind == SC_VIDEO_SHR;
    if (shifts && v->b_signed)
        sc_lower_invalid(lower, "the amount is .u32 in");
}

static void take_compare(struct sc_lower *lower, struct sc_video *v)
{
    static const enum sc_modifier names[] = {SC_MOD_eq, SC_MOD_ne, SC_MOD_lt,
                                             SC_MOD_le, SC_MOD_gt, SC_MOD_ge};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!sc_lower_take(lower, names[i]))
            continue;
        v->compare = i & 7;
        return;
    }
    sc_lower_invalid(lower, "comparison is missing in");
}

static void take_modifiers(struct sc_lower *lower, struct sc_video *v)
{
    if (v->kind == SC_VIDEO_SET)
        take_compare(lower, v);
    else
        v->sat = sc_lower_take(lower, SC_MOD_sat);
    if (v->kind == SC_VIDEO_SHL || v->kind == SC_VIDEO_SHR) {
        v->wrap = sc_lower_take(lower, SC_MOD_wrap);
        if (!v->wrap && !sc_lower_take(lower, SC_MOD_clamp))
            sc_lower_invalid(lower, ".clamp or .wrap is missing in");
    }
    if (sc_lower_take(lower, SC_MOD_add))
        v->second = SC_VIDEO_PLUS;
    else if (v->parts == 1 && v->kind != SC_VIDEO_MIN &&
             v->kind != SC_VIDEO_MAX)
        v->second = sc_lower_take(lower, SC_MOD_min)   ? SC_VIDEO_LEAST
                    : sc_lower_take(lower, SC_MOD_max) ? SC_VIDEO_MOST
                                                       : SC_VIDEO_ALONE;
    if (v->parts > 1 && v->second == SC_VIDEO_ALONE)
        v->second = SC_VIDEO_MERGE;
    else if (v->parts > 1 && v->sat)
        sc_lower_invalid(lower, ".sat and .add in");
}

static uint64_t selector(const struct sc_operand *operand)
{
    return operand->kind == SC_OPERAND_REG ? operand->bits : 0;
}

/* The one part a scalar form names. */
static uint32_t part_of(struct sc_lower *lower, uint64_t bits)
{
    if (!bits)
        return SC_VIDEO_PART(0, 2);
    uint32_t half = SC_SELECT_LETTER(bits) == 'h',
             digit = SC_SELECT_DIGIT(bits, 0);
    if (SC_SELECT_COUNT(bits) != 1 || digit >= (half ? 2u : 4u))
        sc_lower_invalid(lower, "selector of the wrong kind in");
    return SC_VIDEO_PART(digit, half);
}

/* One digit per part, or `usual`. */
static uint32_t digits_of(struct sc_lower *lower, uint32_t parts, uint64_t bits,
                          uint32_t usual)
{
    if (!bits)
        return usual;
    bool good = SC_SELECT_LETTER(bits) == (parts == 2 ? 'h' : 'b') &&
                SC_SELECT_COUNT(bits) == parts;
    for (uint32_t i = 0; i < parts; i++)
        good &= SC_SELECT_DIGIT(bits, i) < 2 * parts;
    if (!good)
        sc_lower_invalid(lower, "selector of the wrong kind in");
    return (uint32_t)bits & 0xffff;
}

static uint32_t written_of(struct sc_lower *lower, uint32_t parts,
                           uint64_t bits)
{
    if (!bits)
        return (1u << parts) - 1;
    uint32_t mask = 0, least = 0;
    bool good = SC_SELECT_LETTER(bits) == (parts == 2 ? 'h' : 'b');
    for (uint32_t i = 0; i < SC_SELECT_COUNT(bits); i++) {
        uint32_t digit = SC_SELECT_DIGIT(bits, i);
        good &= digit >= least && digit < parts;
        mask |= 1u << (digit & 3);
        least = digit + 1;
    }
    if (!good)
        sc_lower_invalid(lower, "selector of the wrong kind in");
    return mask;
}

static void take_selectors(struct sc_lower *lower, struct sc_video *v)
{
    uint64_t d = selector(sc_lower_operand(lower, 0));
    uint64_t a = selector(sc_lower_operand(lower, 1));
    uint64_t b = selector(sc_lower_operand(lower, 2));
    uint32_t parts = (uint32_t)v->parts;
    if (parts > 1) {
        v->a = digits_of(lower, parts, a, parts == 2 ? 0x10 : 0x3210) & 0xffff;
        v->b = digits_of(lower, parts, b, parts == 2 ? 0x32 : 0x7654) & 0xffff;
        v->written = written_of(lower, parts, d) & 15;
        return;
    }
    v->a = part_of(lower, a) & 15;
    v->b = part_of(lower, b) & 15;
    v->written = part_of(lower, d) & 15;
    if (d && v->second != SC_VIDEO_ALONE)
        sc_lower_invalid(lower, "part of the destination in");
    if (d)
        v->second = SC_VIDEO_MERGE;
}

static void lower_form(struct sc_lower *lower, const struct form *form)
{
    struct sc_video v = {.kind = form->kind, .parts = form->parts & 7};
    take_types(lower, &v);
    take_modifiers(lower, &v);
    sc_lower_count(lower, 3, 4);
    take_selectors(lower, &v);
    uint32_t n = v.second == SC_VIDEO_ALONE ? 3 : 4, s[3] = {0, 0, 0};
    sc_lower_count(lower, n, n);
    for (uint32_t i = 0; i < n - 1; i++) {
        const struct sc_operand *from = sc_lower_operand(lower, i + 1);
        if (i == 2 && selector(from))
            sc_lower_invalid(lower, "selector of the wrong kind in");
        s[i] = sc_lower_source(lower, from, 4, SC_T_b32);
    }
    uint32_t d = sc_lower_dest(lower, sc_lower_operand(lower, 0), 4);
    struct sc_op *op = sc_lower_emit(lower, sc_op_video);
    op->d = d;
    op->a = s[0];
    op->b = s[1];
    op->c = s[2];
    memcpy(&op->imm, &v, sizeof v);
}

bool sc_lower_video(struct sc_lower *lower)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].opcode == lower->inst->opcode)
            return lower_form(lower, &forms[i]), true;
    return false;
}
