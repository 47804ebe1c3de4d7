/*
 * Bodies in place of calls; see ptx/inline.h.
 *
 * Functions are finished callees first, so that a body is copied with its own
 * calls already gone. Parameters are not copied: the caller's variables take
 * their place. Lock: none.
 */
#include "ptx/inline.h"
#include "ptx/argument.h"
#include "ptx/edit.h"

#include <string.h>

enum { NOT_SEEN, IN_PROGRESS, DONE };

#define MAX_NESTING   256u
#define MAX_OF_BODY   ((size_t)1 << 16) /* instructions after inlining */
#define MAX_OF_MODULE ((size_t)1 << 20)

struct inliner {
    struct sc_load *load;
    struct sc_ir *ir;
    size_t grown; /* instructions added to the module so far */
    uint32_t nesting, copies;
};

/* One body being copied into edit->func. */
struct copy {
    struct inliner *in;
    struct sc_edit *edit;
    const struct sc_func *callee;
    uint32_t first_reg, base, end; /* registers; positions of the new list */
    const struct sc_inst *site;
};

/* ---- who is meant ---- */

static struct sc_func *meant(struct inliner *in, struct sc_func *func)
{
    uint32_t steps = 0;
    for (; func->definition; func = func->definition)
        if (steps++ > in->ir->func_count)
            sc_load_fail(in->load, SC_LOAD_INVALID, func->line,
                         "'%s' is an alias of itself", func->name);
    return func;
}

static void settle_operand(struct inliner *in, struct sc_operand *operand,
                           bool takes)
{
    if (operand->kind == SC_OPERAND_FUNC) {
        operand->func = meant(in, operand->func);
        operand->func->is_taken |= takes;
    }
    for (uint32_t i = 0; i < sc_operand_parts(operand); i++)
        settle_operand(in, &operand->sub[i], takes);
}

static void settle(struct inliner *in)
{
    for (struct sc_var *v = in->ir->vars; v; v = v->next) {
        for (size_t i = 0; i < v->reloc_count; i++) {
            if (!v->relocs[i].func)
                continue;
            v->relocs[i].func = meant(in, v->relocs[i].func);
            v->relocs[i].func->is_taken = true;
        }
    }
    for (struct sc_func *f = in->ir->funcs; f; f = f->next) {
        if (f->is_taken)
            meant(in, f)->is_taken = true;
        for (size_t i = 0; i < f->inst_count; i++) {
            struct sc_inst *inst = &f->insts[i];
            for (uint32_t k = 0; k < inst->operand_count; k++)
                settle_operand(in, &inst->operands[k], !inst->call || k > 0);
        }
    }
}

/* Inside a .func every parameter is a variable of the thread, so addresses in
 * .param are addresses in .local. */
static void localise(struct sc_func *func)
{
    for (size_t i = 0; i < func->inst_count; i++) {
        struct sc_inst *inst = &func->insts[i];
        bool of_param = sc_edit_has(inst, SC_MOD_param) ||
                        sc_edit_has(inst, SC_MOD_param__func);
        bool named = false;
        for (uint32_t k = 0; k < inst->operand_count; k++)
            named |= inst->operands[k].kind == SC_OPERAND_ADDRESS &&
                     inst->operands[k].sub->kind == SC_OPERAND_SYMBOL;
        if (!of_param || named)
            continue;
        sc_edit_drop(inst, SC_MOD_param);
        sc_edit_drop(inst, SC_MOD_param__func);
        sc_edit_modifier(inst, SC_MOD_local);
    }
}

/* ---- copying ---- */

/* A variable of the callee as the copy has it. */
static const struct sc_var *copied_var(struct copy *c, const struct sc_var *var)
{
    struct sc_var *old = (struct sc_var *)(uintptr_t)var;
    if (old->copy_number == c->in->copies)
        return old->copy;
    bool local = old->space == SC_SPACE_LOCAL && old->owner == c->callee;
    if (!local && !old->argument)
        return old;
    struct sc_var *made = sc_load_alloc(c->in->load, 1, sizeof *made);
    *made = *old;
    made->owner = c->edit->func;
    made->copy_number = 0;
    if (local) {
        made->next = c->edit->func->vars;
        c->edit->func->vars = made;
    } else {
        made->argument = sc_argument_new(c->in->load);
    }
    old->copy = made;
    old->copy_number = c->in->copies;
    return made;
}

/* A last ret is left out, so its place and the end become one. */
static uint32_t copied_place(const struct copy *c, uint32_t target)
{
    uint32_t place = c->base + target;
    return place < c->end ? place : c->end;
}

