/*
 * Every opcode case of ../opcodes as native code against the interpreter, bit
 * for bit, and against the references. ../opcodes/test_coverage.c sees to it
 * that every opcode of ptx/opcodes.def has cases; here each must have a native
 * form. Video instructions and sweeps take the compiler long: their functions
 * are called rather than inlined, but for every seventh video instruction.
 * Other video instructions run when their modifiers and types are new, as
 * scalars also when hardware's answer is known (../opcodes/answers.h), which is
 * then asked for.
 *
 * ALU_ISA=generic, avx2 or avx512 (default: what this machine has), ALU_FORM=
 * vector or scalar, ALU_CC the compiler, ALU_LEVEL its optimisation, ALU_ONLY=
 * text the cases whose text holds it, ALU_KEEP=1 leaves the C text in the
 * working directory.
 */
#include "common/suite.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "../opcodes/answers.h"
#include "../opcodes/inputs.h"
#include "../opcodes/machine.h"
#include "../opcodes/runner.h"
#include "../opcodes/text.h"
#include "alu_case.h"

enum { THREADS = 256, CTAS = 8, LANES = THREADS * CTAS };

/* Forms native code leaves to the interpreter; may only shrink. */
static const char *const unsupported[] = {
    NULL,
};

static const struct {
    const char *name;
    enum sc_native_isa isa;
} isas[] = {{"generic", SC_NATIVE_GENERIC},
            {"avx2", SC_NATIVE_AVX2},
            {"avx512", SC_NATIVE_AVX512}};

static bool has_isa(enum sc_native_isa isa)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    if (isa == SC_NATIVE_AVX512)
        return __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq");
    if (isa == SC_NATIVE_AVX2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return isa == SC_NATIVE_GENERIC;
}

/* The isa under test. Skips where the machine lacks it. */
static enum sc_native_isa isa_under_test(void)
{
    const char *name = getenv("ALU_ISA");
    enum sc_native_isa best = SC_NATIVE_GENERIC;
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        bool has = has_isa(isas[i].isa);
        if (name && strcmp(name, isas[i].name) == 0) {
            if (!has)
                suite_skip("this processor lacks the instruction set");
            return isas[i].isa;
        }
        best = has ? isas[i].isa : best;
    }
    return best;
}

/* ---- the interpreter's answer ---- */

static int bits_of(char kind)
{
    return kind == 'H' ? 16 : kind == 'W' ? 32 : kind == 'D' ? 64 : 1;
}

static void put_register(struct text *t, char kind, char name)
{
    if (kind == 'P')
        text_put(t, ".reg .pred %%%c;\n", name);
    else
        text_put(t, ".reg .b%d %%%c;\n", bits_of(kind), name);
}

static void put_kernel(struct text *t, const struct op_case *c)
{
    static const char names[OP_SOURCES] = {'a', 'b', 'c', 'e'};
    char kind = c->signature[0];
    text_put(t, MACHINE_HEAD ".visible .entry k(.param .u64 p0,.param .u64 p1,"
                             ".param .u64 p2,.param .u64 p3,.param .u64 p4)\n"
                             "{\n.reg .b64 %%l<8>,%%off,%%at;\n"
                             ".reg .b32 %%s<8>,%%x,%%y,%%z;\n.reg .b16 %%h<8>;"
                             "\n.reg .pred %%q<8>;\n");
    put_register(t, kind, 'd');
    text_put(t, "mov.u32 %%x,%%ctaid.x;\nmov.u32 %%y,%%ntid.x;\n"
                "mov.u32 %%z,%%tid.x;\nmad.lo.u32 %%x,%%x,%%y,%%z;\n"
                "mul.wide.u32 %%off,%%x,8;\n");
    for (int k = 0; c->signature[2 + 2 * k]; k++) {
        char from = c->signature[2 + 2 * k];
        put_register(t, from, names[k]);
        text_put(t, "ld.param.u64 %%at,[p%d];\nadd.s64 %%at,%%at,%%off;\n", k);
        if (from == 'P')
            text_put(t,
                     "ld.global.u32 %%s0,[%%at];\n"
                     "setp.ne.u32 %%%c,%%s0,0;\n",
                     names[k]);
        else
            text_put(t, "ld.global.b%d %%%c,[%%at];\n", bits_of(from),
                     names[k]);
    }
    text_put(t, "%s;\nld.param.u64 %%at,[p4];\nadd.s64 %%at,%%at,%%off;\n",
             c->text);
    if (kind == 'P')
        text_put(t, "selp.u32 %%s0,1,0,%%d;\nst.global.u32 [%%at],%%s0;\n");
    else
        text_put(t, "st.global.b%d [%%at],%%d;\n", bits_of(kind));
    text_put(t, "ret;\n}\n");
}

struct arrays {
    uint64_t *in[OP_SOURCES], *interpreted, *native;
};

