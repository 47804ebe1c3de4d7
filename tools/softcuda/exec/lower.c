/*
 * Decodes kernels: blocks, slots, operands; see exec/lower.h.
 *
 * Lock: none.
 */
#include "exec/lower.h"

#include <string.h>

#define FILL_BUCKETS 256u
#define MAX_FILE     ((uint64_t)64 << 20)

static _Noreturn void stop(struct sc_lower *lower, enum sc_load_error error,
                           const char *why)
{
    const struct sc_inst *inst = lower->inst;
    uint32_t n = 0;
    while (n < inst->text_length && n < 80 && inst->text[n] != '\n')
        n++;
    sc_load_fail(lower->load, error, inst->line, "%s '%.*s'", why, (int)n,
                 inst->text);
}

void sc_lower_refuse(struct sc_lower *lower, const char *why)
{
    stop(lower, SC_LOAD_UNSUPPORTED, why);
}

void sc_lower_invalid(struct sc_lower *lower, const char *why)
{
    stop(lower, SC_LOAD_INVALID, why);
}

bool sc_lower_take(struct sc_lower *lower, enum sc_modifier modifier)
{
    uint64_t bit = (uint64_t)1 << modifier % 64;
    bool has = lower->left[modifier / 64] & bit;
    lower->left[modifier / 64] &= ~bit;
    return has;
}

struct sc_op *sc_lower_push(struct sc_lower *lower, sc_handler run)
{
    struct sc_code *code = lower->code;
    code->ops = sc_load_grow(lower->load, code->ops, code->op_count,
                             &lower->op_capacity, sizeof *code->ops);
    struct sc_op *op = &code->ops[code->op_count++];
    *op = (struct sc_op){.run = run,
                         .line = lower->inst ? lower->inst->line
                                             : lower->func->line};
    return op;
}

struct sc_op *sc_lower_emit(struct sc_lower *lower, sc_handler run)
{
    if (!run)
        sc_lower_refuse(lower, "unsupported form");
    if (lower->guarded)
        sc_lower_push(lower,
                      lower->guard_negate ? sc_op_guard_not : sc_op_guard)
            ->a = lower->guard_slot;
    return sc_lower_push(lower, run);
}

sc_handler sc_lower_find(struct sc_lower *lower, enum sc_alu kind,
                         enum sc_type type)
{
    sc_handler run = lower->isa->integer(kind, type);
    if (!run)
        run = lower->isa->real(kind, type);
    if (!run)
        run = lower->isa->half(kind, type);
    if (!run)
        sc_lower_refuse(lower, "unsupported form");
    return run;
}

struct sc_op *sc_lower_alu(struct sc_lower *lower, enum sc_alu kind,
                           enum sc_type type, uint32_t d, uint32_t a,
                           uint32_t b, uint32_t c)
{
    struct sc_op *op = sc_lower_emit(lower, sc_lower_find(lower, kind, type));
    op->d = d;
    op->a = a;
    op->b = b;
    op->c = c;
    return op;
}

enum sc_type sc_lower_bits(uint32_t bytes)
{
    return bytes == 8 ? SC_T_b64 : bytes == 4 ? SC_T_b32 : SC_T_b16;
}

uint32_t sc_lower_slot(struct sc_lower *lower, uint32_t bytes)
{
    uint32_t slot = lower->code->file_bytes;
    /* one line of padding keeps slots out of step in the cache */
    uint64_t end = (uint64_t)slot + bytes * SC_LANES + 64;
    if (end > MAX_FILE)
        sc_load_fail(lower->load, SC_LOAD_UNSUPPORTED, lower->kernel->line,
                     "kernel '%s' needs too many registers",
                     lower->kernel->name);
    lower->code->file_bytes = (uint32_t)end;
    return slot;
}

uint32_t sc_lower_temp(struct sc_lower *lower, uint32_t bytes)
{
    uint32_t row = bytes == 8 ? 2 : bytes == 4 ? 1 : 0;
    uint32_t index = lower->temp_used[row]++;
    if (index == SC_TEMPS)
        sc_lower_refuse(lower, "instruction too large");
    if (lower->temps[row][index] == SC_NO_SLOT)
        lower->temps[row][index] = sc_lower_slot(lower, bytes);
    return lower->temps[row][index];
}

