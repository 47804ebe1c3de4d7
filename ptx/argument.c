/*
 * Parameters of functions and calls; see ptx/argument.h.
 *
 * A parameter whose accesses cut it into the same pieces everywhere becomes
 * one register for each piece. Lock: none.
 */
#include "ptx/argument.h"
#include "ptx/edit.h"
#include "ptx/provided.h"

#define MAX_CELLS 128u

struct cell {
    uint32_t offset, bytes, reg;
};

struct sc_argument {
    struct cell *cells;
    size_t count, capacity;
    const struct sc_func *user; /* function it was looked at for */
    struct sc_var *memory;      /* .local variable in its place, or NULL */
    bool in_memory;
};

struct pass {
    struct sc_load *load;
    struct sc_ir *ir;
    struct sc_edit edit;
};

struct sc_argument *sc_argument_new(struct sc_load *load)
{
    return sc_load_alloc(load, 1, sizeof(struct sc_argument));
}

/* ---- what is done with each parameter ---- */

static struct sc_argument *argument_of(struct pass *p, const struct sc_var *var)
{
    struct sc_argument *a = var->argument;
    if (a && a->user != p->edit.func)
        *a = (struct sc_argument){.user = p->edit.func};
    return a;
}

static void note_cell(struct pass *p, struct sc_argument *a, uint32_t offset,
                      uint32_t bytes)
{
    for (size_t i = 0; i < a->count; i++) {
        const struct cell *c = &a->cells[i];
        if (c->offset == offset && c->bytes == bytes)
            return;
        if (offset < c->offset + c->bytes && c->offset < offset + bytes)
            a->in_memory = true;
    }
    if (a->in_memory || a->count == MAX_CELLS) {
        a->in_memory = true;
        return;
    }
    a->cells = sc_load_grow(p->load, a->cells, a->count, &a->capacity,
                            sizeof *a->cells);
    a->cells[a->count++] =
        (struct cell){.offset = offset,
                      .bytes = bytes,
                      .reg = sc_edit_register(&p->edit, sc_edit_bits(bytes))};
}

static uint32_t component_count(const struct sc_inst *inst)
{
    return sc_edit_has(inst, SC_MOD_v2)   ? 2
           : sc_edit_has(inst, SC_MOD_v4) ? 4
           : sc_edit_has(inst, SC_MOD_v8) ? 8
                                          : 1;
}

static bool is_param_access(const struct sc_inst *inst)
{
    return (inst->opcode == SC_OP_ld || inst->opcode == SC_OP_st) &&
           (sc_edit_has(inst, SC_MOD_param) ||
            sc_edit_has(inst, SC_MOD_param__func)) &&
           inst->operand_count == 2 && inst->type_count == 1;
}

/* The parameter that a ld.param or st.param names; NULL = none. */
static const struct sc_operand *accessed(const struct sc_inst *inst)
{
    if (!is_param_access(inst))
        return NULL;
    const struct sc_operand *o =
        &inst->operands[inst->opcode == SC_OP_ld ? 1 : 0];
    if (o->kind != SC_OPERAND_ADDRESS || o->sub->kind != SC_OPERAND_SYMBOL ||
        !o->sub->var->argument)
        return NULL;
    return o;
}

static void note_access(struct pass *p, const struct sc_inst *inst,
                        const struct sc_operand *o)
{
    const struct sc_var *var = o->sub->var;
    struct sc_argument *a = argument_of(p, var);
    uint64_t at = o->bits + o->sub->bits;
    uint32_t size = sc_type_bytes(inst->types[0]), n = component_count(inst);
    if (at > var->bytes || (uint64_t)size * n > var->bytes - at)
        sc_load_fail(p->load, SC_LOAD_INVALID, inst->line,
                     "access outside '%s'", var->name);
    if (size > 8 || inst->types[0] == SC_T_pred || at % size)
        a->in_memory = true;
    for (uint32_t i = 0; i < n && !a->in_memory; i++)
        note_cell(p, a, (uint32_t)at + i * size, size);
}

