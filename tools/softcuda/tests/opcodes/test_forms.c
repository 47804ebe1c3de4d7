/*
 * No accepted form without a row: every combination of opcode, types and
 * modifiers that the loader takes has a case in the tables.
 *
 * What is accepted is found by trying: a kernel of one instruction for each
 * opcode of `grammars`, each list of types and each choice of modifiers.
 * Opcodes that are not listed belong to test_coverage.c. FORMS_SHOW=1 prints
 * every form that is accepted. FORMS_ASSEMBLER=ptxas, NVIDIA's, must accept
 * each of these, too.
 */
#include "common/suite.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine.h"
#include "opcase.h"
#include "ptx/ir.h"
#include "text.h"

/*
 * Operands, a letter each; alternatives between blanks: T, U as wide as the
 * first and the second type, X twice the first, W 32 bits, P a predicate,
 * Q two of them, R a register and a predicate, I a constant.
 *
 * Modifiers: at most one of each group, alternatives between bars; a group
 * that begins with '!' needs one.
 */
struct grammar {
    const char *opcodes;
    int types;
    const char *operands;
    const char *groups;
};

#define ROUNDS "rn|rz|rm|rp|rna|approx|full"
#define COMPARISON                                                             \
    "!eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan"
#define REAL ROUNDS " ftz sat relu"

static const struct grammar grammars[] = {
    {"add sub", 1, "TTT", REAL " cc"},
    {"addc subc", 1, "TTT", "cc sat"},
    {"mul", 1, "TTT XTT", REAL " lo|hi|wide"},
    {"mad", 1, "TTTT XTTX", REAL " lo|hi|wide cc"},
    {"madc", 1, "TTTT XTTX", "lo|hi|wide cc sat"},
    {"mul24", 1, "TTT XTT", "lo|hi|wide sat"},
    {"mad24", 1, "TTTT XTTX", "lo|hi|wide sat"},
    {"fma", 1, "TTTT", REAL},
    {"div", 1, "TTT", REAL},
    {"rcp sqrt rsqrt sin cos lg2 ex2 tanh", 1, "TT", REAL},
    {"rem", 1, "TTT", ""},
    {"sad", 1, "TTTT", ""},
    {"abs neg", 1, "TT", "ftz sat"},
    {"min max", 1, "TTT", REAL " NaN xorsign abs"},
    {"copysign", 1, "TTT", "ftz"},
    {"testp", 1, "PT",
     "finite|infinite|number|notanumber|normal|subnormal ftz"},
    {"and or xor", 1, "TTT PPP", ""},
    {"not cnot", 1, "TT PP", ""},
    {"shl shr", 1, "TTW", ""},
    {"shf", 1, "TTTW", "l|r clamp|wrap"},
    {"bmsk szext", 1, "TTT TTW", "clamp|wrap"},
    {"popc clz", 1, "WT", ""},
    {"brev", 1, "TT", ""},
    {"bfind", 1, "WT", "shiftamt"},
    {"bfe", 1, "TTWW", ""},
    {"bfi", 1, "TTTWW", ""},
    {"fns", 1, "TTTT", ""},
    {"lop3", 1, "TTTTI RTTTIP", "and|or"},
    {"prmt", 1, "TTTT", "f4e|b4e|rc8|ecl|ecr|rc16"},
    {"dp4a dp2a", 2, "WWWW", "lo|hi sat"},
    {"setp", 1, "PTT PTTP QTT QTTP", COMPARISON " ftz and|or|xor"},
    {"set", 2, "TUU TUUP", COMPARISON " ftz and|or|xor"},
    {"selp", 1, "TTTP PPPP", ""},
    {"slct", 2, "TTTU", "ftz"},
    {"mov", 1, "TT PP", ""},
    {"cvt", 2, "TU TUU WUU",
     "rn|rz|rm|rp|rna|rni|rzi|rmi|rpi|approx|full ftz sat relu satfinite"},
    {"cvt", 2, "WUU", "!pack !sat"},
    {"cvt", 3, "WUUW", "!pack !sat"},
    {"vadd vsub vabsdiff vmin vmax", 3, "WWW WWWW", "sat add|min|max"},
    {"vshl vshr", 3, "WWW WWWW", "clamp|wrap sat add|min|max"},
    {"vset", 2, "WWW WWWW", COMPARISON " sat add|min|max"},
    {"vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2 vadd4 vsub4 vavrg4 vabsdiff4 "
     "vmin4 vmax4",
     3, "WWWW", "sat add|min|max"},
    {"vset2 vset4", 2, "WWWW", COMPARISON " sat add|min|max"},
};

static const char *const type_names[] = {
#define X(name, bytes, class) #name,
#include "ptx/types.def"
#undef X
};

/* ---- forms and the rows that have them ---- */

struct form {
    uint64_t mods[SC_MOD_WORDS];
    uint16_t opcode;
    uint8_t types[SC_MAX_TYPES], type_count;
};

static struct form *rows;
static size_t row_count, row_room;

