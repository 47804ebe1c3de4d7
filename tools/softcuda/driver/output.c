/*
 * Owns: reading the print rings and writing stdout.
 * Does not own: the rings' other end (device/output.c).
 * Lock: `lock`, rank 5, taken last; it keeps the output in order.
 */
#include "driver/output.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define PIECE_BYTES (16u << 10)
#define LEAST_LIMIT 4096u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A handler of memory faults may have interrupted stdio itself. */
static bool in_fault_handler(void)
{
    sigset_t blocked;
    return pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 &&
           sigismember(&blocked, SIGSEGV) == 1;
}

/* First position that is not lost. */
static uint64_t oldest(const struct sc_shared *shared)
{
    uint64_t claimed = atomic_load(&shared->print_claimed);
    uint64_t limit = atomic_load(&shared->print_limit);
    return claimed > limit ? claimed - limit : 0;
}

/* Copy what lies at `from`; 0 when it was overwritten meanwhile. */
static size_t copy_piece(struct sc_shared *shared, uint64_t from, uint64_t end,
                         char *piece)
{
    uint64_t into = from % SC_PRINT_BYTES;
    uint64_t n = SC_PRINT_BYTES - into;
    if (n > end - from)
        n = end - from;
    if (n > PIECE_BYTES)
        n = PIECE_BYTES;
    memcpy(piece, shared->print + into, n);
    /* the copy stays before the look: a fence that sanitizers understand */
    atomic_fetch_add(&shared->print_limit, 0);
    return oldest(shared) <= from ? (size_t)n : 0;
}

void sc_output_pass_on(struct sc_device *device)
{
    struct sc_shared *shared = device->channel.shared;
    if (in_fault_handler())
        return;
    pthread_mutex_lock(&lock);
    char piece[PIECE_BYTES];
    uint64_t from = device->print_taken;
    uint64_t end = atomic_load_explicit(&shared->printed, memory_order_acquire);
    bool lost = false; /* the rest of a line that lost its start goes too */
    while (from < end) {
        size_t n = copy_piece(shared, from, end, piece);
        if (n == 0) {
            from = oldest(shared);
            lost = true;
            continue;
        }
        const char *start = piece;
        if (lost) {
            const char *line = memchr(piece, '\n', n);
            start = line ? line + 1 : piece + n;
            lost = !line;
        }
        fwrite(start, 1, n - (size_t)(start - piece), stdout);
        from += n;
    }
    device->print_taken = from;
    pthread_mutex_unlock(&lock);
}

size_t sc_output_limit(struct sc_device *device, size_t bytes)
{
    if (bytes < LEAST_LIMIT)
        bytes = LEAST_LIMIT;
    if (bytes > SC_PRINT_BYTES)
        bytes = SC_PRINT_BYTES;
    atomic_store(&device->channel.shared->print_limit, (uint32_t)bytes);
    return bytes;
}

__attribute__((destructor)) static void at_exit(void)
{
    if (sc_enter() == CUDA_SUCCESS)
        for (int i = 0; i < sc_device_count(); i++)
            sc_output_drain(sc_device_get(i));
}
