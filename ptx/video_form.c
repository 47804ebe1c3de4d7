/*
 * Which instructions video instructions are, and what their selectors say; see
 * ptx/video_form.h. Lock: none.
 */
#include "ptx/video_form.h"

#include <stddef.h>

static const struct sc_video_form forms[] = {
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

const struct sc_video_form *sc_video_form_find(enum sc_opcode opcode)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].opcode == opcode)
            return &forms[i];
    return NULL;
}

int sc_video_compare_of(const struct sc_inst *inst, enum sc_modifier *name)
{
    static const enum sc_modifier names[] = {SC_MOD_eq, SC_MOD_ne, SC_MOD_lt,
                                             SC_MOD_le, SC_MOD_gt, SC_MOD_ge};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (!sc_inst_has(inst, names[i]))
            continue;
        *name = names[i];
        return (int)i;
    }
    return -1;
}

uint64_t sc_video_selector(const struct sc_operand *operand)
{
    return operand->kind == SC_OPERAND_REG ? operand->bits : 0;
}

int sc_video_part_of(const struct sc_operand *operand)
{
    uint64_t bits = sc_video_selector(operand);
    if (!bits)
        return SC_VIDEO_PART(0, 2);
    uint32_t half = SC_SELECT_LETTER(bits) == 'h',
             digit = SC_SELECT_DIGIT(bits, 0);
    if (SC_SELECT_COUNT(bits) != 1 || digit >= (half ? 2u : 4u))
        return -1;
    return (int)SC_VIDEO_PART(digit, half);
}

static bool has_letter(uint64_t bits, uint32_t parts)
{
    return SC_SELECT_LETTER(bits) == (parts == 2 ? 'h' : 'b');
}

int sc_video_digits_of(const struct sc_operand *operand, uint32_t parts,
                       bool second)
{
    uint64_t bits = sc_video_selector(operand);
    if (!bits && parts == 2)
        return second ? 0x32 : 0x10;
    if (!bits)
        return second ? 0x7654 : 0x3210;
    bool good = has_letter(bits, parts) && SC_SELECT_COUNT(bits) == parts;
    for (uint32_t i = 0; i < parts; i++)
        good &= SC_SELECT_DIGIT(bits, i) < 2 * parts;
    return good ? (int)(bits & 0xffff) : -1;
}

int sc_video_written_of(const struct sc_operand *operand, uint32_t parts)
{
    uint64_t bits = sc_video_selector(operand);
    if (!bits)
        return (1 << parts) - 1;
    int mask = 0;
    uint32_t least = 0;
    bool good = has_letter(bits, parts);
    for (uint32_t i = 0; i < SC_SELECT_COUNT(bits); i++) {
        uint32_t digit = SC_SELECT_DIGIT(bits, i);
        good &= digit >= least && digit < parts;
        mask |= 1 << (digit & 3);
        least = digit + 1;
    }
    return good ? mask : -1;
}
