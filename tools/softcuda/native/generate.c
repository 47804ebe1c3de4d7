/*
 * Kernel to C text: sets up the groups, calls the parts in order, puts the
 * text together; see native/gen.h.
 *
 * Owns what the text of instructions relies on: the variables of
 * sc_native_run, and the loops over CTAs and groups. Lock: none.
 */
#include "native/emit.h"

#include "base/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What analysis and text of one kernel may take. */
#define MOST_MEMORY ((size_t)256 << 20)
/* More than a compiler does in sensible time, with the least effort. */
#define MOST_INSTS 100000u
/* Of groups of several vectors, and of kernels that have them. */
#define WIDE_LANES  64u
#define WIDE_INSTS  200u
#define MOST_LABELS ((uint64_t)1 << 33)

static const char abi_text[] =
#include <native/abi.inc>
    ;

void sc_gen_refuse(struct sc_gen *gen, const char *why)
{
    const struct sc_inst *inst = gen->inst;
    if (inst)
        sc_load_fail(&gen->load, SC_LOAD_UNSUPPORTED, inst->line, "'%s': %s",
                     sc_opcode_name(inst->opcode), why);
    sc_load_fail(&gen->load, SC_LOAD_UNSUPPORTED, 0, "%s", why);
}

/* ---- groups ---- */

static void set_groups(struct sc_gen *gen)
{
    gen->lanes = gen->isa == SC_NATIVE_AVX512 ? 16 : 8;
    gen->parts = gen->whole_warps ? SC_WARP / gen->lanes
                 : gen->wide      ? WIDE_LANES / gen->lanes
                                  : 1;
    gen->group = gen->lanes * gen->parts;
    gen->groups = (gen->threads + gen->group - 1) / gen->group;
    gen->partial = gen->threads % gen->group != 0;
    gen->rows =
        gen->ntid[1] * gen->ntid[2] == 1 || gen->ntid[0] % gen->group == 0;
}

static bool reads_special(const struct sc_inst *inst, uint32_t special)
{
    for (uint32_t i = 0; i < inst->operand_count; i++)
        if (inst->operands[i].kind == SC_OPERAND_SPECIAL &&
            inst->operands[i].reg == special)
            return true;
    return false;
}

/* A short kernel with a loop in steps of the grid: the more neighbours go
 * together, the fewer pages each round touches for its bytes. */
static bool strides_by_grid(const struct sc_gen *gen)
{
    bool strides = false, loops = false;
    for (size_t i = 0; i < gen->func->inst_count; i++) {
        const struct sc_inst *inst = &gen->func->insts[i];
        strides |= reads_special(inst, SC_SREG_nctaid_x);
        loops |= inst->opcode == SC_OP_bra && inst->operands[0].target <= i;
        if (reads_special(inst, SC_SREG_warpid))
            return false;
    }
    return strides && loops && gen->func->inst_count <= WIDE_INSTS &&
           !gen->whole_warps;
}

/* More lanes than one vector where that pays and all threads make up whole
 * groups. */
static void widen_groups(struct sc_gen *gen)
{
    gen->wide = strides_by_grid(gen);
    set_groups(gen);
    if (gen->wide && (!gen->rows || gen->partial)) {
        gen->wide = false;
        set_groups(gen);
    }
}

/* Half as many lanes where rows of threads are too short for all. */
static void choose_groups(struct sc_gen *gen)
{
    set_groups(gen);
    if (gen->isa != SC_NATIVE_AVX512 || gen->whole_warps ||
        (gen->rows && !gen->partial))
        return;
    gen->isa = SC_NATIVE_AVX2;
    set_groups(gen);
    if (gen->rows && !gen->partial)
        return;
    gen->isa = SC_NATIVE_AVX512;
    set_groups(gen);
}

/* ---- analysis ---- */

/* Registers by number, and the condition code. */
static void set_registers(struct sc_gen *gen)
{
    gen->reg_count = (uint32_t)gen->func->reg_count + 1;
    gen->words = (gen->reg_count + 63) / 64;
    gen->shapes =
        sc_load_alloc(&gen->load, gen->reg_count, sizeof *gen->shapes);
    gen->defs = sc_load_alloc(&gen->load, gen->reg_count, sizeof *gen->defs);
    gen->def_inst =
        sc_load_alloc(&gen->load, gen->reg_count, sizeof *gen->def_inst);
    gen->widens = sc_load_alloc(&gen->load, gen->func->inst_count + 1,
                                sizeof *gen->widens);
    gen->rt_used =
        sc_load_alloc(&gen->load, sc_rt_rows(), sizeof *gen->rt_used);
    for (uint32_t r = 0; r < gen->reg_count; r++)
        gen->shapes[r].widen = SC_NONE;
}

