/*
 * Names of registers, variables, functions and labels; see ptx/parser.h.
 *
 * Lock: none.
 */
#include "ptx/parser.h"

#include <ctype.h>
#include <string.h>

uint32_t sc_symbol_hash(const char *name, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return (hash ^ hash >> 15) % SC_SYMBOL_BUCKETS;
}

static struct sc_symbol *find_in(const struct sc_parser *parser,
                                 const char *name, size_t length, bool range)
{
    struct sc_symbol *symbol = parser->buckets[sc_symbol_hash(name, length)];
    for (; symbol; symbol = symbol->next)
        if (symbol->length == length &&
            (symbol->kind == SC_SYMBOL_REG_RANGE) == range &&
            memcmp(symbol->name, name, length) == 0)
            return symbol;
    return NULL;
}

struct sc_symbol *sc_symbol_add(struct sc_parser *parser, const char *name,
                                uint32_t length, enum sc_symbol_kind kind,
                                uint32_t line)
{
    const struct sc_symbol *old =
        find_in(parser, name, length, kind == SC_SYMBOL_REG_RANGE);
    if (old && old->depth == parser->depth &&
        !(old->var && old->var->is_extern))
        sc_load_fail(parser->load, SC_LOAD_INVALID, line,
                     "'%.*s' is declared twice in one scope", (int)length,
                     name);
    struct sc_symbol *symbol = sc_load_alloc(parser->load, 1, sizeof *symbol);
    struct sc_symbol **bucket = &parser->buckets[sc_symbol_hash(name, length)];
    *symbol = (struct sc_symbol){.name = name,
                                 .length = length,
                                 .depth = parser->depth,
                                 .kind = kind,
                                 .next = *bucket,
                                 .older = parser->newest};
    *bucket = symbol;
    parser->newest = symbol;
    return symbol;
}

/* Goes below the symbols of inner scopes, which are taken away first. */
struct sc_symbol *sc_symbol_function(struct sc_parser *parser, const char *name,
                                     uint32_t length)
{
    struct sc_symbol **at = &parser->buckets[sc_symbol_hash(name, length)];
    while (*at && (*at)->depth > 0)
        at = &(*at)->next;
    for (struct sc_symbol *old = *at; old; old = old->next)
        if (old->kind == SC_SYMBOL_FUNC && old->length == length &&
            memcmp(old->name, name, length) == 0)
            return old;
    struct sc_symbol *symbol = sc_load_alloc(parser->load, 1, sizeof *symbol);
    struct sc_symbol **older = &parser->newest;
    while (*older && (*older)->depth > 0)
        older = &(*older)->older;
    *symbol = (struct sc_symbol){.name = name,
                                 .length = length,
                                 .kind = SC_SYMBOL_FUNC,
                                 .next = *at,
                                 .older = *older};
    *at = symbol;
    *older = symbol;
    return symbol;
}

const struct sc_symbol *sc_symbol_find(const struct sc_parser *parser,
                                       const char *name, size_t length)
{
    return find_in(parser, name, length, false);
}

bool sc_symbol_register(const struct sc_parser *parser, const char *name,
                        size_t length, uint32_t *reg, uint32_t *components)
{
    const struct sc_symbol *symbol = find_in(parser, name, length, false);
    if (symbol && symbol->kind == SC_SYMBOL_REG) {
        *reg = symbol->first;
        *components = symbol->count;
        return true;
    }
    size_t prefix = length;
    while (prefix && isdigit((unsigned char)name[prefix - 1]))
        prefix--;
    size_t digits = length - prefix;
    if (!digits || digits > 8 || (name[prefix] == '0' && digits > 1))
        return false;
    symbol = find_in(parser, name, prefix, true);
    uint32_t index = 0;
    for (size_t i = prefix; i < length; i++)
        index = index * 10 + (uint32_t)(name[i] - '0');
    if (!symbol || index >= symbol->count)
        return false;
    *reg = symbol->first + index;
    *components = 1;
    return true;
}

void sc_scope_open(struct sc_parser *parser)
{
    if (parser->depth >= SC_MAX_DEPTH)
        sc_load_fail(parser->load, SC_LOAD_INVALID, parser->lex.token.line,
                     "braces nested deeper than %u", SC_MAX_DEPTH);
    parser->scope_parent =
        sc_load_grow(parser->load, parser->scope_parent, parser->scope_count,
                     &parser->scope_capacity, sizeof *parser->scope_parent);
    parser->scope_parent[parser->scope_count] = parser->scope;
    parser->scope = (uint32_t)parser->scope_count++;
    parser->depth++;
}

void sc_scope_close(struct sc_parser *parser)
{
    parser->depth--;
    parser->scope = parser->scope_parent[parser->scope];
    while (parser->newest && parser->newest->depth > parser->depth) {
        struct sc_symbol *symbol = parser->newest;
        parser->buckets[sc_symbol_hash(symbol->name, symbol->length)] =
            symbol->next;
        parser->newest = symbol->older;
    }
}

struct sc_label *sc_label_add(struct sc_parser *parser, const char *name,
                              uint32_t length, uint32_t line)
{
    struct sc_label **bucket = &parser->labels[sc_symbol_hash(name, length)];
    for (const struct sc_label *old = *bucket; old; old = old->next)
        if (old->length == length && old->scope == parser->scope &&
            memcmp(old->name, name, length) == 0)
            sc_load_fail(parser->load, SC_LOAD_INVALID, line,
                         "label '%.*s' stands twice", (int)length, name);
    struct sc_label *label = sc_load_alloc(parser->load, 1, sizeof *label);
    *label = (struct sc_label){.name = name,
                               .length = length,
                               .scope = parser->scope,
                               .inst = (uint32_t)parser->func->inst_count,
                               .next = *bucket,
                               .older = parser->newest_label};
    *bucket = label;
    parser->newest_label = label;
    return label;
}

void sc_label_forget(struct sc_parser *parser)
{
    for (struct sc_label *l = parser->newest_label; l; l = l->older)
        parser->labels[sc_symbol_hash(l->name, l->length)] = NULL;
    parser->newest_label = NULL;
}

const struct sc_label *sc_label_find(const struct sc_parser *parser,
                                     const char *name, uint32_t length,
                                     uint32_t scope)
{
    const struct sc_label *first = parser->labels[sc_symbol_hash(name, length)];
    for (;; scope = parser->scope_parent[scope]) {
        for (const struct sc_label *label = first; label; label = label->next)
            if (label->length == length && label->scope == scope &&
                memcmp(label->name, name, length) == 0)
                return label;
        if (scope == 0)
            return NULL;
    }
}
