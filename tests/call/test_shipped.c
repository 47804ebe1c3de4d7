/*
 * The text of each shipped operator: its own words where the text that it is made
 * of has others, and what NVIDIA's assembler takes, where that is (ASSEMBLER).
 * What the operators give is for the suites of reductions and scans.
 */
#include "common/suite.h"
#include "call/shipped.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define each(s)                                                                \
    for (const struct adsm_shipped *s = adsm_shipped;                          \
         s < adsm_shipped + ADSM_SHIPPED; s++)

static char *text_of(const struct adsm_shipped *shipped)
{
    char *text = adsm_shipped_text(shipped);
    ck_assert_ptr_nonnull(text);
    return text;
}

static bool says(const char *text, const char *format, const char *word)
{
    char all[128];
    snprintf(all, sizeof all, format, word);
    return strstr(text, all) != NULL;
}

START_TEST(every_text_has_its_own_words_only)
{
    static const char *const kernels[] = {"fold",    "none", "bytes", "rows",
                                          "columns", "last", "scan"};
    each(s)
    {
        char *text = text_of(s), entry[64];
        for (int i = 0; i < 7; i++) {
            snprintf(entry, sizeof entry, "%s_%s", s->name, kernels[i]);
            ck_assert_msg(says(text, ".entry %s(", entry), "%s", entry);
        }
        ck_assert_msg(says(text, "\t%s ", s->combine), "%s", s->name);
        ck_assert_msg(says(text, ", %s;", s->none), "%s", s->name);
        ck_assert_msg(!strstr(text, "/*"), "%s", s->name);
        each(other) if (other != s)
            ck_assert_msg(!says(text, ".entry %s_", other->name), "%s in %s",
                          other->name, s->name);
        free(text);
    }
}
END_TEST

START_TEST(unsigned_ones_are_the_signed_ones_unless_ordered)
{
    static const adsmOp ops[] = {ADSM_SUM, ADSM_PRODUCT, ADSM_AND, ADSM_OR,
                                 ADSM_XOR};
    for (int i = 0; i < 5; i++) {
        ck_assert_int_ge(adsm_shipped_find(ops[i], ADSM_U32), 0);
        ck_assert_int_eq(adsm_shipped_find(ops[i], ADSM_U32),
                         adsm_shipped_find(ops[i], ADSM_I32));
        ck_assert_int_eq(adsm_shipped_find(ops[i], ADSM_U64),
                         adsm_shipped_find(ops[i], ADSM_I64));
    }
    ck_assert_int_ne(adsm_shipped_find(ADSM_MIN, ADSM_U32),
                     adsm_shipped_find(ADSM_MIN, ADSM_I32));
    ck_assert_int_eq(adsm_shipped_find(ADSM_AND, ADSM_F32), -1);
    ck_assert_int_eq(adsm_shipped_find((adsmOp)99, ADSM_I32), -1);
    ck_assert_int_eq(adsm_shipped_find(ADSM_SUM, (adsmType)-1), -1);
}
END_TEST

START_TEST(every_text_assembles)
{
    const char *assembler = getenv("ASSEMBLER");
    each(s)
    {
        char path[] = "/tmp/shipped-XXXXXX", command[512], *text;
        int fd = assembler ? mkstemp(path) : -1;
        if (fd < 0)
            return;
        text = text_of(s);
        ck_assert_int_eq(write(fd, text, strlen(text)), (long)strlen(text));
        snprintf(command, sizeof command, "'%s' -arch=sm_90 -o /dev/null %s",
                 assembler, path);
        int status = system(command);
        close(fd);
        unlink(path);
        free(text);
        ck_assert_msg(status == 0, "%s: %s", s->name, command);
    }
}
END_TEST

SUITE_MAIN("shipped", 120, every_text_has_its_own_words_only,
           unsigned_ones_are_the_signed_ones_unless_ordered,
           every_text_assembles)
