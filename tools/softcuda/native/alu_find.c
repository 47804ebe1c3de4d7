/*
 * From an instruction to its functions: operands, names, dispatch.
 *
 * Lock: none.
 */
#include "native/alu_find.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool sc_alu_take(struct sc_alu_find *find, enum sc_modifier modifier)
{
    uint64_t bit = (uint64_t)1 << modifier % 64;
    bool has = find->left[modifier / 64] & bit;
    find->left[modifier / 64] &= ~bit;
    return has;
}

enum sc_lane_class sc_alu_class(enum sc_type type)
{
    return type == SC_T_pred         ? SC_LANE_PRED
           : sc_type_bytes(type) > 4 ? SC_LANE_64
                                     : SC_LANE_32;
}

uint32_t sc_alu_bits(enum sc_type type)
{
    return 8 * sc_type_bytes(type);
}

const struct sc_operand *sc_alu_operand(struct sc_alu_find *find,
                                        uint32_t index)
{
    return index < find->inst->operand_count ? &find->inst->operands[index]
                                             : NULL;
}

void sc_alu_arg(struct sc_alu_find *find, enum sc_type type,
                const struct sc_operand *operand)
{
    struct sc_alu_call *call = find->call;
    call->args[call->arg_count++] =
        (struct sc_alu_value){sc_alu_class(type), type, operand};
    if (sc_alu_class(type) == SC_LANE_64 && call->form == SC_ALU_PLAIN)
        call->form = SC_ALU_HALVES;
}

bool sc_alu_args(struct sc_alu_find *find, enum sc_type type, uint32_t n)
{
    if (find->inst->operand_count != n + 1)
        return false;
    for (uint32_t i = 1; i <= n; i++)
        sc_alu_arg(find, type, sc_alu_operand(find, i));
    return true;
}

void sc_alu_result(struct sc_alu_find *find, enum sc_type type,
                   const struct sc_operand *operand, const char *format, ...)
{
    struct sc_alu_call *call = find->call;
    if (operand && operand->kind == SC_OPERAND_SINK)
        return;
    uint32_t i = call->result_count++;
    call->results[i] = (struct sc_alu_value){sc_alu_class(type), type, operand};
    if (sc_alu_class(type) == SC_LANE_64 && call->form == SC_ALU_PLAIN)
        call->form = SC_ALU_HALVES;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(call->bodies[i], sizeof call->bodies[i], format, args);
    find->too_long |= n < 0 || (size_t)n >= sizeof call->bodies[i];
    va_end(args);
}

void sc_alu_name(struct sc_alu_find *find, const char *format, ...)
{
    char *name = find->call->names[0];
    size_t have = strlen(name);
    va_list args;
    va_start(args, format);
    size_t room = sizeof find->call->names[0] - have;
    int n = vsnprintf(name + have, room, format, args);
    find->too_long |= n < 0 || (size_t)n >= room;
    va_end(args);
}

/* opcode_modifiers_types, for all results alike */
static void name_base(struct sc_alu_find *find)
{
    const struct sc_inst *inst = find->inst;
    sc_alu_name(find, "%s", sc_opcode_name(inst->opcode));
    for (unsigned m = 0; m < SC_MOD_COUNT; m++)
        if (inst->mods[m / 64] >> m % 64 & 1)
            sc_alu_name(find, "_%s", sc_modifier_name((enum sc_modifier)m));
    for (unsigned i = 0; i < inst->type_count; i++)
        sc_alu_name(find, "_%s", sc_type_name(inst->types[i]));
}

/* Results of one instruction differ by number; a name that does not fit could
 * be another instruction's. */
static bool name_results(struct sc_alu_call *call)
{
    size_t room = sizeof call->names[0], length = strlen(call->names[0]);
    if (length + 4 > room)
        return false;
    for (uint32_t i = 1; i < call->result_count; i++) {
        memcpy(call->names[i], call->names[0], length);
        call->names[i][length] = '_';
        call->names[i][length + 1] = 'r';
        call->names[i][length + 2] = (char)('0' + i);
        call->names[i][length + 3] = 0;
    }
    for (uint32_t i = 0; i < call->result_count; i++)
        for (char *s = call->names[i]; *s; s++)
            *s = *s == ':' || *s == '.' ? '_' : *s;
    return true;
}

static bool find_any(const struct sc_func *func, const struct sc_inst *inst,
                     struct sc_alu_call *call, bool raw)
{
    struct sc_alu_find find = {
        .func = func, .inst = inst, .call = call, .raw = raw};
    memset(call, 0, sizeof *call);
    memcpy(find.left, inst->mods, sizeof find.left);
    find.type = inst->type_count ? inst->types[0] : SC_T_pred;
    name_base(&find);
    if (inst->operand_count < 2)
        return false;
    bool found = sc_alu_find_int(&find) || sc_alu_find_logic(&find) ||
                 sc_alu_find_real(&find) || sc_alu_find_half(&find) ||
                 sc_alu_find_compare(&find) || sc_alu_find_convert(&find) ||
                 sc_alu_find_video(&find);
    for (unsigned i = 0; i < SC_MOD_WORDS; i++)
        found &= !find.left[i];
    if (call->raw)
        sc_alu_name(&find, "_raw");
    return found && !find.too_long && name_results(call);
}

bool sc_alu_find(const struct sc_func *func, const struct sc_inst *inst,
                 struct sc_alu_call *call)
{
    return find_any(func, inst, call, false);
}

bool sc_alu_find_raw(const struct sc_func *func, const struct sc_inst *inst,
                     struct sc_alu_call *call)
{
    return find_any(func, inst, call, true);
}