/* Any other mention needs an address. */
static void note_mention(struct pass *p, const struct sc_operand *o)
{
    if (o->kind == SC_OPERAND_SYMBOL && o->var->argument)
        argument_of(p, o->var)->in_memory = true;
    for (uint32_t i = 0; i < sc_operand_parts(o); i++)
        note_mention(p, &o->sub[i]);
}

static void note_inst(struct pass *p, const struct sc_inst *inst)
{
    const struct sc_operand *o = accessed(inst);
    if (o) {
        note_access(p, inst, o);
        return;
    }
    for (uint32_t i = 0; i < inst->operand_count; i++) {
        const struct sc_operand *operand = &inst->operands[i];
        bool passed = inst->call && i > 0 &&
                      operand->kind == SC_OPERAND_SYMBOL && !operand->bits;
        if (!passed)
            note_mention(p, operand);
        else if (operand->var->argument)
            argument_of(p, operand->var);
    }
}

static struct sc_var *memory_of(struct pass *p, const struct sc_var *var)
{
    struct sc_argument *a = argument_of(p, var);
    if (a->memory)
        return a->memory;
    struct sc_var *made = sc_load_alloc(p->load, 1, sizeof *made);
    *made = (struct sc_var){.name = var->name,
                            .line = var->line,
                            .space = SC_SPACE_LOCAL,
                            .type = SC_T_b8,
                            .align = var->align < 8 ? 8 : var->align,
                            .bytes = var->bytes,
                            .owner = p->edit.func,
                            .next = p->edit.func->vars};
    p->edit.func->vars = made;
    a->memory = made;
    return made;
}

static const struct cell *find_cell(const struct sc_argument *a,
                                    uint64_t offset)
{
    for (size_t i = 0; i < a->count; i++)
        if (a->cells[i].offset == offset)
            return &a->cells[i];
    return NULL;
}

/* ---- made-up instructions ---- */

static struct sc_operand of_register(uint32_t reg)
{
    return (struct sc_operand){.kind = SC_OPERAND_REG, .reg = reg};
}

static struct sc_inst *make(struct pass *p, enum sc_opcode opcode,
                            const struct sc_inst *like, struct sc_operand d,
                            struct sc_operand a)
{
    struct sc_inst *inst = sc_edit_make(&p->edit, opcode, like, 2);
    inst->operands[0] = d;
    inst->operands[1] = a;
    return inst;
}

static void make_move(struct pass *p, const struct sc_inst *like,
                      enum sc_type type, struct sc_operand d,
                      struct sc_operand a)
{
    sc_edit_type(make(p, SC_OP_mov, like, d, a), type);
}

static void make_convert(struct pass *p, const struct sc_inst *like,
                         enum sc_type to, enum sc_type from,
                         struct sc_operand d, struct sc_operand a)
{
    struct sc_inst *inst = make(p, SC_OP_cvt, like, d, a);
    sc_edit_type(inst, to);
    sc_edit_type(inst, from);
}

/* ld.local or st.local of `type` between an operand and var + offset */
static void make_access(struct pass *p, const struct sc_inst *like, bool load,
                        enum sc_type type, const struct sc_var *var,
                        uint64_t offset, struct sc_operand value)
{
    struct sc_operand *base = sc_load_alloc(p->load, 1, sizeof *base);
    *base = (struct sc_operand){.kind = SC_OPERAND_SYMBOL, .var = var};
    struct sc_operand address = {
        .kind = SC_OPERAND_ADDRESS, .sub = base, .bits = offset};
    struct sc_inst *inst = load ? make(p, SC_OP_ld, like, value, address)
                                : make(p, SC_OP_st, like, address, value);
    sc_edit_modifier(inst, SC_MOD_local);
    sc_edit_type(inst, type);
}

static enum sc_type memory_type(uint32_t bytes)
{
    return bytes == 1 ? SC_T_b8 : sc_edit_bits(bytes);
}

