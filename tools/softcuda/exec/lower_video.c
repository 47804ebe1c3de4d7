/*
 * Decodes video instructions; see exec/lower.h and ptx/video.h.
 *
 * Lock: none.
 */
#include "exec/lower.h"
#include "ptx/video_form.h"

#include <string.h>

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
    enum sc_modifier name;
    int compare = sc_video_compare_of(lower->inst, &name);
    if (compare < 0)
        sc_lower_invalid(lower, "comparison is missing in");
    sc_lower_take(lower, name);
    v->compare = compare & 7;
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

/* What a selector says, unless it is wrong. */
static uint32_t checked(struct sc_lower *lower, int selected)
{
    if (selected < 0)
        sc_lower_invalid(lower, "selector of the wrong kind in");
    return (uint32_t)selected;
}

static void take_selectors(struct sc_lower *lower, struct sc_video *v)
{
    const struct sc_operand *d = sc_lower_operand(lower, 0);
    const struct sc_operand *a = sc_lower_operand(lower, 1);
    const struct sc_operand *b = sc_lower_operand(lower, 2);
    uint32_t parts = (uint32_t)v->parts;
    if (parts > 1) {
        v->a = checked(lower, sc_video_digits_of(a, parts, false)) & 0xffff;
        v->b = checked(lower, sc_video_digits_of(b, parts, true)) & 0xffff;
        v->written = checked(lower, sc_video_written_of(d, parts)) & 15;
        return;
    }
    v->a = checked(lower, sc_video_part_of(a)) & 15;
    v->b = checked(lower, sc_video_part_of(b)) & 15;
    v->written = checked(lower, sc_video_part_of(d)) & 15;
    if (sc_video_selector(d) && v->second != SC_VIDEO_ALONE)
        sc_lower_invalid(lower, "part of the destination in");
    if (sc_video_selector(d))
        v->second = SC_VIDEO_MERGE;
}

static void lower_form(struct sc_lower *lower, const struct sc_video_form *form)
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
        if (i == 2 && sc_video_selector(from))
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
    const struct sc_video_form *form = sc_video_form_find(lower->inst->opcode);
    if (form)
        lower_form(lower, form);
    return form != NULL;
}
