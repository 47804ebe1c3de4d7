/*
 * What hardware answered, kept in answers.txt, against the references and the
 * machine; native code meets it in ../native/test_alu.c.
 */
#include "common/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers.h"
#include "inputs.h"
#include "machine.h"
#include "runner.h"

static int by_text(const void *a, const void *b)
{
    const struct op_case *x = a, *y = b;
    return strcmp(x->text, y->text);
}

/* Every case of the tables, in the order of their texts. */
static void fill_tables(struct op_table *table)
{
    void (*const fill[])(struct op_table *) = {
        table_integer, table_extended, table_bits,    table_float,
        table_half,    table_approx,   table_compare, table_convert,
        table_move,    table_video,    table_sweep};
    for (size_t i = 0; i < sizeof fill / sizeof *fill; i++)
        fill[i](table);
    qsort(table->cases, table->count, sizeof *table->cases, by_text);
}

static const struct op_case *find(const struct op_table *table,
                                  const char *text, const char *signature)
{
    const struct op_case key = {.text = text};
    const struct op_case *end = table->cases + table->count;
    const struct op_case *c =
        bsearch(&key, table->cases, table->count, sizeof key, by_text);
    while (c && c > table->cases && strcmp(c[-1].text, text) == 0)
        c--;
    for (; c && c < end && strcmp(c->text, text) == 0; c++)
        if (answers_are_of(text, signature, c))
            return c;
    return NULL;
}

static void show(const char *who, const struct answer *answer, uint64_t got)
{
    printf("%s: %s\n   ", answer->text, who);
    for (int k = 0; k < OP_SOURCES; k++)
        printf(" %#" PRIx64, answer->in[k]);
    printf(": got %#" PRIx64 ", hardware %#" PRIx64 "\n", got, answer->out);
}

/* Whether both agree with the answer; of approximate results every one within
 * the bound of the reference is as good as hardware's. */
static bool is_held(const struct op_case *c, const struct answer *answer)
{
    uint64_t reference = runner_reference(c, answer->in);
    uint64_t open = sfp_open_bits;
    uint64_t machine = runner_one(c, answer->in);
    uint64_t want = c->compare == CMP_CLOSE ? reference : answer->out;
    bool right = runner_agrees(c, answer->out, reference, open);
    bool same = runner_agrees(c, machine, want, open);
    if (!right)
        show("reference", answer, reference);
    if (!same)
        show("machine", answer, machine);
    return right && same;
}