static int compare_forms(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct form));
}

/* "add.rn.f32 …" into a form. Return: false when it has no known opcode. */
static bool read_form(const char *s, struct form *form)
{
    memset(form, 0, sizeof *form);
    size_t n = strcspn(s, ". ;");
    int opcode = sc_opcode_find(s, n);
    if (opcode < 0)
        return false;
    form->opcode = (uint16_t)opcode;
    for (s += n; *s == '.'; s += n) {
        s++;
        n = strcspn(s, ". ;");
        int type = sc_type_find(s, n), mod = sc_modifier_find(s, n);
        ck_assert(type >= 0 || mod >= 0);
        if (type >= 0)
            form->types[form->type_count++] = (uint8_t)type;
        else
            form->mods[mod / 64] |= (uint64_t)1 << mod % 64;
    }
    return true;
}

static void note_rows(const struct op_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        for (const char *s = table->cases[i].text; s; s = strchr(s, ';')) {
            s += strspn(s, "; ");
            if (row_count == row_room) {
                row_room = row_room * 2 + 4096;
                rows = realloc(rows, row_room * sizeof *rows);
                ck_assert_ptr_nonnull(rows);
            }
            row_count += read_form(s, &rows[row_count]);
        }
    }
    qsort(rows, row_count, sizeof *rows, compare_forms);
}

/* ---- trying ---- */

struct probe {
    const struct grammar *grammar;
    const char *opcode;
    size_t opcode_length;
    int types[SC_MAX_TYPES];
    char mods[128]; /* ".rn.ftz" */
    bool known;     /* these types were accepted with some modifiers */
    size_t tried, accepted, missing;
    FILE *all; /* accepted statements, a line each; or NULL */
};

static const char *register_of(int type)
{
    static const char *const names[] = {
#define X(name, bytes, class)                                                  \
    bytes == 8 ? "%l0" : bytes == 4 ? "%s0" : bytes > 8 ? "%w0" : "%h0",
#include "ptx/types.def"
#undef X
    };
    return names[type];
}

static const char *operand(const struct probe *p, char letter)
{
    switch (letter) {
    case 'T':
        return register_of(p->types[0]);
    case 'U':
        return register_of(p->types[1]);
    case 'X':
        return register_of(p->types[0])[1] == 'h' ? "%s0" : "%l0";
    case 'P':
        return "%q0";
    case 'Q':
        return "%q0|%q1";
    case 'R':
        return "%s0|%q0";
    case 'I':
        return "0x96";
    default:
        return "%s0";
    }
}

static void put_statement(struct text *t, const struct probe *p,
                          const char *operands)
{
    text_put(t, "%.*s%s", (int)p->opcode_length, p->opcode, p->mods);
    for (int i = 0; i < p->grammar->types; i++)
        text_put(t, ".%s", type_names[p->types[i]]);
    for (size_t i = 0; operands[i] && operands[i] != ' '; i++)
        text_put(t, "%s%s", i ? "," : " ", operand(p, operands[i]));
}

#define KERNEL_HEAD                                                            \
    MACHINE_HEAD ".visible .entry k()\n{\n.reg .b64 %l<1>;\n"                  \
                 ".reg .b32 %s<1>;\n.reg .b16 %h<1>;\n.reg .pred %q<2>;\n"

static bool loads(const struct probe *p, const char *operands)
{
    char log[256];
    struct sc_module *module = NULL;
    struct text *t = text_begin();
    text_put(t, "%s", KERNEL_HEAD);
    put_statement(t, p, operands);
    text_put(t, ";\nret;\n}\n");
    bool loaded = sc_module_load(&module, t->buffer, t->length, machine_space(),
                                 log, sizeof log) == SC_EXEC_OK;
    sc_module_unload(module);
    return loaded;
}

/* Return: the first operands it is accepted with, NULL when with none. */
static const char *accepted_with(const struct probe *p)
{
    const char *o = p->grammar->operands;
    for (;; o += strcspn(o, " ") + 1) {
        if (loads(p, o))
            return o;
        if (!strchr(o, ' '))
            return NULL;
    }
}

static void ask(struct probe *p)
{
    p->tried++;
    p->known = p->known || accepted_with(p);
}

static void try_form(struct probe *p)
{
    struct form form;
    const char *operands = accepted_with(p);
    p->tried++;
    if (!operands)
        return;
    p->accepted++;
    struct text *t = text_begin();
    put_statement(t, p, operands);
    if (p->all)
        fprintf(p->all, "%s;\n", t->buffer);
    ck_assert(read_form(t->buffer, &form));
    bool found =
        bsearch(&form, rows, row_count, sizeof form, compare_forms) != NULL;
    if (!found || getenv("FORMS_SHOW"))
        printf("%s: %s\n", found ? "has a row" : "accepted, but has no row",
               t->buffer);
    p->missing += !found;
}

/* `use` every choice of the groups from `group` on; of those behind the first
 * `most`, none where one is optional. */