uint32_t sc_lower_fill(struct sc_lower *lower, struct sc_fill fill)
{
    struct sc_code *code = lower->code;
    uint32_t bucket = (uint32_t)((fill.value * 0x9e3779b97f4a7c15u >> 40) ^
                                 fill.kind * 7u ^ fill.bytes) %
                      FILL_BUCKETS;
    for (uint32_t i = lower->fill_buckets[bucket]; i;
         i = lower->fill_next[i - 1]) {
        const struct sc_fill *old = &code->fills[i - 1];
        if (old->value == fill.value && old->kind == fill.kind &&
            old->bytes == fill.bytes && old->load_bytes == fill.load_bytes &&
            old->is_signed == fill.is_signed)
            return old->slot;
    }
    fill.slot = sc_lower_slot(lower, fill.bytes);
    code->fills = sc_load_grow(lower->load, code->fills, code->fill_count,
                               &lower->fill_capacity, sizeof *code->fills);
    lower->fill_next =
        sc_load_grow(lower->load, lower->fill_next, code->fill_count,
                     &lower->fill_next_capacity, sizeof *lower->fill_next);
    lower->fill_next[code->fill_count] = lower->fill_buckets[bucket];
    code->fills[code->fill_count++] = fill;
    lower->fill_buckets[bucket] = code->fill_count;
    return fill.slot;
}

uint32_t sc_lower_constant(struct sc_lower *lower, uint32_t bytes,
                           uint64_t value)
{
    if (bytes < 8)
        value &= ((uint64_t)1 << 8 * bytes) - 1;
    return sc_lower_fill(lower, (struct sc_fill){.kind = SC_FILL_VALUE,
                                                 .bytes = (uint8_t)bytes,
                                                 .value = value});
}

const struct sc_operand *sc_lower_operand(struct sc_lower *lower,
                                          uint32_t index)
{
    if (index >= lower->inst->operand_count)
        sc_lower_invalid(lower, "too few operands in");
    return &lower->inst->operands[index];
}

void sc_lower_count(struct sc_lower *lower, uint32_t least, uint32_t most)
{
    uint32_t n = lower->inst->operand_count;
    if (n < least || n > most)
        sc_lower_invalid(lower, "wrong number of operands in");
}

uint32_t sc_lower_reg_bytes(const struct sc_lower *lower,
                            const struct sc_operand *operand)
{
    if (operand->kind != SC_OPERAND_REG)
        return 0;
    uint32_t bytes = sc_type_bytes(lower->func->regs[operand->reg].type);
    return bytes == 1 ? 2 : bytes;
}

uint32_t sc_lower_reg(struct sc_lower *lower, uint32_t reg)
{
    if (lower->reg_slot[reg] == SC_NO_SLOT) {
        uint32_t bytes = sc_type_bytes(lower->func->regs[reg].type);
        if (bytes > 8)
            sc_lower_refuse(lower, "128-bit register in");
        lower->reg_slot[reg] = sc_lower_slot(lower, bytes == 1 ? 2 : bytes);
    }
    return lower->reg_slot[reg];
}

static bool is_shared_or_local(const struct sc_var *var)
{
    return var->space == SC_SPACE_SHARED || var->space == SC_SPACE_LOCAL;
}

uint64_t sc_lower_address(struct sc_lower *lower, const struct sc_var *var,
                          bool generic)
{
    uint64_t base = 0;
    if (generic && var->space == SC_SPACE_SHARED)
        base = lower->space->shared_base;
    else if (generic && var->space == SC_SPACE_LOCAL)
        base = lower->space->local_base;
    else if (generic && var->space == SC_SPACE_PARAM)
        base = lower->space->local_base + SC_LOCAL_USABLE;
    if (is_shared_or_local(var) && !var->placed)
        sc_lower_refuse(lower, "variable of another function in");
    return var->address + base;
}

bool sc_lower_in_frame(const struct sc_lower *lower, const struct sc_var *var)
{
    return var->space == SC_SPACE_LOCAL && var->owner == lower->func &&
           !lower->func->is_entry && lower->func->calls;
}