/* Return: false when the interpreter refuses the case as unsupported. */
static bool load_case(const struct op_case *c, struct sc_module **module)
{
    char log[256] = "";
    struct text *t = text_begin();
    put_kernel(t, c);
    enum sc_exec_status status =
        machine_load(module, t->buffer, log, sizeof log);
    ck_assert_msg(status == SC_EXEC_OK || status == SC_EXEC_UNSUPPORTED,
                  "%s: %s", c->text, log);
    return status == SC_EXEC_OK;
}

static void interpret(const struct op_case *c, const struct arrays *a,
                      const struct sc_module *module)
{
    uint64_t arguments[OP_SOURCES + 1];
    struct sc_exec_fault fault = {0};
    for (int k = 0; k < OP_SOURCES; k++)
        arguments[k] = machine_address(a->in[k]);
    arguments[OP_SOURCES] = machine_address(a->interpreted);
    memset(a->interpreted, 0, LANES * sizeof(uint64_t));
    enum sc_exec_status status = machine_launch(
        module, CTAS, THREADS, arguments, OP_SOURCES + 1, &fault);
    ck_assert_msg(status == SC_EXEC_OK, "%s: %s", c->text, fault.text);
}

/* ---- comparing ---- */

static bool is_nan(const struct op_case *c, uint64_t bits)
{
    enum op_compare compare =
        c->compare == CMP_CLOSE ? op_type_compare(ARG_TYPE(c)) : c->compare;
    if (compare == CMP_F32)
        return (bits & 0x7fffffff) > 0x7f800000;
    if (compare == CMP_F64)
        return (bits & INT64_MAX) > 0x7ff0000000000000;
    return false;
}

/* Which NaN comes of several is up to the order the compiler gives the
 * processor; everything else must agree. */
static bool same(const struct op_case *c, uint64_t got, uint64_t want)
{
    return got == want || (is_nan(c, got) && is_nan(c, want));
}

static size_t check(const struct op_case *c, const struct arrays *a)
{
    for (size_t lane = 0; lane < LANES; lane++) {
        uint64_t in[OP_SOURCES], got = a->native[lane];
        for (int k = 0; k < OP_SOURCES; k++)
            in[k] = a->in[k][lane];
        uint64_t want = runner_reference(c, in);
        if (same(c, got, a->interpreted[lane]) &&
            runner_agrees(c, got, want, sfp_open_bits))
            continue;
        printf("%s  (lane %zu)\n  ", c->text, lane);
        for (int k = 0; c->signature[2 + 2 * k]; k++)
            printf(" %#" PRIx64, in[k]);
        printf(": got %#" PRIx64 ", interpreter %#" PRIx64
               ", reference %#" PRIx64 "\n",
               got, a->interpreted[lane], want);
        return 1;
    }
    return 0;
}

/* Hardware's answers to the case: their inputs into the first lanes. Return:
 * how many there are. */
static size_t plant(const struct answers *known, const struct op_case *c,
                    const struct arrays *a)
{
    size_t n = 0;
    for (size_t i = 0; i < known->count && n < LANES; i++) {
        const struct answer *one = &known->all[i];
        if (one->kind != ANSWER_GIVEN ||
            !answers_are_of(one->text, one->signature, c))
            continue;
        for (int k = 0; k < OP_SOURCES; k++)
            a->in[k][n] = one->in[k];
        n++;
    }
    return n;
}

/* Whether native code gives them, too. */
static bool gives_known(const struct answers *known, const struct op_case *c,
                        const struct arrays *a)
{
    size_t n = 0;
    for (size_t i = 0; i < known->count && n < LANES; i++) {
        const struct answer *one = &known->all[i];
        if (one->kind != ANSWER_GIVEN ||
            !answers_are_of(one->text, one->signature, c))
            continue;
        uint64_t got = a->native[n++];
        runner_reference(c, one->in);
        if (c->compare == CMP_CLOSE ||
            runner_agrees(c, got, one->out, sfp_open_bits))
            continue;
        printf("%s: got %#" PRIx64 ", hardware %#" PRIx64 "\n", c->text, got,
               one->out);
        return false;
    }
    return true;
}

static bool is_listed(const char *statement)
{
    for (size_t i = 0; unsupported[i]; i++)
        if (strcmp(unsupported[i], statement) == 0)
            return true;
    return false;
}

struct suite {
    struct op_table table;
    struct sc_module **modules; /* NULL: not under test */
    size_t *place;              /* of a case in the object */
    size_t missing;
    size_t video, sweeps; /* first of these cases */
    struct answers known;
};

static void fill_tables(struct suite *s)
{
    struct op_table *table = &s->table;
    void (*const fill[])(struct op_table *) = {
        table_integer, table_extended, table_bits,    table_float, table_half,
        table_approx,  table_compare,  table_convert, table_move};
    for (size_t i = 0; i < sizeof fill / sizeof *fill; i++)
        fill[i](table);
    s->video = table->count;
    table_video(table);
    s->sweeps = table->count;
    table_sweep(table);
}

