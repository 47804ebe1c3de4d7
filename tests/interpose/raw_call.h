/*
 * Calls of the kernel by an instruction (x86-64), for tests that stand in for
 * libc's syscall and see what the library asks for.
 */
#ifndef TESTS_INTERPOSE_RAW_CALL_H
#define TESTS_INTERPOSE_RAW_CALL_H

#include <errno.h>
#include <stdarg.h>

/** Words of a call behind its number, as the kernel takes them. */
enum { RAW_WORDS = 6 };

static inline void raw_words(long words[RAW_WORDS], va_list list)
{
    for (int i = 0; i < RAW_WORDS; i++)
        words[i] = va_arg(list, long);
}

/** Make it. Return: as libc's syscall, with errno */
static inline long raw_call(long number, const long words[RAW_WORDS])
{
    register long d __asm__("r10") = words[3];
    register long e __asm__("r8") = words[4];
    register long f __asm__("r9") = words[5];
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(words[0]), "S"(words[1]), "d"(words[2]),
                       "r"(d), "r"(e), "r"(f)
                     : "rcx", "r11", "memory");
    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

/** The same with its words listed; those left out are 0. */
#define RAW_CALL(number, ...)                                                  \
    raw_call(number, (const long[RAW_WORDS]){__VA_ARGS__})

#endif
