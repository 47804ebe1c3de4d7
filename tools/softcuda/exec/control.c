/*
 * Branches, guards and ends of lanes; see exec/control.h.
 *
 * Lock: none.
 */
#include "exec/control.h"

#include "exec/address.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* One bit per lane of a predicate slot (0 or ~0 per lane). */
static void gather_bits(const uint32_t *pred, uint32_t words, uint32_t *bits)
{
#ifdef __SSE2__
    const __m128i *lanes = (const __m128i *)(const void *)pred;
    for (uint32_t half = 0; half < 2 * words; half++, lanes += 4) {
        __m128i low = _mm_packs_epi32(lanes[0], lanes[1]);
        __m128i high = _mm_packs_epi32(lanes[2], lanes[3]);
        uint32_t found =
            (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high));
        if (half & 1)
            bits[half / 2] |= found << 16;
        else
            bits[half / 2] = found;
    }
#else
    for (uint32_t w = 0; w < words; w++) {
        uint32_t word = 0;
        for (uint32_t i = 0; i < 32; i++)
            word |= (pred[w * 32 + i] & 1) << i;
        bits[w] = word;
    }
#endif
}

/* Leave at `target`: the scheduler goes on from there. */
static const struct sc_op *leave(struct sc_strip *strip, uint32_t target)
{
    strip->groups[strip->current].pc = target;
    return NULL;
}

/* For a back edge. */
static void pay(struct sc_strip *strip)
{
    uint32_t price = strip->spinning ? SC_SPIN_PRICE : 1;
    strip->waited |= strip->spinning;
    strip->spinning = false;
    strip->yielded = strip->budget <= price;
    strip->budget -= strip->yielded ? 0 : price;
}

/* All active lanes go to `target`. */
static const struct sc_op *go(const struct sc_op *op, struct sc_strip *strip,
                              uint32_t target)
{
    if (target >= strip->stop)
        return leave(strip, target);
    if (strip->code + target <= op) {
        pay(strip);
        if (strip->yielded)
            return leave(strip, target);
    }
    return strip->code + target;
}

const struct sc_op *sc_op_jump(const struct sc_op *op, struct sc_strip *strip)
{
    return go(op, strip, op->target);
}

static const struct sc_op *split(const struct sc_op *op, struct sc_strip *strip,
                                 const uint32_t *taken, const uint32_t *rest,
                                 uint32_t target)
{
    struct sc_group *stay = &strip->groups[strip->current];
    struct sc_group *leaving = &strip->groups[strip->group_count++];
    *leaving = *stay;
    leaving->pc = target;
    memcpy(leaving->bits, taken, sizeof leaving->bits);
    memcpy(stay->bits, rest, sizeof stay->bits);
    stay->pc = (uint32_t)(op - strip->code) + 1;
    if (strip->code + target <= op)
        pay(strip);
    return NULL;
}

static const struct sc_op *branch(const struct sc_op *op,
                                  struct sc_strip *strip, uint32_t flip)
{
    uint32_t taken[SC_WORDS] = {0}, rest[SC_WORDS] = {0};
    uint32_t words = strip->padded / 32, any_taken = 0, any_rest = 0;
    gather_bits(SC_SLOT(const uint32_t, a), words, taken);
    for (uint32_t w = 0; w < words; w++) {
        taken[w] = (taken[w] ^ flip) & strip->bits[w];
        rest[w] = strip->bits[w] & ~taken[w];
        any_taken |= taken[w];
        any_rest |= rest[w];
    }
    if (!any_rest)
        return go(op, strip, op->target);
    if (!any_taken) {
        uint32_t next = (uint32_t)(op - strip->code) + 1;
        return next >= strip->stop ? leave(strip, next) : op + 1;
    }
    return split(op, strip, taken, rest, op->target);
}

const struct sc_op *sc_op_branch(const struct sc_op *op, struct sc_strip *strip)
{
    return branch(op, strip, 0);
}

const struct sc_op *sc_op_branch_not(const struct sc_op *op,
                                     struct sc_strip *strip)
{
    return branch(op, strip, ~0u);
}

const struct sc_op *sc_op_join(const struct sc_op *op, struct sc_strip *strip)
{
    uint32_t here = (uint32_t)(op - strip->code);
    return here >= strip->stop ? leave(strip, here) : op + 1;
}

const struct sc_op *sc_control_part(const struct sc_op *op,
                                    struct sc_strip *strip,
                                    const uint32_t *taken, const uint32_t *rest,
                                    uint32_t target)
{
    uint32_t any_rest = 0;
    for (uint32_t w = 0; w < SC_WORDS; w++)
        any_rest |= rest[w];
    if (!any_rest)
        return go(op, strip, target);
    split(op, strip, taken, rest, target);
    strip->groups[strip->current].pc = (uint32_t)(op - strip->code);
    return NULL;
}