static void copy_operand(struct copy *c, struct sc_operand *operand)
{
    uint32_t n = sc_operand_parts(operand);
    if (operand->kind == SC_OPERAND_REG)
        operand->reg += c->first_reg;
    else if (operand->kind == SC_OPERAND_SYMBOL)
        operand->var = copied_var(c, operand->var);
    else if (operand->kind == SC_OPERAND_LABEL)
        operand->target = copied_place(c, operand->target);
    if (!n)
        return;
    struct sc_operand *sub = sc_load_alloc(c->in->load, n, sizeof *sub);
    memcpy(sub, operand->sub, n * sizeof *sub);
    for (uint32_t i = 0; i < n; i++)
        copy_operand(c, &sub[i]);
    operand->sub = sub;
}

static void copy_targets(struct copy *c, struct sc_operand *operand)
{
    const struct sc_targets *old = operand->targets;
    struct sc_targets *made = sc_load_alloc(c->in->load, 1, sizeof *made);
    made->count = old->count;
    made->labels = sc_load_alloc(c->in->load, old->count, sizeof *made->labels);
    for (uint32_t i = 0; i < old->count; i++) {
        made->labels[i] = old->labels[i];
        made->labels[i].target = copied_place(c, old->labels[i].target);
    }
    operand->targets = made;
}

static void copy_inst(struct copy *c, const struct sc_inst *old)
{
    struct sc_inst inst = *old;
    if (inst.guarded)
        inst.guard += c->first_reg;
    if (inst.opcode == SC_OP_ret) {
        inst.opcode = SC_OP_bra;
        memset(inst.mods, 0, sizeof inst.mods);
        inst.operand_count = 1;
        inst.operands = sc_load_alloc(c->in->load, 1, sizeof *inst.operands);
        inst.operands[0] =
            (struct sc_operand){.kind = SC_OPERAND_LABEL, .target = c->end};
    } else if (inst.operand_count) {
        inst.operands = sc_load_alloc(c->in->load, inst.operand_count,
                                      sizeof *inst.operands);
        memcpy(inst.operands, old->operands,
               inst.operand_count * sizeof *inst.operands);
        for (uint32_t k = 0; k < inst.operand_count; k++) {
            if (inst.opcode == SC_OP_brx &&
                inst.operands[k].kind == SC_OPERAND_LABEL)
                copy_targets(c, &inst.operands[k]);
            else
                copy_operand(c, &inst.operands[k]);
        }
    }
    sc_edit_append(c->edit, &inst);
}

/* ---- binding parameters ---- */

static _Noreturn void mismatch(struct copy *c, const char *what)
{
    sc_load_fail(c->in->load, SC_LOAD_INVALID, c->site->line,
                 "call of '%s' with %s", c->callee->name, what);
}

/* mov between a register of the callee and an operand of the call */
static void move_register(struct copy *c, const struct sc_var *formal,
                          const struct sc_operand *actual, bool result)
{
    struct sc_inst *inst = sc_edit_make(c->edit, SC_OP_mov, c->site, 2);
    struct sc_operand reg = {.kind = SC_OPERAND_REG,
                             .reg = formal->reg + c->first_reg};
    inst->guarded = false;
    sc_edit_type(inst, formal->type);
    inst->operands[0] = result ? *actual : reg;
    inst->operands[1] = result ? reg : *actual;
}

/* st.param before or ld.param after the body, for a parameter in memory that
 * meets a register or number */
static void move_memory(struct copy *c, const struct sc_var *var,
                        const struct sc_operand *actual, bool result)
{
    struct sc_inst *inst =
        sc_edit_make(c->edit, result ? SC_OP_ld : SC_OP_st, c->site, 2);
    struct sc_operand *base = sc_load_alloc(c->in->load, 1, sizeof *base);
    *base = (struct sc_operand){.kind = SC_OPERAND_SYMBOL, .var = var};
    inst->guarded = false;
    sc_edit_modifier(inst, SC_MOD_param);
    sc_edit_type(inst, var->type);
    inst->operands[result ? 1 : 0] =
        (struct sc_operand){.kind = SC_OPERAND_ADDRESS, .sub = base};
    inst->operands[result ? 0 : 1] = *actual;
}

static bool is_variable(const struct sc_operand *actual)
{
    return actual->kind == SC_OPERAND_SYMBOL && actual->var->argument &&
           !actual->bits;
}

/* Makes the caller's variable stand for a parameter. */
static void substitute(struct copy *c, struct sc_var *formal,
                       const struct sc_operand *actual)
{
    if (!is_variable(actual))
        return;
    if (actual->var->bytes < formal->bytes)
        mismatch(c, "a parameter of another size");
    formal->copy = (struct sc_var *)(uintptr_t)actual->var;
    formal->copy_number = c->in->copies;
}

static void bind(struct copy *c, struct sc_var *formals,
                 const struct sc_operand *actuals, bool result, bool before)
{
    uint32_t i = 0;
    for (struct sc_var *v = formals; v; v = v->next, i++) {
        const struct sc_operand *actual = &actuals[i];
        if (before && !v->in_register)
            substitute(c, v, actual);
        if (before == result || actual->kind == SC_OPERAND_SINK)
            continue;
        if (v->in_register && is_variable(actual)) {
            struct sc_operand reg = {.kind = SC_OPERAND_REG,
                                     .reg = v->reg + c->first_reg};
            move_memory(c, actual->var, &reg, !result);
        } else if (v->in_register) {
            move_register(c, v, actual, result);
        } else if (!is_variable(actual)) {
            move_memory(c, copied_var(c, v), actual, result);
        }
    }
}

