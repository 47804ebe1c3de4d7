/*
 * Statements of random kernels; see random_writer.h.
 *
 * What may diverge is decided before the text of a loop or branch is written.
 * Lock: none.
 */
#include "random_writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../opcodes/inputs.h"

/* ---- operands ---- */

enum { OPERAND = 32 };

static void register_of(struct writer *w, char kind, char *text)
{
    int k = (int)(strchr(RANDOM_KINDS, kind) - RANDOM_KINDS);
    snprintf(text, OPERAND, "%%%c%u", kind,
             random_roll(w, (uint32_t)random_kind_counts[k]));
}

static void constant_of(struct writer *w, char kind, char *text)
{
    uint64_t r = input_random(&w->state);
    if (kind == 's')
        snprintf(text, OPERAND, "%d",
                 r & 1 ? (int)(r >> 32) : (int)(r >> 32) % 40);
    else if (kind == 'h')
        snprintf(text, OPERAND, "%d", (int)(r >> 32 & 0x7fff) - 0x4000);
    else if (kind == 'l')
        snprintf(text, OPERAND, "%" PRId64, (int64_t)r >> (r >> 8 & 63));
    else if (kind == 'f' && w->features & RANDOM_FLUSH)
        snprintf(text, OPERAND, "0f%08x",
                 (uint32_t)(r >> 32) & (r & 1 ? 0x83ffffff : 0x9fffffff));
    else if (kind == 'f')
        snprintf(text, OPERAND, "0f%08x",
                 (uint32_t)(r >> 32 & 0x83ffffff) | 0x3c000000);
    else
        snprintf(text, OPERAND, "0d%016" PRIx64,
                 (r & 0x807fffffffffffff) | 0x3f80000000000000);
}

static int counter_of(struct writer *w)
{
    return w->counter[random_roll(w, (uint32_t)w->loops)];
}

static void source_of(struct writer *w, char kind, char *text)
{
    uint32_t r = random_roll(w, 20);
    if (kind == 'S')
        register_of(w, 's', text);
    else if (kind != 'p' && r < 2)
        constant_of(w, kind, text);
    else if (kind == 's' && r < 4)
        snprintf(text, OPERAND, "%%u%u", random_roll(w, UNIFORMS));
    else if (kind == 's' && r == 5)
        snprintf(text, OPERAND, "%s", random_roll(w, 2) ? "%t" : "%g");
    else if (kind == 's' && r < 8 && w->loops)
        snprintf(text, OPERAND, "%%c%d", counter_of(w));
    else
        register_of(w, kind, text);
}

/* ---- single instructions ---- */

static void guard_of(struct writer *w, uint32_t one_of, char *text)
{
    text[0] = 0;
    if (random_roll(w, one_of) == 0)
        snprintf(text, OPERAND, "@%s%%p%u ", random_roll(w, 2) ? "!" : "",
                 random_roll(w, PREDS));
}

static void put_guard(struct writer *w, uint32_t one_of)
{
    char guard[OPERAND];
    guard_of(w, one_of, guard);
    random_put(w, "%s", guard);
}

static void put_entry(struct writer *w, const struct random_entry *entry)
{
    char operands[5][OPERAND], guard[OPERAND];
    register_of(w, entry->kinds[0], operands[0]);
    for (int i = 1; entry->kinds[i]; i++)
        source_of(w, entry->kinds[i], operands[i]);
    guard_of(w, 4, guard);
    random_put(w, "%s", guard);
    for (const char *s = entry->text; *s;) {
        size_t n = strcspn(s, "%;");
        random_put(w, "%.*s", (int)n, s);
        s += n;
        if (*s == '%' && s[1] >= '0' && s[1] <= '9') {
            random_put(w, "%s", operands[s[1] - '0']);
            s += 2;
        } else if (*s == '%') {
            n = 1 + strcspn(s + 1, "%;, }");
            random_put(w, "%.*s", (int)n, s);
            s += n;
        } else if (*s) {
            random_put(w, ";\n%s", guard);
            s++;
        }
    }
    random_put(w, ";\n");
}

