/*
 * Loads and stores: every type, vector width and register width in every
 * state space, through direct and generic addresses, with lanes masked off.
 *
 * A lane owns AREA bytes in the space under test. The kernel fills them with a
 * pattern, stores, loads back, and dumps the area, so that bytes written
 * beside the operand show.
 */
#include "common/suite.h"

#include <inttypes.h>
#include <string.h>

#include "expect.h"
#include "inputs.h"
#include "machine.h"
#include "opcase.h"
#include "text.h"

enum { THREADS = 48, CTAS = 3, LANES = THREADS * CTAS, AREA = 64, WORDS = 8 };

static const uint64_t pattern = 0xa5a4a3a2a1a09f9e;
static const uint64_t kept = 0x0123456789abcdef;

enum space {
    GLOBAL,
    SHARED,
    LOCAL,
    GENERIC_GLOBAL,
    GENERIC_SHARED,
    GENERIC_LOCAL,
    SHARED_32,
    LOCAL_32,
    SHARED_ROUND,
    LOCAL_ROUND,
    SPACES
};

static const struct {
    const char *name; /* in ld and st */
    const char *base; /* leaves the lane's area in %at */
} spaces[SPACES] = {
    [GLOBAL] = {".global", "add.s64 %at,%pa,%area;"},
    [SHARED] = {".shared", "mov.u64 %at,sh; add.s64 %at,%at,%mine;"},
    [LOCAL] = {".local", "mov.u64 %at,lo;"},
    [GENERIC_GLOBAL] = {"", "add.s64 %at,%pa,%area;"},
    [GENERIC_SHARED] = {"", "mov.u64 %at,sh; cvta.shared.u64 %at,%at; "
                            "add.s64 %at,%at,%mine;"},
    [GENERIC_LOCAL] = {"", "mov.u64 %at,lo; cvta.local.u64 %at,%at;"},
    [SHARED_32] = {".shared", "mov.u32 %at32,sh; cvt.u32.u64 %s7,%mine; "
                              "add.s32 %at32,%at32,%s7;"},
    [LOCAL_32] = {".local", "mov.u32 %at32,lo;"},
    [SHARED_ROUND] = {".shared", "mov.u32 %at32,sh; cvt.u32.u64 %s7,%mine; "
                                 "add.s32 %at32,%at32,%s7; "
                                 "sub.s32 %at32,%at32,4096;"},
    [LOCAL_ROUND] = {".local", "mov.u32 %at32,lo; sub.s32 %at32,%at32,4096;"},
};

/* Added to every address: where the base lies below 0, this leads back. */
static int offset_of(enum space s)
{
    return s == SHARED_ROUND || s == LOCAL_ROUND ? 4096 : 0;
}

static bool has_short_address(enum space s)
{
    return s == SHARED_32 || s == LOCAL_32 || offset_of(s);
}

struct access {
    enum space space;
    const char *type, *load_mods, *store_mods;
    int bytes;
    bool is_signed;
    int register_bits;
    int vector;
};

static const char *register_name(int bits)
{
    return bits == 16 ? "h" : bits == 32 ? "s" : "l";
}

/* "%l0", or "{%l0,%l1}", with registers counted from `first`. */
static const char *operands(const struct access *a, int first)
{
    static char text[64];
    const char *r = register_name(a->register_bits);
    if (a->vector == 1)
        snprintf(text, sizeof text, "%%%s%d", r, first);
    else if (a->vector == 2)
        snprintf(text, sizeof text, "{%%%s%d,%%%s%d}", r, first, r, first + 1);
    else
        snprintf(text, sizeof text, "{%%%s%d,%%%s%d,%%%s%d,%%%s%d}", r, first,
                 r, first + 1, r, first + 2, r, first + 3);
    return text;
}