uint32_t sc_lower_address_slot(struct sc_lower *lower, const struct sc_var *var,
                               bool generic, uint64_t addend)
{
    uint64_t at = sc_lower_address(lower, var, generic) + addend;
    if (!sc_lower_in_frame(lower, var))
        return sc_lower_constant(lower, 8, at);
    uint32_t slot = sc_lower_temp(lower, 8);
    sc_lower_alu(lower, SC_ALU_add, SC_T_u64, slot, lower->code->stack_slot,
                 sc_lower_constant(lower, 8, at), 0);
    return slot;
}

static uint32_t symbol_slot(struct sc_lower *lower,
                            const struct sc_operand *operand, uint32_t bytes)
{
    if (!sc_lower_in_frame(lower, operand->var))
        return sc_lower_constant(lower, bytes,
                                 sc_lower_address(lower, operand->var, false) +
                                     operand->bits);
    uint32_t slot =
        sc_lower_address_slot(lower, operand->var, false, operand->bits);
    if (bytes == 8)
        return slot;
    if (bytes != 4)
        sc_lower_invalid(lower, "address in too few bits in");
    uint32_t low = sc_lower_temp(lower, 4);
    sc_lower_alu(lower, SC_ALU_lo, SC_T_b64, low, slot, 0, 0);
    return low;
}

static uint64_t float_bits(struct sc_lower *lower,
                           const struct sc_operand *operand, uint32_t bytes)
{
    float narrow;
    double wide;
    uint32_t low = (uint32_t)operand->bits;
    if (operand->kind == SC_OPERAND_SINGLE && bytes == 4)
        return low;
    if (operand->kind == SC_OPERAND_SINGLE) {
        memcpy(&narrow, &low, sizeof narrow);
        wide = narrow;
    } else {
        memcpy(&wide, &operand->bits, sizeof wide);
    }
    uint64_t bits;
    if (bytes == 4) {
        narrow = (float)wide;
        memcpy(&low, &narrow, sizeof low);
        return low;
    }
    if (bytes != 8)
        sc_lower_invalid(lower, "floating point constant in");
    memcpy(&bits, &wide, sizeof bits);
    return bits;
}

static bool is_dynamic(enum sc_special special)
{
    return special == SC_SREG_clock || special == SC_SREG_clock64 ||
           special == SC_SREG_clock_hi || special == SC_SREG_globaltimer ||
           special == SC_SREG_globaltimer_lo ||
           special == SC_SREG_globaltimer_hi;
}

static uint32_t special_slot(struct sc_lower *lower, uint32_t special,
                             uint32_t bytes)
{
    if (!is_dynamic((enum sc_special)special))
        return sc_lower_fill(lower, (struct sc_fill){.kind = SC_FILL_SPECIAL,
                                                     .bytes = (uint8_t)bytes,
                                                     .value = special});
    uint32_t slot = sc_lower_temp(lower, bytes);
    struct sc_op *op = sc_lower_emit(lower, sc_op_clock);
    op->d = slot;
    op->imm = special;
    op->flags = (uint16_t)bytes;
    return slot;
}

uint32_t sc_lower_source(struct sc_lower *lower,
                         const struct sc_operand *operand, uint32_t bytes,
                         enum sc_type type)
{
    if (operand->negate)
        sc_lower_invalid(lower, "'!' before an operand of");
    switch (operand->kind) {
    case SC_OPERAND_REG:
        if (sc_lower_reg_bytes(lower, operand) != bytes ||
            (lower->func->regs[operand->reg].type == SC_T_pred) !=
                (type == SC_T_pred))
            sc_lower_invalid(lower, "register of the wrong size in");
        return sc_lower_reg(lower, operand->reg);
    case SC_OPERAND_INT:
        if (sc_type_class(type) == SC_CLASS_FLOAT && bytes >= 4)
            sc_lower_invalid(lower, "integer constant in");
        return sc_lower_constant(lower, bytes, operand->bits);
    case SC_OPERAND_SINGLE:
    case SC_OPERAND_DOUBLE:
        return sc_lower_constant(lower, bytes,
                                 float_bits(lower, operand, bytes));
    case SC_OPERAND_SPECIAL:
        return special_slot(lower, operand->reg, bytes);
    case SC_OPERAND_SYMBOL:
        return symbol_slot(lower, operand, bytes);
    case SC_OPERAND_FUNC:
        return sc_lower_constant(lower, bytes, sc_func_address(operand->func));
    default:
        sc_lower_invalid(lower, "operand of the wrong kind in");
    }
}