static bool has_floats(const struct random_entry *entry)
{
    return strpbrk(entry->kinds, "fd") || strstr(entry->text, "f16") ||
           strstr(entry->text, "f32");
}

static void put_plain(struct writer *w)
{
    const struct random_entry *menu;
    bool flush = w->features & RANDOM_FLUSH,
         single = flush && random_roll(w, 3);
    uint32_t n =
        (uint32_t)(single ? random_menu_flush(&menu) : random_menu(&menu));
    const struct random_entry *entry = &menu[random_roll(w, n)];
    while (flush && !single && has_floats(entry))
        entry = &menu[random_roll(w, n)];
    put_entry(w, entry);
}

/* ---- memory ---- */

/* A word number below `limit`, a power of two, into %x. */
static void put_index(struct writer *w, uint32_t limit)
{
    switch (random_roll(w, 6)) {
    case 0:
        random_put(w, "mad.lo.s32 %%y,%%t,%u,%u;\n", random_roll(w, 4),
                   random_roll(w, 16));
        break;
    case 1:
        random_put(w, "add.u32 %%y,%%g,%u;\n", random_roll(w, 64));
        break;
    case 2:
        random_put(w, "and.b32 %%x,%%u%u,%u;\n", random_roll(w, 3), limit - 1);
        return;
    case 3:
        if (w->loops) {
            random_put(w, "mad.lo.u32 %%y,%%c%d,%u,%%t;\n", counter_of(w),
                       random_roll(w, 33));
            break;
        }
        random_put(w, "mov.u32 %%x,%u;\n", random_roll(w, limit));
        return;
    default:
        random_put(w, "and.b32 %%x,%%s%u,%u;\n", random_roll(w, WORDS),
                   limit - 1);
        return;
    }
    random_put(w, "and.b32 %%x,%%y,%u;\n", limit - 1);
}

static const struct access {
    const char *type;
    char kind;
    uint32_t bytes, count;
} accesses[] = {
    {"u8", 'h', 1, 1},      {"s8", 'h', 1, 1},      {"u8", 's', 1, 1},
    {"s8", 'l', 1, 1},      {"u16", 'h', 2, 1},     {"s16", 's', 2, 1},
    {"u16", 's', 2, 1},     {"u32", 's', 4, 1},     {"b32", 's', 4, 1},
    {"s32", 'l', 4, 1},     {"u32", 'l', 4, 1},     {"u64", 'l', 8, 1},
    {"f32", 'f', 4, 1},     {"f64", 'd', 8, 1},     {"v2.u32", 's', 8, 2},
    {"v4.u32", 's', 16, 4}, {"v2.u16", 'h', 4, 2},  {"v2.f32", 'f', 8, 2},
    {"v2.u64", 'l', 16, 2}, {"v2.f64", 'd', 16, 2}, {"u32", 's', 4, 1},
    {"u32", 's', 4, 1},     {"f32", 'f', 4, 1},
};
enum { ACCESSES = sizeof accesses / sizeof *accesses };

/* Distinct registers where the order of writing would show. */
static void put_values(struct writer *w, const struct access *a)
{
    int k = (int)(strchr(RANDOM_KINDS, a->kind) - RANDOM_KINDS);
    uint32_t first = random_roll(w, (uint32_t)random_kind_counts[k]);
    if (a->count == 1)
        random_put(w, "%%%c%u", a->kind, first);
    for (uint32_t i = 0; a->count > 1 && i < a->count; i++)
        random_put(w, "%s%%%c%u%s", i ? "," : "{", a->kind,
                   (first + i) % (uint32_t)random_kind_counts[k],
                   i + 1 == a->count ? "}" : "");
}

