/*
 * mbarrier: a word in shared memory that counts arrivals; see exec/control.h.
 *
 * From the lowest bit: 20 bits of arrivals a phase expects, 20 that are still
 * to come, 22 of bytes still to be copied (a signed number), one of no use,
 * and the parity of the phase. The word is also the state that an arrival
 * returns. Copies are done where they stand, so nobody but the block's own
 * threads touches the word. Lock: none, a block belongs to one worker.
 */
#include "exec/address.h"
#include "exec/control.h"

#include <string.h>

#define COUNT_BITS 20
#define COUNT_MASK ((1u << COUNT_BITS) - 1)
#define TX_BITS    22
#define TX_MASK    ((1u << TX_BITS) - 1)

struct barrier {
    uint32_t expected, pending, tx;
    bool parity;
};

static struct barrier unpack(uint64_t word)
{
    return (struct barrier){
        .expected = (uint32_t)word & COUNT_MASK,
        .pending = (uint32_t)(word >> COUNT_BITS) & COUNT_MASK,
        .tx = (uint32_t)(word >> (2 * COUNT_BITS)) & TX_MASK,
        .parity = word >> 63};
}

static uint64_t pack(const struct barrier *b)
{
    return (b->expected & COUNT_MASK) |
           (uint64_t)(b->pending & COUNT_MASK) << COUNT_BITS |
           (uint64_t)(b->tx & TX_MASK) << (2 * COUNT_BITS) |
           (uint64_t)b->parity << 63;
}

static void arrive(struct barrier *b, uint32_t n, bool drops)
{
    b->pending -= n;
    if (drops)
        b->expected -= n;
}

/* One lane's operation on the word. */
static uint64_t change(uint64_t word, uint32_t what, uint32_t n)
{
    struct barrier b = unpack(word);
    switch (what % SC_MBARRIER_AND_ONE) {
    case SC_MBARRIER_INIT:
        return pack(&(struct barrier){.expected = n, .pending = n});
    case SC_MBARRIER_INVAL:
        return 0;
    case SC_MBARRIER_ARRIVE:
    case SC_MBARRIER_DROP:
        arrive(&b, n, what == SC_MBARRIER_DROP);
        break;
    case SC_MBARRIER_EXPECT:
        b.tx += n;
        if (what != SC_MBARRIER_EXPECT)
            arrive(&b, 1, what & SC_MBARRIER_AND_DROP);
        break;
    default:
        b.tx -= n;
    }
    if (!(b.pending & COUNT_MASK) && !(b.tx & TX_MASK)) {
        b.pending = b.expected;
        b.parity = !b.parity;
    }
    return pack(&b);
}

#define FOR_LANES(t)                                                           \
    for (uint32_t t = 0; t < strip->lanes; t++)                                \
        if (strip->mask[t])

static char *find_word(const struct sc_op *op, struct sc_strip *strip,
                       uint32_t lane)
{
    uint64_t at = sc_address_at(op, strip, lane, op->e);
    char *word =
        sc_address_lane(strip, (enum sc_address_mode)op->mode, lane, at, 8);
    if (!word)
        sc_address_fault(strip, op, at, 8);
    return word;
}

const struct sc_op *sc_op_mbarrier(const struct sc_op *op,
                                   struct sc_strip *strip)
{
    const uint32_t *n = SC_SLOT(const uint32_t, b);
    uint64_t *d = op->d == SC_NO_SLOT ? NULL : SC_SLOT(uint64_t, d);
    strip->cta->access = op;
    strip->spinning = true;
    FOR_LANES(t)
    {
        uint64_t word;
        char *at = find_word(op, strip, t);
        if (!at)
            return NULL;
        memcpy(&word, at, sizeof word);
        if (d)
            d[t] = word;
        word = change(word, op->flags, n[t]);
        memcpy(at, &word, sizeof word);
    }
    return op + 1;
}

const struct sc_op *sc_op_mbarrier_test(const struct sc_op *op,
                                        struct sc_strip *strip)
{
    bool by_parity = op->flags == SC_MBARRIER_PARITY;
    uint32_t *d = SC_SLOT(uint32_t, d);
    strip->cta->access = op;
    strip->spinning = true;
    FOR_LANES(t)
    {
        uint64_t word;
        char *at = find_word(op, strip, t);
        if (!at)
            return NULL;
        memcpy(&word, at, sizeof word);
        bool awaited = by_parity ? SC_SLOT(const uint32_t, b)[t] & 1
                                 : SC_SLOT(const uint64_t, b)[t] >> 63;
        d[t] = awaited != (word >> 63) ? ~0u : 0;
    }
    return op + 1;
}

const struct sc_op *sc_op_mbarrier_pending(const struct sc_op *op,
                                           struct sc_strip *strip)
{
    const uint64_t *state = SC_SLOT(const uint64_t, b);
    uint32_t *d = SC_SLOT(uint32_t, d);
    FOR_LANES(t)
    d[t] = unpack(state[t]).pending;
    return op + 1;
}