uint32_t sc_lower_dest(struct sc_lower *lower, const struct sc_operand *operand,
                       uint32_t bytes)
{
    if (operand->kind == SC_OPERAND_SINK)
        return sc_lower_temp(lower, bytes);
    if (operand->kind != SC_OPERAND_REG || operand->negate)
        sc_lower_invalid(lower, "destination is no register in");
    if (sc_lower_reg_bytes(lower, operand) != bytes)
        sc_lower_invalid(lower, "register of the wrong size in");
    return sc_lower_reg(lower, operand->reg);
}

uint32_t sc_lower_predicate(struct sc_lower *lower,
                            const struct sc_operand *operand)
{
    if (operand->kind == SC_OPERAND_INT)
        return sc_lower_constant(
            lower, 4, (operand->bits != 0) != operand->negate ? ~0u : 0);
    if (operand->kind != SC_OPERAND_REG ||
        lower->func->regs[operand->reg].type != SC_T_pred)
        sc_lower_invalid(lower, "operand is no predicate in");
    uint32_t slot = sc_lower_reg(lower, operand->reg);
    if (!operand->negate)
        return slot;
    uint32_t temp = sc_lower_temp(lower, 4);
    sc_lower_alu(lower, SC_ALU_not, SC_T_b32, temp, slot, 0, 0);
    return temp;
}

void sc_lower_target(struct sc_lower *lower, uint32_t block)
{
    lower->fixups = sc_load_grow(lower->load, lower->fixups, lower->fixup_count,
                                 &lower->fixup_capacity, sizeof *lower->fixups);
    uint32_t index = lower->code->op_count - 1;
    lower->fixups[lower->fixup_count++] = index;
    lower->code->ops[index].target = block;
}

/* ---- walking the kernel ---- */

static void place(struct sc_lower *lower, const struct sc_var *var)
{
    if (!is_shared_or_local(var) || var->placed || !var->bytes)
        return;
    uint32_t *bytes = var->space == SC_SPACE_SHARED ? &lower->code->shared_bytes
                      : sc_lower_in_frame(lower, var)
                          ? &lower->frame_bytes
                          : &lower->code->local_bytes;
    uint64_t at =
        ((uint64_t)*bytes + var->align - 1) & ~(uint64_t)(var->align - 1);
    uint64_t most = var->space == SC_SPACE_SHARED ? SC_MAX_SHARED_BYTES
                                                  : SC_LOCAL_USABLE / 16;
    if (at + var->bytes > most)
        sc_load_fail(lower->load, SC_LOAD_UNSUPPORTED, var->line,
                     "'%s' does not fit: more than %llu bytes per %s",
                     var->name, (unsigned long long)most,
                     var->space == SC_SPACE_SHARED ? "block" : "thread");
    struct sc_var *mine = (struct sc_var *)(uintptr_t)var;
    mine->address = at;
    mine->placed = true;
    *bytes = (uint32_t)(at + var->bytes);
}

static void for_symbols(struct sc_lower *lower,
                        void (*visit)(struct sc_lower *, const struct sc_var *))
{
    const struct sc_func *func = lower->func;
    for (size_t i = 0; i < func->inst_count; i++) {
        const struct sc_inst *inst = &func->insts[i];
        for (uint32_t k = 0; k < inst->operand_count; k++) {
            const struct sc_operand *o = &inst->operands[k];
            if (o->kind == SC_OPERAND_ADDRESS)
                o = o->sub;
            if (o->kind == SC_OPERAND_SYMBOL)
                visit(lower, o->var);
        }
    }
}

static void forget(struct sc_lower *lower, const struct sc_var *var)
{
    if (is_shared_or_local(var))
        ((struct sc_var *)(uintptr_t)var)->placed = false;
}

/* .extern .shared arrays all begin behind the static ones */
static void place_dynamic(struct sc_lower *lower, const struct sc_var *var)
{
    if (var->space != SC_SPACE_SHARED || var->bytes)
        return;
    struct sc_var *mine = (struct sc_var *)(uintptr_t)var;
    mine->address = lower->code->shared_bytes;
    mine->placed = true;
}