static void put_load(struct writer *w)
{
    static const char *const ways[] = {".global", ".global", ".global.nc", "",
                                       ".global.ca"};
    const struct access *a = &accesses[random_roll(w, ACCESSES)];
    uint32_t limit = RANDOM_INPUT / 2 / a->bytes;
    put_index(w, limit > 2048 ? 2048 : limit);
    if (random_roll(w, 3))
        random_put(w, "mad.wide.u32 %%xl,%%x,%u,%%in;\n", a->bytes);
    else
        random_put(w, "mul.wide.s32 %%xl,%%x,%u;\nadd.s64 %%xl,%%in,%%xl;\n",
                   a->bytes);
    put_guard(w, 4);
    random_put(w, "ld%s.%s ", ways[random_roll(w, 5)], a->type);
    put_values(w, a);
    random_put(w, ",[%%xl+%u];\n", a->bytes * random_roll(w, 4));
}

/* Scratch memory of the thread: RANDOM_OWN bytes behind each other, or words
 * of all threads side by side in the second half of it. */
static void put_own(struct writer *w, bool store)
{
    const struct access *a;
    do
        a = &accesses[random_roll(w, ACCESSES)];
    while (a->kind == 'f' || a->kind == 'd');
    if (random_roll(w, 2)) {
        if (random_roll(w, 2))
            random_put(w, "and.b32 %%x,%%s%u,%u;\n", random_roll(w, WORDS),
                       RANDOM_OWN / 2 / a->bytes - 1);
        else
            random_put(w, "mov.u32 %%x,%u;\n",
                       random_roll(w, RANDOM_OWN / 2 / a->bytes));
        random_put(w, "mad.wide.u32 %%xl,%%x,%u,%%own;\n", a->bytes);
    } else {
        a = &accesses[7];
        random_put(
            w, "mad.lo.u32 %%x,%u,%u,%%g;\nmad.wide.u32 %%xl,%%x,4,%%side;\n",
            random_roll(w, RANDOM_OWN / 8), w->kernel->threads);
    }
    put_guard(w, 4);
    random_put(w, "%s%s.%s ", store ? "st" : "ld",
               random_roll(w, 3) ? ".global" : "", a->type);
    if (store) {
        random_put(w, "[%%xl],");
        put_values(w, a);
    } else {
        put_values(w, a);
        random_put(w, ",[%%xl]");
    }
    random_put(w, ";\n");
}

/* An array of the thread's in local memory. */
static void put_local(struct writer *w)
{
    bool store = random_roll(w, 2);
    random_put(w,
               "and.b32 %%x,%%s%u,15;\nmov.u32 %%z,loc;\n"
               "mad.lo.u32 %%y,%%x,4,%%z;\n",
               random_roll(w, WORDS));
    put_guard(w, 4);
    if (store)
        random_put(w, "st.local.u32 [%%y],%%s%u;\n", random_roll(w, WORDS));
    else
        random_put(w, "ld.local.u32 %%s%u,[%%y];\n", random_roll(w, WORDS));
}

/* Operations on a cell are of one kind, so that their order does not count;
 * what they return is not looked at. */
static void put_atomic(struct writer *w)
{
    static const char *const ops[] = {"add.u32", "min.s32", "max.u32",
                                      "and.b32", "or.b32",  "xor.b32",
                                      "add.u64", "max.s64"};
    bool shared = w->features & RANDOM_SHARED && random_roll(w, 2),
         red = random_roll(w, 2);
    uint32_t op = random_roll(w, shared ? 6 : 8);
    if (random_roll(w, 3) == 0)
        random_put(w, "mov.u32 %%x,%u;\n", random_roll(w, CELLS));
    else
        random_put(w, "and.b32 %%x,%%s%u,%u;\n", random_roll(w, WORDS),
                   CELLS - 1);
    if (shared)
        random_put(w, "mad.lo.u32 %%y,%%x,24,%%sums;\n");
    else
        random_put(w, "mad.wide.u32 %%xl,%%x,64,%%all;\n");
    put_guard(w, 3);
    random_put(w, "%s%s.%s %s[%s+%u],%%%c%u;\n", red ? "red" : "atom",
               shared ? ".shared" : ".global", ops[op],
               red      ? ""
               : op < 6 ? "%junk,"
                        : "%junkl,",
               shared ? "%y" : "%xl", op * (shared ? 4 : 8), op < 6 ? 's' : 'l',
               random_roll(w, LONGS));
}

