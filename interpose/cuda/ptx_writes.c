/*
 * Follows registers back to parameters; see ptx_writes.h.
 *
 * Every doubt ends in `anywhere`, which is what a kernel without PTX gets.
 */
#include "interpose/cuda/ptx_writes.h"

#include "interpose/cuda/ptx_text.h"

#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* What a value may have been computed from: a bit for each place, and: */
typedef uint64_t origin;
#define ORIGIN_LOOSE   ((origin)1 << 61) /* loaded, too narrow for an address */
#define ORIGIN_OWN     ((origin)1 << 62) /* a variable of the module          */
#define ORIGIN_UNKNOWN ((origin)1 << 63) /* may be any address                */
#define ORIGIN_PLACES  (((origin)1 << PTX_PLACES_MOST) - 1)

enum { OPERANDS_MOST = 16, WIDE = 1 << 16, PASSES_MOST = 200 };

struct symbol {
    origin origin;
    int param; /* number, -1: not one of the kernel's                     */
    uint16_t param_at;
    UT_hash_handle hh;
    char name[];
};

struct inst {
    unsigned to, to_count, from, from_count; /* in reader.used            */
    origin origin;                           /* of the result, besides    */
    bool widens; /* puts a loose value where its bits make an address     */
    bool stores; /* through an address of `from`                          */
    bool loads;  /* ... or only reads there                               */
};

struct operand {
    unsigned first, count; /* in reader.used                              */
    uint64_t number;       /* of a constant or behind a name, 0: none     */
};

struct ptx_module {
    struct ptx_kernel *kernels;
    size_t count, room;
};

struct reader {
    struct ptx_text text;
    struct ptx_module *module;
    bool failed;                      /* no memory */
    struct symbol *variables, *names; /* of the module, of this kernel    */
    struct ptx_kernel kernel;
    struct symbol **used;
    size_t used_count, used_room;
    struct inst *insts;
    size_t inst_count, inst_room;
};

/* One more item; NULL: no memory. */
static void *grown(void *items, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return items;
    size_t more = *room ? 2 * *room : 64;
    void *moved = realloc(items, more * size);
    if (moved)
        *room = more;
    return moved;
}

/* ---- names --------------------------------------------------------------- */

static struct symbol *symbol_find(struct symbol *table, const char *name,
                                  size_t length)
{
    struct symbol *found;
    HASH_FIND(hh, table, name, length, found);
    return found;
}

static struct symbol *symbol_add(struct reader *r, struct symbol **table,
                                 const char *name, size_t length)
{
    struct symbol *symbol = symbol_find(*table, name, length);
    if (symbol)
        return symbol;
    symbol = calloc(1, sizeof *symbol + length + 1);
    if (!symbol) {
        r->failed = true;
        return NULL;
    }
    symbol->param = -1;
    memcpy(symbol->name, name, length);
    HASH_ADD_KEYPTR(hh, *table, symbol->name, length, symbol);
    if (!symbol->hh.tbl) {
        free(symbol);
        symbol = NULL;
        r->failed = true;
    }
    return symbol;
}

static void symbols_free(struct symbol **table)
{
    struct symbol *symbol, *next;
    HASH_ITER(hh, *table, symbol, next)
    {
        HASH_DEL(*table, symbol);
        free(symbol);
    }
}

static struct symbol *symbol_of(struct reader *r)
{
    const struct ptx_text *t = &r->text;
    struct symbol *found = symbol_find(r->names, t->word, t->length);
    if (!found)
        found = symbol_find(r->variables, t->word, t->length);
    return found ? found : symbol_add(r, &r->names, t->word, t->length);
}

static void use(struct reader *r, struct symbol *symbol)
{
    struct symbol **room =
        grown(r->used, r->used_count, &r->used_room, sizeof *r->used);
    if (!room || !symbol) {
        r->failed = true;
        return;
    }
    r->used = room;
    r->used[r->used_count++] = symbol;
}

/* ---- declarations -------------------------------------------------------- */

static bool is_variable(const struct ptx_text *text)
{
    return ptx_is(text, ".global") || ptx_is(text, ".const") ||
           ptx_is(text, ".shared") || ptx_is(text, ".local");
}

