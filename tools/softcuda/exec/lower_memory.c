/*
 * Decodes ld, st, atom, red, cvta, isspacep and constants of a launch; see
 * exec/lower.h.
 *
 * Lock: none.
 */
#include "exec/lower.h"
#include "exec/touched.h"

enum sc_space_kind sc_lower_space(struct sc_lower *lower)
{
    if (sc_lower_take(lower, SC_MOD_global))
        return SC_SPACE_GLOBAL;
    if (sc_lower_take(lower, SC_MOD_const))
        return SC_SPACE_CONST;
    /* clusters are single blocks */
    if (sc_lower_take(lower, SC_MOD_shared) ||
        sc_lower_take(lower, SC_MOD_shared__cta) ||
        sc_lower_take(lower, SC_MOD_shared__cluster))
        return SC_SPACE_SHARED;
    if (sc_lower_take(lower, SC_MOD_local))
        return SC_SPACE_LOCAL;
    if (sc_lower_take(lower, SC_MOD_param) ||
        sc_lower_take(lower, SC_MOD_param__entry))
        return SC_SPACE_PARAM;
    return SC_SPACE_GENERIC;
}

static enum sc_address_mode mode_of(enum sc_space_kind space)
{
    switch (space) {
    case SC_SPACE_GLOBAL:
    case SC_SPACE_CONST:
        return SC_ADDR_GLOBAL;
    case SC_SPACE_SHARED:
        return SC_ADDR_SHARED;
    case SC_SPACE_LOCAL:
        return SC_ADDR_LOCAL;
    case SC_SPACE_PARAM:
        return SC_ADDR_PARAM;
    default:
        return SC_ADDR_GENERIC;
    }
}

static void note_pointer(struct sc_lower *lower, uint32_t slot)
{
    const struct sc_code *code = lower->code;
    for (uint32_t i = 0; i < code->fill_count; i++) {
        const struct sc_fill *fill = &code->fills[i];
        if (fill->slot != slot || fill->kind != SC_FILL_PARAM)
            continue;
        uint32_t index = 0;
        const struct sc_var *param = lower->kernel->params;
        for (; param; param = param->next, index++)
            if (param->address == fill->value && param->bytes == 8)
                lower->param_is_pointer[index] = true;
    }
}

/* A constant's address in 32 bits: the low half of where it lies, in the first
 * 4 GiB of the window. */
static struct sc_lower_place widen_const(struct sc_lower *lower,
                                         struct sc_lower_place at)
{
    uint64_t window = lower->space->window_base;
    uint32_t low = sc_lower_temp(lower, 4), slot = sc_lower_temp(lower, 8);
    uint64_t behind = (uint32_t)(at.offset - window);
    sc_lower_alu(lower, SC_ALU_add, SC_T_u32, low, at.slot,
                 sc_lower_constant(lower, 4, behind), 0);
    struct sc_op *widen =
        sc_lower_emit(lower, lower->isa->convert(SC_T_u64, SC_T_u32, 0));
    widen->d = slot;
    widen->a = low;
    sc_lower_alu(lower, SC_ALU_add, SC_T_u64, slot, slot,
                 sc_lower_constant(lower, 8, window), 0);
    return (struct sc_lower_place){
        .slot = slot, .bytes = 8, .mode = SC_ADDR_GLOBAL};
}