static void put_head(struct text *t)
{
    text_put(t,
             MACHINE_HEAD
             ".visible .entry access(.param .u64 pin, .param .u64 pmask,\n"
             " .param .u64 parea, .param .u64 pout, .param .u64 pdump)\n{\n"
             ".shared .align 16 .b8 sh[%d];\n.local .align 16 .b8 lo[%d];\n"
             ".reg .b64 %%l<16>,%%at,%%area,%%mine,%%in,%%pa,%%out,%%dump,"
             "%%m;\n"
             ".reg .b32 %%s<16>,%%at32;\n.reg .b16 %%h<16>;\n"
             ".reg .pred %%active;\n",
             THREADS * AREA, AREA);
    text_put(t,
             "mov.u32 %%s8,%%tid.x; mul.wide.u32 %%mine,%%s8,%d;\n"
             "mov.u32 %%s9,%%ctaid.x; mad.lo.u32 %%s9,%%s9,%d,%%s8;\n"
             "mul.wide.u32 %%area,%%s9,%d;\n"
             "ld.param.u64 %%in,[pin]; mad.wide.u32 %%in,%%s9,32,%%in;\n"
             "ld.param.u64 %%m,[pmask]; mad.wide.u32 %%m,%%s9,4,%%m;\n"
             "ld.param.u64 %%pa,[parea];\n"
             "ld.param.u64 %%out,[pout]; mad.wide.u32 %%out,%%s9,32,%%out;\n"
             "ld.param.u64 %%dump,[pdump]; add.s64 %%dump,%%dump,%%area;\n"
             "ld.global.u32 %%s8,[%%m]; setp.ne.u32 %%active,%%s8,0;\n",
             AREA, THREADS, AREA);
}

static void put_access(struct text *t, const struct access *a)
{
    const char *r = register_name(a->register_bits);
    const char *at = has_short_address(a->space) ? "at32" : "at";
    const char *space = spaces[a->space].name;
    const char *vector = a->vector == 1 ? "" : a->vector == 2 ? ".v2" : ".v4";
    text_put(t, "%s\n", spaces[a->space].base);
    int offset = offset_of(a->space);
    text_put(t, "mov.b64 %%l15,0x%" PRIx64 ";\n", pattern);
    for (int w = 0; w < WORDS; w++)
        text_put(t, "st%s.b64 [%%%s+%d],%%l15;\n", space, at, offset + 8 * w);
    for (int e = 0; e < 4; e++)
        text_put(t, "ld.global.b%d %%%s%d,[%%in+%d];\n", a->register_bits, r, e,
                 8 * e);
    for (int e = 4; e < 8; e++)
        text_put(t, "mov.b64 %%l15,0x%" PRIx64 "; cvt.u%d.u64 %%%s%d,%%l15;\n",
                 kept, a->register_bits, r, e);
    text_put(t, "@%%active st%s%s%s.%s [%%%s+%d],%s;\n", a->store_mods, space,
             vector, a->type, at, offset + 16, operands(a, 0));
    text_put(t, "@%%active ld%s%s%s.%s %s,[%%%s+%d];\n", a->load_mods, space,
             vector, a->type, operands(a, 4), at, offset + 16);
    for (int e = 0; e < 4; e++)
        text_put(t,
                 "cvt.u64.u%d %%l15,%%%s%d; st.global.u64 [%%out+%d],%%l15;\n",
                 a->register_bits, r, 4 + e, 8 * e);
    for (int w = 0; w < WORDS; w++)
        text_put(t,
                 "ld%s.b64 %%l15,[%%%s+%d]; st.global.b64 [%%dump+%d],%%l15;\n",
                 space, at, offset + 8 * w, 8 * w);
    text_put(t, "ret;\n}\n");
}

struct buffers {
    uint64_t *in, *area, *out, *dump;
    uint32_t *mask;
};

static struct buffers make_buffers(void)
{
    struct buffers b = {
        .in = machine_alloc(LANES * 32),
        .area = machine_alloc(LANES * AREA),
        .out = machine_alloc(LANES * 32),
        .dump = machine_alloc(LANES * AREA),
        .mask = machine_alloc(LANES * 4),
    };
    uint64_t seed = input_seed();
    for (int i = 0; i < LANES * 4; i++)
        b.in[i] = input_random(&seed);
    for (int i = 0; i < LANES; i++)
        b.mask[i] = i < THREADS || (input_random(&seed) >> 33 & 1);
    return b;
}

