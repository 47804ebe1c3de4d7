/*
 * From addresses back to parameters; see ptx/origin.h.
 *
 * Every doubt ends in "anywhere". Lock: none.
 */
#include "ptx/origin.h"

#include <string.h>

enum { WIDE = 1 << 16, PASSES_MOST = 200, MOVES_MOST = 8 };

/* Opcodes by what they do to registers and memory; see ptx/effects.def. */
enum group {
    GROUP_UNKNOWN,
    GROUP_PLAIN,
    GROUP_LOOSE,
    GROUP_ELSEWHERE,
    GROUP_COMPUTES,
    GROUP_MOVES,
};

static const uint8_t groups[SC_OP_COUNT + 1] = {
#define X(op, group) [SC_OP_##op] = GROUP_##group,
#include "ptx/effects.def"
#undef X
};

struct pass {
    struct sc_load *load;
    const struct sc_func *func;
    struct sc_origins *o;
    bool changed, listing;
    uint32_t inst;
};

bool sc_origin_is_private(const struct sc_inst *inst)
{
    return sc_inst_has(inst, SC_MOD_shared) ||
           sc_inst_has(inst, SC_MOD_shared__cta) ||
           sc_inst_has(inst, SC_MOD_shared__cluster) ||
           sc_inst_has(inst, SC_MOD_local) || sc_inst_has(inst, SC_MOD_param) ||
           sc_inst_has(inst, SC_MOD_param__entry) ||
           sc_inst_has(inst, SC_MOD_param__func);
}

static bool is_param(const struct sc_inst *inst)
{
    return sc_inst_has(inst, SC_MOD_param) ||
           sc_inst_has(inst, SC_MOD_param__entry);
}

/* Bytes of one element of what an instruction moves; 0: nobody knows. */
static uint32_t element_bytes(const struct sc_inst *inst)
{
    return inst->type_count ? sc_type_bytes(inst->types[inst->type_count - 1])
                            : 0;
}

uint32_t sc_origin_bytes(const struct sc_inst *inst)
{
    return element_bytes(inst) * (sc_inst_has(inst, SC_MOD_v8)   ? 8
                                  : sc_inst_has(inst, SC_MOD_v4) ? 4
                                  : sc_inst_has(inst, SC_MOD_v2) ? 2
                                                                 : 1);
}

/* ---- values -------------------------------------------------------------- */

/* Registers that the driver fills, some with addresses of its own memory. They
 * are beside each other in the list. */
static bool is_drivers(uint32_t special)
{
    return special >= SC_SREG_envreg0 && special <= SC_SREG_envreg9;
}

static sc_origin origin_of(const struct pass *p,
                           const struct sc_operand *operand)
{
    sc_origin all = 0;
    switch (operand->kind) {
    case SC_OPERAND_REG:
        return p->o->of[operand->reg];
    case SC_OPERAND_SYMBOL:
        return operand->var->space == SC_SPACE_PARAM ? SC_ORIGIN_UNKNOWN
                                                     : SC_ORIGIN_OWN;
    case SC_OPERAND_FUNC:
        return SC_ORIGIN_OWN;
    case SC_OPERAND_SPECIAL:
        return is_drivers(operand->reg) ? SC_ORIGIN_OWN : 0;
    default:
        for (uint32_t i = 0; i < sc_operand_parts(operand); i++)
            all |= origin_of(p, &operand->sub[i]);
        return all;
    }
}

/* What fits into a register: not an address, where that has 32 bits. */
static sc_origin cut(const struct pass *p, uint32_t reg, sc_origin origin)
{
    if ((origin & SC_ORIGIN_UNKNOWN) &&
        sc_type_bytes(p->func->regs[reg].type) <= 4)
        return (origin & ~SC_ORIGIN_UNKNOWN) | SC_ORIGIN_LOOSE;
    return origin;
}

static void put(struct pass *p, const struct sc_operand *to, sc_origin origin)
{
    if (to->kind == SC_OPERAND_REG) {
        origin = cut(p, to->reg, origin);
        p->changed |= (p->o->of[to->reg] | origin) != p->o->of[to->reg];
        p->o->of[to->reg] |= origin;
        return;
    }
    for (uint32_t i = 0; i < sc_operand_parts(to); i++)
        put(p, &to->sub[i], origin);
}

