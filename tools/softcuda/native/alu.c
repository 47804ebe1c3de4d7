/*
 * Text of arithmetic: turns templates into C functions, each once, behind
 * those it calls.
 *
 * Knows no instruction (alu_find.c does). Lock: none; see alu.h.
 */
#include "native/alu.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows of the .def files as text; a macro of an isa keeps or drops its row. */
#define SC_RT(isas, ...) isas(#__VA_ARGS__ "\n")
#define ALL(text)        text
#define NONE(text)       ""

#define SC_CLANG(name, arguments, ...)                                         \
    "#define __builtin_ia32_" #name #arguments " " #__VA_ARGS__ "\n"

/* Vectors must not travel through calls. */
#define ALWAYS                                                                 \
    "#define SC_IN static inline __attribute__((always_inline, unused))\n"     \
    "#ifdef __clang__\n"
#define BASICS "#endif\n"

#define GEN    ALL
#define NARROW ALL
#define X2     NONE
#define X512   NONE
enum { ALU_NAME = 64 }; /* longer than any name */

static const char prelude_generic[] = ALWAYS
#include "native/alu_clang.def"
    BASICS
#include "native/alu_basic.def"
    ;
#undef GEN
#undef X2
#define GEN NONE
#define X2  ALL
static const char prelude_avx2[] = ALWAYS
#include "native/alu_clang.def"
    BASICS
#include "native/alu_basic.def"
    ;
#undef NARROW
#undef X2
#undef X512
#define NARROW NONE
#define X2     NONE
#define X512   ALL
static const char prelude_avx512[] = ALWAYS
#include "native/alu_clang.def"
    BASICS
#include "native/alu_basic.def"
    ;
#undef ALL
#undef GEN
#undef NARROW
#undef X2
#undef X512
#undef SC_RT

const char *sc_alu_prelude(enum sc_native_isa isa)
{
    return isa == SC_NATIVE_AVX512 ? prelude_avx512
           : isa == SC_NATIVE_AVX2 ? prelude_avx2
                                   : prelude_generic;
}

#define COMMON                                                                 \
    "-std=gnu11", "-w", "-Wno-psabi", "-ffp-contract=off", "-fno-math-errno",  \
        "-fno-trapping-math", "-fno-strict-aliasing", "-fwrapv"

const char *const *sc_alu_options(enum sc_native_isa isa)
{
    static const char *const generic[] = {COMMON, NULL};
    static const char *const avx2[] = {COMMON, "-march=x86-64-v3", NULL};
    static const char *const avx512[] = {COMMON, "-march=x86-64-v4",
                                         "-mprefer-vector-width=512", NULL};
    return isa == SC_NATIVE_AVX512 ? avx512
           : isa == SC_NATIVE_AVX2 ? avx2
                                   : generic;
}

/* ---- the pieces ---- */

enum {
    GEN = 1 << SC_NATIVE_GENERIC,
    X2 = 1 << SC_NATIVE_AVX2,
    X512 = 1 << SC_NATIVE_AVX512,
    NARROW = GEN | X2,
    ALL = GEN | X2 | X512,
};

enum kind { TEMPLATE, LANE, OWN };

struct piece {
    enum kind kind;
    unsigned isas;
    const char *result, *name, *params, *body;
};

