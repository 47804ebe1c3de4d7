/*
 * Merges generated texts; see native_batch.h.
 */
#include "native_batch.h"

#include <check.h>
#include <ctype.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiled.h"
#include "native/alu.h"

enum { NAMES = 1024, NAME = 80 };

/* Names one text defines at file scope. */
struct names {
    char text[NAMES][NAME];
    size_t length[NAMES], count;
};

void native_batch_begin(struct native_batch *batch)
{
    *batch = (struct native_batch){0};
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static size_t word(const char *s)
{
    size_t n = 0;
    while (is_word(s[n]))
        n++;
    return n;
}

static void note(struct names *names, const char *s, size_t n)
{
    ck_assert_uint_lt(names->count, NAMES);
    ck_assert_uint_lt(n, NAME);
    memcpy(names->text[names->count], s, n);
    names->length[names->count++] = n;
}

/* Past what opens at `s`. */
static const char *skip(const char *s)
{
    int depth = 0;
    do {
        depth += (*s == '(') + (*s == '{') - (*s == ')') - (*s == '}');
        s++;
    } while (depth && *s);
    return s;
}

/* The constants of an enum; `s` is behind that word. */
static const char *note_constants(struct names *names, const char *s)
{
    const char *end;
    s += strcspn(s, "{") + 1;
    end = s + strcspn(s, "}");
    for (; s < end; s += strcspn(s, ",}") + 1) {
        s += strspn(s, " ");
        if (word(s))
            note(names, s, word(s));
    }
    return end + 1;
}

static bool is(const char *s, size_t n, const char *name)
{
    return strlen(name) == n && memcmp(s, name, n) == 0;
}

/* Functions, arrays, constants and types of file scope. */
static void gather(struct names *names, const char *text)
{
    names->count = 0;
    note(names, "run_ctas", 8);
    note(names, "sc_native_run", 13);
    note(names, "row_of", 6);
    note(names, "saved", 5);
    for (const char *s = text; *s;) {
        size_t n = word(s);
        if (is(s, n, "enum"))
            s = note_constants(names, s + n);
        else if (n && (s[n] == '(' || s[n] == '[') &&
                 !is(s, n, "__attribute__") && !is(s, n, "__asm__") &&
                 !is(s, n, "_Static_assert"))
            note(names, s, n);
        if (word(s))
            s += word(s);
        else
            s = *s == '(' || *s == '{' ? skip(s) : s + 1;
    }
}

static bool is_named(const struct names *names, const char *s, size_t n)
{
    for (size_t i = 0; i < names->count; i++)
        if (names->length[i] == n && memcmp(names->text[i], s, n) == 0)
            return true;
    return false;
}

/* The type sc_native_run keeps its name; the symbol does not. */
static void put_renamed(FILE *out, const struct names *names, const char *text,
                        unsigned number)
{
    for (const char *s = text; *s;) {
        size_t n = word(s);
        bool quoted = s > text && s[-1] == '"';
        bool symbol = n == 13 && memcmp(s, "sc_native_run", 13) == 0;
        if (!n) {
            putc(*s++, out);
            continue;
        }
        fwrite(s, 1, n, out);
        if (is_named(names, s, n) && (!symbol || quoted))
            fprintf(out, "_%u", number);
        s += n;
    }
}

/* Return: length of the head when the text is of that isa. */
static size_t head_of(const char *text, const char *prelude)
{
    const char *at = strstr(text, prelude);
    return at ? (size_t)(at - text) + strlen(prelude) : 0;
}

void native_batch_add(struct native_batch *batch, unsigned number,
                      const char *text)
{
    static struct names names;
    size_t head = 0;
    unsigned isa = BATCH_ISAS;
    while (!head && isa--)
        head = head_of(text, sc_alu_prelude((enum sc_native_isa)isa));
    ck_assert_msg(head != 0, "the text has no head");
    if (!batch->out[isa]) {
        batch->out[isa] = open_memstream(&batch->text[isa], &batch->bytes[isa]);
        ck_assert_ptr_nonnull(batch->out[isa]);
        fwrite(text, 1, head, batch->out[isa]);
    }
    gather(&names, text + head);
    put_renamed(batch->out[isa], &names, text + head, number);
}

static void put_command(char *command, size_t bytes, unsigned isa)
{
    const char *cc = getenv("NATIVE_CC"), *more = getenv("NATIVE_FLAGS");
    int n = snprintf(command, bytes, "%s -O1 -shared -fPIC %s", cc ? cc : "cc",
                     more ? more : "");
    for (const char *const *o = sc_alu_options((enum sc_native_isa)isa); *o;
         o++)
        n += snprintf(command + n, bytes - (size_t)n, " %s", *o);
}

void native_batch_finish(struct native_batch *batch)
{
    static unsigned turn;
    for (unsigned isa = 0; isa < BATCH_ISAS; isa++) {
        char command[1024], name[64];
        if (!batch->out[isa])
            continue;
        ck_assert_int_eq(fclose(batch->out[isa]), 0);
        put_command(command, sizeof command, isa);
        snprintf(name, sizeof name, "batch-%d-%u", (int)getpid(), turn++);
        batch->handles[isa] = compiled_load(command, batch->text[isa], name,
                                            getenv("NATIVE_KEEP") != NULL);
        free(batch->text[isa]);
    }
}

sc_native_run *native_batch_run(const struct native_batch *batch,
                                unsigned number)
{
    char name[32];
    void *symbol = NULL;
    sc_native_run *run;
    snprintf(name, sizeof name, "sc_native_run_%u", number);
    for (unsigned isa = 0; isa < BATCH_ISAS && !symbol; isa++)
        if (batch->handles[isa])
            symbol = dlsym(batch->handles[isa], name);
    ck_assert_msg(symbol != NULL, "no %s", name);
    memcpy(&run, &symbol, sizeof run);
    return run;
}

void native_batch_end(struct native_batch *batch)
{
    for (unsigned isa = 0; isa < BATCH_ISAS; isa++)
        if (batch->handles[isa])
            dlclose(batch->handles[isa]);
    *batch = (struct native_batch){0};
}
