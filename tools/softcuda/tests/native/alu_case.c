/*
 * From the PTX of an opcode case to C that calls the arithmetic library.
 *
 * A small generator of its own: straight-line code, guards as selections.
 */
#include "alu_case.h"

#include <check.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../opcodes/text.h"
#include "compiled.h"
#include "ptx/parse.h"

static const char source_names[OP_SOURCES] = {'a', 'b', 'c', 'e'};

static int bits_of(char kind)
{
    return kind == 'H' ? 16 : kind == 'W' ? 32 : 64;
}

static void put_register(struct text *t, char kind, char name)
{
    if (kind == 'P')
        text_put(t, ".reg .pred %%%c;\n", name);
    else
        text_put(t, ".reg .b%d %%%c;\n", bits_of(kind), name);
}

/* A move of each register of the signature says which number it got. */
static void put_probe(struct text *t, char kind, char name)
{
    if (kind == 'P')
        text_put(t, "mov.pred %%%c,%%%c;\n", name, name);
    else
        text_put(t, "mov.b%d %%%c,%%%c;\n", bits_of(kind), name, name);
}

static const char *kernel_text(const struct op_case *c)
{
    struct text *t = text_begin();
    text_put(t, ".version 8.5\n.target sm_90\n.address_size 64\n"
                ".visible .entry k()\n{\n.reg .b64 %%l<8>;\n"
                ".reg .b32 %%s<8>;\n.reg .b16 %%h<8>;\n.reg .pred %%q<8>;\n");
    put_register(t, c->signature[0], 'd');
    for (int k = 0; c->signature[2 + 2 * k]; k++)
        put_register(t, c->signature[2 + 2 * k], source_names[k]);
    put_probe(t, c->signature[0], 'd');
    for (int k = 0; c->signature[2 + 2 * k]; k++)
        put_probe(t, c->signature[2 + 2 * k], source_names[k]);
    text_put(t, "%s;\nret;\n}\n", c->text);
    return t->buffer;
}

void alu_object_begin(struct alu_object *object, enum sc_native_isa isa,
                      bool vector, bool apart)
{
    *object = (struct alu_object){.vector = vector, .apart = apart};
    sc_alu_begin(&object->set, isa);
    object->out = open_memstream(&object->body, &object->body_bytes);
    ck_assert_ptr_nonnull(object->out);
}

static const char *const vector_types[] = {"v32", "v64", "vm"};
static const char *const scalar_types[] = {"uint32_t", "uint64_t", "int"};

static enum sc_lane_class class_of(enum sc_type type)
{
    return type == SC_T_pred         ? SC_LANE_PRED
           : sc_type_bytes(type) > 4 ? SC_LANE_64
                                     : SC_LANE_32;
}

/* Bits of a constant as the type wants them. */
static uint64_t constant(const struct sc_alu_value *value)
{
    const struct sc_operand *o = value->operand;
    uint32_t bytes = sc_type_bytes(value->type);
    uint64_t bits = o->bits;
    double wide;
    float narrow;
    if (o->kind == SC_OPERAND_DOUBLE && bytes == 4) {
        memcpy(&wide, &bits, sizeof wide);
        narrow = (float)wide;
        bits = 0;
        memcpy(&bits, &narrow, sizeof narrow);
    } else if (o->kind == SC_OPERAND_SINGLE && bytes == 8) {
        memcpy(&narrow, &bits, sizeof narrow);
        wide = narrow;
        memcpy(&bits, &wide, sizeof wide);
    }
    return bytes < 8 ? bits & (((uint64_t)1 << 8 * bytes) - 1) : bits;
}

static void put_argument(struct alu_object *object,
                         const struct sc_alu_value *value, bool vector)
{
    const struct sc_operand *o = value->operand;
    static const char *const spread[] = {"v_bc32", "v_bc64", "m_bc"};
    if (!o)
        fprintf(object->out, "cc");
    else if (o->kind == SC_OPERAND_REG && o->negate)
        fprintf(object->out, vector ? "m_not(r%u)" : "!r%u", o->reg);
    else if (o->kind == SC_OPERAND_REG)
        fprintf(object->out, "r%u", o->reg);
    else if (value->class == SC_LANE_PRED)
        fprintf(object->out, vector ? "m_bc(%d)" : "%d",
                (o->bits != 0) != o->negate);
    else
        fprintf(object->out, "%s(%#" PRIx64 ")",
                vector ? spread[value->class] : "", constant(value));
}

