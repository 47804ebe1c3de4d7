/*
 * Rewriting of a function's instructions; see ptx/edit.h.
 *
 * Lock: none.
 */
#include "ptx/edit.h"

#include <string.h>

#define MAX_REGISTERS ((size_t)1 << 20)

void sc_edit_begin(struct sc_edit *edit, struct sc_load *load,
                   struct sc_func *func)
{
    *edit = (struct sc_edit){
        .load = load, .func = func, .reg_capacity = func->reg_count};
    edit->place =
        sc_load_alloc(load, func->inst_count + 1, sizeof *edit->place);
}

void sc_edit_place(struct sc_edit *edit, size_t index)
{
    edit->place[index] = (uint32_t)edit->count;
}

struct sc_inst *sc_edit_append(struct sc_edit *edit, const struct sc_inst *inst)
{
    edit->insts = sc_load_grow(edit->load, edit->insts, edit->count,
                               &edit->capacity, sizeof *edit->insts);
    edit->insts[edit->count] = *inst;
    return &edit->insts[edit->count++];
}

static bool has_label(const struct sc_inst *inst)
{
    for (uint32_t i = 0; i < inst->operand_count; i++)
        if (inst->operands[i].kind == SC_OPERAND_LABEL)
            return true;
    return false;
}

void sc_edit_move(struct sc_edit *edit, const struct sc_inst *inst)
{
    sc_edit_append(edit, inst);
    if (!has_label(inst))
        return;
    edit->moved = sc_load_grow(edit->load, edit->moved, edit->moved_count,
                               &edit->moved_capacity, sizeof *edit->moved);
    edit->moved[edit->moved_count++] = (uint32_t)edit->count - 1;
}

struct sc_inst *sc_edit_make(struct sc_edit *edit, enum sc_opcode opcode,
                             const struct sc_inst *like, uint32_t count)
{
    struct sc_inst inst = {.opcode = opcode,
                           .line = like->line,
                           .text = like->text,
                           .text_length = like->text_length,
                           .guarded = like->guarded,
                           .guard_negate = like->guard_negate,
                           .guard = like->guard,
                           .operand_count = count};
    inst.operands =
        sc_load_alloc(edit->load, count ? count : 1, sizeof *inst.operands);
    return sc_edit_append(edit, &inst);
}

static void patch(struct sc_edit *edit, struct sc_inst *inst)
{
    for (uint32_t i = 0; i < inst->operand_count; i++) {
        struct sc_operand *o = &inst->operands[i];
        if (o->kind != SC_OPERAND_LABEL)
            continue;
        if (inst->opcode != SC_OP_brx) {
            o->target = edit->place[o->target];
            continue;
        }
        /* several branches may share a list */
        const struct sc_targets *old = o->targets;
        o->targets = sc_load_alloc(edit->load, 1, sizeof *o->targets);
        o->targets->count = old->count;
        o->targets->labels =
            sc_load_alloc(edit->load, old->count, sizeof *old->labels);
        for (uint32_t k = 0; k < old->count; k++) {
            o->targets->labels[k] = old->labels[k];
            o->targets->labels[k].target = edit->place[old->labels[k].target];
        }
    }
}

void sc_edit_end(struct sc_edit *edit)
{
    edit->place[edit->func->inst_count] = (uint32_t)edit->count;
    for (size_t i = 0; i < edit->moved_count; i++)
        patch(edit, &edit->insts[edit->moved[i]]);
    edit->func->insts = edit->insts;
    edit->func->inst_count = edit->count;
}

uint32_t sc_edit_register(struct sc_edit *edit, enum sc_type type)
{
    struct sc_func *func = edit->func;
    if (func->reg_count >= MAX_REGISTERS)
        sc_load_fail(edit->load, SC_LOAD_UNSUPPORTED, func->line,
                     "more than %zu registers in one function", MAX_REGISTERS);
    func->regs = sc_load_grow(edit->load, func->regs, func->reg_count,
                              &edit->reg_capacity, sizeof *func->regs);
    func->regs[func->reg_count].type = type;
    return (uint32_t)func->reg_count++;
}
