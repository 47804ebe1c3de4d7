/*
 * Rewriting of a function's instructions into a new list.
 *
 * Labels of instructions that are moved as they are still name places of the
 * old list; sc_edit_end turns them into places of the new one. Lock: none.
 */
#ifndef SOFTCUDA_PTX_EDIT_H
#define SOFTCUDA_PTX_EDIT_H

#include "ptx/ir.h"

struct sc_edit {
    struct sc_load *load;
    struct sc_func *func;
    struct sc_inst *insts; /* new list */
    size_t count, capacity;
    uint32_t *place; /* by old instruction: where it begins now */
    uint32_t *moved; /* new instructions with labels of the old list */
    size_t moved_count, moved_capacity;
    size_t reg_capacity;
};

/** Begin with an empty list; func keeps the old one until the end. */
void sc_edit_begin(struct sc_edit *edit, struct sc_load *load,
                   struct sc_func *func);

/** Old instruction `index` begins here. */
void sc_edit_place(struct sc_edit *edit, size_t index);

/** Append a copy of `inst`; valid until the next append. */
struct sc_inst *sc_edit_append(struct sc_edit *edit,
                               const struct sc_inst *inst);

/** Append an instruction of the old list, whose labels follow it. */
void sc_edit_move(struct sc_edit *edit, const struct sc_inst *inst);

/**
 * Append a made-up instruction with line, text and guard of `like`.
 *
 * @count operands, zeroed, to be filled in
 */
struct sc_inst *sc_edit_make(struct sc_edit *edit, enum sc_opcode opcode,
                             const struct sc_inst *like, uint32_t count);

/** The new list becomes the function's. */
void sc_edit_end(struct sc_edit *edit);

/** One more register of the function. */
uint32_t sc_edit_register(struct sc_edit *edit, enum sc_type type);

/** Append a type to an instruction that sc_edit_make made. */
static inline void sc_edit_type(struct sc_inst *inst, enum sc_type type)
{
    inst->types[inst->type_count++] = type;
}

static inline void sc_edit_modifier(struct sc_inst *inst,
                                    enum sc_modifier modifier)
{
    inst->mods[modifier / 64] |= (uint64_t)1 << modifier % 64;
}

static inline bool sc_edit_has(const struct sc_inst *inst,
                               enum sc_modifier modifier)
{
    return inst->mods[modifier / 64] >> modifier % 64 & 1;
}

static inline void sc_edit_drop(struct sc_inst *inst, enum sc_modifier modifier)
{
    inst->mods[modifier / 64] &= ~((uint64_t)1 << modifier % 64);
}

/** b16, b32 or b64 for a value of that size; a byte lies in a b16. */
static inline enum sc_type sc_edit_bits(uint32_t bytes)
{
    return bytes == 8 ? SC_T_b64 : bytes == 4 ? SC_T_b32 : SC_T_b16;
}

#endif