/* Whether the case's functions are called, not inlined. */
static bool is_apart(const struct suite *s, size_t i)
{
    return i >= s->sweeps || (i >= s->video && i % 7 != 0);
}

static bool is_vector(void)
{
    const char *form = getenv("ALU_FORM");
    return !form || strcmp(form, "scalar") != 0;
}

/* Of the video instructions one of each form, whatever its selectors, and
 * every seventh; vectors of the generic set take the compiler five times as
 * long, so that there only every seventh of sweeps, too, is under test. */
static bool is_wanted(const struct suite *s, size_t i)
{
    const char *only = getenv("ALU_ONLY"), *text = s->table.cases[i].text;
    size_t head = strcspn(text, " ") + 1;
    if (only)
        return strstr(text, only) != NULL;
    if (i < s->video || i % 7 == 0)
        return true;
    if (isa_under_test() == SC_NATIVE_GENERIC && is_vector())
        return false;
    if (i >= s->sweeps)
        return true;
    for (size_t k = 0; k < s->known.count && !is_vector(); k++)
        if (s->known.all[k].kind == ANSWER_GIVEN &&
            strcmp(s->known.all[k].text, text) == 0)
            return true;
    for (size_t k = s->video; k < i; k++)
        if (strncmp(s->table.cases[k].text, text, head) == 0)
            return false;
    return true;
}

/* Load what both sides know; count what only the interpreter does. */
static void gather(struct suite *s, struct alu_object objects[2])
{
    s->modules = calloc(s->table.count, sizeof *s->modules);
    s->place = calloc(s->table.count, sizeof *s->place);
    for (size_t i = 0; i < s->table.count; i++) {
        const struct op_case *c = &s->table.cases[i];
        struct sc_module *module = NULL;
        struct alu_object *object = &objects[is_apart(s, i)];
        if (!is_wanted(s, i) || !load_case(c, &module))
            continue;
        s->place[i] = object->count;
        const char *statement = alu_object_add(object, c);
        if (!statement) {
            s->modules[i] = module;
            continue;
        }
        sc_module_unload(module);
        if (!is_listed(statement)) {
            printf("no native form: %s\n", statement);
            s->missing++;
        }
    }
}

static struct arrays allocate(void)
{
    struct arrays a;
    size_t bytes = LANES * sizeof(uint64_t);
    for (int k = 0; k < OP_SOURCES; k++)
        a.in[k] = machine_alloc(bytes);
    a.interpreted = machine_alloc(bytes);
    a.native = machine_alloc(bytes);
    return a;
}

START_TEST(every_case_gives_what_the_interpreter_gives)
{
    struct suite s = {0};
    struct alu_object objects[2];
    alu_function **native[2];
    void *handles[2];
    size_t wrong = 0, tested = 0, planted = 0;
    fill_tables(&s);
    answers_read(&s.known);
    machine_open();
    struct arrays a = allocate();
    for (int k = 0; k < 2; k++)
        alu_object_begin(&objects[k], isa_under_test(), is_vector(), k == 1);
    gather(&s, objects);
    for (int k = 0; k < 2; k++)
        handles[k] = alu_object_finish(&objects[k], &native[k]);
    for (size_t i = 0; i < s.table.count; i++) {
        const struct op_case *c = &s.table.cases[i];
        if (!s.modules[i])
            continue;
        for (int k = 0; k < OP_SOURCES; k++)
            memset(a.in[k], 0, LANES * sizeof(uint64_t));
        input_fill(c->signature, a.in, LANES, input_seed());
        planted += plant(&s.known, c, &a);
        interpret(c, &a, s.modules[i]);
        const uint64_t *const in[] = {a.in[0], a.in[1], a.in[2], a.in[3]};
        native[is_apart(&s, i)][s.place[i]](in, a.native, LANES);
        tested++;
        wrong += check(c, &a) || !gives_known(&s.known, c, &a);
        sc_module_unload(s.modules[i]);
    }
    printf(
        "%zu cases, %zu answers of hardware, %zu wrong, %zu without a native "
        "form\n",
        tested, planted, wrong, s.missing);
    fflush(stdout);
    for (int k = 0; k < 2; k++) {
        dlclose(handles[k]);
        free(native[k]);
    }
    free(s.modules);
    free(s.place);
    op_free(&s.table);
    answers_free(&s.known);
    machine_close();
    ck_assert_uint_eq(wrong + s.missing, 0);
}
END_TEST

int main(void)
{
    const TTest *const cases[] = {every_case_gives_what_the_interpreter_gives};
    isa_under_test();
    return suite_run("softcuda native arithmetic", cases, 1, 600);
}
