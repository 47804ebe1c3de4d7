/*
 * For test programs whose SIGSEGV is the runtime's: a sanitizer leaves its own
 * handler out, which would come before ours or count as the application's.
 * Included by one file of a program. No lock.
 */
#ifndef TESTS_COMMON_NO_HANDLER_H
#define TESTS_COMMON_NO_HANDLER_H

#include "base/sanitized.h"

#if SANITIZED
#define NO_HANDLER "handle_segv=0:handle_sigbus=0:use_sigaltstack=0"
const char *__asan_default_options(void);
const char *__tsan_default_options(void);
__attribute__((visibility("default"), no_sanitize("address", "thread")))
const char *
__asan_default_options(void)
{
    return NO_HANDLER;
}
__attribute__((visibility("default"), no_sanitize("address", "thread")))
const char *
__tsan_default_options(void)
{
    return NO_HANDLER;
}
#endif

#endif