/* One jump op per target follows; lanes with the first active lane's index
 * go, the others come back here. */
const struct sc_op *sc_op_table(const struct sc_op *op, struct sc_strip *strip)
{
    const uint32_t *index = SC_SLOT(const uint32_t, a);
    uint32_t taken[SC_WORDS] = {0}, rest[SC_WORDS] = {0};
    uint32_t first = 0, value = 0;
    bool found = false;
    for (; first < strip->lanes && !found; first++) {
        found = strip->bits[first / 32] >> first % 32 & 1;
        value = found ? index[first] : 0;
    }
    if (value >= (uint64_t)op->imm)
        return sc_machine_fault(strip, op, SC_EXEC_ILLEGAL_INSTRUCTION, 0);
    for (uint32_t t = 0; t < strip->lanes; t++) {
        uint32_t bit = strip->bits[t / 32] & 1u << t % 32;
        if (bit && index[t] == value)
            taken[t / 32] |= bit;
        else
            rest[t / 32] |= bit;
    }
    return sc_control_part(op, strip, taken, rest, op[1 + value].target);
}

static const struct sc_op *guard(const struct sc_op *op, struct sc_strip *strip,
                                 uint32_t flip)
{
    uint32_t bits[SC_WORDS] = {0}, saved[SC_WORDS], any = 0;
    uint32_t words = strip->padded / 32, differ = 0;
    gather_bits(SC_SLOT(const uint32_t, a), words, bits);
    for (uint32_t w = 0; w < words; w++) {
        bits[w] = (bits[w] ^ flip) & strip->bits[w];
        any |= bits[w];
        differ |= bits[w] ^ strip->bits[w];
    }
    if (!any)
        return op + 2;
    if (!differ)
        return op[1].run(op + 1, strip);
    memcpy(saved, strip->bits, sizeof saved);
    sc_machine_set_mask(strip, bits);
    const struct sc_op *next = op[1].run(op + 1, strip);
    sc_machine_set_mask(strip, saved);
    return next;
}

const struct sc_op *sc_op_guard(const struct sc_op *op, struct sc_strip *strip)
{
    return guard(op, strip, 0);
}

const struct sc_op *sc_op_guard_not(const struct sc_op *op,
                                    struct sc_strip *strip)
{
    return guard(op, strip, ~0u);
}

const struct sc_op *sc_op_exit(const struct sc_op *op, struct sc_strip *strip)
{
    for (uint32_t w = 0; w < SC_WORDS; w++) {
        strip->alive[w] &= ~strip->bits[w];
        strip->cta->alive -= strip->bits[w] == ~0u
                                 ? 32
                                 : (uint32_t)__builtin_popcount(strip->bits[w]);
    }
    strip->groups[strip->current] = strip->groups[--strip->group_count];
    if (strip->cta->code->uses_barrier)
        sc_barrier_recheck(strip->cta);
    return NULL;
}

const struct sc_op *sc_op_trap(const struct sc_op *op, struct sc_strip *strip)
{
    return sc_machine_fault(strip, op, SC_EXEC_TRAP, 0);
}

const struct sc_op *sc_op_fence(const struct sc_op *op, struct sc_strip *strip)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return op + 1;
}

const struct sc_op *sc_op_spin(const struct sc_op *op, struct sc_strip *strip)
{
    strip->spinning = true;
    return op + 1;
}

const struct sc_op *sc_op_ask(const struct sc_op *op, struct sc_strip *strip)
{
    uint64_t heard = 0;
    for (uint32_t w = 0; w < strip->padded / 32; w++)
        for (uint32_t left = strip->bits[w]; left; left &= left - 1) {
            uint32_t t = w * 32 + (uint32_t)__builtin_ctz(left);
            uint64_t at = sc_address_at(op, strip, t, op->e), answer = 0;
            memcpy(&answer, strip->file + op->d + (size_t)t * op->flags,
                   op->flags);
            heard = sc_machine_hear(heard, at ^ t, answer);
        }
    sc_machine_ask(strip, op, heard);
    return op + 1;
}

const struct sc_op *sc_op_align(const struct sc_op *op, struct sc_strip *strip)
{
    uint64_t any = 0;
    for (uint32_t t = 0; t < strip->lanes; t++) {
        uint64_t at = sc_address_at(op, strip, t, op->e);
        any |= strip->mask[t] && at & (op->flags - 1u) ? at : 0;
    }
    return any ? sc_machine_fault(strip, op, SC_EXEC_MISALIGNED, any) : op + 1;
}
