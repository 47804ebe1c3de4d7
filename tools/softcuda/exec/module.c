/*
 * Modules: load, variables, what they say about themselves.
 *
 * Owns the arena of each module and the device memory of its variables.
 * Lock: none; a module is read-only once loaded.
 */
#include "exec/launch.h"
#include "exec/lower.h"
#include "exec/module.h"
#include "exec/system.h"
#include "exec/touched.h"
#include "ptx/parse.h"

#include <stdlib.h>
#include <string.h>

#define MODULE_LIMIT ((size_t)2 << 30)

static bool is_placed_space(const struct sc_var *var)
{
    return var->space == SC_SPACE_GLOBAL || var->space == SC_SPACE_CONST;
}

static void free_variables(struct sc_module *module)
{
    for (size_t i = 0; i < module->variable_count; i++)
        module->space.free(module->space.ctx, module->variables[i].address);
    module->variable_count = 0;
}

static void place_variable(struct sc_module *module, struct sc_var *var)
{
    uint64_t bytes = var->bytes ? var->bytes : 1;
    uint32_t align = var->align < 16 ? 16 : var->align;
    uint64_t (*alloc)(void *, size_t, size_t) =
        var->is_managed ? module->space.alloc_managed : module->space.alloc;
    if (!alloc)
        sc_load_fail(&module->load, SC_LOAD_UNSUPPORTED, var->line,
                     "managed variable '%s' is not supported", var->name);
    uint64_t at = alloc(module->space.ctx, bytes, align);
    if (!at)
        sc_load_fail(&module->load, SC_LOAD_NOMEM, var->line,
                     "no device memory for '%s' (%llu bytes)", var->name,
                     (unsigned long long)bytes);
    var->address = at;
    var->placed = true;
    module->variables[module->variable_count++] = (struct sc_variable_info){
        .name = var->name,
        .address = at,
        .bytes = var->bytes,
        .is_const = var->space == SC_SPACE_CONST,
        .is_managed = var->is_managed,
        .is_texture = var->reference == SC_REFERENCE_TEXTURE,
        .is_surface = var->reference == SC_REFERENCE_SURFACE};
    if (var->space == SC_SPACE_CONST)
        module->const_bytes += (uint32_t)var->bytes;
}

static void fill_variable(struct sc_module *module, const struct sc_var *var)
{
    char *memory = (char *)(uintptr_t)var->address;
    memset(memory, 0, var->bytes);
    if (var->data_bytes)
        memcpy(memory, var->data, var->data_bytes);
    for (size_t i = 0; i < var->reloc_count; i++) {
        const struct sc_reloc *reloc = &var->relocs[i];
        uint64_t value =
            reloc->func ? sc_func_address(reloc->func) : reloc->var->address;
        value += (uint64_t)reloc->addend;
        if (reloc->var && !is_placed_space(reloc->var))
            sc_load_fail(&module->load, SC_LOAD_UNSUPPORTED, reloc->line,
                         "address of '%s', which has none before a launch",
                         reloc->var->name);
        value >>= reloc->shift;
        memcpy(memory + reloc->offset, &value, reloc->bytes);
    }
}

static void place_variables(struct sc_module *module)
{
    size_t n = 0;
    for (struct sc_var *v = module->ir->vars; v; v = v->next)
        n += is_placed_space(v);
    module->variables =
        sc_load_alloc(&module->load, n, sizeof *module->variables);
    for (struct sc_var *v = module->ir->vars; v; v = v->next)
        if (is_placed_space(v))
            place_variable(module, v);
    for (struct sc_var *v = module->ir->vars; v; v = v->next)
        if (is_placed_space(v))
            fill_variable(module, v);
}

static uint32_t count_registers(const struct sc_func *func)
{
    uint64_t words = 0;
    for (size_t i = 0; i < func->reg_count; i++)
        words += sc_type_class(func->regs[i].type) == SC_CLASS_PRED
                     ? 0
                     : (sc_type_bytes(func->regs[i].type) + 3) / 4;
    return words > 255 ? 255 : words < 8 ? 8 : (uint32_t)words;
}