static void choose_modifiers(struct probe *p, const char *group, int most,
                             void (*use)(struct probe *))
{
    if (!*group) {
        use(p);
        return;
    }
    size_t had = strlen(p->mods), n = strcspn(group, " ");
    const char *next = group + n + (group[n] == ' ');
    bool needed = *group == '!';
    if (!needed)
        choose_modifiers(p, next, most - 1, use);
    if (!needed && most <= 0)
        return;
    for (const char *s = group + needed; s < group + n; s++) {
        size_t length = strcspn(s, "| ");
        snprintf(p->mods + had, sizeof p->mods - had, ".%.*s", (int)length, s);
        choose_modifiers(p, next, most - 1, use);
        s += length;
    }
    p->mods[had] = 0;
}

/* Types that are refused with every choice of the first two groups are refused
 * with more, too. */
static void try_types(struct probe *p)
{
    p->known = false;
    choose_modifiers(p, p->grammar->groups, 2, ask);
    if (p->known)
        choose_modifiers(p, p->grammar->groups, INT_MAX, try_form);
}

static bool is_word(int type)
{
    return type == SC_T_u32 || type == SC_T_s32 || type == SC_T_b32;
}

/* Every list of types; of video and of three, at most one is not 32 bits
 * wide. */
static void choose_types(struct probe *p)
{
    int n = p->grammar->types, lists = 1;
    for (int i = 0; i < n; i++)
        lists *= SC_T_COUNT;
    for (int list = 0; list < lists; list++) {
        int others = 0;
        for (int i = 0, rest = list; i < n; i++, rest /= SC_T_COUNT) {
            p->types[i] = rest % SC_T_COUNT;
            others += !is_word(p->types[i]);
        }
        if ((n < 3 && *p->opcode != 'v') || others <= 1)
            try_types(p);
    }
}

static void try_grammar(struct probe *p, const struct grammar *grammar)
{
    p->grammar = grammar;
    for (const char *s = grammar->opcodes; *s;) {
        p->opcode = s;
        p->opcode_length = strcspn(s, " ");
        choose_types(p);
        s += p->opcode_length;
        s += *s == ' ';
    }
}

/* ---- what NVIDIA's assembler says ---- */

static char all_path[] = "/tmp/softcuda-forms-XXXXXX";

static void open_all(struct probe *p)
{
    if (!getenv("FORMS_ASSEMBLER"))
        return;
    p->all = fdopen(mkstemp(all_path), "w");
    ck_assert_ptr_nonnull(p->all);
    fputs(KERNEL_HEAD, p->all);
}

static void show_line(unsigned number, const char *why)
{
    char line[256] = "";
    FILE *f = fopen(all_path, "r");
    ck_assert_ptr_nonnull(f);
    while (number-- && fgets(line, sizeof line, f))
        ;
    fclose(f);
    printf("accepted, but not by the assembler: %s    %s", line, why);
}

/* Return: how often it complains of what was accepted here. */
static size_t complaints(struct probe *p)
{
    char command[512], line[512];
    size_t errors = 0;
    if (!p->all)
        return 0;
    fputs("ret;\n}\n", p->all);
    fclose(p->all);
    snprintf(command, sizeof command, "%s -arch=sm_90 -o /dev/null %s 2>&1",
             getenv("FORMS_ASSEMBLER"), all_path);
    FILE *f = popen(command, "r");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f)) {
        unsigned number;
        const char *at = strstr(line, ", line ");
        const char *why = strstr(line, "; error");
        if (!at || !why || sscanf(at, ", line %u", &number) != 1)
            continue;
        show_line(number, why);
        errors++;
    }
    bool failed = pclose(f) != 0;
    unlink(all_path);
    printf("%s: %zu errors\n", getenv("FORMS_ASSEMBLER"), errors);
    return errors + (failed && !errors);
}

START_TEST(every_accepted_form_has_a_row)
{
    struct op_table table = {0};
    struct probe p = {0};
    void (*const fill[])(struct op_table *) = {
        table_integer, table_extended, table_bits,    table_float,
        table_half,    table_approx,   table_compare, table_convert,
        table_move,    table_video,    table_sweep};
    for (size_t i = 0; i < sizeof fill / sizeof *fill; i++)
        fill[i](&table);
    note_rows(&table);
    machine_open();
    open_all(&p);
    for (size_t i = 0; i < sizeof grammars / sizeof *grammars; i++) {
        size_t before = p.tried;
        try_grammar(&p, &grammars[i]);
        if (getenv("FORMS_SHOW"))
            printf("tried %s %zu\n", grammars[i].opcodes, p.tried - before);
    }
    machine_close();
    op_free(&table);
    printf("%zu forms tried, %zu accepted, %zu without a row\n", p.tried,
           p.accepted, p.missing);
    size_t refused = complaints(&p);
    fflush(stdout);
    ck_assert_uint_eq(p.missing + refused, 0);
}
END_TEST

SUITE_MAIN("softcuda opcode forms", 120, every_accepted_form_has_a_row)
