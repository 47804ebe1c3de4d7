/*
 * Giving up on a load, and its allocations; see ptx/diag.h.
 *
 * Lock: none.
 */
#include "ptx/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void sc_load_fail(struct sc_load *load, enum sc_load_error error, uint32_t line,
                  const char *format, ...)
{
    size_t used = 0;
    if (load->log_bytes && line) {
        int n = snprintf(load->log, load->log_bytes, "line %u: ", line);
        used = n > 0 && (size_t)n < load->log_bytes ? (size_t)n : 0;
    }
    if (load->log_bytes) {
        va_list args;
        va_start(args, format);
        vsnprintf(load->log + used, load->log_bytes - used, format, args);
        va_end(args);
    }
    longjmp(load->back, error);
}

void *sc_load_alloc(struct sc_load *load, size_t count, size_t size)
{
    size_t bytes;
    void *memory = NULL;
    if (!__builtin_mul_overflow(count, size, &bytes))
        memory = sc_arena_alloc(&load->arena, bytes);
    if (!memory)
        sc_load_fail(load, SC_LOAD_NOMEM, 0,
                     "module needs more memory than a load may take");
    return memory;
}

void *sc_load_grow(struct sc_load *load, void *array, size_t count,
                   size_t *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    size_t more = *capacity ? *capacity * 2 : 16;
    void *grown = sc_load_alloc(load, more, size);
    if (count)
        memcpy(grown, array, count * size);
    *capacity = more;
    return grown;
}

char *sc_load_text(struct sc_load *load, const char *text, size_t bytes)
{
    char *copy = sc_load_alloc(load, bytes + 1, 1);
    if (bytes)
        memcpy(copy, text, bytes);
    return copy;
}
