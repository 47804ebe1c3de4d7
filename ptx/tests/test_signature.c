/*
 * Parameters as declared, read from PTX and from what is none.
 */
#include "common/suite.h"
#include "ptx/access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };

static int read_all(const char *text, const char *kernel,
                    struct sc_parameter list[MOST])
{
    struct sc_program *program = sc_program_new(text, 90);
    int count =
        program ? sc_program_parameters(program, kernel, list, MOST) : -1;
    sc_program_free(program);
    return count;
}

/* One letter for each: integer, real, not known; "-": there is no such kernel. */
static void expect(const char *text, const char *kernel, const char *letters)
{
    struct sc_parameter list[MOST];
    char got[MOST + 1] = {0};
    int count = read_all(text, kernel, list);
    for (int i = 0; i < count && i < MOST; i++)
        got[i] = "?ir"[list[i].number];
    ck_assert_msg(strcmp(count < 0 ? "-" : got, letters) == 0,
                  "%s, not %s, in %s", got, letters, text);
}

static void expect_at(const struct sc_parameter *parameter, unsigned offset,
                      unsigned bytes)
{
    ck_assert_uint_eq(parameter->offset, offset);
    ck_assert_uint_eq(parameter->bytes, bytes);
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
    expect(".entry k(.param .f32 a[2], .param .texref t)", "k", "??");
}
END_TEST

/* As a driver lays them out. */
START_TEST(places_of_parameters_are_told)
{
    struct sc_parameter list[MOST];
    ck_assert_int_eq(read_all(".entry k(.param .u8 a, .param .u32 b,\n"
                              ".param .align 16 .b8 c[20], .param .f64 d)",
                              "k", list),
                     4);
    expect_at(&list[0], 0, 1);
    expect_at(&list[1], 4, 4);
    expect_at(&list[2], 16, 20);
    expect_at(&list[3], 40, 8);
}
END_TEST

/* Nor need they be PTX at all. */
START_TEST(bodies_are_not_read)
{
    expect(".func f(.param .u9 x)\n{ no.such.thing; }}\n"
           ".entry k(.param .u32 a)\n{ neither [this; \n",
           "k", "i");
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
    expect(text, "other", "-");
}
END_TEST

/* Wherever it is cut off, and of anything. */
START_TEST(what_is_no_ptx_says_nothing)
{
    const char *text = "// c\n/* d */ .file 1 \"x\" .entry k(.param .f32 a,"
                       ".param .b8 b[4]) {ret;}";
    struct sc_parameter list[MOST];
    for (size_t n = 0; n <= strlen(text); n++) {
        char *part = strndup(text, n);
        ck_assert_int_le(read_all(part, "k", list), 2);
        free(part);
    }
    expect("", "k", "-");
    expect("\177ELF\002\001", "k", "-");
    expect(".entry k(.param .f32", "k", "-");
    expect(".entry k(.param .f", "k", "-");
    expect("/* .entry k(.param .f32 a)", "k", "-");
    expect("\".entry k(.param .f32 a)", "k", "-");
    /* More than there is room for. */
    expect(".entry k(.param .f32 a,.param .f32 a,.param .f32 a,.param .f32 a,"
           ".param .f32 a,.param .f32 a,.param .f32 a,.param .f32 a,"
           ".param .u32 a)",
           "k", "rrrrrrrr");
}
END_TEST

SUITE_MAIN("signature", 30, types_of_parameters_are_told,
           places_of_parameters_are_told, bodies_are_not_read,
           the_kernel_is_the_one_of_that_name, what_is_no_ptx_says_nothing)
