/*
 * Lines of answers.txt taken apart; see answers.h.
 */
#include "answers.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char given[] =
#include <answers.inc>
    ;

static char *whole_text(void)
{
    const char *path = getenv("OPCODES_KNOWN");
    char *text = path ? NULL : strdup(given);
    size_t room = 0;
    if (path) {
        FILE *f = fopen(path, "r");
        ck_assert_msg(f != NULL, "%s: cannot be opened", path);
        ck_assert_msg(getdelim(&text, &room, 0, f) > 0, "%s: is empty", path);
        fclose(f);
    }
    ck_assert_ptr_nonnull(text);
    return text;
}

static void push(struct answers *answers, struct answer answer)
{
    size_t n = answers->count;
    if ((n & (n - 1)) == 0)
        answers->all =
            realloc(answers->all, (n ? 2 * n : 1) * sizeof *answers->all);
    ck_assert_ptr_nonnull(answers->all);
    answers->all[n] = answer;
    answers->count++;
}

/* The next field of a line; fails the test when there is none. */
static char *field(char **line)
{
    char *found = strsep(line, "\t");
    ck_assert_msg(found && *found, "answers: a line with too few fields");
    return found;
}

/* "1,20,d2=80 …" into an answer each. */
static void take_answers(struct answers *answers, struct answer like,
                         char *list)
{
    for (char *one; (one = strsep(&list, " "));) {
        struct answer answer = like;
        char *end = one;
        for (int k = 0; *end != '='; k++) {
            ck_assert_msg(k < OP_SOURCES, "answers: inputs of %s", like.text);
            answer.in[k] = strtoull(end + (k > 0), &end, 16);
            ck_assert_msg(*end == ',' || *end == '=', "answers: inputs of %s",
                          like.text);
        }
        answer.out = strtoull(end + 1, &end, 16);
        ck_assert_msg(!*end, "answers: the result of %s", like.text);
        push(answers, answer);
    }
}

static void take_sum(struct answers *answers, struct answer like,
                     const char *field)
{
    size_t bytes = (answers->sum_count + 1) * sizeof *answers->sums;
    ck_assert_msg(strncmp(field, "sum=", 4) == 0, "answers: the sum of %s",
                  like.text);
    answers->sums = realloc(answers->sums, bytes);
    ck_assert_ptr_nonnull(answers->sums);
    answers->sums[answers->sum_count++] = (struct answer_sum){
        like.text, like.signature, strtoull(field + 4, NULL, 16)};
}

static void take_line(struct answers *answers, char *line)
{
    static const char *const kinds[] = {[ANSWER_GIVEN] = "answer",
                                        [ANSWER_REFUSED] = "refused",
                                        [ANSWER_MISCOMPILED] = "miscompiled"};
    const char *kind = field(&line);
    struct answer answer = {.signature = field(&line)};
    answer.text = field(&line);
    while (answer.kind <= ANSWER_MISCOMPILED &&
           strcmp(kinds[answer.kind], kind) != 0)
        answer.kind++;
    ck_assert_msg(answer.kind <= ANSWER_MISCOMPILED,
                  "answers: a line of the kind %s", kind);
    if (answer.kind == ANSWER_REFUSED) {
        answer.message = field(&line);
        push(answers, answer);
        return;
    }
    if (answer.kind == ANSWER_MISCOMPILED)
        answer.guard_off = strcmp(field(&line), "off") == 0;
    take_answers(answers, answer, field(&line));
    if (line)
        take_sum(answers, answer, line);
}

void answers_read(struct answers *answers)
{
    *answers = (struct answers){.whole = whole_text()};
    char *rest = answers->whole;
    for (char *line; (line = strsep(&rest, "\n"));)
        if (*line && *line != '#')
            take_line(answers, line);
    ck_assert_uint_gt(answers->count, 0);
}

bool answers_are_of(const char *text, const char *signature,
                    const struct op_case *c)
{
    return strcmp(c->text, text) == 0 && (strcmp(signature, "-") == 0 ||
                                          strcmp(c->signature, signature) == 0);
}

void answers_free(struct answers *answers)
{
    free(answers->whole);
    free(answers->all);
    free(answers->sums);
}

uint64_t answers_sum(uint64_t sum, uint64_t out)
{
    return (sum ^ out) * 0x100000001b3;
}