static uint64_t low_bits(uint64_t value, int bits)
{
    return bits == 64 ? value : value & (((uint64_t)1 << bits) - 1);
}

/* What a register of a->register_bits holds after the load. */
static uint64_t loaded(const struct access *a, uint64_t value)
{
    int unused = 64 - 8 * a->bytes;
    value = a->is_signed ? (uint64_t)((int64_t)(value << unused) >> unused)
                         : value << unused >> unused;
    return low_bits(value, a->register_bits);
}

static void check_lane(const struct access *a, const struct buffers *b,
                       int lane, const char *ptx)
{
    uint64_t want[WORDS];
    uint8_t *bytes = (uint8_t *)want;
    for (int w = 0; w < WORDS; w++)
        want[w] = pattern;
    for (int e = 0; e < 4; e++) {
        uint64_t value = b->in[4 * lane + e], got = b->out[4 * lane + e];
        bool moved = b->mask[lane] && e < a->vector;
        if (moved)
            memcpy(bytes + 16 + e * a->bytes, &value, (size_t)a->bytes);
        uint64_t expected =
            moved ? loaded(a, value) : low_bits(kept, a->register_bits);
        EXPECT(got == expected,
               "lane %d element %d: got %#" PRIx64 ", want %#" PRIx64 "\n%s",
               lane, e, got, expected, ptx);
    }
    EXPECT(memcmp(want, b->dump + WORDS * lane, AREA) == 0,
           "lane %d: wrong bytes in memory\n%s", lane, ptx);
}

static void check_access(const struct access *a, const struct buffers *b)
{
    struct text *t = text_begin();
    put_head(t);
    put_access(t, a);
    uint64_t arguments[] = {machine_address(b->in), machine_address(b->mask),
                            machine_address(b->area), machine_address(b->out),
                            machine_address(b->dump)};
    memset(b->out, 0, LANES * 32);
    memset(b->dump, 0, LANES * AREA);
    if (machine_run(t->buffer, CTAS, THREADS, arguments, 5) != SC_EXEC_OK)
        return;
    for (int lane = 0; lane < LANES; lane++)
        check_lane(a, b, lane, t->buffer);
}

static const struct {
    const char *name;
    int bytes;
    bool is_signed, is_float;
} types[] = {
    {"b8", 1, false, false},  {"u8", 1, false, false},
    {"s8", 1, true, false},   {"b16", 2, false, false},
    {"u16", 2, false, false}, {"s16", 2, true, false},
    {"b32", 4, false, false}, {"u32", 4, false, false},
    {"s32", 4, true, false},  {"f32", 4, false, true},
    {"b64", 8, false, false}, {"u64", 8, false, false},
    {"s64", 8, true, false},  {"f64", 8, false, true},
};

static void check_space(enum space space)
{
    machine_open();
    struct buffers b = make_buffers();
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        for (int bits = 16; bits <= 64; bits *= 2) {
            if (bits < 8 * types[i].bytes ||
                (types[i].is_float && bits != 8 * types[i].bytes))
                continue;
            for (int v = 1; v <= 4 && v * types[i].bytes <= 16; v *= 2) {
                struct access a = {space,          types[i].name,      "",   "",
                                   types[i].bytes, types[i].is_signed, bits, v};
                check_access(&a, &b);
            }
        }
    }
    machine_close();
}

#define SPACE_CASE(case_name, space)                                           \
    START_TEST(case_name)                                                      \
    {                                                                          \
        check_space(space);                                                    \
    }                                                                          \
    END_TEST

SPACE_CASE(global_accesses_move_every_type, GLOBAL)
SPACE_CASE(shared_accesses_move_every_type, SHARED)
SPACE_CASE(local_accesses_move_every_type, LOCAL)
SPACE_CASE(generic_global_accesses_move_every_type, GENERIC_GLOBAL)
SPACE_CASE(generic_shared_accesses_move_every_type, GENERIC_SHARED)
SPACE_CASE(generic_local_accesses_move_every_type, GENERIC_LOCAL)
SPACE_CASE(short_shared_addresses_move_every_type, SHARED_32)
SPACE_CASE(short_local_addresses_move_every_type, LOCAL_32)
SPACE_CASE(short_shared_addresses_go_round, SHARED_ROUND)
SPACE_CASE(short_local_addresses_go_round, LOCAL_ROUND)

