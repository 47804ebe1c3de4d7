/*
 * The text of a case's kernel; see case_kernel.h.
 */
#include "case_kernel.h"

#include <stdbool.h>
#include <string.h>

#include "machine.h"

static const char source_names[OP_SOURCES] = {'a', 'b', 'c', 'e'};

int case_kernel_bits(char kind)
{
    return kind == 'H' ? 16 : kind == 'W' ? 32 : kind == 'D' ? 64 : 1;
}

static void put_register(struct text *t, char kind, char name)
{
    if (kind == 'P')
        text_put(t, ".reg .pred %%%c;\n", name);
    else
        text_put(t, ".reg .b%d %%%c;\n", case_kernel_bits(kind), name);
}

static void put_loads(struct text *t, const char *pairs, const char *offset)
{
    for (int k = 0; pairs[2 * k]; k++) {
        char kind = pairs[2 * k], name = source_names[k];
        text_put(t, "add.s64 %%at,%%in%d,%s;\n", k, offset);
        if (kind == 'P')
            text_put(t,
                     "ld.global.u32 %%s0,[%%at];\n"
                     "setp.ne.u32 %%%c,%%s0,0;\n",
                     name);
        else
            text_put(t, "ld.global.b%d %%%c,[%%at];\n", case_kernel_bits(kind),
                     name);
    }
}

static void put_initial(struct text *t, char kind)
{
    if (kind == 'P')
        text_put(t, "mov.pred %%d,%%initial;\n");
    else if (kind == 'H')
        text_put(t, "mov.b16 %%d,0xf00d;\n");
    else if (kind == 'W')
        text_put(t, "mov.b32 %%d,0xcafef00d;\n");
    else
        text_put(t, "mov.b64 %%d,0xdeadbeefcafef00d;\n");
}

static void put_store(struct text *t, char kind, int variant)
{
    text_put(t, "add.s64 %%at,%%out%d,%%off;\n", variant);
    if (kind == 'P')
        text_put(t, "selp.u32 %%s0,1,0,%%d;\nst.global.u32 [%%at],%%s0;\n");
    else
        text_put(t, "st.global.b%d [%%at],%%d;\n", case_kernel_bits(kind));
}

/* Statements that carry no guard and open no scope can all be guarded. */
static bool can_guard(const char *text)
{
    for (const char *s = text; s; s = strchr(s, ';')) {
        s += strspn(s, "; \n");
        if (*s == '@' || *s == '{' || *s == '.')
            return false;
    }
    return true;
}

static void put_guarded(struct text *t, const char *text)
{
    while (*text) {
        text += strspn(text, " ");
        size_t n = strcspn(text, ";");
        text_put(t, "@%%active %.*s;\n", (int)n, text);
        text += n + (text[n] == ';');
    }
}

/* The text with the first source in the destination's register. */
static void put_aliased(struct text *t, const struct op_case *c)
{
    char kind = c->signature[0];
    if (kind != c->signature[2]) {
        text_put(t, "%s;\n", c->text);
        return;
    }
    text_put(t, "mov.%s %%d,%%a;\n",
             kind == 'P'   ? "pred"
             : kind == 'H' ? "b16"
             : kind == 'W' ? "b32"
                           : "b64");
    for (const char *s = c->text; *s; s++) {
        bool source = s[0] == '%' && s[1] == 'a' && strchr(",;}!. ", s[2]);
        text_put(t, "%s%c", source ? "%" : "", source ? 'd' : *s);
        s += source;
    }
    text_put(t, ";\n");
}

static void put_head(struct text *t, const struct op_case *c)
{
    const char *pairs = c->signature + 2;
    text_put(t, MACHINE_HEAD ".visible .entry one_case(");
    for (int i = 0; i < OP_SOURCES + 1 + VARIANTS; i++)
        text_put(t, "%s.param .u64 p%d", i ? "," : "", i);
    text_put(t,
             ")\n{\n.reg .b64 %%l<8>,%%off,%%coff,%%at,%%in<%d>,%%out<%d>;\n",
             OP_SOURCES, VARIANTS);
    text_put(t, ".reg .b32 %%s<8>,%%x,%%y,%%z;\n.reg .b16 %%h<8>;\n"
                ".reg .pred %%q<8>,%%active,%%initial;\n");
    put_register(t, c->signature[0], 'd');
    for (int k = 0; pairs[2 * k]; k++)
        put_register(t, pairs[2 * k], source_names[k]);
    for (int k = 0; k < OP_SOURCES; k++)
        text_put(t, "ld.param.u64 %%in%d,[p%d];\n", k, k);
    for (int k = 0; k < VARIANTS; k++)
        text_put(t, "ld.param.u64 %%out%d,[p%d];\n", k, OP_SOURCES + 1 + k);
    text_put(t,
             "mov.u32 %%x,%%ctaid.x;\nmov.u32 %%y,%%ntid.x;\n"
             "mov.u32 %%z,%%tid.x;\nmul.wide.u32 %%coff,%%x,%d;\n"
             "mad.lo.u32 %%x,%%x,%%y,%%z;\nmul.wide.u32 %%off,%%x,8;\n",
             8 * UNIFORM_STEP);
    text_put(t,
             "ld.param.u64 %%at,[p%d];\nadd.s64 %%at,%%at,%%off;\n"
             "ld.global.u32 %%x,[%%at];\nand.b32 %%y,%%x,1;\n"
             "setp.ne.u32 %%active,%%y,0;\nand.b32 %%y,%%x,2;\n"
             "setp.ne.u32 %%initial,%%y,0;\n",
             OP_SOURCES);
}

void case_kernel_put(struct text *t, const struct op_case *c)
{
    char kind = c->signature[0];
    const char *pairs = c->signature + 2;
    put_head(t, c);
    put_loads(t, pairs, "%off");
    put_initial(t, kind);
    text_put(t, "%s;\n", c->text);
    put_store(t, kind, ALL_LANES);
    put_initial(t, kind);
    if (can_guard(c->text))
        put_guarded(t, c->text);
    else
        text_put(t, "@!%%active bra UNGUARDED;\n%s;\nUNGUARDED:\n", c->text);
    put_store(t, kind, GUARDED);
    put_initial(t, kind);
    text_put(t, "@!%%active bra SKIP;\n%s;\nSKIP:\n", c->text);
    put_store(t, kind, BRANCHED);
    put_initial(t, kind);
    put_aliased(t, c);
    put_store(t, kind, ALIASED);
    put_loads(t, pairs, "%coff");
    put_initial(t, kind);
    text_put(t, "%s;\n", c->text);
    put_store(t, kind, UNIFORM);
    text_put(t, "ret;\n}\n");
}