/* Variables up to the semicolon: a name is the last word before its end. */
static void variables_read(struct reader *r, struct symbol **table)
{
    struct ptx_text name = {0};
    bool value = false; /* behind "=" or in brackets no names come        */
    while (ptx_next(&r->text) != PTX_END) {
        char sign = r->text.sign;
        if (sign == '{')
            ptx_skip_block(&r->text);
        if (r->text.token == PTX_WORD && *r->text.word != '.' && !value)
            name = r->text;
        value = (value && sign != ',') || sign == '=' || sign == '[';
        if ((sign == ',' || sign == ';') && name.length) {
            struct symbol *made = symbol_add(r, table, name.word, name.length);
            if (made)
                made->origin = ORIGIN_OWN;
            name.length = 0;
        }
        if (sign == ';')
            return;
    }
}

/* Bytes of a type such as ".u64"; 0: not a type. */
static unsigned type_bytes(const char *word, size_t length)
{
    if (length < 3 || word[0] != '.' || !strchr("busf", word[1]))
        return 0;
    char *end;
    unsigned long bits = strtoul(word + 2, &end, 10);
    if (end < word + length && *end == 'x')
        bits *= strtoul(end + 1, &end, 10);
    return end == word + length ? (unsigned)bits / 8 : 0;
}

struct parameter {
    unsigned align, bytes, elements;
    bool pointee; /* what follows is about what it points to              */
    struct ptx_text name;
};

static void parameter_word(struct parameter *p, const struct ptx_text *text)
{
    unsigned bytes = type_bytes(text->word, text->length);
    if (bytes && !p->pointee)
        p->bytes = bytes;
    else if (ptx_is(text, ".ptr"))
        p->pointee = true;
    else if (*text->word != '.')
        p->name = *text;
}

static void parameter_end(struct reader *r, struct parameter *p, int number,
                          unsigned *at)
{
    unsigned align = p->align ? p->align : p->bytes;
    if (p->name.length && align) {
        *at = (*at + align - 1) / align * align;
        struct symbol *made =
            symbol_add(r, &r->names, p->name.word, p->name.length);
        if (made) {
            made->param = number;
            made->param_at = (uint16_t)*at;
            made->origin = ORIGIN_UNKNOWN; /* its address */
        }
        *at += p->bytes * p->elements;
    }
    *p = (struct parameter){.elements = 1};
}

/* The kernel's list; the opening parenthesis has been read. */
static void parameters_read(struct reader *r)
{
    struct parameter p = {.elements = 1};
    unsigned at = 0;
    bool aligning = false, counting = false;
    for (int number = 0; ptx_next(&r->text) != PTX_END;) {
        const struct ptx_text *t = &r->text;
        if (t->token == PTX_WORD)
            parameter_word(&p, t);
        else if (t->token == PTX_NUMBER && aligning && !p.pointee)
            p.align = (unsigned)t->value;
        else if (t->token == PTX_NUMBER && counting)
            p.elements = (unsigned)t->value;
        aligning = ptx_is(t, ".align");
        counting = t->sign == '[';
        if (t->sign == ',' || t->sign == ')')
            parameter_end(r, &p, number++, &at);
        if (t->sign == ')')
            break;
    }
    if (at > UINT16_MAX)
        r->kernel.anywhere = true;
}

/* ---- statements ---------------------------------------------------------- */

struct statement {
    const char *opcode;
    size_t length, head; /* of all of it, of its first part               */
    struct operand operand[OPERANDS_MOST];
    unsigned count;
};

static bool has(const struct statement *s, const char *part)
{
    return ptx_has(s->opcode, s->length, part);
}

static bool is_op(const struct statement *s, const char *name)
{
    return strlen(name) == s->head && memcmp(name, s->opcode, s->head) == 0;
}

/* Bytes of one element of what a statement moves: the last part that is a
 * type. */
static unsigned moved_bytes(const struct statement *s)
{
    size_t from = s->length;
    while (from > 0 && s->opcode[from - 1] != '.')
        from--;
    return from ? type_bytes(s->opcode + from - 1, s->length - from + 1) : 0;
}