static void align_shared(struct sc_lower *lower, const struct sc_var *var)
{
    if (var->space == SC_SPACE_SHARED && !var->bytes)
        lower->code->shared_bytes =
            (lower->code->shared_bytes + var->align - 1) & ~(var->align - 1);
}

static void for_functions(struct sc_lower *lower,
                          void (*visit)(struct sc_lower *))
{
    for (uint32_t i = 0; i < lower->callee_count; i++) {
        lower->func = lower->callees[i];
        visit(lower);
    }
    lower->func = lower->kernel;
    visit(lower);
}

static void forget_all(struct sc_lower *lower)
{
    for_symbols(lower, forget);
    for (const struct sc_var *v = lower->func->vars; v; v = v->next)
        forget(lower, v);
}

/* Variables in frames begin anew in every function. */
static void place_own(struct sc_lower *lower)
{
    lower->frame_bytes = 0;
    for (const struct sc_var *v = lower->func->vars; v; v = v->next)
        place(lower, v);
    for_symbols(lower, place);
}

static void align_dynamic(struct sc_lower *lower)
{
    for_symbols(lower, align_shared);
}

static void place_last(struct sc_lower *lower)
{
    for_symbols(lower, place_dynamic);
}

static void place_variables(struct sc_lower *lower)
{
    for_functions(lower, forget_all);
    for_functions(lower, place_own);
    for_functions(lower, align_dynamic);
    for_functions(lower, place_last);
}

static bool writes_first_operand(const struct sc_inst *inst)
{
    switch (inst->opcode) {
    case SC_OP_st:
    case SC_OP_sust:
    case SC_OP_sured:
    case SC_OP_red:
    case SC_OP_bra:
    case SC_OP_brx:
    case SC_OP_membar:
    case SC_OP_fence:
    case SC_OP_nanosleep:
    case SC_OP_cp:
    case SC_OP_prefetch:
    case SC_OP_prefetchu:
        return false;
    case SC_OP_call:
        return inst->call->ret_count && inst->operand_count > 1;
    default:
        return inst->operand_count > 0;
    }
}

static void count_def(struct sc_lower *lower, const struct sc_operand *d)
{
    if (d->kind == SC_OPERAND_REG)
        lower->reg_defs[d->reg]++;
    for (uint32_t k = 0; k < sc_operand_parts(d); k++)
        count_def(lower, &d->sub[k]);
}

static void count_defs(struct sc_lower *lower)
{
    const struct sc_func *func = lower->func;
    for (size_t i = 0; i < func->inst_count; i++) {
        const struct sc_inst *inst = &func->insts[i];
        if (!writes_first_operand(inst))
            continue;
        const struct sc_operand *d = &inst->operands[inst->call ? 1 : 0];
        count_def(lower, d);
    }
}

static void begin_inst(struct sc_lower *lower, const struct sc_inst *inst)
{
    lower->inst = inst;
    memcpy(lower->left, inst->mods, sizeof lower->left);
    memset(lower->temp_used, 0, sizeof lower->temp_used);
    lower->guarded = false;
}

/* A guard that the instruction itself may overwrite is kept in a copy. */
static void begin_guard(struct sc_lower *lower, const struct sc_inst *inst)
{
    if (!inst->guarded)
        return;
    uint32_t slot = sc_lower_reg(lower, inst->guard);
    uint32_t copy = sc_lower_temp(lower, 4);
    bool clobbers = inst->opcode == SC_OP_setp || inst->opcode == SC_OP_and ||
                    inst->opcode == SC_OP_or || inst->opcode == SC_OP_xor ||
                    inst->opcode == SC_OP_shfl || inst->opcode == SC_OP_match;
    if (clobbers)
        sc_lower_alu(lower, SC_ALU_mov, SC_T_b32, copy, slot, 0, 0);
    lower->guarded = true;
    lower->guard_negate = inst->guard_negate;
    lower->guard_slot = clobbers ? copy : slot;
}

static void check_modifiers(struct sc_lower *lower)
{
    for (uint32_t m = 0; m < SC_MOD_COUNT; m++) {
        if (!(lower->left[m / 64] >> m % 64 & 1))
            continue;
        sc_load_fail(
            lower->load, SC_LOAD_UNSUPPORTED, lower->inst->line,
            "modifier '.%s' is not supported in '%.*s'",
            sc_modifier_name((enum sc_modifier)m),
            lower->inst->text_length > 80 ? 80 : (int)lower->inst->text_length,
            lower->inst->text);
    }
}

