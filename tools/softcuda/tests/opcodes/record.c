/*
 * What machines answer, written down; see record.h.
 */
#include "record.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "answers.h"
#include "inputs.h"
#include "machine.h"
#include "runner.h"

/* Lanes of a line, and those of approximate results. */
enum { SHOWN = 2, SHOWN_CLOSE = 8 };

static FILE *open_record(void)
{
    const char *path = getenv("OPCODES_ANSWERS");
    if (!path)
        return NULL;
    FILE *f = fopen(path, "a");
    ck_assert_msg(f != NULL, "%s: cannot be written", path);
    return f;
}

void record_head(const char *table)
{
    char machine[256], day[32];
    time_t now = time(NULL);
    FILE *f = open_record();
    if (!f)
        return;
    machine_describe(machine, sizeof machine);
    strftime(day, sizeof day, "%Y-%m-%d", gmtime(&now));
    fprintf(f, "# %s: %s, %s, seed %" PRIu64 "\n", table, machine, day,
            input_seed());
    fclose(f);
}

uint64_t record_sum(const struct op_case *c, uint64_t *const *in,
                    const uint64_t *out, size_t lanes)
{
    uint64_t sum = ANSWERS_SUM;
    for (size_t lane = 0; lane < lanes; lane++) {
        uint64_t sources[OP_SOURCES];
        for (int k = 0; k < OP_SOURCES; k++)
            sources[k] = in[k][lane];
        runner_reference(c, sources);
        sum = answers_sum(sum, runner_canonical(c, out[lane], sfp_open_bits));
    }
    return sum;
}

void record_answers(const struct op_case *c, uint64_t *const *in,
                    const uint64_t *out, size_t lanes)
{
    bool close = c->compare == CMP_CLOSE;
    size_t shown = close ? SHOWN_CLOSE : SHOWN;
    FILE *f = open_record();
    if (!f)
        return;
    fprintf(f, "answer\t%s\t%s\t", c->signature, c->text);
    for (size_t i = 0; i < shown; i++) {
        size_t lane = i * (lanes / shown) + 1;
        fprintf(f, i ? " " : "");
        for (int k = 0; c->signature[2 + 2 * k]; k++)
            fprintf(f, k ? ",%" PRIx64 : "%" PRIx64, in[k][lane]);
        fprintf(f, "=%" PRIx64, out[lane]);
    }
    if (!close)
        fprintf(f, "\tsum=%" PRIx64, record_sum(c, in, out, lanes));
    fprintf(f, "\n");
    fclose(f);
}

void record_refusal(const struct op_case *c, const char *log)
{
    /* NVIDIA's assembler names the file and the line before its sentence */
    const char *sentence = strstr(log, "error   : ");
    sentence = sentence ? sentence + strlen("error   : ") : log;
    FILE *f = open_record();
    if (!f)
        return;
    fprintf(f, "refused\t%s\t%s\t%.*s\n", c->signature, c->text,
            (int)strcspn(sentence, "\n"), sentence);
    fclose(f);
}