static uint32_t reg_bytes(const struct pass *p, uint32_t reg)
{
    uint32_t bytes = sc_type_bytes(p->edit.func->regs[reg].type);
    return bytes == 1 ? 2 : bytes;
}

static enum sc_type integer_type(uint32_t bytes, bool is_signed)
{
    if (is_signed)
        return bytes == 8   ? SC_T_s64
               : bytes == 4 ? SC_T_s32
               : bytes == 2 ? SC_T_s16
                            : SC_T_s8;
    return bytes == 8   ? SC_T_u64
           : bytes == 4 ? SC_T_u32
           : bytes == 2 ? SC_T_u16
                        : SC_T_u8;
}

/* ---- ld.param, st.param as moves ---- */

/* A byte lies in a 16-bit register, extended with zeros. */
static void load_cell(struct pass *p, const struct sc_inst *inst,
                      const struct cell *cell, struct sc_operand d)
{
    if (d.kind == SC_OPERAND_SINK)
        return;
    if (d.kind != SC_OPERAND_REG)
        sc_load_fail(p->load, SC_LOAD_INVALID, inst->line,
                     "destination is no register in '%.*s'",
                     (int)inst->text_length, inst->text);
    uint32_t have = reg_bytes(p, d.reg),
             held = cell->bytes == 1 ? 2 : cell->bytes;
    bool is_signed = sc_type_class(inst->types[0]) == SC_CLASS_SIGNED;
    struct sc_operand from = of_register(cell->reg);
    if (have < held)
        sc_load_fail(p->load, SC_LOAD_INVALID, inst->line,
                     "register too narrow in '%.*s'", (int)inst->text_length,
                     inst->text);
    if (cell->bytes == 1 && is_signed)
        make_convert(p, inst, integer_type(have, true), SC_T_s8, d, from);
    else if (have == held)
        make_move(p, inst, sc_edit_bits(held), d, from);
    else
        make_convert(p, inst, integer_type(have, is_signed),
                     integer_type(held, is_signed), d, from);
}

static void store_cell(struct pass *p, const struct sc_inst *inst,
                       enum sc_type type, const struct cell *cell,
                       struct sc_operand a)
{
    uint32_t held = cell->bytes == 1 ? 2 : cell->bytes;
    struct sc_operand d = of_register(cell->reg);
    bool is_float = sc_type_class(type) == SC_CLASS_FLOAT;
    if (a.kind == SC_OPERAND_REG && reg_bytes(p, a.reg) > held)
        make_convert(p, inst, integer_type(held, false),
                     integer_type(reg_bytes(p, a.reg), false), d, a);
    else if (a.kind == SC_OPERAND_SINGLE || a.kind == SC_OPERAND_DOUBLE)
        make_move(p, inst, cell->bytes == 8 ? SC_T_f64 : SC_T_f32, d, a);
    else
        make_move(p, inst, is_float ? type : sc_edit_bits(held), d, a);
    if (cell->bytes != 1)
        return;
    struct sc_inst *mask = sc_edit_make(&p->edit, SC_OP_and, inst, 3);
    sc_edit_type(mask, SC_T_b16);
    mask->operands[0] = mask->operands[1] = d;
    mask->operands[2] =
        (struct sc_operand){.kind = SC_OPERAND_INT, .bits = 255};
}

static void rewrite_access(struct pass *p, const struct sc_inst *inst,
                           const struct sc_operand *o)
{
    const struct sc_var *var = o->sub->var;
    struct sc_argument *a = argument_of(p, var);
    bool load = inst->opcode == SC_OP_ld;
    if (a->in_memory) {
        struct sc_inst *made = sc_edit_append(&p->edit, inst);
        sc_edit_drop(made, SC_MOD_param);
        sc_edit_drop(made, SC_MOD_param__func);
        sc_edit_modifier(made, SC_MOD_local);
        o->sub->var = memory_of(p, var);
        return;
    }
    uint32_t n = component_count(inst), size = sc_type_bytes(inst->types[0]);
    const struct sc_operand *value = &inst->operands[load ? 0 : 1];
    if (n > 1 && (value->kind != SC_OPERAND_VECTOR || value->reg != n))
        sc_load_fail(p->load, SC_LOAD_INVALID, inst->line,
                     "wrong number of components in '%.*s'",
                     (int)inst->text_length, inst->text);
    for (uint32_t i = 0; i < n; i++) {
        const struct cell *cell =
            find_cell(a, o->bits + o->sub->bits + i * size);
        struct sc_operand one = n > 1 ? value->sub[i] : *value;
        if (load)
            load_cell(p, inst, cell, one);
        else
            store_cell(p, inst, inst->types[0], cell, one);
    }
}