struct sc_lower_place sc_lower_place(struct sc_lower *lower,
                                     const struct sc_operand *operand,
                                     enum sc_space_kind space)
{
    if (operand->kind != SC_OPERAND_ADDRESS)
        sc_lower_invalid(lower, "an address in [ ] is missing in");
    const struct sc_operand *base = operand->sub;
    struct sc_lower_place address = {
        .offset = operand->bits, .mode = mode_of(space), .bytes = 8};
    if (base->kind == SC_OPERAND_REG) {
        address.bytes = sc_lower_reg_bytes(lower, base);
        address.slot = sc_lower_source(lower, base, address.bytes, SC_T_b64);
        if (address.bytes < 4 ||
            (address.bytes == 4 && space == SC_SPACE_GLOBAL))
            sc_lower_invalid(lower, "address register too narrow in");
        if (address.bytes == 4 && space == SC_SPACE_CONST)
            return widen_const(lower, address);
        note_pointer(lower, address.slot);
        return address;
    }
    uint64_t at = address.offset;
    address.offset = 0;
    if (base->kind == SC_OPERAND_SYMBOL) {
        bool constant = base->var->space == SC_SPACE_CONST ||
                        base->var->space == SC_SPACE_GLOBAL;
        bool same = mode_of(base->var->space) == address.mode;
        if (!same && address.mode != SC_ADDR_GENERIC)
            sc_lower_invalid(lower, "variable of another space in");
        at +=
            base->bits + sc_lower_address(lower, base->var, !same && !constant);
        if (sc_lower_in_frame(lower, base->var)) {
            address.slot = lower->code->stack_slot;
            address.offset = at;
            return address;
        }
    } else if (base->kind == SC_OPERAND_INT) {
        at += base->bits;
    } else {
        sc_lower_invalid(lower, "address of the wrong kind in");
    }
    address.slot = sc_lower_constant(lower, 8, at);
    return address;
}

/* Cache operators, eviction hints, scopes: no effect here, but orderings that
 * other workers can see become fences. Returns whether the access may be one
 * a lane spins on. */
static bool take_ordering(struct sc_lower *lower, bool *acquire, bool *release)
{
    static const enum sc_modifier hints[] = {SC_MOD_ca,
                                             SC_MOD_cg,
                                             SC_MOD_cs,
                                             SC_MOD_cv,
                                             SC_MOD_lu,
                                             SC_MOD_wb,
                                             SC_MOD_wt,
                                             SC_MOD_nc,
                                             SC_MOD_L1__evict_normal,
                                             SC_MOD_L1__evict_unchanged,
                                             SC_MOD_L1__evict_first,
                                             SC_MOD_L1__evict_last,
                                             SC_MOD_L1__no_allocate,
                                             SC_MOD_L2__64B,
                                             SC_MOD_L2__128B,
                                             SC_MOD_L2__256B,
                                             SC_MOD_L2__evict_first,
                                             SC_MOD_L2__evict_last,
                                             SC_MOD_L2__evict_normal,
                                             SC_MOD_weak,
                                             SC_MOD_cta,
                                             SC_MOD_cluster,
                                             SC_MOD_gpu,
                                             SC_MOD_sys,
                                             SC_MOD_noftz};
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        sc_lower_take(lower, hints[i]);
    bool both = sc_lower_take(lower, SC_MOD_acq_rel) ||
                sc_lower_take(lower, SC_MOD_mmio);
    *acquire = sc_lower_take(lower, SC_MOD_acquire) || both;
    *release = sc_lower_take(lower, SC_MOD_release) || both;
    bool shared = sc_lower_take(lower, SC_MOD_volatile);
    shared |= sc_lower_take(lower, SC_MOD_relaxed);
    return shared || *acquire || *release;
}

static uint32_t take_vector(struct sc_lower *lower)
{
    return sc_lower_take(lower, SC_MOD_v2)   ? 2
           : sc_lower_take(lower, SC_MOD_v4) ? 4
           : sc_lower_take(lower, SC_MOD_v8) ? 8
                                             : 1;
}

static enum sc_type memory_type(struct sc_lower *lower)
{
    if (lower->inst->type_count != 1 || lower->inst->types[0] == SC_T_pred ||
        lower->inst->types[0] == SC_T_b128)
        sc_lower_refuse(lower, "unsupported type in");
    return lower->inst->types[0];
}

/* The component list of a vector access, checked. */
static const struct sc_operand *
components(struct sc_lower *lower, const struct sc_operand *operand, uint32_t n)
{
    if (n == 1 && operand->kind != SC_OPERAND_VECTOR)
        return operand;
    if (operand->kind != SC_OPERAND_VECTOR || operand->reg != n)
        sc_lower_invalid(lower, "wrong number of components in");
    return operand->sub;
}

/* A vector access must be aligned as a whole: probe the first byte of it. */
static void check_vector(struct sc_lower *lower,
                         const struct sc_lower_place *address, uint32_t total)
{
    struct sc_op *op = sc_lower_emit(lower, sc_op_align);
    op->a = address->slot;
    op->e = address->bytes;
    op->imm = (int64_t)address->offset;
    op->flags = (uint16_t)total;
}