/* On memory of the thread alone, where what is returned is known. */
static void put_own_atomic(struct writer *w)
{
    static const char *const ops[] = {"add.u32", "exch.b32", "max.s32",
                                      "inc.u32", "cas.b32",  "dec.u32"};
    uint32_t op = random_roll(w, 6);
    random_put(w, "and.b32 %%x,%%s%u,%u;\nmad.wide.u32 %%xl,%%x,4,%%own;\n",
               random_roll(w, WORDS), RANDOM_OWN / 8 - 1);
    put_guard(w, 4);
    random_put(w, "atom.global.%s %%s%u,[%%xl],%%s%u", ops[op],
               random_roll(w, WORDS), random_roll(w, WORDS));
    if (op == 4)
        random_put(w, ",%%s%u", random_roll(w, WORDS));
    random_put(w, ";\n");
}

/* ---- where every thread is ---- */

/* Everybody stores, a barrier, everybody reads what others stored. */
static void put_exchange(struct writer *w)
{
    static const struct {
        char kind;
        const char *type;
        uint32_t bytes, at; /* of the thread-th part of the array */
    } arrays[] = {{'s', "u32", 4, 0}, {'f', "f32", 4, 4}, {'l', "u64", 8, 8}};
    uint32_t which = random_roll(w, 3), n = w->cta_threads;
    uint32_t bytes = arrays[which].bytes, at = arrays[which].at * n;
    char kind = arrays[which].kind, reg[OPERAND];
    if (random_roll(w, 2))
        random_put(w, "add.u32 %%z,%%t,%u;\nrem.u32 %%x,%%z,%u;\n",
                   random_roll(w, n), n);
    else
        random_put(w, "mov.u32 %%x,%%t;\n");
    random_put(w, "mad.lo.u32 %%y,%%x,%u,%%sh;\n", bytes);
    register_of(w, kind, reg);
    put_guard(w, 4);
    random_put(w, "st.shared.%s [%%y+%u],%s;\nbar.sync 0;\n",
               arrays[which].type, at, reg);
    for (uint32_t i = 1 + random_roll(w, 2); i; i--) {
        w->scratch++;
        random_put(w, "rem.u32 %%x,%s%u,%u;\nmad.lo.u32 %%y,%%x,%u,%%sh;\n",
                   random_roll(w, 4) ? "%s" : "%u", random_roll(w, UNIFORMS), n,
                   bytes);
        register_of(w, kind, reg);
        put_guard(w, 4);
        random_put(w, "ld.shared.%s %s,[%%y+%u];\n", arrays[which].type, reg,
                   at);
    }
    random_put(w, "bar.sync 0;\n");
}

