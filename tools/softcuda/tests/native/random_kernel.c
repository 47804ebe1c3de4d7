/*
 * Writes random kernels; see random_kernel.h.
 *
 * Lock: none.
 */
#include "random_writer.h"

#include <check.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../opcodes/inputs.h"

static const int kind_bytes[] = {4, 8, 2, 4, 8, 4};

void random_put(struct writer *w, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ck_assert(n >= 0 && (size_t)n < sizeof text);
    for (const char *s = text; *s; s++) {
        putc(*s, w->out);
        if (*s != '%' || (s[1] != 'x' && s[1] != 'y'))
            continue;
        size_t name = s[2] == 'l' || s[2] == 'h' ? 2 : 1;
        fprintf(w->out, "%.*s%d", (int)name, s + 1, w->scratch);
        s += name;
    }
}

uint32_t random_roll(struct writer *w, uint32_t n)
{
    return (uint32_t)(input_random(&w->state) >> 33) % n;
}

/* ---- results ---- */

size_t random_slots(void)
{
    return SLOTS;
}

static int kind_of(size_t slot)
{
    int k = 0;
    while (slot >= (size_t)random_kind_counts[k])
        slot -= (size_t)random_kind_counts[k++];
    return k;
}

char random_slot_kind(size_t slot)
{
    return RANDOM_KINDS[kind_of(slot)];
}

size_t random_result_bytes(const struct random_kernel *kernel)
{
    return ((size_t)kernel->threads * ROW + 255) & ~(size_t)255;
}

uint64_t random_result(const struct random_kernel *kernel, const void *results,
                       size_t slot, uint32_t thread)
{
    int bytes = kind_bytes[kind_of(slot)];
    size_t at = kernel->columns
                    ? slot * 8 * kernel->threads + thread * (size_t)bytes
                    : thread * (size_t)ROW + slot * 8;
    uint64_t bits = 0;
    memcpy(&bits, (const char *)results + at, (size_t)bytes);
    return bits;
}

void random_input(uint64_t seed, void *input)
{
    uint32_t *words = input;
    for (size_t i = 0; i < RANDOM_INPUT / sizeof *words; i++) {
        uint64_t r = input_random(&seed);
        uint32_t any = (uint32_t)(r >> 32);
        words[i] = r % 10 < 4   ? (any & 0x83ffffff) | 0x3c000000
                   : r % 10 < 7 ? any % 300
                                : any;
    }
}

/* ---- the whole kernel ---- */

static void choose_shape(struct random_kernel *k, struct writer *w)
{
    static const uint32_t blocks[][3] = {
        {32, 1, 1}, {64, 1, 1},  {128, 1, 1}, {16, 1, 1}, {1, 1, 1},
        {33, 1, 1}, {70, 1, 1},  {31, 1, 1},  {16, 4, 1}, {8, 8, 2},
        {5, 7, 3},  {32, 4, 1},  {7, 1, 1},   {24, 1, 1}, {64, 2, 1},
        {96, 1, 1}, {100, 1, 1}, {2, 16, 2},  {17, 3, 1}, {256, 1, 1}};
    memcpy(k->block, blocks[random_roll(w, sizeof blocks / sizeof *blocks)],
           sizeof k->block);
    w->cta_threads = k->block[0] * k->block[1] * k->block[2];
    k->grid[0] = 1 + random_roll(w, 3);
    k->grid[1] = 1 + random_roll(w, 8) / 7;
    k->grid[2] = 1;
    if (w->cta_threads > 200)
        k->grid[0] = k->grid[1] = 1;
    k->threads = w->cta_threads * k->grid[0] * k->grid[1];
    k->columns = random_roll(w, 2);
}