static void take_registers(struct copy *c)
{
    c->first_reg = (uint32_t)c->edit->func->reg_count;
    for (size_t i = 0; i < c->callee->reg_count; i++)
        sc_edit_register(c->edit, c->callee->regs[i].type);
}

static size_t body_size(const struct sc_func *callee)
{
    size_t n = callee->inst_count;
    const struct sc_inst *last = n ? &callee->insts[n - 1] : NULL;
    return last && last->opcode == SC_OP_ret && !last->guarded ? n - 1 : n;
}

static void inline_call(struct inliner *in, struct sc_edit *edit,
                        const struct sc_inst *site)
{
    struct copy c = {
        .in = in, .edit = edit, .callee = site->operands[0].func, .site = site};
    const struct sc_call *call = site->call;
    if (call->ret_count != c.callee->ret_count ||
        call->arg_count != c.callee->param_count)
        mismatch(&c, "another number of parameters");
    in->copies++;
    take_registers(&c);
    size_t skip = edit->count;
    if (site->guarded) {
        struct sc_inst *over = sc_edit_make(edit, SC_OP_bra, site, 1);
        over->guard_negate = !site->guard_negate;
        over->operands[0].kind = SC_OPERAND_LABEL;
    }
    const struct sc_operand *rets = &site->operands[1];
    const struct sc_operand *args = rets + call->ret_count;
    bind(&c, c.callee->rets, rets, true, true);
    bind(&c, c.callee->params, args, false, true);
    size_t n = body_size(c.callee);
    c.base = (uint32_t)edit->count;
    c.end = (uint32_t)(c.base + n);
    for (size_t i = 0; i < n; i++)
        copy_inst(&c, &c.callee->insts[i]);
    bind(&c, c.callee->rets, rets, true, false);
    if (site->guarded)
        edit->insts[skip].operands[0].target = (uint32_t)edit->count;
    edit->func->calls |= c.callee->calls;
    in->grown += n;
}

/* ---- which calls ---- */

static void finish(struct inliner *in, struct sc_func *func);

static bool can_inline(struct inliner *in, const struct sc_edit *edit,
                       const struct sc_inst *inst)
{
    if (!inst->call || inst->operands[0].kind != SC_OPERAND_FUNC)
        return false;
    struct sc_func *callee = inst->operands[0].func;
    if (callee->is_entry)
        sc_load_fail(in->load, SC_LOAD_INVALID, inst->line,
                     "call of the kernel '%s'", callee->name);
    if (!callee->has_body)
        return false;
    if (callee->inline_state == NOT_SEEN && in->nesting < MAX_NESTING)
        finish(in, callee);
    return callee->inline_state == DONE && !callee->is_called &&
           edit->count + callee->inst_count <= MAX_OF_BODY &&
           in->grown + callee->inst_count <= MAX_OF_MODULE;
}

static bool has_calls(const struct sc_func *func)
{
    for (size_t i = 0; i < func->inst_count; i++)
        if (func->insts[i].call)
            return true;
    return false;
}

static void finish(struct inliner *in, struct sc_func *func)
{
    func->inline_state = IN_PROGRESS;
    if (!has_calls(func)) {
        func->inline_state = DONE;
        return;
    }
    in->nesting++;
    struct sc_edit edit;
    sc_edit_begin(&edit, in->load, func);
    for (size_t i = 0; i < func->inst_count; i++) {
        const struct sc_inst *inst = &func->insts[i];
        sc_edit_place(&edit, i);
        if (can_inline(in, &edit, inst)) {
            inline_call(in, &edit, inst);
            continue;
        }
        const struct sc_operand *callee = inst->operands;
        bool stays = inst->call && (callee->kind != SC_OPERAND_FUNC ||
                                    callee->func->has_body);
        if (stays && callee->kind == SC_OPERAND_FUNC)
            callee->func->is_called = true;
        func->calls |= stays;
        sc_edit_move(&edit, inst);
    }
    sc_edit_end(&edit);
    in->nesting--;
    func->inline_state = DONE;
}

void sc_ptx_inline(struct sc_load *load, struct sc_ir *ir)
{
    struct inliner in = {.load = load, .ir = ir};
    bool any = false;
    for (struct sc_func *f = ir->funcs; f; f = f->next)
        any |= !f->is_entry || has_calls(f);
    if (!any)
        return;
    settle(&in);
    for (struct sc_func *f = ir->funcs; f; f = f->next)
        if (!f->is_entry)
            localise(f);
    for (struct sc_func *f = ir->funcs; f; f = f->next)
        if (f->has_body && f->inline_state == NOT_SEEN)
            finish(&in, f);
}