static sc_origin loaded(uint32_t bytes)
{
    return bytes > 0 && bytes <= 4 ? SC_ORIGIN_LOOSE : SC_ORIGIN_UNKNOWN;
}

/* Does it put 64 bits together out of parts, or by a large factor? */
static bool is_widening(const struct sc_inst *inst)
{
    bool result = sc_inst_has(inst, SC_MOD_wide) || element_bytes(inst) >= 8;
    bool large = false;
    switch (inst->opcode) {
    case SC_OP_mov:
        return result && inst->operand_count > 1 &&
               sc_operand_parts(&inst->operands[1]) > 1;
    case SC_OP_shl:
        return result && inst->operand_count > 2 &&
               (inst->operands[2].kind != SC_OPERAND_INT ||
                inst->operands[2].bits >= 16);
    case SC_OP_bfi:
        return result;
    case SC_OP_mul:
    case SC_OP_mad:
        for (uint32_t i = 1; i < inst->operand_count; i++)
            large |= inst->operands[i].kind == SC_OPERAND_INT &&
                     inst->operands[i].bits + WIDE - 1 > 2 * (WIDE - 1);
        return result && large;
    default:
        return false;
    }
}

static void compute(struct pass *p, const struct sc_inst *inst)
{
    sc_origin all = 0;
    for (uint32_t i = 1; i < inst->operand_count; i++)
        all |= origin_of(p, &inst->operands[i]);
    if ((all & SC_ORIGIN_LOOSE) && is_widening(inst))
        all |= SC_ORIGIN_UNKNOWN;
    put(p, &inst->operands[0], all);
}

/* From an address in one of the small spaces, or to it, to a generic one. */
static void convert_address(struct pass *p, const struct sc_inst *inst)
{
    bool small =
        !sc_inst_has(inst, SC_MOD_to) &&
        (sc_origin_is_private(inst) || sc_inst_has(inst, SC_MOD_const));
    put(p, &inst->operands[0],
        small ? SC_ORIGIN_OWN : origin_of(p, &inst->operands[1]));
}

/* ---- parameters ---------------------------------------------------------- */

/* What a register is set to, where one instruction alone sets it. */
static const struct sc_inst *only_definition(const struct sc_func *func,
                                             uint32_t reg)
{
    const struct sc_inst *found = NULL;
    for (size_t i = 0; i < func->inst_count; i++) {
        const struct sc_inst *inst = &func->insts[i];
        for (uint32_t k = 0; k < inst->operand_count; k++) {
            const struct sc_operand *o = &inst->operands[k];
            bool here = (k == 0 || inst->opcode == SC_OP_call) &&
                        o->kind == SC_OPERAND_REG && o->reg == reg;
            for (uint32_t n = 0; n < sc_operand_parts(o); n++)
                here |= o->kind != SC_OPERAND_ADDRESS &&
                        o->sub[n].kind == SC_OPERAND_REG &&
                        o->sub[n].reg == reg;
            if (here && inst->opcode != SC_OP_st && found)
                return NULL;
            if (here && inst->opcode != SC_OP_st)
                found = inst;
        }
    }
    return found;
}

static bool is_parameter(const struct sc_func *func,
                         const struct sc_operand *operand)
{
    return operand->kind == SC_OPERAND_SYMBOL &&
           operand->var->space == SC_SPACE_PARAM && func->is_entry;
}

const struct sc_var *sc_origin_parameter(const struct sc_func *func,
                                         const struct sc_operand *operand,
                                         uint64_t *offset)
{
    *offset = operand->bits;
    if (operand->kind == SC_OPERAND_ADDRESS) {
        operand = &operand->sub[0];
        *offset += operand->kind == SC_OPERAND_SYMBOL ? operand->bits : 0;
    }
    for (int i = 0; operand->kind == SC_OPERAND_REG; i++) {
        const struct sc_inst *inst = only_definition(func, operand->reg);
        if (!inst || inst->opcode != SC_OP_mov || inst->operand_count != 2 ||
            inst->operands[0].kind != SC_OPERAND_REG || inst->guarded ||
            i == MOVES_MOST)
            return NULL;
        operand = &inst->operands[1];
        *offset += operand->kind == SC_OPERAND_SYMBOL ? operand->bits : 0;
    }
    return is_parameter(func, operand) && *offset < operand->var->bytes
               ? operand->var
               : NULL;
}