/* Operands up to the semicolon. Return: false: more than there can be. */
static bool operands_read(struct reader *r, struct statement *s)
{
    int depth = 0;
    struct operand *o = &s->operand[0];
    *o = (struct operand){.first = (unsigned)r->used_count};
    s->count = 0;
    while (ptx_next(&r->text) != PTX_END) {
        const struct ptx_text *t = &r->text;
        char sign = t->sign;
        if (sign == ';') {
            if (s->count || o->count || o->number)
                s->count++;
            return true;
        }
        if (t->token == PTX_WORD) {
            use(r, symbol_of(r));
            o->count++;
        } else if (t->token == PTX_NUMBER) {
            o->number = t->value;
        }
        depth += sign == '[' || sign == '{' || sign == '(';
        depth -= sign == ']' || sign == '}' || sign == ')';
        if (sign == ',' && depth == 0) {
            if (++s->count == OPERANDS_MOST - 1)
                return false;
            o = &s->operand[s->count];
            *o = (struct operand){.first = (unsigned)r->used_count};
        }
    }
    return false;
}

static struct inst *inst_add(struct reader *r)
{
    struct inst *room =
        grown(r->insts, r->inst_count, &r->inst_room, sizeof *r->insts);
    if (!room) {
        r->failed = true;
        return NULL;
    }
    r->insts = room;
    r->insts[r->inst_count] = (struct inst){0};
    return &r->insts[r->inst_count++];
}

/* `to` gets what `from` (NULL: nothing) has, and `origin`. */
static struct inst *flow(struct reader *r, const struct operand *to,
                         const struct operand *from, origin origin)
{
    struct inst *inst = inst_add(r);
    if (!inst)
        return NULL;
    inst->to = to->first;
    inst->to_count = to->count;
    inst->origin = origin;
    if (from) {
        inst->from = from->first;
        inst->from_count = from->count;
    }
    return inst;
}

static struct inst *reach(struct reader *r, const struct operand *address)
{
    struct inst *inst = inst_add(r);
    if (!inst)
        return NULL;
    inst->from = address->first;
    inst->from_count = address->count;
    return inst;
}

static void store(struct reader *r, const struct operand *address)
{
    struct inst *inst = reach(r, address);
    if (inst)
        inst->stores = true;
}

static void fetch(struct reader *r, const struct operand *address)
{
    struct inst *inst = reach(r, address);
    if (inst)
        inst->loads = true;
}

static origin place_of(struct reader *r, const struct symbol *param,
                       uint64_t offset)
{
    struct ptx_kernel *k = &r->kernel;
    unsigned i = 0;
    while (i < k->count &&
           (k->place[i].param != param->param || k->place[i].offset != offset))
        i++;
    if (i == PTX_PLACES_MOST || offset > UINT16_MAX)
        return ORIGIN_UNKNOWN;
    if (i == k->count)
        k->place[k->count++] =
            (struct ptx_place){(uint16_t)param->param, (uint16_t)offset,
                               (uint16_t)(param->param_at + offset)};
    return (origin)1 << i;
}

static origin loaded(unsigned bytes)
{
    return bytes > 0 && bytes <= 4 ? ORIGIN_LOOSE : ORIGIN_UNKNOWN;
}

static bool is_private(const struct statement *s)
{
    return has(s, ".shared") || has(s, ".local") || has(s, ".param");
}

static void load(struct reader *r, const struct statement *s)
{
    const struct operand *to = &s->operand[0], *address = &s->operand[1];
    unsigned bytes = moved_bytes(s);
    const struct symbol *param =
        address->count == 1 ? r->used[address->first] : NULL;
    if (!has(s, ".param") || !param || param->param < 0) {
        flow(r, to, NULL, loaded(bytes));
        if (!is_private(s) && !has(s, ".const"))
            fetch(r, address);
        return;
    }
    for (unsigned i = 0; i < to->count; i++) {
        struct operand one = {.first = to->first + i, .count = 1};
        uint64_t offset = address->number + (uint64_t)i * bytes;
        flow(r, &one, NULL,
             bytes == 8 ? place_of(r, param, offset) : loaded(bytes));
    }
}

