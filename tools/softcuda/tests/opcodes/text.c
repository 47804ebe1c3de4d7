/*
 * One growing PTX text per thread.
 */
#include "text.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>

struct text *text_begin(void)
{
    static _Thread_local struct text text;
    text.length = 0;
    text.buffer[0] = '\0';
    return &text;
}

void text_put(struct text *text, const char *format, ...)
{
    va_list args;
    size_t left = sizeof text->buffer - text->length;
    va_start(args, format);
    int n = vsnprintf(text->buffer + text->length, left, format, args);
    va_end(args);
    ck_assert_msg(n >= 0 && (size_t)n < left, "test module too long");
    text->length += (unsigned)n;
}
