/*
 * Text that grows; see native/gen.h. Memory is malloc's, freed by generate.c.
 * Lock: none.
 */
#include "native/gen.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* More than any kernel that compiles in reasonable time. */
#define MOST_TEXT ((size_t)32 << 20)

static void reserve(struct sc_gen *gen, struct sc_text *text, size_t more)
{
    if (text->length + more <= text->capacity)
        return;
    size_t capacity = text->capacity ? text->capacity * 2 : 4096;
    while (capacity < text->length + more)
        capacity *= 2;
    char *data = capacity > MOST_TEXT ? NULL : realloc(text->data, capacity);
    if (!data)
        sc_gen_refuse(gen, "the kernel is too large");
    text->data = data;
    text->capacity = capacity;
}

static void put_list(struct sc_gen *gen, struct sc_text *text,
                     const char *format, va_list list)
{
    va_list again;
    va_copy(again, list);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    reserve(gen, text, (size_t)n + 1);
    vsnprintf(text->data + text->length, (size_t)n + 1, format, list);
    text->length += (size_t)n;
}

void sc_text_put(struct sc_gen *gen, struct sc_text *text, const char *format,
                 ...)
{
    va_list list;
    va_start(list, format);
    put_list(gen, text, format, list);
    va_end(list);
}

void sc_put(struct sc_gen *gen, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    put_list(gen, &gen->body, format, list);
    va_end(list);
}
