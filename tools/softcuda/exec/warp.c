/*
 * shfl, vote, match, redux and friends: lanes of one warp; see
 * exec/control.h.
 *
 * A .sync form waits (the group stalls) until the lanes its member masks name
 * and that are still alive stand here too; when nothing else can run it goes
 * on with the lanes that came. Lanes that come together may bring different
 * masks, each naming a part of the warp: a lane's partners are the lanes of
 * its own mask that execute the instruction; shfl reads 0 from any other.
 * Lock: none.
 */
#include "exec/control.h"

#include <time.h>

/* First active lane of a warp's word; the word is not 0. */
static uint32_t first_of(uint32_t word)
{
    return (uint32_t)__builtin_ctz(word);
}

static bool must_wait(const struct sc_op *op, struct sc_strip *strip)
{
    const uint32_t *members = SC_SLOT(const uint32_t, e);
    bool forced = strip->forced;
    strip->forced = false; /* for this op only */
    if (forced || strip->full)
        return false;
    for (uint32_t w = 0; w < strip->padded / 32; w++) {
        uint32_t active = strip->bits[w];
        if (!active)
            continue;
        uint32_t wanted = 0;
        for (uint32_t i = w * 32; i < w * 32 + 32; i++)
            wanted |= members[i] & strip->mask[i];
        if (wanted & strip->alive[w] & ~active) {
            struct sc_group *group = &strip->groups[strip->current];
            group->state = SC_GROUP_STALLED;
            group->pc = (uint32_t)(op - strip->code);
            return true;
        }
    }
    return false;
}

#define FOR_WARPS(w)                                                           \
    for (uint32_t w = 0; w < strip->padded / 32; w++)                          \
        if (strip->bits[w])
#define FOR_LANES(w, t)                                                        \
    for (uint32_t left = strip->bits[w], t; left; left &= left - 1)            \
        if (t = w * 32 + first_of(left), true)

const struct sc_op *sc_op_warp_sync(const struct sc_op *op,
                                    struct sc_strip *strip)
{
    return must_wait(op, strip) ? NULL : op + 1;
}

const struct sc_op *sc_op_active(const struct sc_op *op, struct sc_strip *strip)
{
    uint32_t *d = SC_SLOT(uint32_t, d);
    FOR_WARPS(w)
    FOR_LANES(w, t)
    d[t] = strip->bits[w];
    return op + 1;
}

enum shuffle { UP, DOWN, BFLY, IDX };

static inline const struct sc_op *
shuffle(const struct sc_op *op, struct sc_strip *strip, enum shuffle mode)
{
    if (must_wait(op, strip))
        return NULL;
    const uint32_t *a = SC_SLOT(const uint32_t, a);
    const uint32_t *b = SC_SLOT(const uint32_t, b);
    const uint32_t *c = SC_SLOT(const uint32_t, c);
    const uint32_t *members = SC_SLOT(const uint32_t, e);
    const uint32_t others = op->imm == SC_VOTE_ACTIVE ? ~0u : 0;
    uint32_t *d = SC_SLOT(uint32_t, d);
    uint32_t *p = op->target == ~0u
                      ? NULL
                      : (uint32_t *)(void *)(strip->file + op->target);
    FOR_WARPS(w)
    {
        uint32_t old[32];
        for (uint32_t i = 0; i < 32; i++)
            old[i] = a[w * 32 + i];
        FOR_LANES(w, t)
        {
            uint32_t lane = t % 32, by = b[t] & 31;
            uint32_t clamp = c[t] & 31, segment = c[t] >> 8 & 31;
            uint32_t most = (lane & segment) | (clamp & ~segment);
            uint32_t least = lane & segment;
            uint32_t from = mode == UP     ? lane - by
                            : mode == DOWN ? lane + by
                            : mode == BFLY ? lane ^ by
                                           : least | (by & ~segment);
            bool inside =
                mode == UP ? (int32_t)from >= (int32_t)most : from <= most;
            uint32_t part = strip->bits[w] & (members[t] | others);
            if (!inside)
                d[t] = old[lane];
            else
                d[t] = part >> (from & 31) & 1 ? old[from & 31] : 0;
            if (p)
                p[t] = inside ? ~0u : 0;
        }
    }
    return op + 1;
}

const struct sc_op *sc_op_shfl_up(const struct sc_op *op,
                                  struct sc_strip *strip)
{
    return shuffle(op, strip, UP);
}

