/*
 * Owns: writing the print ring.
 * Does not own: reading it (the driver's output.c).
 * No lock: one writer; see struct sc_shared for the counters.
 */
#include "device/output.h"

#include <string.h>

#include "base/protocol.h"

void sc_output_print(void *ring, const char *text, size_t bytes)
{
    struct sc_shared *shared = ring;
    uint64_t at = atomic_load_explicit(&shared->printed, memory_order_relaxed);
    uint64_t end = at + bytes;
    if (bytes > SC_PRINT_BYTES) {
        text += bytes - SC_PRINT_BYTES;
        at = end - SC_PRINT_BYTES;
    }
    /* a reader that copies what is overwritten now can tell by this */
    atomic_store(&shared->print_claimed, end);
    while (at < end) {
        uint64_t into = at % SC_PRINT_BYTES;
        uint64_t n = SC_PRINT_BYTES - into;
        if (n > end - at)
            n = end - at;
        memcpy(shared->print + into, text, n);
        text += n;
        at += n;
    }
    atomic_store_explicit(&shared->printed, end, memory_order_release);
}