/* Looking at every two places for every branch must not take for ever; what
 * comparing them takes is seen there (sc_gen_clash). */
static void check_size(struct sc_gen *gen)
{
    uint64_t branches = 0;
    for (uint32_t i = 0; i < gen->count; i++)
        branches += gen->places[i].succ_count > 1;
    if (gen->func->inst_count > MOST_INSTS ||
        branches * gen->count * gen->count > MOST_LABELS)
        sc_gen_refuse(gen, "the kernel is too large");
}

/* Groups smaller than a warp, and of several. */
static bool cuts_warps(const struct sc_gen *gen)
{
    return gen->group % SC_WARP && gen->threads > gen->group;
}

/* Return: false: groups are whole warps because lanes seemed to exchange
 * something in memory, which they do not. */
static bool find_shapes(struct sc_gen *gen, bool apart, enum sc_native_isa isa)
{
    bool exchange = !apart && cuts_warps(gen) && sc_gen_exchanges(gen);
    if (exchange) {
        gen->whole_warps = true;
        gen->isa = isa;
        choose_groups(gen);
        widen_groups(gen);
    }
    sc_gen_shapes(gen);
    return !exchange || sc_gen_exchanges(gen);
}

static bool analyse(struct sc_gen *gen, bool apart)
{
    enum sc_native_isa isa = gen->isa;
    sc_gen_accept(gen);
    choose_groups(gen);
    widen_groups(gen);
    set_registers(gen);
    sc_gen_flow(gen);
    check_size(gen);
    sc_gen_live(gen);
    sc_gen_same(gen);
    sc_gen_flush(gen);
    sc_gen_accept_loops(gen);
    if (!find_shapes(gen, apart, isa))
        return false;
    sc_gen_steady(gen);
    sc_gen_fetched(gen);
    sc_gen_fresh(gen);
    sc_emit_plan_barriers(gen);
    sc_emit_plan_turns(gen);
    return true;
}

/* ---- text ---- */

static void put_constants(struct sc_gen *gen, struct sc_text *text)
{
    sc_text_put(gen, text,
                "enum { FAIL_ADDRESS = %d, FAIL_MISALIGNED = %d, "
                "FAIL_INSTRUCTION = %d, FAIL_TRAP = %d, FAIL_TIMEOUT = %d };\n",
                SC_EXEC_ILLEGAL_ADDRESS, SC_EXEC_MISALIGNED,
                SC_EXEC_ILLEGAL_INSTRUCTION, SC_EXEC_TRAP, SC_EXEC_TIMEOUT);
    sc_text_put(gen, text,
                "enum { SHARED_WINDOW = %u, LOCAL_USABLE = %u, PARAM_WINDOW = "
                "%u, PARAM_BYTES = %u, THREADS = %u, GROUP = %u, GROUPS = %u "
                "};\n",
                SC_SHARED_WINDOW, SC_LOCAL_USABLE, SC_PARAM_WINDOW,
                gen->func->param_bytes, gen->threads, gen->group, gen->groups);
}

/* Indices of all threads where rows do not tell them. */
static void put_indices(struct sc_gen *gen, struct sc_text *text)
{
    for (int axis = 0; gen->tid_used && axis < 3; axis++) {
        sc_text_put(gen, text,
                    "static const uint16_t t%c_of[GROUPS * GROUP] = {",
                    "xyz"[axis]);
        for (uint32_t t = 0; t < gen->threads; t++) {
            uint32_t index[3] = {t % gen->ntid[0],
                                 t / gen->ntid[0] % gen->ntid[1],
                                 t / gen->ntid[0] / gen->ntid[1]};
            sc_text_put(gen, text, "%u,", index[axis]);
        }
        sc_text_put(gen, text, "};\n");
    }
    if (gen->tid_used)
        sc_text_put(gen, text,
                    "typedef uint16_t row_of __attribute__((vector_size(2 * "
                    "SC_W)));\nSC_IN v32 indices(const uint16_t *at) { row_of "
                    "x; __builtin_memcpy(&x, at, sizeof x); return "
                    "__builtin_convertvector(x, v32); }\n");
}

