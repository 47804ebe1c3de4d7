/*
 * Random bytes for memory that may be shared.
 *
 * arc4random_buf has no way to report that the kernel could not write there:
 * it ends the program. So the bytes go through a small buffer, from which the
 * CPU copies them.
 */
#include "interpose/hook.h"

#include <string.h>

enum { PIECE_BYTES = 1024 };

void arc4random_buf(void *to, size_t bytes)
{
    char piece[PIECE_BYTES];
    if (hook_likely(hook_is_plain(to, bytes))) {
        HOOK_REAL(arc4random_buf)(to, bytes);
        return;
    }
    for (size_t done = 0, some; done < bytes; done += some) {
        some = bytes - done < sizeof piece ? bytes - done : sizeof piece;
        HOOK_REAL(arc4random_buf)(piece, some);
        memcpy((char *)to + done, piece, some);
    }
    explicit_bzero(piece, sizeof piece);
}