/* From an address in one of the small spaces, or of it, to a generic one. */
static void convert_address(struct reader *r, const struct statement *s)
{
    bool small = !has(s, ".to") && (is_private(s) || has(s, ".const"));
    flow(r, &s->operand[0], small ? NULL : &s->operand[1],
         small ? ORIGIN_OWN : 0);
}

/* Does it put 64 bits together out of parts, or by a large factor? */
static bool is_widening(const struct statement *s)
{
    bool result = has(s, ".wide") || moved_bytes(s) >= 8;
    if (is_op(s, "mov"))
        return result && s->operand[1].count > 1;
    if (is_op(s, "shl"))
        return result && (s->operand[2].count || s->operand[2].number >= 16);
    if (is_op(s, "bfi"))
        return result;
    bool large = false;
    for (unsigned i = 1; i < s->count; i++)
        large |= s->operand[i].number >= WIDE;
    return result && large && (is_op(s, "mul") || is_op(s, "mad"));
}

static void compute(struct reader *r, const struct statement *s)
{
    struct operand from = s->operand[1];
    for (unsigned i = 2; i < s->count; i++)
        from.count += s->operand[i].count;
    struct inst *inst = flow(r, &s->operand[0], &from, 0);
    if (inst)
        inst->widens = is_widening(s);
}

static bool is_one_of(const struct statement *s, const char *const *names)
{
    for (; *names; names++)
        if (is_op(s, *names))
            return true;
    return false;
}

/* They change no register that could hold an address, and no memory. */
static const char *const plain[] = {
    "activemask",     "applypriority", "bar",       "barrier", "bra",
    "brkpt",          "brx",           "elect",     "exit",    "fence",
    "griddepcontrol", "isspacep",      "match",     "membar",  "nanosleep",
    "pmevent",        "prefetch",      "prefetchu", "ret",     "setp",
    "testp",          "trap",          "vote",      NULL};

/* Their results are numbers of 32 bits at most, from memory or not. */
static const char *const loose[] = {
    "ldmatrix", "mma", "movmatrix", "suld", "suq", "tex", "tld4", "txq", NULL};

static const char *const computing[] = {
    "abs",  "add",  "addc",     "bfe",  "bfi",   "bfind", "bmsk",  "brev",
    "clz",  "cnot", "copysign", "cos",  "cvt",   "div",   "dp2a",  "dp4a",
    "ex2",  "fma",  "fns",      "lg2",  "lop3",  "mad",   "mad24", "madc",
    "mapa", "max",  "min",      "mov",  "mul",   "mul24", "neg",   "not",
    "or",   "and",  "popc",     "prmt", "rcp",   "redux", "rem",   "rsqrt",
    "sad",  "selp", "set",      "shf",  "shfl",  "shl",   "shr",   "sin",
    "slct", "sqrt", "sub",      "subc", "szext", "tanh",  "xor",   NULL};

/* What is called, by name, with a result before it or none. */
static bool calls(const struct reader *r, const struct statement *s,
                  const char *name)
{
    for (unsigned i = 0; i < s->count && i < 2; i++) {
        const struct operand *o = &s->operand[i];
        if (o->count == 1 && strcmp(r->used[o->first]->name, name) == 0)
            return true;
    }
    return false;
}

/* Functions that write nothing of the program's. */
static bool call(struct reader *r, const struct statement *s)
{
    bool prints = calls(r, s, "vprintf");
    if (prints) /* strings, wherever they are */
        r->kernel.reaches_anywhere = true;
    return prints || calls(r, s, "__assertfail");
}

/* Textures may lie in memory that no parameter points to. */
static void load_loosely(struct reader *r, const struct statement *s)
{
    flow(r, &s->operand[0], NULL, ORIGIN_LOOSE);
    if (is_op(s, "tex") || is_op(s, "tld4"))
        r->kernel.reaches_anywhere = true;
    if (is_op(s, "wmma") && has(s, ".load") && !is_private(s))
        fetch(r, &s->operand[1]);
}

