/*
 * Writes random kernels for tests of what launches touch; see random_reach.h.
 *
 * The writer knows bounds of each value, so that all addresses stay in the two
 * arrays.
 */
#include "tests/driver/random_reach.h"
#include "tests/driver/driver_test.h"

#include <stdarg.h>
#include <stdbool.h>

enum { VALUES = 60, BOUND = 8000, DEPTH = 3 };

struct value {
    unsigned reg;
    int lo, hi;
};

/* What a kernel does with pointers besides adding to them. */
enum { COMPARES = 1, WALKS = 2, CHOOSES = 4, ROUNDS = 8, ALL = 15 };

struct writer {
    char *text;
    size_t bytes;
    uint64_t seed;
    struct value values[VALUES];
    unsigned kinds, value_count, regs, longs, predicates, labels, loops;
};

static unsigned any(struct writer *w, unsigned count)
{
    return next_random(&w->seed) % count;
}

__attribute__((format(printf, 2, 3))) static void put(struct writer *w,
                                                      const char *format, ...)
{
    va_list args;
    va_start(args, format);
    w->bytes += (size_t)vsprintf(w->text + w->bytes, format, args);
    va_end(args);
}

/* ---- values -------------------------------------------------------------- */

static struct value pick(struct writer *w)
{
    return w->values[any(w, w->value_count)];
}

static bool fits(long lo, long hi)
{
    return lo >= -BOUND && hi <= BOUND;
}