static void put_head(struct writer *w)
{
    uint32_t n = w->cta_threads;
    random_put(w,
               ".version 8.5\n.target sm_90\n.address_size 64\n"
               ".visible .entry k(.param .u64 p0,.param .u64 p1,.param .u64 p2,"
               ".param .u64 p3,.param .u64 p4)\n{\n");
    random_put(
        w,
        ".reg .b32 %%s<4>,%%u<%d>,%%c<%d>,%%n<%d>,%%t,%%g,%%g0,%%t0,%%z,%%sh,"
        "%%sums,%%own32,%%junk;\n"
        ".reg .b64 %%l<2>,%%in,%%out0,%%out,%%own0,%%own64,%%own,%%side,%%all,"
        "%%junkl;\n"
        ".reg .b16 %%h<2>;\n.reg .f32 %%f<3>;\n.reg .f64 %%d<2>;\n"
        ".reg .pred %%p<3>,%%q<%d>,%%pu<%d>,%%junkp,%%first;\n",
        UNIFORMS, w->counters + 1, w->counters + 1, w->counters + 1,
        w->scratch + 1);
    /* the names of scratch registers as they come out of put() */
    fprintf(w->out,
            ".reg .b32 %%x<%d>,%%y<%d>;\n.reg .b64 %%xl<%d>;\n"
            ".reg .b16 %%xh<%d>;\n.local .align 4 .b8 loc[64];\n",
            w->scratch + 1, w->scratch + 1, w->scratch + 1, w->scratch + 1);
    if (w->features & RANDOM_SHARED)
        random_put(w,
                   ".shared .align 16 .b8 sh[%u];\n.shared .align 8 .b8 "
                   "sums[192];\n",
                   n * 16);
    random_put(w, "ld.param.u64 %%in,[p0];\nld.param.u64 %%out0,[p1];\n"
                  "ld.param.u64 %%own0,[p2];\nld.param.u64 %%all,[p3];\n"
                  "ld.param.u32 %%u0,[p4];\nmov.u32 %%u1,%%ctaid.x;\n"
                  "mov.u32 %%u2,%%ctaid.y;\n");
    /* with a loop this may make groups of several vectors */
    if (w->kernel->seed & 1)
        random_put(w, "mov.u32 %%junk,%%nctaid.x;\n");
    if (w->kernel->block[1] * w->kernel->block[2] == 1)
        random_put(w, "mov.u32 %%t,%%tid.x;\n");
    else
        random_put(w,
                   "mov.u32 %%z,%%tid.z;\nmad.lo.u32 %%t0,%%z,%u,%%tid.y;\n"
                   "mad.lo.u32 %%t,%%t0,%u,%%tid.x;\n",
                   w->kernel->block[1], w->kernel->block[0]);
    random_put(w,
               "mad.lo.u32 %%g0,%%u2,%u,%%u1;\nmad.lo.u32 %%g,%%g0,%u,%%t;\n"
               "mul.lo.u32 %%own32,%%g,%u;\ncvt.u64.u32 %%own64,%%own32;\n"
               "add.s64 %%side,%%own0,%u;\nadd.s64 %%own,%%own0,%%own64;\n",
               w->kernel->grid[0], n, RANDOM_OWN / 2,
               w->kernel->threads * RANDOM_OWN / 2);
}

/* First values, from memory all over the input. */
static void put_first_values(struct writer *w)
{
    static const char *const types[] = {"u32", "u64", "u16", "f32", "f64"};
    uint32_t stride = 1 + 2 * random_roll(w, 500);
    for (int k = 0; k < KINDS; k++) {
        bool pred = RANDOM_KINDS[k] == 'p';
        for (int i = 0; i < random_kind_counts[k]; i++) {
            w->scratch++;
            random_put(w,
                       "mad.lo.u32 %%y,%%g,%u,%u;\nand.b32 %%x,%%y,2047;\n"
                       "mad.wide.u32 %%xl,%%x,8,%%in;\n",
                       stride, random_roll(w, 2048));
            if (!pred)
                random_put(w, "ld.global.%s %%%c%d,[%%xl];\n", types[k],
                           RANDOM_KINDS[k], i);
            else
                random_put(w,
                           "ld.global.u8 %%xh,[%%xl];\nand.b16 %%xh,%%xh,1;\n"
                           "setp.ne.u16 %%p%d,%%xh,0;\n",
                           i);
        }
    }
    w->scratch++;
    random_put(w, "mov.u32 %%y,loc;\n");
    for (int i = 0; i < 4; i++)
        random_put(w, "st.local.v4.u32 [%%y+%d],{%%s0,%%s1,%%s2,%%s3};\n",
                   16 * i);
    if (!(w->features & RANDOM_SHARED))
        return;
    random_put(w,
               "mov.u32 %%sh,sh;\nmov.u32 %%sums,sums;\n"
               "mad.lo.u32 %%x,%%t,4,%%sh;\nst.shared.u32 [%%x],%%s0;\n"
               "st.shared.f32 [%%x+%u],%%f0;\n",
               w->cta_threads * 4);
    w->scratch++;
    random_put(
        w,
        "mad.lo.u32 %%x,%%t,8,%%sh;\nst.shared.u64 [%%x+%u],%%l0;\n"
        "mov.u32 %%junk,%%t;\nS0:\nmad.lo.u32 %%y,%%junk,8,%%sums;\n"
        "setp.lt.u32 %%first,%%junk,24;\n@%%first st.shared.u64 [%%y],0;\n"
        "add.u32 %%junk,%%junk,%u;\nsetp.lt.u32 %%junkp,%%junk,24;\n"
        "@%%junkp bra S0;\n",
        w->cta_threads * 8, w->cta_threads);
    random_put(w, "bar.sync 0;\n");
}