static void put_warp(struct writer *w)
{
    static const char *const shuffles[] = {"up", "down", "bfly", "idx"};
    static const char *const folds[] = {"add.u32", "min.s32", "max.u32",
                                        "and.b32", "or.b32",  "xor.b32"};
    static const char *const votes[] = {"all.pred", "any.pred", "uni.pred"};
    uint32_t d = random_roll(w, WORDS), a = random_roll(w, WORDS),
             way = random_roll(w, 4);
    /* what a lane that is not there would have is anybody's guess */
    bool whole = w->cta_threads % 32 == 0 && !w->exits;
    switch (whole ? random_roll(w, 6) : 2 + random_roll(w, 4)) {
    case 0:
    case 1:
        random_put(w, "shfl.sync.%s.b32 %%s%u|%%p%u,%%s%u,%u,%s,-1;\n",
                   shuffles[way], d, random_roll(w, PREDS), a,
                   random_roll(w, 32),
                   way == 0            ? "0"
                   : random_roll(w, 2) ? "31"
                                       : "0x181f");
        break;
    case 2:
        random_put(w, "vote.sync.ballot.b32 %%s%u,%%p%u,-1;\n", d,
                   random_roll(w, PREDS));
        break;
    case 3:
        random_put(w, "vote.sync.%s %%p%u,%%p%u,-1;\n",
                   votes[random_roll(w, 3)], random_roll(w, PREDS),
                   random_roll(w, PREDS));
        break;
    case 4:
        random_put(w,
                   "and.b32 %%x,%%s%u,3;\nmatch.any.sync.b32 %%s%u,%%x,-1;\n",
                   a, d);
        break;
    default:
        random_put(w, "redux.sync.%s %%s%u,%%s%u,-1;\n",
                   folds[random_roll(w, 6)], d, a);
    }
}

static void put_uniform(struct writer *w)
{
    static const char *const ops[] = {"add.u32", "mul.lo.u32", "xor.b32",
                                      "sub.u32", "shr.u32"};
    random_put(w, "%s %%u%u,%%u%u,", ops[random_roll(w, 5)],
               random_roll(w, UNIFORMS), random_roll(w, UNIFORMS));
    if (random_roll(w, 2))
        random_put(w, "%u;\n", random_roll(w, 9));
    else
        random_put(w, "%%u%u;\n", random_roll(w, UNIFORMS));
}

/* ---- control ---- */

static void put_block(struct writer *w, bool uniform, int end);

/* A condition into a guard; `same`: for all threads alike. */
static void condition_of(struct writer *w, bool same, char *text)
{
    register_of(w, 'p', text);
    if (same) {
        snprintf(text, OPERAND, "%%pu%d", w->scratch);
        random_put(w, "and.b32 %%x,%%u%u,%u;\nsetp.ne.u32 %s,%%x,0;\n",
                   random_roll(w, UNIFORMS), 1 + random_roll(w, 7), text);
    }
}

static void put_if(struct writer *w, bool uniform)
{
    bool same = uniform && random_roll(w, 3) == 0, both = random_roll(w, 2);
    int other = ++w->labels, end = ++w->labels;
    char condition[OPERAND];
    condition_of(w, same, condition);
    random_put(w, "@%s%s bra%s L%d;\n", random_roll(w, 2) ? "!" : "", condition,
               same && random_roll(w, 2) ? ".uni" : "", both ? other : end);
    put_block(w, same, end);
    if (both) {
        random_put(w, "bra L%d;\nL%d:\n", end, other);
        put_block(w, same, end);
    }
    random_put(w, "L%d:\n", end);
}

static void put_loop(struct writer *w, bool uniform)
{
    bool same = uniform && random_roll(w, 3) == 0, first = random_roll(w, 2);
    int n = w->counters++, back = ++w->labels, end = ++w->labels;
    int old = w->next;
    w->next = ++w->labels;
    if (random_roll(w, 3) == 0 && same)
        random_put(w, "mov.u32 %%n%d,%u;\n", n, 1 + random_roll(w, 4));
    else
        random_put(w, "and.b32 %%n%d,%%%c%u,%u;\n", n, same ? 'u' : 's',
                   random_roll(w, UNIFORMS), random_roll(w, 3) ? 3 : 7);
    random_put(w, "mov.u32 %%c%d,0;\nL%d:\n", n, back);
    if (first)
        random_put(w, "setp.ge.u32 %%q%d,%%c%d,%%n%d;\n@%%q%d bra L%d;\n", n, n,
                   n, n, end);
    w->counter[w->loops++] = n;
    put_block(w, same, end);
    w->loops--;
    random_put(w, "L%d:\nadd.u32 %%c%d,%%c%d,1;\n", w->next, n, n);
    if (first)
        random_put(w, "bra L%d;\n", back);
    else
        random_put(w, "setp.lt.u32 %%q%d,%%c%d,%%n%d;\n@%%q%d bra L%d;\n", n, n,
                   n, n, back);
    random_put(w, "L%d:\n", end);
    w->next = old;
}