const struct sc_op *sc_op_shfl_down(const struct sc_op *op,
                                    struct sc_strip *strip)
{
    return shuffle(op, strip, DOWN);
}

const struct sc_op *sc_op_shfl_bfly(const struct sc_op *op,
                                    struct sc_strip *strip)
{
    return shuffle(op, strip, BFLY);
}

const struct sc_op *sc_op_shfl_idx(const struct sc_op *op,
                                   struct sc_strip *strip)
{
    return shuffle(op, strip, IDX);
}

enum vote { ALL, ANY, UNI, BALLOT };

static inline const struct sc_op *vote(const struct sc_op *op,
                                       struct sc_strip *strip, enum vote mode)
{
    if (must_wait(op, strip))
        return NULL;
    const uint32_t *a = SC_SLOT(const uint32_t, a);
    const uint32_t *members = SC_SLOT(const uint32_t, e);
    uint32_t *d = SC_SLOT(uint32_t, d);
    bool everybody = op->imm == SC_VOTE_ACTIVE;
    FOR_WARPS(w)
    {
        uint32_t yes = 0;
        FOR_LANES(w, t)
        yes |= (a[t] & 1) << t % 32;
        FOR_LANES(w, t)
        {
            uint32_t who = strip->bits[w] & (everybody ? ~0u : members[t]);
            uint32_t here = yes & who;
            d[t] = mode == ALL   ? (here == who ? ~0u : 0)
                   : mode == ANY ? (here ? ~0u : 0)
                   : mode == UNI ? (here == who || !here ? ~0u : 0)
                                 : here;
        }
    }
    return op + 1;
}

const struct sc_op *sc_op_vote_all(const struct sc_op *op,
                                   struct sc_strip *strip)
{
    return vote(op, strip, ALL);
}

const struct sc_op *sc_op_vote_any(const struct sc_op *op,
                                   struct sc_strip *strip)
{
    return vote(op, strip, ANY);
}

const struct sc_op *sc_op_vote_uni(const struct sc_op *op,
                                   struct sc_strip *strip)
{
    return vote(op, strip, UNI);
}

const struct sc_op *sc_op_vote_ballot(const struct sc_op *op,
                                      struct sc_strip *strip)
{
    return vote(op, strip, BALLOT);
}

static uint64_t value_of(const struct sc_op *op, const struct sc_strip *strip,
                         uint32_t lane)
{
    return op->flags == 8 ? SC_SLOT(const uint64_t, a)[lane]
                          : SC_SLOT(const uint32_t, a)[lane];
}

/* Lanes of `rest` with the mask of its first. */
static uint32_t same_mask(const uint32_t *members, uint32_t rest)
{
    uint32_t mask = members[first_of(rest)], same = 0;
    for (uint32_t left = rest; left; left &= left - 1)
        if (members[first_of(left)] == mask)
            same |= left & -left;
    return same;
}

const struct sc_op *sc_op_match_any(const struct sc_op *op,
                                    struct sc_strip *strip)
{
    if (must_wait(op, strip))
        return NULL;
    const uint32_t *members = SC_SLOT(const uint32_t, e);
    uint32_t *d = SC_SLOT(uint32_t, d);
    FOR_WARPS(w)
    {
        uint32_t same[32];
        FOR_LANES(w, t)
        {
            same[t % 32] = 0;
            uint32_t who = strip->bits[w] & members[t];
            for (; who; who &= who - 1)
                if (value_of(op, strip, w * 32 + first_of(who)) ==
                    value_of(op, strip, t))
                    same[t % 32] |= who & -who;
        }
        FOR_LANES(w, t)
        d[t] = same[t % 32];
    }
    return op + 1;
}

const struct sc_op *sc_op_match_all(const struct sc_op *op,
                                    struct sc_strip *strip)
{
    if (must_wait(op, strip))
        return NULL;
    const uint32_t *members = SC_SLOT(const uint32_t, e);
    uint32_t *d = SC_SLOT(uint32_t, d);
    uint32_t *p = op->target == ~0u
                      ? NULL
                      : (uint32_t *)(void *)(strip->file + op->target);
    FOR_WARPS(w)
    for (uint32_t rest = strip->bits[w], some; rest; rest &= ~some) {
        uint32_t mask = members[w * 32 + first_of(rest)];
        some = same_mask(members + w * 32, rest);
        uint32_t who = strip->bits[w] & mask;
        bool all = true;
        for (uint32_t left = who; left; left &= left - 1)
            all &= value_of(op, strip, w * 32 + first_of(left)) ==
                   value_of(op, strip, w * 32 + first_of(who));
        for (uint32_t left = some; left; left &= left - 1) {
            uint32_t t = w * 32 + first_of(left);
            d[t] = all ? who : 0;
            if (p)
                p[t] = all ? ~0u : 0;
        }
    }
    return op + 1;
}