static void put_registers(struct sc_gen *gen, struct sc_text *text)
{
    for (uint32_t r = 0; r < gen->reg_count; r++) {
        bool vector = sc_gen_varies(gen, r);
        const char *type = sc_emit_type(sc_gen_class(gen, r), vector);
        if (!vector && !gen->steady[r])
            sc_text_put(gen, text, "%s r%u = 0;\n", type, r);
        for (uint32_t part = 0; vector && part < gen->parts; part++)
            sc_text_put(gen, text, "%s v%u_%u = {0};\n", type, r, part);
    }
    for (size_t i = 0; i < gen->func->inst_count; i++)
        if (gen->widens[i])
            sc_text_put(gen, text, "uint32_t wn%zu = 0; uint64_t wb%zu = 0;\n",
                        i, i);
    for (uint32_t part = 0; part < gen->parts; part++) {
        sc_text_put(gen, text, "vm M%u = m_none();\n", part);
        for (uint32_t i = 0; i < gen->count; i++)
            if (gen->places[i].diverged)
                sc_text_put(gen, text, "vm m%u_%u = m_none();\n", i, part);
    }
}

/* What is fixed for one group: its threads. */
static void put_threads(struct sc_gen *gen, struct sc_text *text)
{
    bool waits = gen->save_bytes != 0;
    if (waits)
        sc_text_put(gen, text,
                    "save = (struct saved *)(cta->save + g * %llu);\n",
                    (unsigned long long)gen->save_bytes);
    sc_text_put(gen, text, "t0 = g * GROUP;\n");
    if (gen->rows)
        sc_text_put(gen, text,
                    "tx = t0 %% %u; ty = t0 / %u %% %u; tz = t0 / %u;\n",
                    gen->ntid[1] * gen->ntid[2] == 1 ? gen->groups * gen->group
                                                     : gen->ntid[0],
                    gen->ntid[0], gen->ntid[1], gen->ntid[0] * gen->ntid[1]);
    for (uint32_t part = 0; part < gen->parts; part++) {
        for (int axis = 0; gen->tid_used && axis < 3; axis++)
            sc_text_put(gen, text, "t%c_%u = indices(t%c_of + t0 + %u);\n",
                        "xyz"[axis], part, "xyz"[axis], part * gen -> lanes);
        if (gen->partial)
            sc_text_put(gen, text,
                        "F%u = m_below((int)THREADS - (int)t0 - %u);\n", part,
                        part * gen->lanes);
    }
}

/* The variables for that. */
static void put_thread_names(struct sc_gen *gen, struct sc_text *text)
{
    if (gen->save_bytes)
        sc_text_put(gen, text, "struct saved *save;\n");
    sc_text_put(gen, text, "uint32_t t0%s;\n", gen->rows ? ", tx, ty, tz" : "");
    for (uint32_t part = 0; part < gen->parts; part++) {
        for (int axis = 0; gen->tid_used && axis < 3; axis++)
            sc_text_put(gen, text, "v32 t%c_%u;\n", "xyz"[axis], part);
        if (gen->partial)
            sc_text_put(gen, text, "vm F%u;\n", part);
    }
}

static void put_cta(struct sc_gen *gen, struct sc_text *text)
{
    bool waits = gen->save_bytes != 0;
    if (waits)
        sc_text_put(gen, text,
                    "uint16_t where[GROUPS + 1] = {0};\n"
                    "where[GROUPS] = 65535;\n"
                    "for (int waiting = 1; waiting;) {\n"
                    "waiting = 0;\n");
    sc_text_put(gen, text, "for (uint32_t g = 0; g < GROUPS; g++) {\n");
    if (waits)
        sc_text_put(gen, text, "if (where[g] == 65535) continue;\n");
    put_thread_names(gen, text);
    put_threads(gen, text);
    put_registers(gen, text);
    if (waits) {
        sc_text_put(gen, text, "switch (where[g]) {\n");
        for (uint32_t i = 1; i <= gen->barriers; i++)
            sc_text_put(gen, text, "case %u: goto R%u;\n", i, i);
        sc_text_put(gen, text, "}\nS0:;\n");
    }
    sc_text_put(gen, text, "%s", gen->body.data ? gen->body.data : "");
    sc_text_put(gen, text, "done:;\n");
    if (waits) {
        sc_text_put(gen, text, "where[g] = 65535;\n");
        sc_emit_turn(gen, text, gen->barriers + 1);
        sc_text_put(gen, text, "goto stop;\n");
        sc_emit_turns(gen, text, put_threads);
        sc_text_put(gen, text, "stop:;\n}\n");
    }
    sc_text_put(gen, text, "}\n");
}