/* Results of one instruction into t<at>…, then into the registers. */
static bool put_inst(struct alu_object *object, const struct sc_func *func,
                     const struct sc_inst *inst, size_t at, bool vector)
{
    struct sc_alu_call call;
    char name[SC_ALU_NAME];
    if (!sc_alu_find(func, inst, &call))
        return false;
    const char *const *types = vector ? vector_types : scalar_types;
    for (uint32_t i = 0; i < call.result_count; i++) {
        ck_assert(sc_alu_add(&object->set, &call, i, vector, name));
        fprintf(object->out, "%s t%zu_%u = %s(", types[call.results[i].class],
                at, i, name);
        for (uint32_t k = 0; k < call.arg_count; k++) {
            fprintf(object->out, k ? ", " : "");
            put_argument(object, &call.args[k], vector);
        }
        fprintf(object->out, "); ");
    }
    for (uint32_t i = 0; i < call.result_count; i++) {
        static const char *const selects[] = {"v_sel32", "v_sel64", "m_sel"};
        const struct sc_operand *o = call.results[i].operand;
        char to[16] = "cc";
        if (o)
            snprintf(to, sizeof to, "r%u", o->reg);
        if (!inst->guarded)
            fprintf(object->out, "%s = t%zu_%u; ", to, at, i);
        else if (vector)
            fprintf(object->out, "%s = %s(%s(r%u), t%zu_%u, %s); ", to,
                    selects[call.results[i].class],
                    inst->guard_negate ? "m_not" : "", inst->guard, at, i, to);
        else
            fprintf(object->out, "if (%sr%u) %s = t%zu_%u; ",
                    inst->guard_negate ? "!" : "", inst->guard, to, at, i);
    }
    return true;
}

static bool names(const struct sc_operand *operand, uint32_t reg)
{
    if (operand->kind == SC_OPERAND_REG)
        return operand->reg == reg;
    if (operand->kind != SC_OPERAND_VECTOR && operand->kind != SC_OPERAND_PAIR)
        return false;
    for (uint32_t i = 0; i < operand->reg; i++)
        if (names(&operand->sub[i], reg))
            return true;
    return false;
}

static bool is_used(const struct sc_func *func, uint32_t reg)
{
    for (size_t i = 0; i < func->inst_count; i++) {
        const struct sc_inst *inst = &func->insts[i];
        if (inst->guarded && inst->guard == reg)
            return true;
        for (uint32_t k = 0; k < inst->operand_count; k++)
            if (names(&inst->operands[k], reg))
                return true;
    }
    return false;
}

static bool put_function(struct alu_object *object, const struct op_case *c,
                         const struct sc_func *func, bool vector,
                         const struct sc_inst **missing)
{
    static const char *const zeros[] = {"v_bc32(0)", "v_bc64(0)", "m_none()"};
    const char *pairs = c->signature + 2;
    size_t n = strlen(pairs) / 2;
    uint32_t d = func->insts[0].operands[0].reg;
    enum sc_lane_class dc = class_of(func->regs[d].type);
    fprintf(object->out,
            "void case_%zu(const uint64_t *const *in, uint64_t *out, size_t n) "
            "{ for (size_t i = 0; i < n; i += %s) { ",
            object->count, vector ? "SC_W" : "1");
    for (uint32_t r = 0; r < func->reg_count; r++) {
        if (!is_used(func, r))
            continue;
        enum sc_lane_class class = class_of(func->regs[r].type);
        fprintf(object->out, "%s r%u = %s; ",
                (vector ? vector_types : scalar_types)[class], r,
                vector ? zeros[class] : "0");
    }
    fprintf(object->out, vector ? "vm cc = m_none(); " : "int cc = 0; ");
    for (size_t k = 0; k < n; k++) {
        uint32_t r = func->insts[1 + k].operands[0].reg;
        static const char *const loads[] = {"load32", "load64", "loadp"};
        if (vector)
            fprintf(object->out, "r%u = %s(in[%zu] + i); ", r,
                    loads[class_of(func->regs[r].type)], k);
        else
            fprintf(object->out, "r%u = in[%zu][i]; ", r, k);
    }
    for (size_t i = n + 1; i < func->inst_count; i++) {
        *missing = &func->insts[i];
        if (func->insts[i].opcode != SC_OP_ret &&
            !put_inst(object, func, &func->insts[i], i, vector))
            return false;
    }
    static const char *const stores[] = {"store32", "store64", "storep"};
    if (vector)
        fprintf(object->out, "%s(out + i, r%u); } }\n", stores[dc], d);
    else
        fprintf(object->out, "out[i] = r%u; } }\n", d);
    return true;
}