static void put_switch(struct writer *w, bool uniform)
{
    bool same = uniform && random_roll(w, 3) == 0;
    int table = ++w->labels, first = table + 1, end = table + 4;
    w->labels = end;
    random_put(w, "and.b32 %%y,%%%c%u,3;\nmin.u32 %%x,%%y,2;\n",
               same ? 'u' : 's', random_roll(w, UNIFORMS));
    random_put(w, "T%d: .branchtargets L%d,L%d,L%d;\nbrx.idx %%x,T%d;\n", table,
               first, first + 1, first + 2, table);
    for (int i = 0; i < 3; i++) {
        random_put(w, "L%d:\n", first + i);
        put_block(w, same, end);
        if (i == 2 || random_roll(w, 3))
            random_put(w, "bra L%d;\n", end);
    }
    random_put(w, "L%d:\n", end);
}

/* Out of the branch, out of the loop, or to its next round. */
static void put_jump(struct writer *w)
{
    char condition[OPERAND];
    condition_of(w, false, condition);
    random_put(w, "@%s%s bra L%d;\n", random_roll(w, 2) ? "!" : "", condition,
               w->next && random_roll(w, 2) ? w->next : w->leave);
}

static void put_control(struct writer *w, bool uniform)
{
    uint32_t r = random_roll(w, 10);
    if (w->depth == DEPTH || r == 9)
        put_plain(w);
    else if (r < 5)
        put_if(w, uniform);
    else if (r < 8 && w->loops < LOOPS)
        put_loop(w, uniform);
    else
        put_switch(w, uniform);
}

static void put_memory(struct writer *w)
{
    switch (random_roll(w, 8)) {
    case 0:
    case 1:
        put_own(w, true);
        break;
    case 2:
        put_own(w, false);
        break;
    case 3:
        put_local(w);
        break;
    case 4:
        if (w->features & RANDOM_ATOMICS) {
            if (random_roll(w, 3))
                put_atomic(w);
            else
                put_own_atomic(w);
            break;
        }
        /* fall through */
    default:
        put_load(w);
    }
}

void random_statement(struct writer *w, bool uniform)
{
    uint32_t r = random_roll(w, 32);
    w->budget--;
    w->scratch++;
    if (r < 5)
        put_control(w, uniform);
    else if (r < 13)
        put_memory(w);
    else if (r == 13 && !uniform && w->leave)
        put_jump(w);
    else if (r == 14 && w->exits)
        random_put(w, "@%%p%u %s;\n", random_roll(w, PREDS),
                   random_roll(w, 2) ? "ret" : "exit");
    else if (r < 18 && uniform && w->features & RANDOM_SHARED)
        put_exchange(w);
    else if (r < 20 && uniform && w->features & RANDOM_WARP)
        put_warp(w);
    else if (r < 22 && uniform)
        put_uniform(w);
    else
        put_plain(w);
}

/* Jumps go no further than to the end of what threads entered together. */
static void put_block(struct writer *w, bool uniform, int end)
{
    int leave = w->leave, next = w->next;
    if (uniform) {
        w->leave = 0;
        w->next = 0;
    } else if (!w->leave || random_roll(w, 2)) {
        w->leave = end;
    }
    w->depth++;
    for (uint32_t n = 1 + random_roll(w, 5); n && w->budget > 0; n--)
        random_statement(w, uniform);
    w->depth--;
    w->leave = leave;
    w->next = next;
}
