/*
 * Text without the C library, for code that runs before it may be called or
 * that its callers have replaced. No lock.
 */
#ifndef ADSM_BASE_TEXT_H
#define ADSM_BASE_TEXT_H

#include <stdbool.h>

/**
 * Are both texts the same? No call is made: a program or another preloaded
 * library may have put its own strcmp first.
 *
 * Thread: any. Signal: any handler
 */
static inline bool adsm_text_is(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

#endif