/* Whether other threads may watch a vector access that fits into one of the
 * host's. */
static bool is_whole(const struct sc_lower *lower, bool watched,
                     const struct sc_operand *parts, uint32_t n, uint32_t size)
{
    bool fits = watched && n > 1 && size >= 4 && n * size <= 16;
    for (uint32_t i = 0; fits && i < n; i++) {
        uint32_t have = sc_lower_reg_bytes(lower, &parts[i]);
        fits = !have || have == size;
    }
    return fits;
}

/* An operation on memory `offset` bytes behind the address. */
static struct sc_op *emit_access(struct sc_lower *lower, sc_handler run,
                                 const struct sc_lower_place *address,
                                 uint64_t offset)
{
    struct sc_op *op = sc_lower_emit(lower, run);
    op->a = address->slot;
    op->imm = (int64_t)(address->offset + offset);
    op->mode = address->mode;
    return op;
}

static void emit_whole(struct sc_lower *lower, sc_handler run,
                       const struct sc_lower_place *address,
                       const uint32_t *slots, uint32_t n, uint32_t size)
{
    struct sc_op *op = emit_access(lower, run, address, 0);
    op->d = slots[0];
    op->b = slots[1];
    op->c = slots[2];
    op->e = slots[3];
    op->flags = SC_WHOLE(n, size, address->bytes);
}

static void load_parts(struct sc_lower *lower, struct sc_lower_place address,
                       const struct sc_operand *to, uint32_t n,
                       enum sc_type type)
{
    uint32_t size = sc_type_bytes(type);
    if (n > 1)
        check_vector(lower, &address, n * size);
    for (uint32_t i = 0; i < n; i++) {
        /* an earlier component may be the address register itself */
        bool clobbers = to[i].kind == SC_OPERAND_REG && i + 1 < n &&
                        sc_lower_reg(lower, to[i].reg) == address.slot;
        if (clobbers) {
            uint32_t copy = sc_lower_temp(lower, address.bytes);
            sc_lower_alu(lower, SC_ALU_mov, sc_lower_bits(address.bytes), copy,
                         address.slot, 0, 0);
            address.slot = copy;
        }
        uint32_t have = to[i].kind == SC_OPERAND_SINK
                            ? (size == 1 ? 2 : size)
                            : sc_lower_reg_bytes(lower, &to[i]);
        uint32_t d = sc_lower_dest(lower, &to[i], have);
        sc_handler run =
            lower->isa->load(type, have, address.mode, address.bytes);
        emit_access(lower, run, &address, (uint64_t)i * size)->d = d;
    }
}

/* Lanes may wait for another answer. */
static void emit_ask(struct sc_lower *lower,
                     const struct sc_lower_place *address,
                     const struct sc_operand *to)
{
    uint32_t have = sc_lower_reg_bytes(lower, to);
    if (!have) {
        sc_lower_emit(lower, sc_op_spin);
        return;
    }
    struct sc_op *op = sc_lower_emit(lower, sc_op_ask);
    op->a = address->slot;
    op->e = address->bytes;
    op->imm = (int64_t)address->offset;
    op->d = sc_lower_reg(lower, to->reg);
    op->flags = (uint16_t)have;
}

static void lower_load(struct sc_lower *lower)
{
    bool acquire, release;
    bool spin = take_ordering(lower, &acquire, &release);
    uint32_t n = take_vector(lower);
    enum sc_space_kind space = sc_lower_space(lower);
    enum sc_type type = memory_type(lower);
    uint32_t size = sc_type_bytes(type);
    sc_lower_count(lower, 2, 2);
    const struct sc_operand *to =
        components(lower, sc_lower_operand(lower, 0), n);
    struct sc_lower_place address =
        sc_lower_place(lower, sc_lower_operand(lower, 1), space);
    sc_touched_lower(lower, &address, n * size);
    if (is_whole(lower, spin, to, n, size)) {
        uint32_t slots[4] = {0};
        for (uint32_t i = 0; i < n; i++)
            slots[i] = sc_lower_dest(lower, &to[i], size);
        emit_whole(lower, sc_op_load_whole, &address, slots, n, size);
    } else {
        load_parts(lower, address, to, n, type);
    }
    if (acquire)
        sc_lower_emit(lower, sc_op_fence);
    if (spin)
        emit_ask(lower, &address, &to[n - 1]);
}