/* ---- calls that stay ---- */

/* Copies between a parameter and the memory all calls share, piece by
 * piece. */
static void copy_through(struct pass *p, const struct sc_inst *like, bool load,
                         const struct sc_var *var, uint64_t offset)
{
    struct sc_argument *a = argument_of(p, var);
    const struct sc_var *shared = p->ir->arguments;
    for (size_t i = 0; !a->in_memory && i < a->count; i++)
        make_access(p, like, load, memory_type(a->cells[i].bytes), shared,
                    offset + a->cells[i].offset, of_register(a->cells[i].reg));
    uint32_t step = var->align > 8 ? 8 : var->align;
    for (uint64_t at = 0; a->in_memory && at < var->bytes; at += step) {
        while (at + step > var->bytes)
            step /= 2;
        struct sc_operand temp =
            of_register(sc_edit_register(&p->edit, sc_edit_bits(step)));
        const struct sc_var *memory = memory_of(p, var);
        make_access(p, like, true, memory_type(step), load ? shared : memory,
                    load ? offset + at : at, temp);
        make_access(p, like, false, memory_type(step), load ? memory : shared,
                    load ? at : offset + at, temp);
    }
}

static void pass_operands(struct pass *p, const struct sc_inst *inst,
                          const struct sc_var *formals,
                          const struct sc_operand *actuals, bool result)
{
    for (const struct sc_var *v = formals; v; v = v->next, actuals++) {
        if (actuals->kind == SC_OPERAND_SINK)
            continue;
        bool var = actuals->kind == SC_OPERAND_SYMBOL && !actuals->bits &&
                   actuals->var->argument;
        if (var && actuals->var->bytes != v->bytes)
            sc_load_fail(p->load, SC_LOAD_INVALID, inst->line,
                         "call with a parameter of another size");
        if (var)
            copy_through(p, inst, result, actuals->var, v->address);
        else
            make_access(p, inst, result, v->type, p->ir->arguments, v->address,
                        *actuals);
    }
}

static void rewrite_call(struct pass *p, const struct sc_inst *inst)
{
    const struct sc_operand *callee = &inst->operands[0];
    const struct sc_func *func =
        callee->kind == SC_OPERAND_FUNC ? callee->func : NULL;
    const struct sc_proto *proto = inst->call->proto;
    if (!func && !proto)
        sc_load_fail(p->load, SC_LOAD_INVALID, inst->line,
                     "call by address without a prototype");
    uint32_t rets = func ? func->ret_count : proto->ret_count;
    uint32_t params = func ? func->param_count : proto->param_count;
    if (inst->call->ret_count != rets || inst->call->arg_count != params)
        sc_load_fail(p->load, SC_LOAD_INVALID, inst->line,
                     "call with another number of parameters");
    const struct sc_operand *actuals = callee + 1;
    pass_operands(p, inst, func ? func->params : proto->params, actuals + rets,
                  false);
    sc_edit_append(&p->edit, inst)->operand_count = 1;
    pass_operands(p, inst, func ? func->rets : proto->rets, actuals, true);
}

/* ---- system calls: registers in and out ---- */

