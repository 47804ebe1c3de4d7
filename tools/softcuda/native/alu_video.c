/*
 * Video instructions as templates: lane by lane, as exec/video.c has them.
 *
 * The interpreter has checked types and selectors. Lock: none.
 */
#include "native/alu_find.h"
#include "exec/video.h"

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

static uint64_t selector(const struct sc_operand *operand)
{
    return operand->kind == SC_OPERAND_REG ? operand->bits : 0;
}

/* The part a scalar form names, as SC_VIDEO_PART. */
static unsigned part_of(const struct sc_operand *operand)
{
    uint64_t bits = selector(operand);
    return !bits ? SC_VIDEO_PART(0, 2)
                 : SC_VIDEO_PART(SC_SELECT_DIGIT(bits, 0),
                                 SC_SELECT_LETTER(bits) == 'h');
}

/* A digit for each part of a SIMD form. */
static unsigned digits_of(const struct sc_operand *operand, unsigned usual)
{
    uint64_t bits = selector(operand);
    return bits ? (unsigned)bits & 0xffff : usual;
}

static unsigned written_of(const struct sc_operand *operand, uint32_t parts)
{
    uint64_t bits = selector(operand);
    unsigned mask = bits ? 0 : (1u << parts) - 1;
    for (uint32_t i = 0; bits && i < SC_SELECT_COUNT(bits); i++)
        mask |= 1u << (SC_SELECT_DIGIT(bits, i) & 3);
    return mask;
}

static unsigned take_compare(struct sc_alu_find *find)
{
    static const enum sc_modifier names[] = {SC_MOD_eq, SC_MOD_ne, SC_MOD_lt,
                                             SC_MOD_le, SC_MOD_gt, SC_MOD_ge};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (sc_alu_take(find, names[i]))
            return i;
    return 0;
}

/* What happens to the result and operand c. */
static enum sc_video_second take_second(struct sc_alu_find *find,
                                        const struct form *form)
{
    if (sc_alu_take(find, SC_MOD_add))
        return SC_VIDEO_PLUS;
    if (form->parts > 1 || selector(sc_alu_operand(find, 0)))
        return SC_VIDEO_MERGE;
    if (form->kind == SC_VIDEO_MIN || form->kind == SC_VIDEO_MAX)
        return SC_VIDEO_ALONE;
    return sc_alu_take(find, SC_MOD_min)   ? SC_VIDEO_LEAST
           : sc_alu_take(find, SC_MOD_max) ? SC_VIDEO_MOST
                                           : SC_VIDEO_ALONE;
}

static bool emit(struct sc_alu_find *find, const struct form *form)
{
    const struct sc_inst *inst = find->inst;
    bool sets = form->kind == SC_VIDEO_SET;
    unsigned first = sets ? 0 : 1, how = sets ? take_compare(find) : 0;
    bool sat = !sets && sc_alu_take(find, SC_MOD_sat);
    bool wrap = sc_alu_take(find, SC_MOD_wrap);
    if (!wrap)
        sc_alu_take(find, SC_MOD_clamp);
    enum sc_video_second second = take_second(find, form);
    uint32_t n = second == SC_VIDEO_ALONE ? 2 : 3;
    if (inst->type_count != first + 2 || !sc_alu_args(find, SC_T_b32, n))
        return false;
    bool sd = !sets && inst->types[0] == SC_T_s32;
    bool sa = inst->types[first] == SC_T_s32;
    bool sb = inst->types[first + 1] == SC_T_s32;
    const struct sc_operand *d = sc_alu_operand(find, 0);
    const struct sc_operand *a = sc_alu_operand(find, 1);
    const struct sc_operand *b = sc_alu_operand(find, 2);
    bool two = form->parts == 2;
    unsigned from_a =
        form->parts == 1 ? part_of(a) : digits_of(a, two ? 0x10 : 0x3210);
    unsigned from_b =
        form->parts == 1 ? part_of(b) : digits_of(b, two ? 0x32 : 0x7654);
    unsigned to = form->parts == 1 ? part_of(d) : written_of(d, form->parts);
    sc_alu_name(find, "_%x_%x_%x", to, from_a, from_b);
    find->call->form = SC_ALU_LANES;
    if (form->parts == 1)
        sc_alu_result(find, SC_T_b32, d,
                      "return sc_video_one(a, b, %s, %d, %u, %d, %d, %d, %u, "
                      "%u, %u, %d, %d, %d);",
                      n == 3 ? "c" : "0", form->kind, how, wrap, sat, second,
                      from_a, from_b, to, sa, sb, sd);
    else
        sc_alu_result(find, SC_T_b32, d,
                      "return sc_video_many(a, b, c, %d, %u, %d, %d, %u, %#x, "
                      "%#x, %u, %d, %d, %d);",
                      form->kind, how, sat, second, form->parts, from_a, from_b,
                      to, sa, sb, sd);
    return true;
}

bool sc_alu_find_video(struct sc_alu_find *find)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].opcode == find->inst->opcode)
            return emit(find, &forms[i]);
    return false;
}
