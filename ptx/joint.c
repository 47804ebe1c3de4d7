/*
 * Owns: joining the PTX texts of a program compiled in parts.
 * Does not own: the meaning of the text beyond its outermost statements
 * (joint_read.c): what is malformed passes through and is refused by the front
 * end.  No lock.
 */
#include "ptx/joint_statement.h"
#include "ptx/provided.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/fatbin.h"

struct output {
    struct sc_load load; /* what was read once can be read again */
    char *text;
    size_t bytes, capacity;
    bool failed;
};

static void put(struct output *out, const char *from, size_t bytes)
{
    if (out->bytes + bytes + 1 > out->capacity) {
        size_t capacity = (out->bytes + bytes + 1) * 2;
        char *grown = realloc(out->text, capacity);
        if (!grown) {
            out->failed = true;
            return;
        }
        out->text = grown;
        out->capacity = capacity;
    }
    memcpy(out->text + out->bytes, from, bytes);
    out->bytes += bytes;
    out->text[out->bytes] = '\0';
}

bool sc_joint_add(struct sc_joint *joint, const char *text)
{
    char **grown =
        realloc(joint->texts, (joint->count + 1) * sizeof(*joint->texts));
    if (!grown)
        return false;
    joint->texts = grown;
    grown[joint->count] = strdup(text);
    if (!grown[joint->count])
        return false;
    joint->count++;
    return true;
}

static bool is_same_name(const struct sc_joint_statement *a,
                         const struct sc_joint_statement *b)
{
    return a->name && b->name && a->name_bytes == b->name_bytes &&
           memcmp(a->name, b->name, a->name_bytes) == 0;
}

static bool is_definition(const struct sc_joint_statement *s)
{
    return s->kind == SC_JOINT_VARIABLE ? s->linking != SC_JOINT_EXTERN
                                        : s->body != NULL;
}

/* Two statements about one name: drop, or rename, what has to go. */
static void settle(struct sc_joint_statement *first,
                   struct sc_joint_statement *later)
{
    if (first->linking == SC_JOINT_LOCAL || later->linking == SC_JOINT_LOCAL) {
        if (first->text != later->text && later->kind != SC_JOINT_ENTRY) {
            if (later->linking == SC_JOINT_LOCAL)
                later->renamed = true;
            else
                first->renamed = true;
        }
        return;
    }
    if (first->kind == SC_JOINT_VARIABLE) {
        if (later->linking == SC_JOINT_EXTERN ||
            later->linking == SC_JOINT_WEAK)
            later->dropped = true;
        else if (first->linking != SC_JOINT_VISIBLE)
            first->dropped = true;
        return;
    }
    if (is_definition(first) && is_definition(later)) {
        if (later->linking == SC_JOINT_WEAK)
            later->dropped = true;
        else if (first->linking == SC_JOINT_WEAK)
            first->dropped = true;
    } else if (!is_definition(first) && !is_definition(later)) {
        later->dropped = true;
    }
}

static int by_name(const void *a, const void *b)
{
    const struct sc_joint_statement *x = *(struct sc_joint_statement **)a;
    const struct sc_joint_statement *y = *(struct sc_joint_statement **)b;
    size_t n = x->name_bytes < y->name_bytes ? x->name_bytes : y->name_bytes;
    int order = memcmp(x->name, y->name, n);
    if (order == 0 && x->name_bytes != y->name_bytes)
        order = x->name_bytes < y->name_bytes ? -1 : 1;
    return order ? order : x < y ? -1 : 1;
}

/* All statements with a name, sorted by it; NULL when memory ran out. */
static struct sc_joint_statement **sorted(struct sc_joint *joint, size_t *count)
{
    struct sc_joint_statement **list =
        malloc((joint->statement_count + 1) * sizeof(*list));
    *count = 0;
    for (size_t i = 0; list && i < joint->statement_count; i++)
        if (joint->statements[i].name)
            list[(*count)++] = &joint->statements[i];
    if (list)
        qsort(list, *count, sizeof(*list), by_name);
    return list;
}

static void settle_all(struct sc_joint_statement **list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count && is_same_name(list[i], list[k]); k++)
            if (!list[i]->dropped && !list[k]->dropped)
                settle(list[i], list[k]);
}

/* Was this word of text `number` renamed there? */
static bool is_renamed(struct sc_joint_statement **list, size_t count,
                       const char *word, size_t bytes, size_t number)
{
    struct sc_joint_statement key = {.name = word, .name_bytes = bytes};
    size_t low = 0, high = count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        size_t n =
            list[mid]->name_bytes < bytes ? list[mid]->name_bytes : bytes;
        int order = memcmp(list[mid]->name, word, n);
        if (order < 0 || (order == 0 && list[mid]->name_bytes < bytes))
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < count && is_same_name(list[low], &key); low++)
        if (list[low]->text == number && list[low]->renamed)
            return true;
    return false;
}

