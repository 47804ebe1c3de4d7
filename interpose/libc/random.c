/*
 * Random bytes for memory that may be shared.
 *
 * arc4random_buf has no way to report that the kernel could not write there:
 * it ends the program. So the bytes go through a small buffer, from which the
 * CPU copies them.
 */
#include "interpose/hook.h"

#include <errno.h>
#include <string.h>

enum { PIECE_BYTES = 1024, ENTROPY_MOST = 256 };

/* A piece of what `fill` gives. Return: bytes, less than asked for at the end;
 * -1 with errno. */
typedef ssize_t fill_fn(char *piece, size_t bytes, unsigned flags);

static ssize_t fill_shared(char *to, size_t bytes, fill_fn *fill,
                           unsigned flags)
{
    char piece[PIECE_BYTES];
    size_t done = 0;
    ssize_t got = 0;
    while (done < bytes) {
        size_t ask = bytes - done < sizeof piece ? bytes - done : sizeof piece;
        got = fill(piece, ask, flags);
        if (got <= 0)
            break;
        memcpy(to + done, piece, (size_t)got);
        done += (size_t)got;
        if ((size_t)got < ask)
            break;
    }
    explicit_bzero(piece, sizeof piece);
    return done ? (ssize_t)done : got;
}

static ssize_t fill_arc4random(char *piece, size_t bytes, unsigned flags)
{
    (void)flags;
    HOOK_REAL(arc4random_buf)(piece, bytes);
    return (ssize_t)bytes;
}

static ssize_t fill_random(char *piece, size_t bytes, unsigned flags)
{
    return HOOK_REAL(getrandom)(piece, bytes, flags);
}

void arc4random_buf(void *to, size_t bytes)
{
    if (hook_likely(hook_is_plain(to, bytes)))
        HOOK_REAL(arc4random_buf)(to, bytes);
    else
        fill_shared(to, bytes, fill_arc4random, 0);
}

ssize_t getrandom(void *to, size_t bytes, unsigned flags)
{
    return hook_likely(hook_is_plain(to, bytes))
               ? HOOK_REAL(getrandom)(to, bytes, flags)
               : fill_shared(to, bytes, fill_random, flags);
}

int getentropy(void *to, size_t bytes)
{
    char entropy[ENTROPY_MOST];
    if (hook_likely(hook_is_plain(to, bytes)) || bytes > sizeof entropy)
        return HOOK_REAL(getentropy)(to, bytes);
    if (HOOK_REAL(getentropy)(entropy, bytes) != 0)
        return -1;
    memcpy(to, entropy, bytes);
    explicit_bzero(entropy, sizeof entropy);
    return 0;
}