static unsigned number_of(const struct sc_func *func, const struct sc_var *var)
{
    unsigned n = 0;
    for (const struct sc_var *v = func->params; v && v != var; v = v->next)
        n++;
    return n;
}

static sc_origin place_of(struct pass *p, const struct sc_var *var,
                          uint64_t offset)
{
    struct sc_origins *o = p->o;
    unsigned param = number_of(p->func, var), i = 0;
    uint64_t at = var->address + offset;
    while (i < o->place_count && o->places[i].at != at)
        i++;
    if (i == SC_PLACES_MOST || offset + 8 > var->bytes || at > UINT16_MAX)
        return SC_ORIGIN_UNKNOWN;
    if (i == o->place_count)
        o->places[o->place_count++] =
            (struct sc_place){(uint16_t)param, (uint16_t)offset, (uint16_t)at};
    return (sc_origin)1 << i;
}

static void reach_anywhere(struct sc_origins *o, const struct sc_inst *inst)
{
    o->reaches_anywhere = true;
    if (!o->anywhere_for)
        o->anywhere_for = inst;
}

/* ---- memory -------------------------------------------------------------- */

static void access(struct pass *p, const struct sc_operand *address,
                   uint32_t bytes, bool reads, bool writes)
{
    struct sc_origins *o = p->o;
    if (!p->listing)
        return;
    o->accesses = sc_load_grow(p->load, o->accesses, o->access_count,
                               &o->access_capacity, sizeof *o->accesses);
    sc_origin origin = origin_of(p, address);
    if (!(origin & (SC_ORIGIN_PLACES | SC_ORIGIN_OWN)))
        origin = SC_ORIGIN_UNKNOWN;
    o->reaches_own |= (origin & SC_ORIGIN_OWN) != 0;
    o->writes_own |= writes && (origin & SC_ORIGIN_OWN);
    o->accesses[o->access_count++] =
        (struct sc_access){p->inst, address, bytes, reads, writes, origin};
}

static void load_parameter(struct pass *p, const struct sc_inst *inst)
{
    const struct sc_operand *to = &inst->operands[0];
    uint32_t bytes = element_bytes(inst), parts = sc_operand_parts(to);
    uint64_t offset;
    const struct sc_var *var =
        sc_origin_parameter(p->func, &inst->operands[1], &offset);
    for (uint32_t i = 0; i < (parts ? parts : 1); i++, offset += bytes)
        put(p, parts ? &to->sub[i] : to,
            var && bytes == 8 ? place_of(p, var, offset) : loaded(bytes));
}

static void load(struct pass *p, const struct sc_inst *inst)
{
    if (is_param(inst)) {
        load_parameter(p, inst);
        return;
    }
    put(p, &inst->operands[0], loaded(element_bytes(inst)));
    p->o->reaches_own |= sc_inst_has(inst, SC_MOD_const);
    if (!sc_origin_is_private(inst) && !sc_inst_has(inst, SC_MOD_const))
        access(p, &inst->operands[1], sc_origin_bytes(inst), true, false);
}

/* Textures may lie in memory that no parameter points to. */
static void load_loosely(struct pass *p, const struct sc_inst *inst)
{
    put(p, &inst->operands[0], SC_ORIGIN_LOOSE);
    if (inst->opcode == SC_OP_tex || inst->opcode == SC_OP_tld4)
        reach_anywhere(p->o, inst);
}

static bool is_form(const struct sc_inst *inst, const char *form)
{
    return memmem(inst->text, inst->text_length, form, strlen(form)) != NULL;
}

/* Tiles of a matrix, of rows that are some stride apart. */
static bool move_tile(struct pass *p, const struct sc_inst *inst)
{
    bool reads = is_form(inst, "wmma.load"), writes = is_form(inst, "wmma.st");
    if (!writes)
        put(p, &inst->operands[0], SC_ORIGIN_LOOSE);
    if (!sc_origin_is_private(inst) && (reads || writes))
        access(p, &inst->operands[reads], 0, reads, writes);
    return true;
}