const char *alu_object_add(struct alu_object *object, const struct op_case *c)
{
    static char unsupported[256];
    struct sc_load load = {.log = unsupported, .log_bytes = sizeof unsupported};
    const char *text = kernel_text(c);
    sc_arena_init(&load.arena, 64 << 20);
    if (setjmp(load.back))
        ck_abort_msg("%s: %s", c->text, unsupported);
    struct sc_ir *ir = sc_ptx_parse(&load, text, strlen(text));
    const struct sc_inst *missing = NULL;
    fflush(object->out);
    long before = ftell(object->out);
    bool done = put_function(object, c, ir->funcs, object->vector, &missing);
    if (!done) {
        fseek(object->out, before, SEEK_SET);
        snprintf(unsupported, sizeof unsupported, "%.*s",
                 (int)missing->text_length, missing->text);
    }
    object->count += done;
    sc_arena_fini(&load.arena);
    return done ? NULL : unsupported;
}

static const char helpers[] =
    "static v32 load32(const uint64_t *p) { v32 v; for (int i = 0; i < SC_W; "
    "i++) v[i] = p[i]; return v; }\n"
    "static v64 load64(const uint64_t *p) { v64 v; for (int i = 0; i < SC_H; "
    "i++) v.l[i] = p[i], v.h[i] = p[SC_H + i]; return v; }\n"
    "static vm loadp(const uint64_t *p) { uint32_t b = 0; for (int i = 0; i < "
    "SC_W; i++) b |= (p[i] & 1) << i; return m_from_bits(b); }\n"
    "static void store32(uint64_t *p, v32 v) { for (int i = 0; i < SC_W; i++) "
    "p[i] = v_get32(v, i); }\n"
    "static void store64(uint64_t *p, v64 v) { for (int i = 0; i < SC_W; i++) "
    "p[i] = v_get64(v, i); }\n"
    "static void storep(uint64_t *p, vm m) { for (int i = 0; i < SC_W; i++) "
    "p[i] = m_get(m, i); }\n";

/* What the prelude has before is small, and stays inline. */
static const char apart[] =
    "#undef SC_IN\n"
    "#define SC_IN static __attribute__((noinline, unused))\n";

static char *whole_text(const struct alu_object *object)
{
    char *text;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    ck_assert_ptr_nonnull(f);
    fprintf(f, "#include <stdint.h>\n#include <stddef.h>\n%s%s%s%s%.*s",
            sc_alu_prelude(object->set.isa), object->apart ? apart : "",
            object->set.text, helpers, (int)object->body_bytes, object->body);
    fprintf(f, "const void *const cases[] = {");
    for (size_t i = 0; i < object->count; i++)
        fprintf(f, "case_%zu,", i);
    fprintf(f, "};\n");
    ck_assert_int_eq(fclose(f), 0);
    return text;
}

static void put_command(const struct alu_object *object, char *command,
                        size_t bytes)
{
    const char *cc = getenv("ALU_CC"), *level = getenv("ALU_LEVEL");
    int n = snprintf(command, bytes, "%s %s -shared -fPIC", cc ? cc : "cc",
                     level           ? level
                     : object->apart ? "-O0"
                                     : "-Og");
    for (const char *const *o = sc_alu_options(object->set.isa); *o; o++)
        n += snprintf(command + n, bytes - (size_t)n, " %s", *o);
}

void *alu_object_finish(struct alu_object *object, alu_function ***functions)
{
    char command[1024], name[64];
    ck_assert_int_eq(fclose(object->out), 0);
    ck_assert(!object->set.failed);
    put_command(object, command, sizeof command);
    snprintf(name, sizeof name, "alu-%d-%d", (int)object->set.isa,
             object->apart);
    char *text = whole_text(object);
    void *handle =
        compiled_load(command, text, name, getenv("ALU_KEEP") != NULL);
    void *const *symbols = dlsym(handle, "cases");
    *functions = malloc((object->count + 1) * sizeof **functions);
    ck_assert(symbols && *functions);
    memcpy(*functions, symbols, object->count * sizeof **functions);
    free(text);
    free(object->body);
    sc_alu_end(&object->set);
    return handle;
}