static struct sc_operand plain_operand(struct pass *p,
                                       const struct sc_inst *inst,
                                       const struct sc_operand *actual,
                                       const struct sc_var *formal, bool result)
{
    if (actual->kind != SC_OPERAND_SYMBOL || !actual->var->argument)
        return *actual;
    struct sc_argument *a = argument_of(p, actual->var);
    bool whole = !a->in_memory && a->count == 1 &&
                 a->cells[0].bytes == actual->var->bytes;
    if (whole)
        return of_register(a->cells[0].reg);
    if (result && !a->in_memory && !a->count)
        return (struct sc_operand){.kind = SC_OPERAND_SINK};
    if (!a->in_memory || actual->var->bytes != formal->bytes ||
        formal->bytes > 8 || formal->bytes < 2)
        sc_load_fail(p->load, SC_LOAD_UNSUPPORTED, inst->line,
                     "call of '%s' with a parameter in pieces",
                     inst->operands[0].func->name);
    return of_register(
        sc_edit_register(&p->edit, sc_edit_bits((uint32_t)formal->bytes)));
}

static void rewrite_system_call(struct pass *p, const struct sc_inst *inst)
{
    const struct sc_func *func = inst->operands[0].func;
    uint32_t n = inst->call->ret_count + inst->call->arg_count;
    if (sc_is_device_runtime(func->name))
        sc_load_fail(p->load, SC_LOAD_UNSUPPORTED, inst->line,
                     SC_DEVICE_RUNTIME_REFUSED, func->name);
    if (!sc_is_provided(func->name, strlen(func->name)))
        sc_load_fail(p->load, SC_LOAD_UNSUPPORTED, inst->line,
                     "function '%s' is not in this module (modules are not "
                     "linked together)",
                     func->name);
    if (inst->call->ret_count != func->ret_count ||
        inst->call->arg_count != func->param_count)
        sc_load_fail(p->load, SC_LOAD_INVALID, inst->line,
                     "call with another number of parameters");
    struct sc_operand *plain = sc_load_alloc(p->load, n + 1, sizeof *plain);
    const struct sc_operand *actuals = &inst->operands[1];
    plain[0] = inst->operands[0];
    const struct sc_var *formal = func->rets;
    for (uint32_t i = 0; i < n; i++, formal = formal->next) {
        bool result = i < func->ret_count;
        if (i == func->ret_count)
            formal = func->params;
        plain[i + 1] = plain_operand(p, inst, &actuals[i], formal, result);
        if (!result && actuals[i].kind == SC_OPERAND_SYMBOL &&
            actuals[i].var->argument &&
            argument_of(p, actuals[i].var)->in_memory)
            make_access(p, inst, true, sc_edit_bits((uint32_t)formal->bytes),
                        memory_of(p, actuals[i].var), 0, plain[i + 1]);
    }
    struct sc_inst *made = sc_edit_append(&p->edit, inst);
    made->operands = plain;
    for (uint32_t i = 0; i < func->ret_count; i++)
        if (actuals[i].kind == SC_OPERAND_SYMBOL && actuals[i].var->argument &&
            argument_of(p, actuals[i].var)->in_memory)
            make_access(p, inst, false,
                        sc_edit_bits((uint32_t)actuals[i].var->bytes),
                        memory_of(p, actuals[i].var), 0, plain[i + 1]);
}

/* ---- functions that stay ---- */

static bool is_real(const struct sc_func *func)
{
    return !func->is_entry && (func->is_called || func->is_taken);
}

/* Between the function's parameters and the memory of all calls. */
static void copy_formals(struct pass *p, const struct sc_inst *like,
                         const struct sc_var *formals, bool load)
{
    for (const struct sc_var *v = formals; v; v = v->next) {
        if (v->in_register)
            make_access(p, like, load, v->type, p->ir->arguments, v->address,
                        of_register(v->reg));
        else
            copy_through(p, like, load, v, v->address);
    }
}

static void replace_mentions(struct pass *p, struct sc_operand *o)
{
    if (o->kind == SC_OPERAND_SYMBOL && o->var->argument)
        o->var = memory_of(p, o->var);
    for (uint32_t i = 0; i < sc_operand_parts(o); i++)
        replace_mentions(p, &o->sub[i]);
}

