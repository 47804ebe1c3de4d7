/*
 * Video instructions as templates: lane by lane, as exec/video.c has them.
 *
 * The interpreter has checked types and selectors. Lock: none.
 */
#include "native/alu_find.h"
#include "ptx/video_form.h"

static unsigned take_compare(struct sc_alu_find *find)
{
    enum sc_modifier name = SC_MOD_eq;
    unsigned compare = (unsigned)sc_video_compare_of(find->inst, &name);
    sc_alu_take(find, name);
    return compare;
}

/* What happens to the result and operand c. */
static enum sc_video_second take_second(struct sc_alu_find *find,
                                        const struct sc_video_form *form)
{
    if (sc_alu_take(find, SC_MOD_add))
        return SC_VIDEO_PLUS;
    if (form->parts > 1 || sc_video_selector(sc_alu_operand(find, 0)))
        return SC_VIDEO_MERGE;
    if (form->kind == SC_VIDEO_MIN || form->kind == SC_VIDEO_MAX)
        return SC_VIDEO_ALONE;
    return sc_alu_take(find, SC_MOD_min)   ? SC_VIDEO_LEAST
           : sc_alu_take(find, SC_MOD_max) ? SC_VIDEO_MOST
                                           : SC_VIDEO_ALONE;
}

static bool emit(struct sc_alu_find *find, const struct sc_video_form *form)
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
    bool one = form->parts == 1;
    unsigned from_a =
        (unsigned)(one ? sc_video_part_of(a)
                       : sc_video_digits_of(a, form->parts, false));
    unsigned from_b =
        (unsigned)(one ? sc_video_part_of(b)
                       : sc_video_digits_of(b, form->parts, true));
    unsigned to = (unsigned)(one ? sc_video_part_of(d)
                                 : sc_video_written_of(d, form->parts));
    sc_alu_name(find, "_%x_%x_%x", to, from_a, from_b);
    find->call->form = SC_ALU_LANES;
    if (one)
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
    const struct sc_video_form *form = sc_video_form_find(find->inst->opcode);
    return form && emit(find, form);
}
