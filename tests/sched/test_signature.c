/*
 * Kinds of parameters, read from PTX and from what is none.
 */
#include "common/suite.h"
#include "sched/signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };

/* One letter for each: integer, real, not known. */
static void expect(const char *text, const char *kernel, const char *letters)
{
    uint8_t kinds[MOST];
    char got[MOST + 1] = {0};
    adsm_signature_read(text, kernel, kinds, MOST);
    for (int i = 0; i < MOST; i++)
        got[i] = "?ir"[kinds[i]];
    ck_assert_msg(strncmp(got, letters, strlen(letters)) == 0 &&
                      strspn(got + strlen(letters), "?") ==
                          MOST - strlen(letters),
                  "%s, not %s, in %s", got, letters, text);
}

START_TEST(types_of_parameters_are_told)
{
    expect(".visible .entry k(\n.param .u64 k_param_0,\n.param .s32 b,.param "
           ".f32 c, .param .f64 d\n)\n{ret;}",
           "k", "iirr");
    expect(".entry k(.param .b32 a, .param .align 4 .b8 b[16], .param .u8 c, "
           ".param .f16 d)",
           "k", "??ir");
    expect(".entry k(.param .u64 .ptr .global .align 1 k_0, .param .f32 k_1)",
           "k", "ir");
    expect(".weak .entry\tk ( .param .f32 u32 )", "k", "r");
}
END_TEST

START_TEST(the_kernel_is_the_one_of_that_name)
{
    const char *text = "// .entry k(.param .f32 a)\n/* .entry k( */\n"
                       ".file 1 \".entry k(.param .f64 a)\"\n"
                       ".entry kk(.param .f32 a) {ret;}\n"
                       ".entry k(.param .u32 k) {ret;}\n"
                       ".entry none() {ret;}\n.entry bare {ret;}\n";
    expect(text, "k", "i");
    expect(text, "kk", "r");
    expect(text, "none", "");
    expect(text, "bare", "");
    expect(text, "other", "");
}
END_TEST

/* Wherever it is cut off, and of anything. */
START_TEST(what_is_no_ptx_says_nothing)
{
    const char *text = "// c\n/* d */ .file 1 \"x\" .entry k(.param .f32 a,"
                       ".param .b8 b[4]) {ret;}";
    uint8_t kinds[MOST];
    for (size_t n = 0; n <= strlen(text); n++) {
        char *part = strndup(text, n);
        adsm_signature_read(part, "k", kinds, MOST);
        free(part);
    }
    expect("", "k", "");
    expect("\177ELF\002\001", "k", "");
    expect(".entry k(.param .f32", "k", "r");
    expect(".entry k(.param .f", "k", "");
    expect("/* .entry k(.param .f32 a)", "k", "");
    expect("\".entry k(.param .f32 a)", "k", "");
    /* More than there is room for. */
    expect(".entry k(.param .f32 a,.param .f32 a,.param .f32 a,.param .f32 a,"
           ".param .f32 a,.param .f32 a,.param .f32 a,.param .f32 a,"
           ".param .u32 a)",
           "k", "rrrrrrrr");
}
END_TEST

SUITE_MAIN("signature", 30, types_of_parameters_are_told,
           the_kernel_is_the_one_of_that_name, what_is_no_ptx_says_nothing)