static uint32_t count_threads(const struct sc_func *func)
{
    const uint32_t *ntid = func->req_ntid[0] ? func->req_ntid : func->max_ntid;
    if (!ntid[0])
        return SC_MAX_CTA_THREADS;
    uint64_t n = ntid[0];
    for (int i = 1; i < 3; i++)
        n = n > SC_MAX_CTA_THREADS ? n : n * ntid[i];
    return n > SC_MAX_CTA_THREADS ? SC_MAX_CTA_THREADS : (uint32_t)n;
}

static void describe(struct sc_module *module, const struct sc_func *func,
                     const bool *pointers, struct sc_kernel *kernel)
{
    struct sc_param *params =
        sc_load_alloc(&module->load, func->param_count, sizeof *params);
    const struct sc_var *var = func->params;
    for (uint32_t i = 0; i < func->param_count; i++, var = var->next)
        params[i] =
            (struct sc_param){.offset = (uint32_t)var->address,
                              .bytes = (uint32_t)var->bytes,
                              .align = var->align,
                              .is_pointer = var->is_pointer || pointers[i]};
    kernel->info = (struct sc_kernel_info){
        .name = func->name,
        .param_count = func->param_count,
        .params = params,
        .param_bytes = func->param_bytes,
        .static_shared_bytes = kernel->code.shared_bytes,
        .local_bytes = kernel->code.local_bytes,
        .const_bytes = module->const_bytes,
        .registers = count_registers(func),
        .max_threads = count_threads(func)};
    memcpy(kernel->info.required_block, func->req_ntid, sizeof func->req_ntid);
}

/* A module that declares malloc shares the heap of its device. */
static void find_heap(struct sc_module *module)
{
    bool wants = false;
    for (const struct sc_func *f = module->ir->funcs; f; f = f->next)
        wants |= !f->has_body && (strcmp(f->name, "malloc") == 0 ||
                                  strcmp(f->name, "free") == 0);
    if (wants)
        module->heap = sc_heap_hold(&module->space);
}

static bool reads_workspace(const struct sc_func *func)
{
    for (size_t i = 0; i < func->inst_count; i++) {
        const struct sc_inst *inst = &func->insts[i];
        for (uint32_t k = 0; k < inst->operand_count; k++)
            if (inst->operands[k].kind == SC_OPERAND_SPECIAL &&
                inst->operands[k].reg == SC_SREG_envreg1)
                return true;
    }
    return false;
}

static void find_workspace(struct sc_module *module)
{
    bool wants = false;
    for (const struct sc_func *f = module->ir->funcs; f; f = f->next)
        wants |= reads_workspace(f);
    if (!wants)
        return;
    module->workspace =
        module->space.alloc(module->space.ctx, SC_WORKSPACE_BYTES, 256);
    if (!module->workspace)
        sc_load_fail(&module->load, SC_LOAD_NOMEM, 0,
                     "no device memory for grid barriers");
    memset((void *)(uintptr_t)module->workspace, 0, SC_WORKSPACE_BYTES);
}

static void load_kernels(struct sc_module *module)
{
    const struct sc_isa *isa = sc_isa_pick();
    size_t n = 0;
    for (const struct sc_func *f = module->ir->funcs; f; f = f->next)
        n += f->is_entry && f->has_body;
    module->kernels = sc_load_alloc(&module->load, n, sizeof *module->kernels);
    for (const struct sc_func *f = module->ir->funcs; f; f = f->next) {
        if (!f->is_entry || !f->has_body)
            continue;
        struct sc_kernel *kernel = &module->kernels[module->kernel_count++];
        bool *pointers =
            sc_load_alloc(&module->load, f->param_count, sizeof *pointers);
        kernel->code.heap = module->heap;
        kernel->code.workspace = module->workspace;
        sc_lower_kernel(&module->load, module->ir, f, &module->space, isa,
                        &kernel->code, pointers);
        describe(module, f, pointers, kernel);
        kernel->solve = sc_touched_prepare(&module->load, f);
        kernel->native.ir = module->ir;
        kernel->native.func = f;
        kernel->may_wait = sc_launch_may_wait(f);
    }
}

