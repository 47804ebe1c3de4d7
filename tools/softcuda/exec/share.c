/*
 * Owns: the words of shares; see exec/share.h.
 * Does not own: what a piece is (launch.c).
 *
 * All orders are relaxed: a share says which pieces are whose and nothing
 * about what is in them. A word never comes back, since no piece does.
 */
#include "exec/share.h"

static uint64_t pack(uint64_t first, uint64_t end)
{
    return first << 32 | end;
}

void sc_share_deal(struct sc_share *shares, uint32_t count, uint64_t pieces)
{
    for (uint64_t i = 0; i < count; i++)
        atomic_init(&shares[i].pieces,
                    pack(pieces * i / count, pieces * (i + 1) / count));
}

/* Take one piece from the front of a share, or half of it from the back.
 * Return: how many from `first`. */
static uint64_t take(struct sc_share *share, bool half, uint64_t *first)
{
    uint64_t have = atomic_load_explicit(&share->pieces, memory_order_relaxed);
    for (;;) {
        uint64_t begin = have >> 32, end = (uint32_t)have;
        if (begin >= end)
            return 0;
        uint64_t n = half ? (end - begin + 1) / 2 : 1;
        uint64_t rest = half ? pack(begin, end - n) : pack(begin + n, end);
        *first = half ? end - n : begin;
        if (atomic_compare_exchange_weak_explicit(&share->pieces, &have, rest,
                                                  memory_order_relaxed,
                                                  memory_order_relaxed))
            return n;
    }
}

/* Fill the worker's own share, which is empty. Return: false: all are. */
static bool steal(struct sc_share *shares, uint32_t count, uint32_t mine)
{
    for (uint32_t i = 1; i < count; i++) {
        uint64_t first, n = take(&shares[(mine + i) % count], true, &first);
        if (!n)
            continue;
        /* nobody takes from an empty share, so nobody else writes to it */
        atomic_store_explicit(&shares[mine].pieces, pack(first, first + n),
                              memory_order_relaxed);
        return true;
    }
    return false;
}

bool sc_share_take(struct sc_share *shares, uint32_t count, uint32_t mine,
                   uint64_t *piece)
{
    while (!take(&shares[mine], false, piece))
        if (!steal(shares, count, mine))
            return false;
    return true;
}
