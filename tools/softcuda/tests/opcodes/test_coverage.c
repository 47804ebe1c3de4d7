/*
 * No opcode without a test: every opcode the front end knows is in a table,
 * in one of the other suites, or refused by the loader.
 *
 * An opcode that starts to be accepted fails here until it has a test.
 */
#include "common/suite.h"

#include <string.h>

#include "machine.h"
#include "opcase.h"
#include "text.h"

static const char *const known[] = {
#define X(identifier, text) text,
#include "ptx/opcodes.def"
#undef X
};

/* In test_memory, test_address, test_atomic, test_lanes, test_warp, and in
 * ../ptx. */
static const char *const elsewhere[] = {
    "activemask",
    "alloca",
    "applypriority",
    "atom",
    "bar",
    "barrier",
    "bra",
    "brkpt",
    "brx",
    "call",
    "cp",
    "cvta",
    "elect",
    "exit",
    "fence",
    "getctarank",
    "griddepcontrol",
    "isspacep",
    "ld",
    "ldu",
    "mapa",
    "match",
    "mbarrier",
    "membar",
    "nanosleep",
    "pmevent",
    "prefetch",
    "prefetchu",
    "red",
    "redux",
    "ret",
    "shfl",
    "st",
    "stackrestore",
    "stacksave",
    "suld",
    "suq",
    "sured",
    "sust",
    "tex",
    "tld4",
    "trap",
    "txq",
    "vote",
};

/* One statement of every opcode that may be refused. */
static const char *const beyond[] = {
    "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %q0,%l0",
    "createpolicy.fractional.L2::evict_last.b64 %l0,1.0",
    "discard.global.L2 [%l0],128",
    "istypep.texref %q0,%l0",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%s0},[%s1]",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%l0,%l1},{%l2},{%l3},"
    "{%l0,%l1}",
    "movmatrix.sync.aligned.m8n8.trans.b16 %s0,%s1",
    "multimem.red.relaxed.sys.global.add.u32 [%l0],%s0",
    "setmaxnreg.inc.sync.aligned.u32 40",
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%s0],{%s1}",
    "tcgen05.wait::ld.sync.aligned",
    "vmad.s32.s32.s32 %s0,%s1,%s2,%s3",
    "wgmma.fence.sync.aligned",
    "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 "
    "{%s0,%s1,%s2,%s3,%s4,%s5,%s6,%s7},[%l0]",
};

/* Whether a statement of `text` has the opcode `name`. */
static bool uses(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *s = text; s; s = strchr(s, ';')) {
        s += strspn(s, "; ");
        if (strncmp(s, name, n) == 0 && strchr(". ;", s[n]))
            return true;
    }
    return false;
}

static const char *sample_beyond(const char *name)
{
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++)
        if (uses(beyond[i], name))
            return beyond[i];
    return NULL;
}

static bool is_elsewhere(const char *name)
{
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (strcmp(elsewhere[i], name) == 0)
            return true;
    return false;
}

static bool is_refused(const char *statement, const char *name)
{
    struct text *t = text_begin();
    char log[512] = "";
    struct sc_module *module = NULL;
    text_put(t,
             MACHINE_HEAD ".visible .entry k()\n{\n.reg .b64 %%l<4>;\n"
                          ".reg .b32 %%s<8>;\n.reg .pred %%q<2>;\n%s;\n"
                          "ret;\n}\n",
             statement);
    enum sc_exec_status status =
        machine_load(&module, t->buffer, log, sizeof log);
    sc_module_unload(module);
    return status != SC_EXEC_OK && strstr(log, "line 9:") && strstr(log, name);
}

START_TEST(every_known_opcode_is_tested_or_refused)
{
    struct op_table table = {0};
    size_t missing = 0, tabled = 0, refused = 0;
    void (*const fill[])(struct op_table *) = {
        table_integer, table_extended, table_bits,    table_float, table_half,
        table_approx,  table_compare,  table_convert, table_move,  table_video};
    for (size_t i = 0; i < sizeof fill / sizeof *fill; i++)
        fill[i](&table);
    machine_open();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        bool found = false;
        for (size_t k = 0; k < table.count && !found; k++)
            found = uses(table.cases[k].text, known[i]);
        tabled += found;
        if (found || is_elsewhere(known[i]))
            continue;
        const char *sample = sample_beyond(known[i]);
        if (sample && is_refused(sample, known[i])) {
            refused++;
            continue;
        }
        missing++;
        printf("%s: %s\n", known[i],
               sample ? "accepted, but has no test" : "has no test");
    }
    printf("%zu opcodes: %zu in tables, %zu elsewhere, %zu refused\n",
           sizeof known / sizeof *known, tabled,
           sizeof elsewhere / sizeof *elsewhere, refused);
    fflush(stdout);
    op_free(&table);
    machine_close();
    ck_assert_uint_eq(missing, 0);
}
END_TEST

SUITE_MAIN("softcuda opcode coverage", 30,
           every_known_opcode_is_tested_or_refused)