/* Write part of a statement with names and linking as they became. */
static void write_part(struct output *out, const struct sc_joint_statement *s,
                       const char *end, struct sc_joint_statement **list,
                       size_t count, const char *linking)
{
    const char *done = s->start;
    char suffix[24];
    int suffix_bytes = snprintf(suffix, sizeof suffix, "$u%zu", s->text);
    struct sc_lexer lex;
    sc_lex_init(&lex, &out->load, s->start, (size_t)(end - s->start));
    for (; lex.token.kind != SC_TOK_END; sc_lex_next(&lex)) {
        const char *at = lex.token.text;
        size_t bytes = lex.token.length;
        if (linking && at == s->word) {
            put(out, done, (size_t)(at - done));
            put(out, linking, strlen(linking));
            done = at + bytes;
        } else if (lex.token.kind == SC_TOK_NAME &&
                   is_renamed(list, count, at, bytes, s->text)) {
            put(out, done, (size_t)(at + bytes - done));
            put(out, suffix, (size_t)suffix_bytes);
            done = at + bytes;
        }
    }
    put(out, done, (size_t)(end - done));
}

/* Is a function that is only declared here defined in some text? */
static bool is_defined(struct sc_joint_statement **list, size_t count,
                       const struct sc_joint_statement *s)
{
    for (size_t i = 0; i < count; i++)
        if (list[i]->body && is_same_name(list[i], s) &&
            list[i]->linking != SC_JOINT_LOCAL)
            return true;
    return false;
}

/* The newest of the header lines of a kind. */
static void write_header(struct output *out, const struct sc_joint *joint,
                         enum sc_joint_kind kind)
{
    const struct sc_joint_statement *best = NULL;
    double newest = -1;
    for (size_t i = 0; i < joint->statement_count; i++) {
        const struct sc_joint_statement *s = &joint->statements[i];
        if (s->kind != kind || s->number <= newest)
            continue;
        newest = s->number;
        best = s;
    }
    if (best) {
        put(out, best->start, (size_t)(best->end - best->start));
        put(out, "\n", 1);
    }
}

/* When a statement is written, from 0 on. */
static int turn_of(const struct sc_joint_statement *s)
{
    switch (s->kind) {
    case SC_JOINT_FUNCTION:
        return s->body ? 2 : 0;
    case SC_JOINT_ENTRY:
        return 2;
    case SC_JOINT_VARIABLE:
        return 1;
    case SC_JOINT_BAD: /* would take what is behind it along */
        return 3;
    default:
        return -1;
    }
}

static void write_statement(struct output *out,
                            const struct sc_joint_statement *s, int turn,
                            struct sc_joint_statement **list, size_t count)
{
    bool resolved = s->linking == SC_JOINT_EXTERN &&
                    s->kind == SC_JOINT_FUNCTION && is_defined(list, count, s);
    const char *linking = resolved ? ".visible" : NULL;
    if (turn_of(s) != turn) {
        if (turn == 0 && s->kind == SC_JOINT_FUNCTION) {
            write_part(out, s, s->body, list, count, linking);
            put(out, ";\n", 2);
        }
        return;
    }
    if (s->kind == SC_JOINT_BAD)
        put(out, s->start, (size_t)(s->end - s->start));
    else
        write_part(out, s, s->end, list, count, linking);
    put(out, "\n", 1);
}

/* Declarations first, then variables, then functions: what is used has been
 * declared then, whichever text it came from. */
static void write_all(struct output *out, const struct sc_joint *joint,
                      struct sc_joint_statement **list, size_t count)
{
    if (setjmp(out->load.back) != 0) {
        out->failed = true;
        return;
    }
    write_header(out, joint, SC_JOINT_VERSION);
    write_header(out, joint, SC_JOINT_TARGET);
    put(out, ".address_size 64\n", 17);
    for (int turn = 0; turn < 4; turn++)
        for (size_t i = 0; i < joint->statement_count; i++)
            if (!joint->statements[i].dropped)
                write_statement(out, &joint->statements[i], turn, list, count);
}

bool sc_joint_finish(struct sc_joint *joint, struct sc_text *text)
{
    for (size_t i = 0; i < joint->count; i++)
        if (!sc_joint_read(joint, i))
            return false;
    if (joint->count == 1) {
        *text =
            (struct sc_text){strdup(joint->texts[0]), strlen(joint->texts[0])};
        return text->text != NULL;
    }
    size_t count;
    struct output out = {0};
    struct sc_joint_statement **list = sorted(joint, &count);
    if (!list)
        return false;
    settle_all(list, count);
    write_all(&out, joint, list, count);
    free(list);
    *text = (struct sc_text){out.text, out.bytes};
    if (out.failed || !out.text) {
        free(out.text);
        *text = (struct sc_text){0};
        return false;
    }
    return true;
}

bool sc_joint_missing(const struct sc_joint *joint, char *name,
                      size_t name_bytes)
{
    for (size_t i = 0; i < joint->statement_count; i++) {
        const struct sc_joint_statement *s = &joint->statements[i];
        if (s->kind != SC_JOINT_FUNCTION || s->body ||
            s->linking != SC_JOINT_EXTERN || !s->name ||
            sc_is_provided(s->name, s->name_bytes))
            continue;
        bool found = false;
        for (size_t k = 0; !found && k < joint->statement_count; k++)
            found = joint->statements[k].body &&
                    is_same_name(s, &joint->statements[k]);
        if (!found) {
            snprintf(name, name_bytes, "%.*s", (int)s->name_bytes, s->name);
            return true;
        }
    }
    return false;
}

void sc_joint_fini(struct sc_joint *joint)
{
    for (size_t i = 0; i < joint->count; i++)
        free(joint->texts[i]);
    free(joint->texts);
    free(joint->statements);
    *joint = (struct sc_joint){0};
}