static void keep(struct writer *w, unsigned reg, long lo, long hi)
{
    if (w->value_count < VALUES && fits(lo, hi))
        w->values[w->value_count++] = (struct value){reg, (int)lo, (int)hi};
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

/* Sums and what else two values make. */
static void compute_two(struct writer *w)
{
    struct value a = pick(w), b = pick(w);
    unsigned to = w->regs++;
    switch (any(w, 4)) {
    case 0:
        put(w, "add.s32 %%r%u, %%r%u, %%r%u;\n", to, a.reg, b.reg);
        keep(w, to, (long)a.lo + b.lo, (long)a.hi + b.hi);
        return;
    case 1:
        put(w, "sub.s32 %%r%u, %%r%u, %%r%u;\n", to, a.reg, b.reg);
        keep(w, to, (long)a.lo - b.hi, (long)a.hi - b.lo);
        return;
    case 2:
        put(w, "min.s32 %%r%u, %%r%u, %%r%u;\n", to, a.reg, b.reg);
        keep(w, to, least(a.lo, b.lo), least(a.hi, b.hi));
        return;
    default:
        put(w, "max.s32 %%r%u, %%r%u, %%r%u;\n", to, a.reg, b.reg);
        keep(w, to, most(a.lo, b.lo), most(a.hi, b.hi));
        return;
    }
}

static void compute_one(struct writer *w)
{
    struct value a = pick(w);
    unsigned to = w->regs++, c = 1 + any(w, 9);
    int n = (int)c;
    switch (any(w, 6)) {
    case 0:
        put(w, "mul.lo.s32 %%r%u, %%r%u, %u;\n", to, a.reg, c);
        keep(w, to, (long)a.lo * n, (long)a.hi * n);
        return;
    case 1:
        put(w, "neg.s32 %%r%u, %%r%u;\n", to, a.reg);
        keep(w, to, -(long)a.hi, -(long)a.lo);
        return;
    case 2:
        put(w, "rem.s32 %%r%u, %%r%u, %u;\n", to, a.reg, c);
        keep(w, to, a.lo < 0 ? 1 - n : 0, n - 1);
        return;
    case 3:
        put(w, "div.s32 %%r%u, %%r%u, %u;\n", to, a.reg, c);
        keep(w, to, a.lo / n, a.hi / n);
        return;
    case 4:
        put(w, "and.b32 %%r%u, %%r%u, 63;\n", to, a.reg);
        keep(w, to, 0, 63);
        return;
    default:
        put(w, "shr.s32 %%r%u, %%r%u, 2;\n", to, a.reg);
        keep(w, to, a.lo < 0 ? a.lo / 4 - 1 : a.lo / 4, a.hi / 4);
        return;
    }
}

static unsigned compare(struct writer *w)
{
    static const char *const relations[] = {"lt", "le", "gt", "ge", "eq", "ne"};
    unsigned p = w->predicates++;
    if (w->kinds & COMPARES && any(w, 6) == 0) {
        put(w, "setp.%s.u64 %%p%u, %%d0, %%d1;\n", relations[any(w, 6)], p);
        return p;
    }
    put(w, "setp.%s.%c32 %%p%u, %%r%u, ", relations[any(w, 6)], "su"[any(w, 2)],
        p, pick(w).reg);
    if (any(w, 2))
        put(w, "%u;\n", any(w, 40));
    else
        put(w, "%%r%u;\n", pick(w).reg);
    if (any(w, 4) || p < 2)
        return p;
    put(w, "%s.pred %%p%u, %%p%u, %%p%u;\n", any(w, 2) ? "and" : "or", p + 1, p,
        p - 1);
    w->predicates++;
    return p + 1;
}

/* By a select, or a move that is made or not; not where a loop would make it
 * again. */
static void choose(struct writer *w)
{
    unsigned p = compare(w), at = any(w, w->value_count);
    struct value a = pick(w), *b = &w->values[at];
    if (any(w, 2) || w->loops) {
        unsigned to = w->regs++;
        put(w, "selp.b32 %%r%u, %%r%u, %%r%u, %%p%u;\n", to, a.reg, b->reg, p);
        keep(w, to, least(a.lo, b->lo), most(a.hi, b->hi));
        return;
    }
    put(w, "@%%p%u mov.u32 %%r%u, %%r%u;\n", p, b->reg, a.reg);
    *b = (struct value){b->reg, least(a.lo, b->lo), most(a.hi, b->hi)};
}

/* ---- memory -------------------------------------------------------------- */

/* The register that points somewhere within 8 * BOUND of a middle. */
static unsigned address(struct writer *w)
{
    struct value index = pick(w);
    unsigned base = any(w, 2), to = w->longs, wide = 1u << any(w, 3);
    w->longs += 3;
    switch (any(w, w->kinds & CHOOSES ? 4 : 3)) {
    case 0:
        put(w, "mad.wide.s32 %%d%u, %%r%u, %u, %%d%u;\n", to, index.reg, wide,
            base);
        return to;
    case 1:
        put(w,
            "cvt.s64.s32 %%d%u, %%r%u;\nshl.b64 %%d%u, %%d%u, 2;\n"
            "add.s64 %%d%u, %%d%u, %%d%u;\n",
            to, index.reg, to + 1, to, to + 2, to + 1, base);
        return to + 2;
    case 2:
        put(w,
            "mul.wide.s32 %%d%u, %%r%u, %u;\n"
            "sub.s64 %%d%u, %%d%u, %%d%u;\n",
            to, index.reg, wide, to + 1, base, to);
        return to + 1;
    default:
        put(w, "selp.b64 %%d%u, %%d0, %%d1, %%p%u;\n", to, compare(w));
        put(w, "mad.wide.s32 %%d%u, %%r%u, 4, %%d%u;\n", to + 1, index.reg, to);
        return to + 1;
    }
}

static void guard(struct writer *w, unsigned predicate)
{
    if (any(w, 2))
        put(w, "@%s%%p%u ", any(w, 2) ? "!" : "", predicate);
}

static void touch(struct writer *w, unsigned at)
{
    unsigned p = compare(w), offset = any(w, 65), to = w->regs;
    unsigned aligned = w->longs++;
    if (w->kinds & ROUNDS)
        put(w, "and.b64 %%d%u, %%d%u, -4;\n", aligned, at);
    guard(w, p);
    switch (any(w, w->kinds & ROUNDS ? 3 : 2)) {
    case 0:
        put(w, "st.global.u8 [%%d%u+%u], %%r0;\n", at, offset);
        return;
    case 2:
        put(w, "red.global.add.u32 [%%d%u], 1;\n", aligned);
        return;
    default:
        put(w, "ld.global.u8 %%r%u, [%%d%u+-%u];\n", to, at, offset);
        put(w, "and.b32 %%r%u, %%r%u, 31;\n", to + 1, to);
        w->regs += 2;
        keep(w, to + 1, 0, 31);
        return;
    }
}

/* ---- ways ---------------------------------------------------------------- */

static void block(struct writer *w, int depth);

static void branch(struct writer *w, int depth)
{
    unsigned p = compare(w), label = w->labels++, count = w->value_count;
    put(w, "@%s%%p%u bra L%u;\n", any(w, 2) ? "!" : "", p, label);
    block(w, depth + 1);
    put(w, "L%u:\n", label);
    w->value_count = count;
}

/* A counter, and maybe a pointer that is walked with it. */
static void loop(struct writer *w, int depth)
{
    unsigned label = w->labels++, count = w->value_count, c = w->regs++;
    unsigned step = 1 + any(w, 4), from = any(w, 9), p = w->predicates++;
    unsigned pointer = w->longs++, next = w->longs++, last = any(w, 40);
    struct value end = pick(w);
    bool walks = any(w, 2), fixed = any(w, 2) || end.hi > 60;
    put(w, "mov.u32 %%r%u, %u;\nmov.u64 %%d%u, %%d%u;\nL%u:\n", c, from,
        pointer, any(w, 2), label);
    if (fixed)
        end = (struct value){0, (int)last, (int)last};
    keep(w, c, from, most((int)from, end.hi) + (int)step);
    w->loops++;
    if (walks)
        touch(w, pointer);
    block(w, depth + 1);
    if (walks)
        put(w, "add.s64 %%d%u, %%d%u, %u;\nmov.u64 %%d%u, %%d%u;\n", next,
            pointer, 4 * (1 + any(w, 30)), pointer, next);
    w->loops--;
    put(w, "add.s32 %%r%u, %%r%u, %u;\n", c, c, step);
    if (fixed)
        put(w, "setp.%s.s32 %%p%u, %%r%u, %u;\n", any(w, 2) ? "lt" : "le", p, c,
            last);
    else
        put(w, "setp.lt.s32 %%p%u, %%r%u, %%r%u;\n", p, c, end.reg);
    put(w, "@%%p%u bra L%u;\n", p, label);
    w->value_count = count;
}

/* Up to an end that is a pointer as well. */
static void walk(struct writer *w)
{
    unsigned at = w->longs, label = w->labels++, p = w->predicates++;
    unsigned step = 4 * (1 + any(w, 8)), times = 1 + any(w, 20);
    w->longs += 2;
    put(w, "mov.u64 %%d%u, %%d%u;\nadd.s64 %%d%u, %%d%u, %u;\nL%u:\n", at,
        any(w, 2), at + 1, at, step * times, label);
    touch(w, at);
    put(w, "add.s64 %%d%u, %%d%u, %u;\nsetp.%s.u64 %%p%u, %%d%u, %%d%u;\n", at,
        at, step, any(w, 2) ? "ne" : "lt", p, at, at + 1);
    put(w, "@%%p%u bra L%u;\n", p, label);
}

static void block(struct writer *w, int depth)
{
    for (unsigned n = 2 + any(w, 4); n; n--) {
        switch (any(w, depth < DEPTH ? 9 : 6)) {
        case 0:
        case 1:
            compute_two(w);
            break;
        case 2:
            compute_one(w);
            break;
        case 3:
            choose(w);
            break;
        case 6:
            branch(w, depth);
            break;
        case 7:
            loop(w, depth);
            break;
        case 8:
            if (w->kinds & WALKS)
                walk(w);
            break;
        default:
            touch(w, address(w));
            break;
        }
    }
}

char *random_reach(uint64_t seed)
{
    static const char *const specials[] = {"%ctaid.x", "%ntid.x", "%tid.x",
                                           "%tid.y", "%ctaid.y"};
    struct writer body = {.seed = seed, .text = malloc(MIB)};
    char *text = malloc(MIB);
    ck_assert(body.text && text);
    body.kinds = any(&body, ALL + 1);
    body.longs = 2;
    for (int i = 0; i < 5; i++) {
        put(&body, "mov.u32 %%r%u, %s;\n", body.regs, specials[i]);
        keep(&body, body.regs++, 0, 16);
    }
    put(&body, "mad.lo.s32 %%r5, %%r0, %%r1, %%r2;\n"
               "ld.param.u32 %%r6, [n];\nld.param.u32 %%r7, [m];\n");
    keep(&body, 5, 0, 255);
    keep(&body, 6, -20, 40);
    keep(&body, 7, 1, 30);
    body.regs = 8;
    for (int i = 0; i < 4; i++)
        block(&body, 0);
    snprintf(text, MIB,
             ".version 7.0\n.target sm_75\n.address_size 64\n"
             ".visible .entry run(.param .u64 a, .param .u64 b, "
             ".param .u32 n, .param .u32 m)\n{\n"
             ".reg .b32 %%r<%u>;\n.reg .b64 %%d<%u>;\n.reg .pred %%p<%u>;\n"
             "ld.param.u64 %%d0, [a];\nld.param.u64 %%d1, [b];\n%sret;\n}\n",
             body.regs + 2, body.longs + 1, body.predicates + 1, body.text);
    free(body.text);
    return text;
}