/* Return: false: it may write to any memory. */
static bool understand(struct reader *r, const struct statement *s)
{
    if (is_one_of(s, plain))
        return true;
    if (is_op(s, "call"))
        return call(r, s);
    if (is_op(s, "cp")) {
        if (s->count > 1)
            fetch(r, &s->operand[1]);
        return has(s, ".async") && !has(s, ".bulk");
    }
    if (s->count == 0)
        return false;
    if (is_op(s, "ld") || is_op(s, "ldu"))
        load(r, s);
    else if (is_one_of(s, loose) || (is_op(s, "wmma") && !has(s, ".store")))
        load_loosely(r, s);
    else if (is_op(s, "st") || is_op(s, "red") || is_op(s, "wmma")) {
        if (!is_private(s))
            store(r, &s->operand[0]);
    } else if (is_op(s, "atom")) {
        flow(r, &s->operand[0], NULL, loaded(moved_bytes(s)));
        if (!is_private(s))
            store(r, &s->operand[1]);
    } else if (is_op(s, "cvta"))
        convert_address(r, s);
    else if (is_one_of(s, computing))
        compute(r, s);
    else
        return false;
    return true;
}

/* Names, of registers and others, that a directive in a body declares. */
static void directive_read(struct reader *r)
{
    const struct ptx_text *t = &r->text;
    if (ptx_is(t, ".loc") || ptx_is(t, ".file")) {
        ptx_skip_line(&r->text);
    } else if (is_variable(t)) {
        variables_read(r, &r->names);
    } else {
        while (ptx_next(&r->text) != PTX_END && r->text.sign != ';')
            if (ptx_is(t, ".v2") || ptx_is(t, ".v4"))
                r->kernel.anywhere = true; /* registers of several names */
    }
}

/* A statement whose first word has been read. */
static void instruction_read(struct reader *r)
{
    struct statement s = {.opcode = r->text.word, .length = r->text.length};
    struct ptx_text behind = r->text;
    ptx_next(&behind);
    if (behind.sign == ':') {
        r->text = behind;
        return;
    }
    while (s.head < s.length && s.opcode[s.head] != '.')
        s.head++;
    if (!operands_read(r, &s) || r->failed || !understand(r, &s))
        r->kernel.anywhere = true;
}

/* ---- kernels ------------------------------------------------------------- */

static origin origin_of(const struct reader *r, const struct inst *inst)
{
    origin all = inst->origin;
    for (unsigned i = 0; i < inst->from_count; i++)
        all |= r->used[inst->from + i]->origin;
    if (inst->widens && (all & ORIGIN_LOOSE))
        all |= ORIGIN_UNKNOWN;
    return all;
}

static bool pass(struct reader *r)
{
    bool changed = false;
    for (size_t i = 0; i < r->inst_count; i++) {
        const struct inst *inst = &r->insts[i];
        origin all = origin_of(r, inst);
        for (unsigned k = 0; k < inst->to_count; k++) {
            struct symbol *to = r->used[inst->to + k];
            changed |= (to->origin | all) != to->origin;
            to->origin |= all;
        }
    }
    return changed;
}

/* What all stores of the kernel may reach, or all loads. */
static origin reached(const struct reader *r, bool loads)
{
    origin all = 0;
    for (size_t i = 0; i < r->inst_count; i++) {
        const struct inst *inst = &r->insts[i];
        bool counts = loads ? inst->loads : inst->stores;
        origin here = counts ? origin_of(r, inst) : 0;
        if (counts && !(here & (ORIGIN_PLACES | ORIGIN_OWN)))
            here = ORIGIN_UNKNOWN;
        all |= here;
    }
    return all;
}

/* Keep those of `from` that are in `all`. Return: how many */
static unsigned keep_places(struct ptx_place *to, const struct ptx_place *from,
                            unsigned count, origin all)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++)
        if (all >> i & 1)
            to[kept++] = from[i];
    return kept;
}

