/*
 * Owns: joining the PTX texts of a program compiled in parts.
 * Does not own: the meaning of the text beyond its outermost statements: what
 * is malformed passes through and is refused by the front end.  No lock.
 */
#include "ptx/joint.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/fatbin.h"

enum kind { OTHER, FUNCTION, ENTRY, VARIABLE, VERSION, TARGET };
enum linking { LOCAL, VISIBLE, EXTERN, WEAK };

/* One outermost statement of one text. */
struct sc_joint_statement {
    const char *start, *end;
    const char *name; /* inside the text, NULL if none */
    size_t name_bytes;
    const char *body; /* where a function's body begins, NULL: declaration */
    const char *word; /* where the linking directive stands */
    size_t word_bytes;
    size_t text; /* which one it is from */
    enum kind kind;
    enum linking linking;
    bool renamed, dropped;
};

struct output {
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

static bool is_name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Behind a comment or a string that starts here; `at` if none does. */
static const char *skip_inert(const char *at)
{
    if (at[0] == '/' && at[1] == '/')
        return at + strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*') {
        const char *end = strstr(at + 2, "*/");
        return end ? end + 2 : at + strlen(at);
    }
    if (at[0] == '"') {
        at++;
        while (*at && *at != '"' && *at != '\n')
            at += at[0] == '\\' && at[1] ? 2 : 1;
        return *at ? at + 1 : at;
    }
    return at;
}

static size_t word_length(const char *at)
{
    size_t n = 1;
    while (is_name(at[n]))
        n++;
    return n;
}

static bool is_word(const char *at, size_t bytes, const char *word)
{
    return strlen(word) == bytes && memcmp(at, word, bytes) == 0;
}

static void note_directive(struct sc_joint_statement *s, const char *at,
                           size_t bytes)
{
    static const struct {
        const char *word;
        enum kind kind;
    } kinds[] = {{".func", FUNCTION},   {".entry", ENTRY},
                 {".global", VARIABLE}, {".const", VARIABLE},
                 {".shared", VARIABLE}, {".tex", VARIABLE},
                 {".version", VERSION}, {".target", TARGET}};
    static const struct {
        const char *word;
        enum linking linking;
    } linkings[] = {{".visible", VISIBLE},
                    {".extern", EXTERN},
                    {".weak", WEAK},
                    {".common", WEAK}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (s->kind == OTHER && is_word(at, bytes, kinds[i].word))
            s->kind = kinds[i].kind;
    for (size_t i = 0; i < sizeof linkings / sizeof *linkings; i++)
        if (s->linking == LOCAL && is_word(at, bytes, linkings[i].word)) {
            s->linking = linkings[i].linking;
            s->word = at;
            s->word_bytes = bytes;
        }
}

/* Directives that end with their line. */
static bool is_line(const char *at)
{
    static const char *const words[] = {".version", ".target", ".address_size",
                                        ".file"};
    size_t bytes = word_length(at);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(at, bytes, words[i]))
            return true;
    return false;
}

/* Read one outermost statement; returns where it ends. */
static const char *read_statement(struct sc_joint_statement *s, const char *at)
{
    int braces = 0, parens = 0;
    s->start = at;
    if (is_line(at)) {
        note_directive(s, at, word_length(at));
        return at + strcspn(at, "\n");
    }
    while (*at) {
        const char *behind = skip_inert(at);
        if (behind != at) {
            at = behind;
            continue;
        }
        if (*at == '.' || is_name_start(*at)) {
            size_t bytes = word_length(at);
            bool outer = braces == 0 && parens == 0 && !s->name;
            if (outer && *at == '.')
                note_directive(s, at, bytes);
            else if (outer && (s->kind == FUNCTION || s->kind == ENTRY ||
                               s->kind == VARIABLE)) {
                s->name = at;
                s->name_bytes = bytes;
            }
            at += bytes;
            continue;
        }
        bool function = s->kind == FUNCTION || s->kind == ENTRY;
        parens += (*at == '(') - (*at == ')');
        if (*at == '{' && braces++ == 0 && function)
            s->body = at;
        if (*at == '}' && --braces <= 0 && s->kind != VARIABLE)
            return at + 1;
        if (*at == ';' && braces <= 0)
            return at + 1;
        at++;
    }
    return at;
}

static bool read_text(struct sc_joint *joint, size_t number)
{
    const char *at = joint->texts[number];
    for (;;) {
        const char *before = at;
        while (isspace((unsigned char)*at))
            at++;
        at = skip_inert(at);
        if (!*at)
            return true;
        if (at != before)
            continue;
        if (joint->statement_count == joint->statement_capacity) {
            size_t capacity = joint->statement_capacity * 2 + 64;
            struct sc_joint_statement *grown =
                realloc(joint->statements, capacity * sizeof *grown);
            if (!grown)
                return false;
            joint->statements = grown;
            joint->statement_capacity = capacity;
        }
        struct sc_joint_statement *s =
            &joint->statements[joint->statement_count];
        *s = (struct sc_joint_statement){.text = number};
        at = s->end = read_statement(s, at);
        joint->statement_count++;
    }
}