static void load_text(struct sc_module *module, const char *ptx, size_t bytes)
{
    /* messages and statements point into the text, so the module keeps it */
    char *text = sc_load_text(&module->load, ptx, bytes);
    module->ir = sc_ptx_parse(&module->load, text, bytes);
    module->ir->window_base = module->space.window_base;
    if (module->ir->sm > (uint32_t)module->space.sm)
        sc_load_fail(&module->load, SC_LOAD_UNSUPPORTED, 0,
                     "text is for sm_%u, this device is sm_%d", module->ir->sm,
                     module->space.sm);
    place_variables(module);
    find_heap(module);
    find_workspace(module);
    load_kernels(module);
}

enum sc_exec_status sc_module_load(struct sc_module **module_out,
                                   const char *ptx, size_t bytes,
                                   const struct sc_space *space, char *log,
                                   size_t log_bytes)
{
    static const enum sc_exec_status statuses[] = {
        [SC_LOAD_INVALID] = SC_EXEC_INVALID_PTX,
        [SC_LOAD_UNSUPPORTED] = SC_EXEC_UNSUPPORTED,
        [SC_LOAD_NOMEM] = SC_EXEC_NO_MEMORY};
    *module_out = NULL;
    if (log_bytes)
        log[0] = 0;
    struct sc_module *module = calloc(1, sizeof *module);
    if (!module)
        return SC_EXEC_NO_MEMORY;
    module->space = *space;
    module->load.log = log;
    module->load.log_bytes = log_bytes;
    sc_arena_init(&module->load.arena, MODULE_LIMIT);
    int error = setjmp(module->load.back);
    if (error) {
        sc_module_unload(module);
        return statuses[error];
    }
    load_text(module, ptx, bytes);
    *module_out = module;
    return SC_EXEC_OK;
}

void sc_module_unload(struct sc_module *module)
{
    if (!module)
        return;
    /* first of all: a background thread may be reading the IR */
    for (size_t i = 0; i < module->kernel_count; i++)
        sc_build_kernel_drop(&module->kernels[i].native);
    free_variables(module);
    sc_heap_release(module->heap);
    if (module->workspace)
        module->space.free(module->space.ctx, module->workspace);
    sc_arena_fini(&module->load.arena);
    free(module);
}

uint32_t sc_module_target(const struct sc_module *module)
{
    return module->ir->sm;
}

size_t sc_module_kernels(const struct sc_module *module)
{
    return module->kernel_count;
}

const struct sc_kernel_info *sc_module_kernel(const struct sc_module *module,
                                              size_t index)
{
    return index < module->kernel_count ? &module->kernels[index].info : NULL;
}

size_t sc_module_variables(const struct sc_module *module)
{
    return module->variable_count;
}

const struct sc_variable_info *
sc_module_variable(const struct sc_module *module, size_t index)
{
    return index < module->variable_count ? &module->variables[index] : NULL;
}

const char *sc_exec_status_text(enum sc_exec_status status)
{
    static const char *const texts[] = {
        [SC_EXEC_OK] = "no error",
        [SC_EXEC_INVALID_PTX] = "invalid PTX",
        [SC_EXEC_UNSUPPORTED] = "unsupported PTX",
        [SC_EXEC_NO_MEMORY] = "out of memory",
        [SC_EXEC_BAD_LAUNCH] = "invalid launch",
        [SC_EXEC_ILLEGAL_ADDRESS] = "illegal address",
        [SC_EXEC_MISALIGNED] = "misaligned address",
        [SC_EXEC_ILLEGAL_INSTRUCTION] = "illegal instruction",
        [SC_EXEC_TRAP] = "trap",
        [SC_EXEC_TIMEOUT] = "launch stopped",
        [SC_EXEC_ASSERT] = "device-side assert",
        [SC_EXEC_STACK_OVERFLOW] = "stack overflow"};
    bool known = (size_t)status < sizeof texts / sizeof *texts;
    return known ? texts[status] : "unknown status";
}