static uint32_t combine(uint32_t x, uint32_t y, enum sc_redux kind)
{
    switch (kind) {
    case SC_REDUX_ADD:
        return x + y;
    case SC_REDUX_AND:
        return x & y;
    case SC_REDUX_OR:
        return x | y;
    case SC_REDUX_XOR:
        return x ^ y;
    case SC_REDUX_MIN_U:
        return x < y ? x : y;
    case SC_REDUX_MAX_U:
        return x > y ? x : y;
    case SC_REDUX_MIN_S:
        return (int32_t)x < (int32_t)y ? x : y;
    default:
        return (int32_t)x > (int32_t)y ? x : y;
    }
}

const struct sc_op *sc_op_redux(const struct sc_op *op, struct sc_strip *strip)
{
    if (must_wait(op, strip))
        return NULL;
    const uint32_t *a = SC_SLOT(const uint32_t, a);
    const uint32_t *members = SC_SLOT(const uint32_t, e);
    uint32_t *d = SC_SLOT(uint32_t, d);
    FOR_WARPS(w)
    for (uint32_t rest = strip->bits[w], some, r; rest; rest &= ~some) {
        uint32_t first = w * 32 + first_of(rest);
        uint32_t who = strip->bits[w] & members[first];
        some = same_mask(members + w * 32, rest);
        r = a[who ? w * 32 + first_of(who) : first];
        for (uint32_t left = who & (who - 1); left; left &= left - 1)
            r = combine(r, a[w * 32 + first_of(left)],
                        (enum sc_redux)op->flags);
        for (uint32_t left = some; left; left &= left - 1)
            d[w * 32 + first_of(left)] = r;
    }
    return op + 1;
}

const struct sc_op *sc_op_elect(const struct sc_op *op, struct sc_strip *strip)
{
    if (must_wait(op, strip))
        return NULL;
    const uint32_t *members = SC_SLOT(const uint32_t, e);
    uint32_t *d = SC_SLOT(uint32_t, d);
    uint32_t *p = SC_SLOT(uint32_t, b);
    FOR_WARPS(w)
    FOR_LANES(w, t)
    {
        uint32_t who = strip->bits[w] & members[t];
        uint32_t leader = who ? first_of(who) : t % 32;
        d[t] = leader;
        p[t] = leader == t % 32 ? ~0u : 0;
    }
    return op + 1;
}

const struct sc_op *sc_op_clock(const struct sc_op *op, struct sc_strip *strip)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    bool high =
        op->imm == SC_SREG_clock_hi || op->imm == SC_SREG_globaltimer_hi;
    uint64_t value = high ? ns >> 32 : ns;
    FOR_WARPS(w)
    FOR_LANES(w, t)
    {
        if (op->flags == 8)
            SC_SLOT(uint64_t, d)[t] = value;
        else
            SC_SLOT(uint32_t, d)[t] = (uint32_t)value;
    }
    strip->spinning = true;
    return op + 1;
}

const struct sc_op *sc_op_isspace(const struct sc_op *op,
                                  struct sc_strip *strip)
{
    const struct sc_cta *cta = strip->cta;
    const uint64_t *a = SC_SLOT(const uint64_t, a);
    uint32_t *d = SC_SLOT(uint32_t, d);
    FOR_WARPS(w)
    FOR_LANES(w, t)
    {
        bool shared = a[t] - cta->shared_base < SC_SHARED_WINDOW;
        bool local = a[t] - cta->local_base < SC_LOCAL_USABLE;
        bool param = a[t] - cta->local_base - SC_LOCAL_USABLE < SC_PARAM_WINDOW;
        bool in = op->mode == SC_ADDR_SHARED  ? shared
                  : op->mode == SC_ADDR_LOCAL ? local
                  : op->mode == SC_ADDR_PARAM ? param
                                              : !shared && !local && !param;
        d[t] = in ? ~0u : 0;
    }
    return op + 1;
}