START_TEST(qualified_accesses_move_words)
{
    static const char *const loads[] = {".volatile",    ".relaxed.gpu",
                                        ".relaxed.sys", ".acquire.cta",
                                        ".acquire.gpu", ".weak"};
    static const char *const stores[] = {".volatile",    ".relaxed.gpu",
                                         ".relaxed.sys", ".release.cta",
                                         ".release.gpu", ".weak"};
    machine_open();
    struct buffers b = make_buffers();
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        struct access a = {GLOBAL, "u32", loads[i], stores[i], 4, false, 32, 1};
        check_access(&a, &b);
        a.space = GENERIC_SHARED;
        check_access(&a, &b);
        a.space = SHARED_ROUND;
        a.vector = 2;
        check_access(&a, &b);
    }
    machine_close();
}
END_TEST

/* Modifiers behind the space only change caching. */
START_TEST(cached_accesses_move_words)
{
    static const struct {
        const char *load, *store;
    } forms[] = {
        {"ld.global.ca.u32", "st.global.wb.u32"},
        {"ld.global.cg.u32", "st.global.cg.u32"},
        {"ld.global.cs.u32", "st.global.cs.u32"},
        {"ld.global.lu.u32", "st.global.wt.u32"},
        {"ld.global.cv.u32", "st.global.u32"},
        {"ld.global.nc.u32", "st.global.u32"},
        {"ld.global.nc.L1::no_allocate.u32", "st.global.L1::no_allocate.u32"},
        {"ld.global.L1::evict_last.u32", "st.global.L1::evict_first.u32"},
        {"ld.global.L2::128B.u32", "st.global.u32"},
        {"ldu.global.u32", "st.global.u32"},
        {"ld.volatile.global.u32", "st.volatile.global.u32"},
        {"ld.relaxed.gpu.global.u32", "st.relaxed.gpu.global.u32"},
        {"ld.acquire.sys.global.u32", "st.release.sys.global.u32"},
        {"ld.u32", "st.u32"},
    };
    machine_open();
    uint32_t *in = machine_alloc(256), *out = machine_alloc(256);
    for (uint32_t i = 0; i < 64; i++)
        in[i] = i * 0x01010101;
    uint64_t arguments[] = {machine_address(in), machine_address(out)};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct text *t = text_begin();
        text_put(t,
                 MACHINE_HEAD
                 ".visible .entry k(.param .u64 a,.param .u64 b)\n"
                 "{\n.reg .b64 %%l<4>;\n.reg .b32 %%s<4>;\n"
                 "ld.param.u64 %%l0,[a];\nld.param.u64 %%l1,[b];\n"
                 "mov.u32 %%s0,%%tid.x;\nmul.wide.u32 %%l2,%%s0,4;\n"
                 "add.s64 %%l0,%%l0,%%l2;\nadd.s64 %%l1,%%l1,%%l2;\n"
                 "%s %%s1,[%%l0];\n%s [%%l1],%%s1;\nret;\n}\n",
                 forms[i].load, forms[i].store);
        memset(out, 0, 256);
        if (machine_run(t->buffer, 1, 64, arguments, 2) == SC_EXEC_OK)
            ck_assert_msg(memcmp(in, out, 256) == 0, "%s", forms[i].load);
    }
    machine_close();
}
END_TEST

SUITE_MAIN("softcuda memory opcodes", 30, global_accesses_move_every_type,
           shared_accesses_move_every_type, local_accesses_move_every_type,
           generic_global_accesses_move_every_type,
           generic_shared_accesses_move_every_type,
           generic_local_accesses_move_every_type,
           short_shared_addresses_move_every_type,
           short_local_addresses_move_every_type,
           short_shared_addresses_go_round, short_local_addresses_go_round,
           qualified_accesses_move_words, cached_accesses_move_words)