static void put_results(struct writer *w)
{
    static const char *const types[] = {"u32", "u64", "u16",
                                        "f32", "f64", "u32"};
    uint32_t total = w->kernel->threads;
    w->scratch++;
    if (w->features & RANDOM_SHARED)
        random_put(
            w,
            "bar.sync 0;\nrem.u32 %%x,%%t,48;\nmad.lo.u32 %%y,%%x,4,%%sums;\n"
            "ld.shared.u32 %%junk,[%%y];\nmad.wide.u32 %%xl,%%g,4,%%side;\n"
            "st.global.u32 [%%xl+%u],%%junk;\n",
            15 * 4 * total);
    if (!w->kernel->columns)
        random_put(w, "mad.wide.u32 %%out,%%g,%u,%%out0;\n", ROW);
    for (size_t slot = 0; slot < SLOTS; slot++) {
        int k = kind_of(slot), i = (int)slot;
        for (int before = 0; before < k; before++)
            i -= random_kind_counts[before];
        w->scratch++;
        if (w->kernel->columns)
            random_put(w, "mad.wide.u32 %%xl,%%g,%d,%%out0;\n", kind_bytes[k]);
        if (RANDOM_KINDS[k] == 'p')
            random_put(w, "selp.u32 %%x,1,0,%%p%d;\n", i);
        random_put(w, "st.global.%s [%s+%zu],", types[k],
                   w->kernel->columns ? "%xl" : "%out",
                   w->kernel->columns ? slot * 8 * total : slot * 8);
        if (RANDOM_KINDS[k] == 'p')
            random_put(w, "%%x;\n");
        else
            random_put(w, "%%%c%d;\n", RANDOM_KINDS[k], i);
    }
    random_put(w, "ret;\n}\n");
}

/* What goes in front is written last, when it is known how many registers
 * there are. */
static char *whole_text(struct writer *w)
{
    char *body, *all;
    size_t bytes;
    w->out = open_memstream(&body, &bytes);
    ck_assert_ptr_nonnull(w->out);
    put_first_values(w);
    while (w->budget > 0)
        random_statement(w, true);
    put_results(w);
    ck_assert_int_eq(fclose(w->out), 0);
    w->out = open_memstream(&all, &bytes);
    ck_assert_ptr_nonnull(w->out);
    put_head(w);
    fputs(body, w->out);
    ck_assert_int_eq(fclose(w->out), 0);
    free(body);
    return all;
}

void random_kernel_make(struct random_kernel *kernel, uint64_t seed,
                        unsigned features)
{
    struct writer w = {.state = seed, .kernel = kernel};
    *kernel = (struct random_kernel){.seed = seed};
    for (int i = 0; i < 8; i++)
        input_random(&w.state);
    choose_shape(kernel, &w);
    w.features = (random_roll(&w, 2) ? RANDOM_SHARED : 0) |
                 (random_roll(&w, 2) ? RANDOM_ATOMICS : 0) |
                 (random_roll(&w, 3) ? 0 : RANDOM_WARP);
    w.features &= features;
    w.features |= features & RANDOM_FLUSH;
    /* behind an exit of some, native code has no barriers */
    w.exits = random_roll(&w, 3) == 0 && !(w.features & RANDOM_SHARED);
    w.budget = 6 + (int)random_roll(&w, 20);
    if (getenv("RANDOM_CUT") && atoi(getenv("RANDOM_CUT")) < w.budget)
        w.budget = atoi(getenv("RANDOM_CUT"));
    kernel->ptx = whole_text(&w);
}