static void conclude(struct reader *r)
{
    struct ptx_kernel *k = &r->kernel;
    unsigned passes = 0;
    while (passes < PASSES_MOST && pass(r))
        passes++;
    origin written = reached(r, false);
    origin all = written | reached(r, true);
    k->anywhere |= passes == PASSES_MOST || (written & ORIGIN_UNKNOWN);
    k->reaches_anywhere |= k->anywhere || (all & ORIGIN_UNKNOWN);
    k->reach_count = keep_places(k->reach, k->place, k->count, all);
    k->count = keep_places(k->place, k->place, k->count, written);
}

static void kernel_keep(struct reader *r)
{
    struct ptx_module *m = r->module;
    struct ptx_kernel *room =
        grown(m->kernels, m->count, &m->room, sizeof *m->kernels);
    if (!room) {
        r->failed = true;
        return;
    }
    m->kernels = room;
    m->kernels[m->count++] = r->kernel;
    r->kernel.name = NULL;
}

/* The body of a kernel, whose brace has been read. */
static void body_read(struct reader *r)
{
    for (int depth = 1; depth > 0 && !r->failed;) {
        if (ptx_next(&r->text) == PTX_END) {
            r->kernel.anywhere = true;
            return;
        }
        depth += (r->text.sign == '{') - (r->text.sign == '}');
        if (r->text.sign == '@') {
            do /* the predicate, which may be negated */
                ptx_next(&r->text);
            while (r->text.sign == '!');
        } else if (r->text.token == PTX_WORD && *r->text.word == '.') {
            directive_read(r);
        } else if (r->text.token == PTX_WORD) {
            instruction_read(r);
        }
    }
}

static void kernel_read(struct reader *r)
{
    ptx_next(&r->text);
    r->kernel =
        (struct ptx_kernel){.name = strndup(r->text.word, r->text.length)};
    r->used_count = r->inst_count = 0;
    r->failed |= !r->kernel.name;
    while (!r->failed && ptx_next(&r->text) != PTX_END && r->text.sign != ';') {
        if (r->text.sign == '(')
            parameters_read(r);
        if (r->text.sign != '{')
            continue;
        body_read(r);
        conclude(r);
        kernel_keep(r);
        break;
    }
    free(r->kernel.name);
    symbols_free(&r->names);
}

static void function_skip(struct reader *r)
{
    while (ptx_next(&r->text) != PTX_END && r->text.sign != ';')
        if (r->text.sign == '{') {
            ptx_skip_block(&r->text);
            return;
        }
}

static void module_read(struct reader *r)
{
    const struct ptx_text *t = &r->text;
    while (!r->failed && ptx_next(&r->text) != PTX_END) {
        if (ptx_is(t, ".entry"))
            kernel_read(r);
        else if (ptx_is(t, ".func"))
            function_skip(r);
        else if (is_variable(t))
            variables_read(r, &r->variables);
        else if (t->sign == '{')
            ptx_skip_block(&r->text);
    }
}

static bool has_wide_addresses(const char *text)
{
    struct ptx_text t = {.at = text};
    while (ptx_next(&t) != PTX_END && !ptx_is(&t, ".entry"))
        if (ptx_is(&t, ".address_size"))
            return ptx_next(&t) == PTX_NUMBER && t.value == 64;
    return false;
}

struct ptx_module *ptx_module_read(const char *text)
{
    if (!has_wide_addresses(text))
        return NULL;
    struct reader r = {.text = {.at = text}};
    r.module = calloc(1, sizeof *r.module);
    if (!r.module)
        return NULL;
    module_read(&r);
    symbols_free(&r.variables);
    free(r.used);
    free(r.insts);
    if (r.failed) {
        ptx_module_free(r.module);
        return NULL;
    }
    return r.module;
}

void ptx_module_free(struct ptx_module *module)
{
    for (size_t i = 0; module && i < module->count; i++)
        free(module->kernels[i].name);
    if (module)
        free(module->kernels);
    free(module);
}

const struct ptx_kernel *ptx_module_kernel(const struct ptx_module *module,
                                           const char *name)
{
    for (size_t i = 0; i < module->count; i++)
        if (strcmp(module->kernels[i].name, name) == 0)
            return &module->kernels[i];
    return NULL;
}