static void store_parts(struct sc_lower *lower, struct sc_lower_place address,
                        const struct sc_operand *from, uint32_t n,
                        enum sc_type type)
{
    uint32_t size = sc_type_bytes(type);
    if (n > 1)
        check_vector(lower, &address, n * size);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t have = sc_lower_reg_bytes(lower, &from[i]);
        if (!have)
            have = size == 1 ? 2 : size;
        uint32_t b = sc_lower_source(lower, &from[i], have,
                                     have == size ? type : sc_lower_bits(have));
        sc_handler run =
            lower->isa->store(size, have, address.mode, address.bytes);
        emit_access(lower, run, &address, (uint64_t)i * size)->b = b;
    }
}

static void lower_store(struct sc_lower *lower)
{
    bool acquire, release;
    bool watched = take_ordering(lower, &acquire, &release);
    uint32_t n = take_vector(lower);
    enum sc_space_kind space = sc_lower_space(lower);
    enum sc_type type = memory_type(lower);
    uint32_t size = sc_type_bytes(type);
    sc_lower_count(lower, 2, 2);
    if (space == SC_SPACE_PARAM)
        sc_lower_refuse(lower, "store to the parameters of a kernel in");
    if (space == SC_SPACE_CONST)
        sc_lower_refuse(lower, "store to read-only space in");
    struct sc_lower_place address =
        sc_lower_place(lower, sc_lower_operand(lower, 0), space);
    sc_touched_lower(lower, &address, n * size);
    const struct sc_operand *from =
        components(lower, sc_lower_operand(lower, 1), n);
    if (release)
        sc_lower_emit(lower, sc_op_fence);
    if (is_whole(lower, watched, from, n, size)) {
        uint32_t slots[4] = {0};
        for (uint32_t i = 0; i < n; i++)
            slots[i] = sc_lower_source(lower, &from[i], size, type);
        emit_whole(lower, sc_op_store_whole, &address, slots, n, size);
    } else {
        store_parts(lower, address, from, n, type);
    }
    if (acquire)
        sc_lower_emit(lower, sc_op_fence);
}

/* ---- atom, red ---- */