/* Functions that write nothing of the program's. */
static bool call(struct pass *p, const struct sc_inst *inst)
{
    const struct sc_operand *callee = &inst->operands[0];
    if (callee->kind != SC_OPERAND_FUNC || callee->func->has_body)
        return false;
    bool prints = strcmp(callee->func->name, "vprintf") == 0;
    if (prints) /* strings, wherever they are */
        reach_anywhere(p->o, inst);
    for (uint32_t i = 1; inst->call && i <= inst->call->ret_count; i++)
        put(p, &inst->operands[i], SC_ORIGIN_LOOSE);
    return prints || strcmp(callee->func->name, "__assertfail") == 0;
}

static bool copy_asynchronously(struct pass *p, const struct sc_inst *inst)
{
    enum { MOST_BYTES = 16 };
    if (inst->operand_count > 1)
        access(p, &inst->operands[1], MOST_BYTES, true, false);
    return sc_inst_has(inst, SC_MOD_async) && !inst->odd;
}

/* ---- instructions -------------------------------------------------------- */

static bool move(struct pass *p, const struct sc_inst *inst)
{
    const struct sc_operand *operands = inst->operands;
    bool is_private = sc_origin_is_private(inst);
    if (inst->opcode == SC_OP_call)
        return call(p, inst);
    if (inst->opcode == SC_OP_cp)
        return copy_asynchronously(p, inst);
    if (inst->operand_count >= 2 && inst->opcode == SC_OP_wmma)
        return move_tile(p, inst);
    if (inst->operand_count < 2 || inst->odd)
        return false;
    switch (inst->opcode) {
    case SC_OP_ld:
    case SC_OP_ldu:
        load(p, inst);
        return true;
    case SC_OP_st:
    case SC_OP_red:
        if (!is_private)
            access(p, &operands[0], sc_origin_bytes(inst),
                   inst->opcode == SC_OP_red, true);
        return true;
    case SC_OP_atom:
        put(p, &operands[0], loaded(sc_origin_bytes(inst)));
        if (!is_private)
            access(p, &operands[1], sc_origin_bytes(inst), true, true);
        return true;
    case SC_OP_cvta:
        convert_address(p, inst);
        return true;
    default:
        return false;
    }
}

/* Return: false: it may write to any memory. */
static bool understand(struct pass *p, const struct sc_inst *inst)
{
    enum group group = groups[inst->opcode];
    switch (group) {
    case GROUP_PLAIN:
        return true;
    case GROUP_LOOSE:
        if (inst->operand_count)
            load_loosely(p, inst);
        return inst->operand_count > 0;
    case GROUP_ELSEWHERE:
        if (inst->operand_count && inst->operands[0].kind == SC_OPERAND_REG)
            put(p, &inst->operands[0], SC_ORIGIN_UNKNOWN);
        return true;
    case GROUP_COMPUTES:
        if (inst->operand_count)
            compute(p, inst);
        return inst->operand_count > 0 && !inst->odd;
    case GROUP_MOVES:
        return move(p, inst);
    default:
        return false;
    }
}

static void pass_once(struct pass *p)
{
    p->changed = false;
    for (size_t i = 0; i < p->func->inst_count; i++) {
        p->inst = (uint32_t)i;
        if (!understand(p, &p->func->insts[i])) {
            p->o->writes_anywhere = true;
            reach_anywhere(p->o, &p->func->insts[i]);
        }
    }
}

void sc_origins_find(struct sc_load *load, const struct sc_func *func,
                     struct sc_origins *origins)
{
    struct pass p = {.load = load, .func = func, .o = origins};
    memset(origins, 0, sizeof *origins);
    origins->of = sc_load_alloc(load, func->reg_count, sizeof *origins->of);
    unsigned passes = 0;
    do
        pass_once(&p);
    while (p.changed && ++passes < PASSES_MOST);
    origins->writes_anywhere |= p.changed;
    p.listing = true;
    pass_once(&p);
    for (size_t i = 0; i < origins->access_count; i++) {
        const struct sc_access *a = &origins->accesses[i];
        if (a->origin & SC_ORIGIN_UNKNOWN) {
            origins->writes_anywhere |= a->writes;
            reach_anywhere(origins, &func->insts[a->inst]);
        }
    }
    origins->reaches_anywhere |= origins->writes_anywhere;
}