static const struct piece pieces[] = {
#define SC_FN(result, name, params, ...)                                       \
    {TEMPLATE, ALL, #result, #name, #params, #__VA_ARGS__},
#define SC_LANE(result, name, params, ...)                                     \
    {LANE, ALL, #result, #name, #params, #__VA_ARGS__},
#define SC_OWN(isas, result, name, params, ...)                                \
    {OWN, isas, #result, #name, #params, #__VA_ARGS__},
#include "native/alu_half.def"
#include "native/alu_math.def"
#include "native/alu_rt.def"
#include "native/alu_video.def"
#undef SC_FN
#undef SC_LANE
#undef SC_OWN
};

static const struct piece *piece_find(const char *name, enum sc_native_isa isa)
{
    const struct piece *found = NULL;
    bool prefixed = name[0] && name[1] == '_';
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        const struct piece *p = &pieces[i];
        bool own = p->kind == OWN;
        if (!(p->isas & 1u << isa) || (!own && !prefixed) ||
            strncmp(p->name, own ? name : name + 2, ALU_NAME) != 0)
            continue;
        if (own)
            return p;
        found = p;
    }
    return found;
}

/* ---- text ---- */

void sc_alu_end(struct sc_alu_set *set)
{
    for (size_t i = 0; i < set->name_count; i++)
        free(set->names[i]);
    free(set->names);
    free(set->text);
    *set = (struct sc_alu_set){0};
}

static bool reserve(struct sc_alu_set *set, size_t more)
{
    if (set->length + more < set->capacity)
        return true;
    size_t capacity = (set->length + more) * 2 + 4096;
    char *text = realloc(set->text, capacity);
    if (!text) {
        set->failed = true;
        return false;
    }
    set->text = text;
    set->capacity = capacity;
    return true;
}

__attribute__((format(printf, 2, 3))) static void put(struct sc_alu_set *set,
                                                      const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 || !reserve(set, (size_t)n + 1))
        return;
    va_start(args, format);
    vsnprintf(set->text + set->length, (size_t)n + 1, format, args);
    va_end(args);
    set->length += (size_t)n;
}

void sc_alu_begin(struct sc_alu_set *set, enum sc_native_isa isa)
{
    *set = (struct sc_alu_set){.isa = isa};
    put(set, "%s", "");
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Length of the word or single character at `s`. */
static size_t token(const char *s)
{
    size_t n = 0;
    while (is_word(s[n]))
        n++;
    return n ? n : 1;
}

static bool is_template_word(const char *s, size_t n)
{
    return n > 2 && s[0] == 'T' && s[1] == '_';
}

static void put_as(struct sc_alu_set *set, const char *text, char prefix)
{
    for (size_t n; *text; text += n) {
        n = token(text);
        if (!reserve(set, n + 1))
            return;
        memcpy(set->text + set->length, text, n);
        if (is_template_word(text, n))
            set->text[set->length] = prefix;
        set->length += n;
        set->text[set->length] = 0;
    }
}

static bool note(struct sc_alu_set *set, const char *name)
{
    for (size_t i = 0; i < set->name_count; i++)
        if (strcmp(set->names[i], name) == 0)
            return false;
    if (set->name_count == set->name_capacity) {
        size_t capacity = set->name_capacity * 2 + 64;
        char **names = realloc(set->names, capacity * sizeof *names);
        if (!names) {
            set->failed = true;
            return false;
        }
        set->names = names;
        set->name_capacity = capacity;
    }
    set->names[set->name_count] = strdup(name);
    if (!set->names[set->name_count]) {
        set->failed = true;
        return false;
    }
    set->name_count++;
    return true;
}

/* Define what the words of `text` call. Unknown words are basics, types and
 * variables. */
static void need_words(struct sc_alu_set *set, const char *text, char prefix)
{
    for (size_t n; *text; text += n) {
        n = token(text);
        bool prefixed = text[1] == '_' && strchr("Tsvq", text[0]);
        if (n < 3 || n >= SC_ALU_NAME ||
            (!prefixed && strncmp(text, "sc_", 3) != 0))
            continue;
        char name[SC_ALU_NAME];
        memcpy(name, text, n);
        name[n] = 0;
        if (is_template_word(text, n))
            name[0] = prefix;
        if (piece_find(name, set->isa))
            sc_alu_need(set, name);
    }
}

/* ---- vectors lane by lane ---- */

struct param {
    char type[8], name[16];
};

/* The scalar type of T_…, for the arrays of a lane loop. */
static const char *element(const char *type)
{
    return type + 2;
}

static void put_lane_param(struct sc_alu_set *set, char prefix,
                           const char *type, char to, const char *name)
{
    const char *width = prefix == 'v' ? "SC_W" : "SC_H";
    if (strcmp(type, "T_p") != 0)
        put(set, "union { %c_%s v; s_%s l[%s]; } %c = {%s};", prefix,
            element(type), element(type), width, to, name);
}

static void put_lane_argument(struct sc_alu_set *set, char prefix,
                              const char *type, char to, const char *name)
{
    if (strcmp(type, "T_p") == 0)
        put(set, "%c_get(%s, i)", prefix == 'v' ? 'm' : 'q', name);
    else
        put(set, "%c.l[i]", to);
}

static void put_lanes(struct sc_alu_set *set, char prefix, const char *result,
                      const char *name, const struct param *params,
                      size_t count)
{
    const char *width = prefix == 'v' ? "SC_W" : "SC_H";
    bool truth = strcmp(result, "T_p") == 0;
    put(set, "SC_IN %c_%s %c_%s(", prefix, element(result), prefix, name);
    for (size_t i = 0; i < count; i++)
        put(set, "%s%c_%s %s", i ? ", " : "", prefix, element(params[i].type),
            params[i].name);
    put(set, ") { ");
    for (size_t i = 0; i < count; i++)
        put_lane_param(set, prefix, params[i].type, (char)('A' + i),
                       params[i].name);
    if (truth)
        put(set, "%c_p r = {0};", prefix);
    else
        put(set, "union { %c_%s v; s_%s l[%s]; } r;", prefix, element(result),
            element(result), width);
    put(set, " for (int i = 0; i < %s; i++) ", width);
    if (truth)
        put(set, "r = %c_set(r, i, s_%s(", prefix == 'v' ? 'm' : 'q', name);
    else
        put(set, "r.l[i] = s_%s(", name);
    for (size_t i = 0; i < count; i++) {
        put(set, "%s", i ? ", " : "");
        put_lane_argument(set, prefix, params[i].type, (char)('A' + i),
                          params[i].name);
    }
    put(set, "%s); return r%s; }\n", truth ? ")" : "", truth ? "" : ".v");
}

/* "(T_f a, T_32 b)" into its parts. Return: how many. */
static size_t split_params(const char *text, struct param *params)
{
    size_t count = 0;
    const char *s = text + 1;
    while (*s && *s != ')' && count < SC_ALU_ARGS) {
        struct param *p = &params[count++];
        size_t n = strcspn(s, " ");
        snprintf(p->type, sizeof p->type, "%.*s", (int)n, s);
        s += n + (s[n] == ' ');
        n = strcspn(s, ",)");
        snprintf(p->name, sizeof p->name, "%.*s", (int)n, s);
        s += n + strspn(s + n, ", ");
    }
    return count;
}

/* ---- definitions ---- */

static void put_lane_piece(struct sc_alu_set *set, const struct piece *p,
                           char prefix)
{
    struct param params[SC_ALU_ARGS];
    size_t count = split_params(p->params, params);
    char scalar[SC_ALU_NAME];
    snprintf(scalar, sizeof scalar, "s_%s", p->name);
    sc_alu_need(set, scalar);
    put_lanes(set, prefix, p->result, p->name, params, count);
}

bool sc_alu_need(struct sc_alu_set *set, const char *name)
{
    const struct piece *p = piece_find(name, set->isa);
    if (!p)
        set->failed = true;
    if (!p || !note(set, name))
        return !set->failed;
    if (p->kind == LANE && name[0] != 's') {
        put_lane_piece(set, p, name[0]);
        return !set->failed;
    }
    need_words(set, p->body, name[0]);
    put(set, "SC_IN ");
    put_as(set, p->result, name[0]);
    put(set, " %s", name);
    put_as(set, p->params, name[0]);
    put(set, " ");
    put_as(set, p->body, name[0]);
    put(set, "\n");
    return !set->failed;
}

static const char *const class_types[] = {
    [SC_LANE_32] = "T_32", [SC_LANE_64] = "T_64", [SC_LANE_PRED] = "T_p"};

static void put_signature(struct sc_alu_set *set,
                          const struct sc_alu_call *call, uint32_t result,
                          char prefix)
{
    put(set, "SC_IN ");
    put_as(set, class_types[call->results[result].class], prefix);
    put(set, " %c_%s(", prefix, call->names[result]);
    for (uint32_t i = 0; i < call->arg_count; i++) {
        put(set, i ? ", " : "");
        put_as(set, class_types[call->args[i].class], prefix);
        put(set, " %c", 'a' + (int)i);
    }
    put(set, ")");
}

/* One result's function from its template. */
static void put_function(struct sc_alu_set *set, const struct sc_alu_call *call,
                         uint32_t result, char prefix)
{
    char name[SC_ALU_NAME + 2];
    snprintf(name, sizeof name, "%c_%s", prefix, call->names[result]);
    if (!note(set, name))
        return;
    need_words(set, call->bodies[result], prefix);
    put_signature(set, call, result, prefix);
    put(set, " { ");
    put_as(set, call->bodies[result], prefix);
    put(set, " }\n");
}

static void put_half_call(struct sc_alu_set *set,
                          const struct sc_alu_call *call, uint32_t result,
                          int half)
{
    put(set, "q_%s(", call->names[result]);
    for (uint32_t i = 0; i < call->arg_count; i++) {
        static const char *const format[] = {
            [SC_LANE_32] = "v_half%d(%c)", [SC_LANE_PRED] = "m_half%d(%c)"};
        enum sc_lane_class class = call->args[i].class;
        put(set, i ? ", " : "");
        if (class == SC_LANE_64)
            put(set, "%c.%c", 'a' + (int)i, half ? 'h' : 'l');
        else
            put(set, format[class], half, 'a' + (int)i);
    }
    put(set, ")");
}

/* Vectors in which something is 64 bits wide: half the lanes at a time. */
static void put_halves(struct sc_alu_set *set, const struct sc_alu_call *call,
                       uint32_t result)
{
    static const char *const joins[] = {[SC_LANE_32] = "v_join(",
                                        [SC_LANE_64] = "(v64){",
                                        [SC_LANE_PRED] = "m_join("};
    enum sc_lane_class class = call->results[result].class;
    put_function(set, call, result, 'q');
    put_signature(set, call, result, 'v');
    put(set, " { return %s", joins[class]);
    put_half_call(set, call, result, 0);
    put(set, ", ");
    put_half_call(set, call, result, 1);
    put(set, "%c; }\n", class == SC_LANE_64 ? '}' : ')');
}

static void put_lane_function(struct sc_alu_set *set,
                              const struct sc_alu_call *call, uint32_t result)
{
    struct param params[SC_ALU_ARGS];
    for (uint32_t i = 0; i < call->arg_count; i++) {
        snprintf(params[i].type, sizeof params[i].type, "%s",
                 class_types[call->args[i].class]);
        snprintf(params[i].name, sizeof params[i].name, "%c", 'a' + (int)i);
    }
    put_function(set, call, result, 's');
    put_lanes(set, 'v', class_types[call->results[result].class],
              call->names[result], params, call->arg_count);
}

bool sc_alu_add(struct sc_alu_set *set, const struct sc_alu_call *call,
                uint32_t result, bool vector, char *name)
{
    snprintf(name, SC_ALU_NAME, "%c_%s", vector ? 'v' : 's',
             call->names[result]);
    if (!vector || call->form == SC_ALU_PLAIN)
        put_function(set, call, result, vector ? 'v' : 's');
    else if (!note(set, name))
        return !set->failed;
    else if (call->form == SC_ALU_LANES)
        put_lane_function(set, call, result);
    else
        put_halves(set, call, result);
    return !set->failed;
}