static void rewrite_inst(struct pass *p, const struct sc_inst *inst)
{
    const struct sc_operand *o = accessed(inst);
    if (o) {
        rewrite_access(p, inst, o);
    } else if (inst->call) {
        const struct sc_operand *callee = &inst->operands[0];
        if (callee->kind == SC_OPERAND_FUNC && !callee->func->has_body)
            rewrite_system_call(p, inst);
        else
            rewrite_call(p, inst);
    } else {
        for (uint32_t i = 0; i < inst->operand_count; i++)
            replace_mentions(p, &inst->operands[i]);
        if (inst->opcode == SC_OP_ret && is_real(p->edit.func))
            copy_formals(p, inst, p->edit.func->rets, false);
        sc_edit_move(&p->edit, inst);
    }
}

static bool mentions_argument(const struct sc_operand *o)
{
    bool mentions = o->kind == SC_OPERAND_SYMBOL && o->var->argument;
    for (uint32_t i = 0; i < sc_operand_parts(o) && !mentions; i++)
        mentions = mentions_argument(&o->sub[i]);
    return mentions;
}

static bool needs_rewriting(const struct sc_func *func)
{
    if (is_real(func))
        return true;
    for (size_t i = 0; i < func->inst_count; i++) {
        const struct sc_inst *inst = &func->insts[i];
        if (inst->call)
            return true;
        for (uint32_t k = 0; k < inst->operand_count; k++)
            if (mentions_argument(&inst->operands[k]))
                return true;
    }
    return false;
}

static void rewrite(struct pass *p, struct sc_func *func)
{
    sc_edit_begin(&p->edit, p->load, func);
    for (size_t i = 0; i < func->inst_count; i++)
        note_inst(p, &func->insts[i]);
    const struct sc_inst end = {.opcode = SC_OP_ret,
                                .line = func->line,
                                .text = "ret",
                                .text_length = 3};
    if (is_real(func))
        copy_formals(p, &end, func->params, true);
    for (size_t i = 0; i < func->inst_count; i++) {
        sc_edit_place(&p->edit, i);
        rewrite_inst(p, &func->insts[i]);
    }
    sc_edit_place(&p->edit, func->inst_count);
    if (is_real(func)) {
        copy_formals(p, &end, func->rets, false);
        sc_edit_append(&p->edit, &end);
    }
    sc_edit_end(&p->edit);
}

static void widen(uint64_t *bytes, const struct sc_var *formals)
{
    for (const struct sc_var *v = formals; v; v = v->next)
        if (v->address + v->bytes > *bytes)
            *bytes = v->address + v->bytes;
}

/* Room for the parameters or results of any call. */
static void make_shared(struct pass *p)
{
    uint64_t bytes = 16;
    bool any = false;
    for (const struct sc_func *f = p->ir->funcs; f; f = f->next) {
        any |= is_real(f);
        if (is_real(f)) {
            widen(&bytes, f->params);
            widen(&bytes, f->rets);
        }
        for (size_t i = 0; i < f->inst_count; i++) {
            const struct sc_call *call = f->insts[i].call;
            if (!call || !call->proto)
                continue;
            any = true;
            widen(&bytes, call->proto->params);
            widen(&bytes, call->proto->rets);
        }
    }
    if (!any)
        return;
    struct sc_var *var = sc_load_alloc(p->load, 1, sizeof *var);
    *var = (struct sc_var){.name = "arguments of calls",
                           .space = SC_SPACE_LOCAL,
                           .type = SC_T_b8,
                           .align = 16,
                           .bytes = bytes};
    p->ir->arguments = var;
}

void sc_ptx_arguments(struct sc_load *load, struct sc_ir *ir)
{
    struct pass pass = {.load = load, .ir = ir};
    make_shared(&pass);
    for (struct sc_func *f = ir->funcs; f; f = f->next)
        if (f->has_body && (f->is_entry || is_real(f)) && needs_rewriting(f))
            rewrite(&pass, f);
}