static void put_steady(struct sc_gen *gen, struct sc_text *text)
{
    for (uint32_t r = 0; r < gen->reg_count; r++)
        if (gen->steady[r])
            sc_text_put(gen, text, "%s r%u = 0;\n",
                        sc_emit_type(sc_gen_class(gen, r), false), r);
}

static void put_run(struct sc_gen *gen, struct sc_text *text)
{
    sc_text_put(
        gen, text,
        "__attribute__((visibility(\"default\"))) sc_native_run run_ctas "
        "__asm__(\"sc_native_run\");\n"
        "void run_ctas(struct sc_native_cta *cta, uint64_t first, uint64_t "
        "count)\n{\n"
        "const uint64_t window = cta->window_base, window_end = "
        "cta->window_bytes;\n"
        "const uint64_t shared = (uint64_t)cta->shared, shared_bytes = "
        "cta->shared_bytes;\n"
        "const uint64_t params = (uint64_t)cta->params;\n"
        "const uint32_t gx = cta->grid[0], gy = cta->grid[1], gz = "
        "cta->grid[2];\n"
        "uint32_t left = 65536, cx = first %% gx, cy = first / gx %% gy, cz = "
        "first / gx / gy;\n%s%s"
        "for (; count; count--) {\n",
        gen->hoist.data ? gen->hoist.data : "",
        gen->flushes ? "const uint32_t mode = s_zeros();\n" : "");
    put_steady(gen, text);
    put_cta(gen, text);
    sc_text_put(gen, text,
                "if (++cx == gx) { cx = 0; if (++cy == gy) { cy = 0; cz++; } "
                "}\n}\n%s}\n",
                gen->flushes ? "s_unzeros(mode);\n" : "");
}

static void write_text(struct sc_gen *gen, struct sc_text *text)
{
    sc_alu_begin(&gen->alu, gen->isa);
    sc_emit_places(gen);
    if (gen->flushes && (!sc_alu_need(&gen->alu, "s_zeros") ||
                         !sc_alu_need(&gen->alu, "s_unzeros")))
        sc_gen_refuse(gen, "arithmetic of it is not there");
    if (gen->alu.failed)
        sc_gen_refuse(gen, "arithmetic of it is not there");
    sc_text_put(gen, text, "%s%s", abi_text, sc_alu_prelude(gen->isa));
    put_constants(gen, text);
    sc_text_put(gen, text, "%s%s", gen->alu.text ? gen->alu.text : "",
                gen->library.data ? gen->library.data : "");
    put_indices(gen, text);
    if (gen->save_bytes)
        sc_emit_saved(gen, text);
    put_run(gen, text);
}

static void clear(struct sc_gen *gen)
{
    sc_alu_end(&gen->alu);
    free(gen->library.data);
    free(gen->hoist.data);
    free(gen->body.data);
    sc_arena_fini(&gen->load.arena);
    free(gen);
}

/* Return: false: once more, with lanes that are `apart`. */
static bool generate(struct sc_gen *gen, bool apart,
                     struct sc_native_code *code)
{
    sc_arena_init(&gen->load.arena, MOST_MEMORY);
    if (setjmp(gen->load.back) == 0) {
        if (!analyse(gen, apart))
            return false;
        write_text(gen, &gen->whole);
        code->text = gen->whole.data;
        code->save = gen->save_bytes * gen->groups;
        gen->whole.data = NULL;
    }
    free(gen->whole.data);
    return true;
}

bool sc_native_generate(const struct sc_ir *ir, const struct sc_func *kernel,
                        const uint32_t block[3], enum sc_native_isa isa,
                        struct sc_native_code *code)
{
    bool done = false;
    memset(code, 0, sizeof *code);
    for (bool apart = false; !done; apart = true) {
        struct sc_gen *gen = calloc(1, sizeof *gen);
        if (!gen) {
            snprintf(code->why, sizeof code->why, "no memory to generate code");
            return false;
        }
        gen->ir = ir;
        gen->func = kernel;
        gen->isa = isa;
        memcpy(gen->ntid, block, sizeof gen->ntid);
        gen->threads = block[0] * block[1] * block[2];
        gen->load.log = code->why;
        gen->load.log_bytes = sizeof code->why;
        done = generate(gen, apart, code);
        clear(gen);
    }
    return code->text != NULL;
}