static void lower_inst(struct sc_lower *lower, const struct sc_inst *inst)
{
    begin_inst(lower, inst);
    if (sc_lower_absorb(lower, inst))
        return;
    begin_inst(lower, inst);
    begin_guard(lower, inst);
    if (!sc_lower_arithmetic(lower) && !sc_lower_compare(lower) &&
        !sc_lower_convert(lower) && !sc_lower_memory(lower) &&
        !sc_lower_flow(lower) && !sc_lower_call(lower) &&
        !sc_lower_video(lower) && !sc_lower_texture(lower) &&
        !sc_lower_async(lower) && !sc_lower_mbarrier(lower))
        sc_lower_refuse(lower, "unsupported opcode");
    check_modifiers(lower);
}

static void lower_block(struct sc_lower *lower, uint32_t position)
{
    const struct sc_cfg *cfg = &lower->cfg;
    uint32_t number = cfg->order[position];
    const struct sc_block *block = &cfg->blocks[number];
    lower->block_start[number] = lower->code->op_count;
    lower->guarded = false;
    if (block->pred_count > 1)
        sc_lower_push(lower, sc_op_join);
    for (uint32_t i = block->first; i < block->end; i++)
        lower_inst(lower, &lower->func->insts[i]);
    lower->guarded = false;
    if (block->first == lower->func->inst_count) {
        bool returns = !lower->func->is_entry;
        sc_lower_push(lower, returns ? sc_op_return : sc_op_exit)->a =
            lower->return_slot;
        return;
    }
    bool next = position + 1 < cfg->order_count &&
                cfg->order[position + 1] == block->succs[0];
    if (block->falls && !next) {
        sc_lower_push(lower, sc_op_jump);
        sc_lower_target(lower, block->succs[0]);
    }
}

/* Decodes lower->func behind what is there. */
static void lower_function(struct sc_lower *lower)
{
    struct sc_load *load = lower->load;
    struct sc_code *code = lower->code;
    size_t regs = lower->func->reg_count + 1;
    lower->inst = NULL;
    lower->guarded = false;
    lower->fixup_count = 0;
    lower->reg_slot = sc_load_alloc(load, regs, sizeof *lower->reg_slot);
    memset(lower->reg_slot, 0xff, regs * sizeof *lower->reg_slot);
    lower->reg_constant = sc_load_alloc(load, regs, sizeof(bool));
    lower->reg_defs = sc_load_alloc(load, regs, sizeof *lower->reg_defs);
    sc_cfg_build(load, lower->func, &lower->cfg);
    lower->block_start =
        sc_load_alloc(load, lower->cfg.block_count, sizeof *lower->block_start);
    count_defs(lower);
    if (lower->func->is_entry)
        sc_lower_kernel_start(lower);
    else
        sc_lower_function_start(lower);
    for (uint32_t i = 0; i < lower->cfg.order_count; i++)
        lower_block(lower, i);
    for (size_t i = 0; i < lower->fixup_count; i++) {
        struct sc_op *op = &code->ops[lower->fixups[i]];
        op->target = lower->block_start[op->target];
    }
    sc_lower_function_end(lower);
}

void sc_lower_kernel(struct sc_load *load, const struct sc_ir *ir,
                     const struct sc_func *func, const struct sc_space *space,
                     const struct sc_isa *isa, struct sc_code *code,
                     bool *param_is_pointer)
{
    struct sc_lower *lower = sc_load_alloc(load, 1, sizeof *lower);
    *lower = (struct sc_lower){.load = load,
                               .ir = ir,
                               .kernel = func,
                               .func = func,
                               .space = space,
                               .isa = isa,
                               .code = code,
                               .carry = SC_NO_SLOT,
                               .param_is_pointer = param_is_pointer};
    memset(lower->temps, 0xff, sizeof lower->temps);
    code->name = func->name;
    code->param_bytes = func->param_bytes;
    lower->fill_buckets =
        sc_load_alloc(load, FILL_BUCKETS, sizeof *lower->fill_buckets);
    sc_lower_find_callees(lower);
    place_variables(lower);
    for_functions(lower, lower_function);
    sc_lower_kernel_end(lower);
}
