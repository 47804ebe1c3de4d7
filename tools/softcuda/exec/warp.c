/*
 * shfl, vote, match, redux and friends: lanes of one warp; see
 * exec/control.h.
 *
 * A .sync form waits (the group stalls) until the lanes its member mask names
 * and that are still alive stand here too; when nothing else can run it goes
 * on with the lanes that came. Lock: none.
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
    if (strip->forced || strip->full)
        return false;
    for (uint32_t w = 0; w < strip->padded / 32; w++) {
        uint32_t active = strip->bits[w];
        if (!active)
            continue;
        uint32_t wanted = members[w * 32 + first_of(active)] & strip->alive[w];
        if (wanted & ~active) {
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
            if (!inside)
                from = lane;
            d[t] = old[from & 31];
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
    FOR_WARPS(w)
    {
        uint32_t who = strip->bits[w];
        if (op->imm != SC_VOTE_ACTIVE)
            who &= members[w * 32 + first_of(who)];
        uint32_t yes = 0;
        FOR_LANES(w, t)
        yes |= (a[t] & 1) << t % 32;
        yes &= who;
        uint32_t r = mode == ALL   ? (yes == who ? ~0u : 0)
                     : mode == ANY ? (yes ? ~0u : 0)
                     : mode == UNI ? (yes == who || !yes ? ~0u : 0)
                                   : yes;
        FOR_LANES(w, t)
        d[t] = r;
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
    {
        uint32_t first = w * 32 + first_of(strip->bits[w]);
        uint32_t who = strip->bits[w] & members[first];
        uint64_t value = value_of(op, strip, first);
        bool all = true;
        FOR_LANES(w, t)
        all &= !(who >> t % 32 & 1) || value_of(op, strip, t) == value;
        FOR_LANES(w, t)
        {
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
    uint32_t *d = SC_SLOT(uint32_t, d);
    FOR_WARPS(w)
    {
        uint32_t first = first_of(strip->bits[w]);
        uint32_t r = a[w * 32 + first];
        FOR_LANES(w, t)
        if (t % 32 != first)
            r = combine(r, a[t], (enum sc_redux)op->flags);
        FOR_LANES(w, t)
        d[t] = r;
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
