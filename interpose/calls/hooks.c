/*
 * The wrappers of calls that have a shape, made from the list of hooks.
 *
 * Each looks at what its shape names, and with nothing shared among it goes
 * straight to the real function.
 */
#include "interpose/calls/command.h"
#include "interpose/calls/hooks.h"
#include "interpose/calls/list.h"

#include <errno.h>
#include <utmp.h>
#include <utmpx.h>

long hook_absent(void)
{
    errno = ENOSYS;
    return -1;
}

/* Each part as a condition: is its memory plain? `w` has the arguments. */
#define PLAIN(at, bytes) &&hook_is_plain((const void *)w[at], bytes)

#define IN(at, type)              PLAIN(at, sizeof(type))
#define IN_EACH(at, count, type)  PLAIN(at, call_bytes(w[count], sizeof(type)))
#define OUT(at, type)             IN(at, type)
#define OUT_EACH(at, count, type) IN_EACH(at, count, type)
#define FILL(at, count, type)     IN_EACH(at, count, type)
#define PATH(at)                  PLAIN(at, CALL_PATH_MOST)
#define TEXT(at)                  PLAIN(at, 1)
#define SIZED(at, length, most)   PLAIN(at, most)
#define FDSET(at, count)          PLAIN(at, call_set_bytes(w[count]))
#define BULK_IN(at, count)        PLAIN(at, w[count])
#define BULK_OUT(at, count)       PLAIN(at, w[count])
#define COMMAND(at, whose)        PLAIN(at, CALL_COMMAND_MOST)
#define NUMBER
#define WAITS(file, flags)

#define LIST_IN(at, count)  &&call_list_is_plain((const void *)w[at], w[count])
#define LIST_OUT(at, count) LIST_IN(at, count)
#define HEADER_IN(at)       &&call_header_is_plain((const void *)w[at])
#define HEADER_OUT(at)      HEADER_IN(at)
#define HEADERS_IN(at, count)                                                  \
    &&call_headers_is_plain((const void *)w[at], w[count])
#define HEADERS_OUT(at, count) HEADERS_IN(at, count)

/* From a list of types: parameters, their names, words of them, and words as
 * them. */
#define GLUE_(a, b) a##b
#define GLUE(a, b)  GLUE_(a, b)

#define SEVENTH(a, b, c, d, e, f, count, ...) count

#define COUNT(...)  SEVENTH(__VA_ARGS__, 6, 5, 4, 3, 2, 1, 0)
#define PARAMS(...) GLUE(PARAMS_, COUNT(__VA_ARGS__))(__VA_ARGS__)
#define NAMES(...)  (GLUE(NAMES_, COUNT(__VA_ARGS__)))
#define VALUES(...) GLUE(VALUES_, COUNT(__VA_ARGS__))
#define CASTS(...)  (GLUE(CASTS_, COUNT(__VA_ARGS__))(__VA_ARGS__))

#define PARAMS_1(A)                (A a)
#define PARAMS_2(A, B)             (A a, B b)
#define PARAMS_3(A, B, C)          (A a, B b, C c)
#define PARAMS_4(A, B, C, D)       (A a, B b, C c, D d)
#define PARAMS_5(A, B, C, D, E)    (A a, B b, C c, D d, E e)
#define PARAMS_6(A, B, C, D, E, F) (A a, B b, C c, D d, E e, F f)

#define NAMES_1 a
#define NAMES_2 a, b
#define NAMES_3 a, b, c
#define NAMES_4 a, b, c, d
#define NAMES_5 a, b, c, d, e
#define NAMES_6 a, b, c, d, e, f

#define VALUES_1 (uintptr_t) a
#define VALUES_2 VALUES_1, (uintptr_t)b
#define VALUES_3 VALUES_2, (uintptr_t)c
#define VALUES_4 VALUES_3, (uintptr_t)d
#define VALUES_5 VALUES_4, (uintptr_t)e
#define VALUES_6 VALUES_5, (uintptr_t)f

#define CASTS_1(A)                (A) w[0]
#define CASTS_2(A, B)             CASTS_1(A), (B)w[1]
#define CASTS_3(A, B, C)          CASTS_2(A, B), (C)w[2]
#define CASTS_4(A, B, C, D)       CASTS_3(A, B, C), (D)w[3]
#define CASTS_5(A, B, C, D, E)    CASTS_4(A, B, C, D), (E)w[4]
#define CASTS_6(A, B, C, D, E, F) CASTS_5(A, B, C, D, E), (F)w[5]

#define CALL(returns, name, function, params, parts)                           \
    static long issue_##name(void *context, const uintptr_t *w)                \
    {                                                                          \
        (void)context;                                                         \
        return (long)HOOK_REAL(name) CASTS params;                             \
    }                                                                          \
    returns function PARAMS params                                             \
    {                                                                          \
        const uintptr_t w[CALL_WORDS] = {VALUES params};                       \
        if (hook_likely(true parts))                                           \
            return HOOK_REAL(name) NAMES params;                               \
        return (returns)call_shared(&call_shapes[CALL_OF_##name], w,           \
                                    issue_##name, NULL);                       \
    }

#define ADSM_HOOK_CALL(returns, name, params, parts)                           \
    CALL(returns, name, name, params, parts)
#define ADSM_HOOK_OWN(returns, name, params, parts)                            \
    CALL(returns, name, call_##name, params, parts)
#include "interpose/hooks.def"