static bool is_same_name(const struct sc_joint_statement *a,
                         const struct sc_joint_statement *b)
{
    return a->name && b->name && a->name_bytes == b->name_bytes &&
           memcmp(a->name, b->name, a->name_bytes) == 0;
}

static bool is_definition(const struct sc_joint_statement *s)
{
    return s->kind == VARIABLE ? s->linking != EXTERN : s->body != NULL;
}

/* Two statements about one name: drop, or rename, what has to go. */
static void settle(struct sc_joint_statement *first,
                   struct sc_joint_statement *later)
{
    if (first->linking == LOCAL || later->linking == LOCAL) {
        if (first->text != later->text && later->kind != ENTRY) {
            if (later->linking == LOCAL)
                later->renamed = true;
            else
                first->renamed = true;
        }
        return;
    }
    if (first->kind == VARIABLE) {
        if (later->linking == EXTERN || later->linking == WEAK)
            later->dropped = true;
        else if (first->linking != VISIBLE)
            first->dropped = true;
        return;
    }
    if (is_definition(first) && is_definition(later)) {
        if (later->linking == WEAK)
            later->dropped = true;
        else if (first->linking == WEAK)
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
    const char *done = s->start, *at = s->start;
    char suffix[24];
    int suffix_bytes = snprintf(suffix, sizeof suffix, "$u%zu", s->text);
    while (at < end) {
        const char *behind = skip_inert(at);
        if (behind != at) {
            at = behind;
            continue;
        }
        if (*at != '.' && !is_name_start(*at)) {
            at++;
            continue;
        }
        size_t bytes = word_length(at);
        if (linking && at == s->word) {
            put(out, done, (size_t)(at - done));
            put(out, linking, strlen(linking));
            done = at + bytes;
        } else if (*at != '.' && is_renamed(list, count, at, bytes, s->text)) {
            put(out, done, (size_t)(at + bytes - done));
            put(out, suffix, (size_t)suffix_bytes);
            done = at + bytes;
        }
        at += bytes;
    }
    if (done < end)
        put(out, done, (size_t)(end - done));
}

/* Is a function that is only declared here defined in some text? */
static bool is_defined(struct sc_joint_statement **list, size_t count,
                       const struct sc_joint_statement *s)
{
    for (size_t i = 0; i < count; i++)
        if (list[i]->body && is_same_name(list[i], s) &&
            list[i]->linking != LOCAL)
            return true;
    return false;
}

/* The newest of the header lines of a kind, by text comparison of numbers. */
static void write_header(struct output *out, const struct sc_joint *joint,
                         enum kind kind)
{
    const struct sc_joint_statement *best = NULL;
    double newest = -1;
    for (size_t i = 0; i < joint->statement_count; i++) {
        const struct sc_joint_statement *s = &joint->statements[i];
        if (s->kind != kind)
            continue;
        double number =
            strtod(s->start + strcspn(s->start, "0123456789\n"), NULL);
        if (number > newest) {
            newest = number;
            best = s;
        }
    }
    if (best) {
        put(out, best->start, (size_t)(best->end - best->start));
        put(out, "\n", 1);
    }
}

/* Declarations first, then variables, then functions: what is used has been
 * declared then, whichever text it came from. */
static void write_all(struct output *out, struct sc_joint *joint,
                      struct sc_joint_statement **list, size_t count)
{
    write_header(out, joint, VERSION);
    write_header(out, joint, TARGET);
    put(out, ".address_size 64\n", 17);
    for (int pass = 0; pass < 3; pass++) {
        for (size_t i = 0; i < joint->statement_count; i++) {
            const struct sc_joint_statement *s = &joint->statements[i];
            if (s->dropped || s->kind == VERSION || s->kind == TARGET ||
                s->kind == OTHER)
                continue;
            int turn = s->kind == VARIABLE               ? 1
                       : s->kind == FUNCTION && !s->body ? 0
                                                         : 2;
            const char *linking = NULL;
            if (s->linking == EXTERN && s->kind == FUNCTION &&
                is_defined(list, count, s))
                linking = ".visible";
            if (turn == pass) {
                write_part(out, s, s->end, list, count, linking);
                put(out, "\n", 1);
            } else if (pass == 0 && s->kind == FUNCTION) {
                write_part(out, s, s->body, list, count, linking);
                put(out, ";\n", 2);
            }
        }
    }
}

bool sc_joint_finish(struct sc_joint *joint, struct sc_text *text)
{
    for (size_t i = 0; i < joint->count; i++)
        if (!read_text(joint, i))
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

/* What the device itself provides. */
static bool is_provided(const struct sc_joint_statement *s)
{
    static const char *const names[] = {"vprintf", "malloc", "free",
                                        "__assertfail"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_word(s->name, s->name_bytes, names[i]))
            return true;
    return false;
}

bool sc_joint_missing(const struct sc_joint *joint, char *name,
                      size_t name_bytes)
{
    for (size_t i = 0; i < joint->statement_count; i++) {
        const struct sc_joint_statement *s = &joint->statements[i];
        if (s->kind != FUNCTION || s->body || s->linking != EXTERN ||
            !s->name || is_provided(s))
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
