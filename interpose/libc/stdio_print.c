/*
 * printf and its relatives where the format or a string of it may be shared.
 *
 * libc hands a string that is longer than the room in the stream's buffer to
 * the kernel as it is, by calls that nobody can interpose. So what would be
 * printed is made in plain memory first, by the C library's own function, and
 * then goes to the stream in one piece, under the stream's lock: also the part
 * before a conversion that fails. Nothing of this happens before there is
 * shared memory, nor where no string of the call is shared.
 */
#include "interpose/hook.h"
#include "init.h"

#include <errno.h>
#include <printf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* Arguments of one call that are looked at; one with more is taken for one
 * with a shared string. */
enum { ARGUMENTS_MOST = 32 };

/* One call. `checked` < 0: not one of the _chk forms. */
struct print {
    int checked;
    const char *format;
    va_list arguments;
};

static int print_to(FILE *stream, struct print *call)
{
    va_list again;
    va_copy(again, call->arguments);
    int made = call->checked < 0
                   ? HOOK_REAL(vfprintf)(stream, call->format, again)
                   : HOOK_REAL(__vfprintf_chk)(stream, call->checked,
                                               call->format, again);
    va_end(again);
    return made;
}

struct arguments {
    va_list list;
};

/* Take the next argument. Return: false when it is a string of shared memory,
 * or of a kind that only the program knows. */
static bool take_plain(struct arguments *from, int type)
{
    int kind = type & ~PA_FLAG_MASK;
    if (type & PA_FLAG_PTR || kind == PA_POINTER)
        (void)va_arg(from->list, void *);
    else if (kind == PA_STRING || kind == PA_WSTRING)
        return hook_is_plain(va_arg(from->list, void *), 1);
    else if (kind == PA_DOUBLE && type & PA_FLAG_LONG_DOUBLE)
        (void)va_arg(from->list, long double);
    else if (kind == PA_DOUBLE || kind == PA_FLOAT)
        (void)va_arg(from->list, double);
    else if (kind == PA_WCHAR)
        (void)va_arg(from->list, wint_t);
    else if (type & (PA_FLAG_LONG | PA_FLAG_LONG_LONG))
        (void)va_arg(from->list, long long);
    else if (kind == PA_INT || kind == PA_CHAR)
        (void)va_arg(from->list, int);
    else
        return false;
    return true;
}

/* long and long long are passed alike. */
_Static_assert(sizeof(long) == sizeof(long long), "64-bit only");

static __attribute__((noinline)) bool strings_are_plain(struct print *call)
{
    int types[ARGUMENTS_MOST] = {0};
    struct arguments from;
    bool plain = true;
    if (!hook_is_plain(call->format, 1))
        return false;
    if (!strpbrk(call->format, "sS"))
        return true;
    size_t count = parse_printf_format(call->format, ARGUMENTS_MOST, types);
    if (count > ARGUMENTS_MOST)
        return false;
    va_copy(from.list, call->arguments);
    for (size_t i = 0; i < count && plain; i++)
        plain = take_plain(&from, types[i]);
    va_end(from.list);
    return plain;
}

static bool is_plain(struct print *call)
{
    return hook_likely(!adsm_is_up()) || strings_are_plain(call);
}

/* What the call prints, in memory of malloc, or NULL. *result: what it
 * returns if all of that gets out. */
static char *make(struct print *call, size_t *bytes, int *result)
{
    char *text = NULL;
    FILE *memory = open_memstream(&text, bytes);
    if (!memory)
        return NULL;
    *result = print_to(memory, call);
    int saved = errno;
    fclose(memory);
    errno = saved;
    return text;
}

static __attribute__((noinline)) int print_made(FILE *stream,
                                                struct print *call)
{
    size_t bytes = 0;
    int result = -1;
    char *text = make(call, &bytes, &result);
    if (text && bytes == 0) {
        result = print_to(stream, call); /* nothing, or a reason why not */
    } else if (text) {
        int saved = errno;
        flockfile(stream);
        if (HOOK_REAL(fwrite_unlocked)(text, 1, bytes, stream) < bytes)
            result = -1;
        else
            errno = saved;
        funlockfile(stream);
    }
    free(text);
    return result;
}

static int print(FILE *stream, struct print *call)
{
    return is_plain(call) ? print_to(stream, call) : print_made(stream, call);
}

/* As the C library empties the buffer of such a call: until an error. */
static __attribute__((noinline)) int put_all(int fd, const char *text,
                                             size_t bytes)
{
    while (bytes > 0) {
        ssize_t put = HOOK_REAL(write)(fd, text, bytes);
        if (put < 0)
            return -1;
        text += put;
        bytes -= (size_t)put;
    }
    return 0;
}

/* The thread may be cancelled in there. */
static int put_and_free(int fd, char *text, size_t bytes)
{
    int failed;
    pthread_cleanup_push(free, text);
    failed = put_all(fd, text, bytes);
    pthread_cleanup_pop(1);
    return failed;
}

static __attribute__((noinline)) int describe_made(int fd, struct print *call)
{
    size_t bytes = 0;
    int result = -1;
    char *text = make(call, &bytes, &result);
    return text && put_and_free(fd, text, bytes) == 0 ? result : -1;
}

static int describe(int fd, struct print *call)
{
    if (!is_plain(call))
        return describe_made(fd, call);
    va_list again;
    va_copy(again, call->arguments);
    int made =
        call->checked < 0
            ? HOOK_REAL(vdprintf)(fd, call->format, again)
            : HOOK_REAL(__vdprintf_chk)(fd, call->checked, call->format, again);
    va_end(again);
    return made;
}

#define WITH(function, target, flag, text, list)                               \
    struct print call_ = {.checked = (flag), .format = (text)};                \
    va_copy(call_.arguments, list);                                            \
    int made_ = function(target, &call_);                                      \
    va_end(call_.arguments);                                                   \
    return made_

#define WITH_LAST(function, target, flag, text)                                \
    struct print call_ = {.checked = (flag), .format = (text)};                \
    va_start(call_.arguments, text);                                           \
    int made_ = function(target, &call_);                                      \
    va_end(call_.arguments);                                                   \
    return made_

int printf(const char *format, ...)
{
    WITH_LAST(print, stdout, -1, format);
}

int fprintf(FILE *stream, const char *format, ...)
{
    WITH_LAST(print, stream, -1, format);
}

int dprintf(int fd, const char *format, ...)
{
    WITH_LAST(describe, fd, -1, format);
}

int __printf_chk(int flag, const char *format, ...)
{
    WITH_LAST(print, stdout, flag, format);
}

int __fprintf_chk(FILE *stream, int flag, const char *format, ...)
{
    WITH_LAST(print, stream, flag, format);
}

int __dprintf_chk(int fd, int flag, const char *format, ...)
{
    WITH_LAST(describe, fd, flag, format);
}

int vprintf(const char *format, va_list list)
{
    WITH(print, stdout, -1, format, list);
}

int vfprintf(FILE *stream, const char *format, va_list list)
{
    WITH(print, stream, -1, format, list);
}

int vdprintf(int fd, const char *format, va_list list)
{
    WITH(describe, fd, -1, format, list);
}

int __vprintf_chk(int flag, const char *format, va_list list)
{
    WITH(print, stdout, flag, format, list);
}

int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list list)
{
    WITH(print, stream, flag, format, list);
}

int __vdprintf_chk(int fd, int flag, const char *format, va_list list)
{
    WITH(describe, fd, flag, format, list);
}