START_TEST(references_and_machine_answer_as_hardware_did)
{
    struct op_table table = {0};
    struct answers answers;
    size_t held = 0, wrong = 0;
    fill_tables(&table);
    answers_read(&answers);
    machine_open();
    for (size_t i = 0; i < answers.count; i++) {
        const struct answer *answer = &answers.all[i];
        if (answer->kind != ANSWER_GIVEN)
            continue;
        const struct op_case *c = find(&table, answer->text, answer->signature);
        ck_assert_msg(c != NULL, "no case has the text %s", answer->text);
        wrong += !is_held(c, answer);
        held++;
    }
    for (size_t i = 0; i < answers.sum_count; i++) {
        const struct answer_sum *s = &answers.sums[i];
        const struct op_case *c = find(&table, s->text, s->signature);
        bool same = c && runner_sum(c) == s->sum;
        if (!same)
            printf("%s: another sum\n", s->text);
        wrong += !same;
    }
    machine_close();
    printf("%zu answers of hardware, %zu not met\n", held, wrong);
    fflush(stdout);
    answers_free(&answers);
    op_free(&table);
    ck_assert_uint_gt(held, 0);
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

/* What makes a refused statement of the opcode a good one. */
static const struct {
    const char *opcode, *wrong, *right;
} repairs[] = {
    {"add", ".b", ".u"},      {"addc", ".b", ".u"},
    {"sub", ".b", ".u"},      {"subc", ".b", ".u"},
    {"mad", ".b", ".u"},      {"madc", ".b", ".u"},
    {"cvt", ".sat", ""},      {"setp", "|%q2", ""},
    {"set", ".ftz", ""},      {"set", ".f16.bf16", ".bf16.bf16"},
    {NULL, ".f16x2", ".b32"}, {NULL, ".bf16x2", ".b32"},
    {NULL, ".u16x2", ".b32"}, {NULL, ".s16x2", ".b32"},
    {NULL, ".tf32", ".b32"},  {NULL, ".f16", ".b16"},
    {NULL, ".bf16", ".b16"},
};

static void repair(const char *text, char *good, size_t room)
{
    for (size_t i = 0; i < sizeof repairs / sizeof *repairs; i++) {
        const char *opcode = repairs[i].opcode;
        const char *at = strstr(text, repairs[i].wrong);
        size_t n = opcode ? strlen(opcode) : 0;
        if (!at || (opcode && (strncmp(text, opcode, n) || text[n] != '.')))
            continue;
        snprintf(good, room, "%.*s%s%s", (int)(at - text), text,
                 repairs[i].right, at + strlen(repairs[i].wrong));
        return;
    }
    ck_abort_msg("%s: what would be right?", text);
}

static enum sc_exec_status load(const struct op_case *c, char *log,
                                size_t log_bytes)
{
    struct sc_module *module = NULL;
    enum sc_exec_status status = runner_load(c, &module, log, log_bytes);
    if (status == SC_EXEC_OK)
        machine_unload(module);
    return status;
}

/* Refused as wrong, with the line and the opcode; the same without what is
 * wrong is not. */
static bool is_refused(const struct answer *answer)
{
    char log[512] = "", good[256] = "", opcode[16] = "";
    struct op_case c = {.text = answer->text, .signature = answer->signature};
    enum sc_exec_status status = load(&c, log, sizeof log);
    sscanf(answer->text, "%15[a-z]", opcode);
    bool refused = status == SC_EXEC_INVALID_PTX && strstr(log, "line ") &&
                   strstr(log, opcode);
    if (!refused)
        printf("%s: %d, \"%s\"\n", answer->text, status, log);
    repair(answer->text, good, sizeof good);
    c.text = good;
    status = load(&c, log, sizeof log);
    if (status != SC_EXEC_OK)
        printf("%s: refused: %d, \"%s\"\n", good, status, log);
    return refused && status == SC_EXEC_OK;
}

START_TEST(forms_hardware_has_not_are_refused)
{
    struct answers answers;
    size_t refused = 0, wrong = 0;
    answers_read(&answers);
    machine_open();
    for (size_t i = 0; i < answers.count; i++) {
        if (answers.all[i].kind != ANSWER_REFUSED)
            continue;
        refused++;
        wrong += !is_refused(&answers.all[i]);
    }
    machine_close();
    printf("%zu forms to refuse, %zu not refused well\n", refused, wrong);
    fflush(stdout);
    answers_free(&answers);
    ck_assert_uint_gt(refused, 0);
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

static bool lost_its_guard(const struct answers *answers, const char *text)
{
    for (size_t i = 0; i < answers->count; i++)
        if (answers->all[i].guard_off &&
            strcmp(answers->all[i].text, text) == 0)
            return true;
    return false;
}

/* Nothing more is forgiven on hardware than hardware got wrong. */
START_TEST(guards_hardware_lost_are_those_forgiven)
{
    struct op_table table = {0};
    struct answers answers;
    fill_tables(&table);
    answers_read(&answers);
    size_t wrong = 0;
    for (size_t i = 0; i < table.count; i++) {
        const struct op_case *c = &table.cases[i];
        if (runner_loses_guard(c) == lost_its_guard(&answers, c->text))
            continue;
        printf("%s: the guard is %s\n", c->text,
               runner_loses_guard(c) ? "forgiven, not lost" : "not forgiven");
        wrong++;
    }
    fflush(stdout);
    answers_free(&answers);
    op_free(&table);
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

SUITE_MAIN("softcuda answers of hardware", 120,
           references_and_machine_answer_as_hardware_did,
           forms_hardware_has_not_are_refused,
           guards_hardware_lost_are_those_forgiven)