static enum sc_atomic take_atomic(struct sc_lower *lower)
{
    static const struct {
        enum sc_modifier mod;
        enum sc_atomic kind;
    } kinds[] = {{SC_MOD_add, SC_ATOM_ADD},   {SC_MOD_inc, SC_ATOM_INC},
                 {SC_MOD_dec, SC_ATOM_DEC},   {SC_MOD_min, SC_ATOM_MIN},
                 {SC_MOD_max, SC_ATOM_MAX},   {SC_MOD_and, SC_ATOM_AND},
                 {SC_MOD_or, SC_ATOM_OR},     {SC_MOD_xor, SC_ATOM_XOR},
                 {SC_MOD_exch, SC_ATOM_EXCH}, {SC_MOD_cas, SC_ATOM_CAS}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (sc_lower_take(lower, kinds[i].mod))
            return kinds[i].kind;
    sc_lower_invalid(lower, "operation such as .add is missing in");
}

static void lower_atomic(struct sc_lower *lower, bool returns)
{
    bool acquire, release;
    take_ordering(lower, &acquire, &release);
    sc_lower_take(lower, SC_MOD_rn);
    enum sc_space_kind space = sc_lower_space(lower);
    enum sc_type type = memory_type(lower);
    if (space != SC_SPACE_GENERIC && space != SC_SPACE_GLOBAL &&
        space != SC_SPACE_SHARED)
        sc_lower_invalid(lower, "atomic in the wrong space:");
    enum sc_atomic kind = take_atomic(lower);
    if (!returns && (kind == SC_ATOM_EXCH || kind == SC_ATOM_CAS))
        sc_lower_invalid(lower, "exch or cas without a result:");
    if (kind == SC_ATOM_ADD && type == SC_T_s64)
        sc_lower_invalid(lower, "add of .s64 instead of .u64:");
    uint32_t first = returns ? 1 : 0, bytes = sc_type_bytes(type);
    uint32_t n = kind == SC_ATOM_CAS ? 2 : 1;
    sc_lower_count(lower, first + 1 + n, first + 1 + n);
    struct sc_lower_place address =
        sc_lower_place(lower, sc_lower_operand(lower, first), space);
    sc_touched_lower(lower, &address, bytes);
    uint32_t b =
        sc_lower_source(lower, sc_lower_operand(lower, first + 1), bytes, type);
    uint32_t c =
        n == 2 ? sc_lower_source(lower, sc_lower_operand(lower, first + 2),
                                 bytes, type)
               : b;
    uint32_t d = returns && sc_lower_operand(lower, 0)->kind != SC_OPERAND_SINK
                     ? sc_lower_dest(lower, sc_lower_operand(lower, 0), bytes)
                     : SC_NO_SLOT;
    struct sc_op *op =
        emit_access(lower, sc_atomic_find(kind, type), &address, 0);
    op->d = d;
    op->b = b;
    op->c = c;
    op->e = address.bytes;
}

/* ---- cvta, isspacep ---- */

static uint64_t space_base(const struct sc_lower *lower,
                           enum sc_space_kind space)
{
    switch (space) {
    case SC_SPACE_SHARED:
        return lower->space->shared_base;
    case SC_SPACE_LOCAL:
        return lower->space->local_base;
    case SC_SPACE_PARAM:
        return lower->space->local_base + SC_LOCAL_USABLE;
    default:
        return 0;
    }
}

static void lower_cvta(struct sc_lower *lower)
{
    bool to = sc_lower_take(lower, SC_MOD_to);
    uint64_t base = space_base(lower, sc_lower_space(lower));
    sc_lower_count(lower, 2, 2);
    if (lower->inst->type_count != 1 ||
        sc_type_bytes(lower->inst->types[0]) != 8)
        sc_lower_refuse(lower, "only 64-bit addresses are supported:");
    uint32_t a =
        sc_lower_source(lower, sc_lower_operand(lower, 1), 8, SC_T_b64);
    uint32_t d = sc_lower_dest(lower, sc_lower_operand(lower, 0), 8);
    if (base)
        sc_lower_alu(lower, to ? SC_ALU_sub : SC_ALU_add, SC_T_u64, d, a,
                     sc_lower_constant(lower, 8, base), 0);
    else
        sc_lower_alu(lower, SC_ALU_mov, SC_T_b64, d, a, 0, 0);
}

static void lower_isspacep(struct sc_lower *lower)
{
    enum sc_space_kind space = sc_lower_space(lower);
    sc_lower_count(lower, 2, 2);
    if (space == SC_SPACE_GENERIC || space == SC_SPACE_CONST)
        sc_lower_refuse(lower, "unsupported space in");
    uint32_t a =
        sc_lower_source(lower, sc_lower_operand(lower, 1), 8, SC_T_b64);
    uint32_t d = sc_lower_dest(lower, sc_lower_operand(lower, 0), 4);
    struct sc_op *op = sc_lower_emit(lower, sc_op_isspace);
    op->a = a;
    op->d = d;
    op->mode = mode_of(space);
}

bool sc_lower_memory(struct sc_lower *lower)
{
    switch (lower->inst->opcode) {
    case SC_OP_ld:
    case SC_OP_ldu:
        return lower_load(lower), true;
    case SC_OP_st:
        return lower_store(lower), true;
    case SC_OP_atom:
        return lower_atomic(lower, true), true;
    case SC_OP_red:
        return lower_atomic(lower, false), true;
    case SC_OP_cvta:
        return lower_cvta(lower), true;
    case SC_OP_isspacep:
        return lower_isspacep(lower), true;
    default:
        return false;
    }
}

/* ---- values known before the CTA starts ---- */

static uint32_t constant_of(struct sc_lower *lower, const struct sc_inst *inst,
                            uint32_t bytes)
{
    const struct sc_operand *from = &inst->operands[1];
    if (from->kind == SC_OPERAND_REG)
        return lower->reg_constant[from->reg] &&
                       sc_lower_reg_bytes(lower, from) == bytes
                   ? lower->reg_slot[from->reg]
                   : SC_NO_SLOT;
    bool dynamic =
        from->kind == SC_OPERAND_SPECIAL &&
        (from->reg == SC_SREG_clock || from->reg == SC_SREG_clock64 ||
         from->reg == SC_SREG_clock_hi || from->reg == SC_SREG_globaltimer ||
         from->reg == SC_SREG_globaltimer_lo ||
         from->reg == SC_SREG_globaltimer_hi);
    bool address = from->kind == SC_OPERAND_SYMBOL;
    if (dynamic || from->negate || from->kind == SC_OPERAND_VECTOR ||
        (from->kind > SC_OPERAND_SYMBOL && from->kind != SC_OPERAND_FUNC) ||
        (address && sc_lower_in_frame(lower, from->var)))
        return SC_NO_SLOT;
    return sc_lower_source(lower, from, bytes, sc_lower_bits(bytes));
}

static uint32_t constant_load(struct sc_lower *lower,
                              const struct sc_inst *inst, uint32_t bytes)
{
    const struct sc_operand *from = &inst->operands[1];
    if (from->kind != SC_OPERAND_ADDRESS ||
        from->sub->kind != SC_OPERAND_SYMBOL ||
        from->sub->var->space != SC_SPACE_PARAM || inst->type_count != 1)
        return SC_NO_SLOT;
    enum sc_type type = inst->types[0];
    uint32_t size = sc_type_bytes(type);
    uint64_t at = from->sub->var->address + from->sub->bits + from->bits;
    if (size > bytes || size > 8 || type == SC_T_pred || at % size ||
        at + size > lower->kernel->param_bytes)
        return SC_NO_SLOT;
    return sc_lower_fill(
        lower,
        (struct sc_fill){.kind = SC_FILL_PARAM,
                         .bytes = (uint8_t)bytes,
                         .load_bytes = (uint8_t)size,
                         .is_signed = sc_type_class(type) == SC_CLASS_SIGNED,
                         .value = at});
}

bool sc_lower_absorb(struct sc_lower *lower, const struct sc_inst *inst)
{
    bool candidate = inst->opcode == SC_OP_mov || inst->opcode == SC_OP_ld ||
                     inst->opcode == SC_OP_cvta;
    if (!candidate || inst->guarded || inst->operand_count != 2 ||
        inst->operands[0].kind != SC_OPERAND_REG || inst->type_count != 1)
        return false;
    uint32_t reg = inst->operands[0].reg;
    uint32_t bytes = sc_lower_reg_bytes(lower, &inst->operands[0]);
    enum sc_type type = lower->func->regs[reg].type;
    uint32_t slot = SC_NO_SLOT;
    if (lower->reg_defs[reg] != 1 || type == SC_T_pred || bytes > 8 ||
        lower->reg_slot[reg] != SC_NO_SLOT)
        return false;
    if (inst->opcode == SC_OP_ld) {
        bool param = sc_lower_take(lower, SC_MOD_param) ||
                     sc_lower_take(lower, SC_MOD_param__entry);
        for (uint32_t w = 0; w < SC_MOD_WORDS; w++)
            param &= !lower->left[w];
        if (param)
            slot = constant_load(lower, inst, bytes);
    } else if (inst->opcode == SC_OP_mov) {
        if (sc_type_bytes(inst->types[0]) == bytes &&
            inst->types[0] != SC_T_pred)
            slot = constant_of(lower, inst, bytes);
    } else {
        sc_lower_take(lower, SC_MOD_to);
        enum sc_space_kind space = sc_lower_space(lower);
        bool identity = space == SC_SPACE_GLOBAL || space == SC_SPACE_CONST;
        if (identity && bytes == 8)
            slot = constant_of(lower, inst, bytes);
        if (slot != SC_NO_SLOT)
            note_pointer(lower, slot);
    }
    if (slot == SC_NO_SLOT)
        return false;
    lower->reg_slot[reg] = slot;
    lower->reg_constant[reg] = true;
    return true;
}
