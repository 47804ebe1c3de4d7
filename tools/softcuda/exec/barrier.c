/*
 * bar and barrier for the lanes of a CTA; see exec/control.h.
 *
 * Lock: none, a CTA belongs to one worker.
 */
#include "exec/control.h"

static uint32_t count_bits(const uint32_t *bits)
{
    uint32_t n = 0;
    for (uint32_t w = 0; w < SC_WORDS; w++)
        n += (uint32_t)__builtin_popcount(bits[w]);
    return n;
}

/* Result of bar.red for the lanes of a group that waits at `op`. */
static void store_result(struct sc_strip *strip, const struct sc_group *group,
                         const struct sc_op *op, const struct sc_barrier *bar)
{
    uint32_t value = bar->popc;
    if (op->flags == SC_RED_AND)
        value = bar->popc == bar->arrived ? ~0u : 0;
    else if (op->flags == SC_RED_OR)
        value = bar->popc ? ~0u : 0;
    uint32_t *d = SC_SLOT(uint32_t, d);
    for (uint32_t t = 0; t < strip->lanes; t++)
        if (group->bits[t / 32] >> t % 32 & 1)
            d[t] = value;
}

static void open_barrier(struct sc_cta *cta, uint32_t id)
{
    struct sc_barrier *bar = &cta->barriers[id];
    for (uint32_t s = 0; s < cta->strip_count; s++) {
        struct sc_strip *strip = &cta->strips[s];
        for (uint32_t g = 0; g < strip->group_count; g++) {
            struct sc_group *group = &strip->groups[g];
            if (group->state != SC_GROUP_BARRIER || group->barrier != id)
                continue;
            const struct sc_op *op = strip->code + group->pc;
            if (op->run == sc_op_barrier_red)
                store_result(strip, group, op, bar);
            group->state = SC_GROUP_READY;
            group->pc++;
        }
    }
    *bar = (struct sc_barrier){0};
}

static bool is_complete(const struct sc_cta *cta, const struct sc_barrier *bar)
{
    uint32_t expected = bar->expected ? bar->expected : cta->alive;
    return bar->arrived >= expected;
}

void sc_barrier_recheck(struct sc_cta *cta)
{
    for (uint32_t id = 0; id < SC_BARRIERS; id++) {
        struct sc_barrier *bar = &cta->barriers[id];
        if (bar->arrived && !bar->expected && is_complete(cta, bar))
            open_barrier(cta, id);
    }
}

/* Counts the running lanes in; counted barriers count whole warps, so the
 * lanes missing from the CTA's last warp come with its first lane. */
static bool arrive(const struct sc_op *op, struct sc_strip *strip, uint32_t *id)
{
    struct sc_cta *cta = strip->cta;
    uint32_t lane = 0;
    while (!(strip->bits[lane / 32] >> lane % 32 & 1))
        lane++;
    *id = SC_SLOT(const uint32_t, b)[lane];
    uint32_t expected = op->imm & 1 ? SC_SLOT(const uint32_t, c)[lane] : 0;
    if (*id >= SC_BARRIERS || (op->imm & 1 && (!expected || expected % 32))) {
        sc_machine_fault(strip, op, SC_EXEC_ILLEGAL_INSTRUCTION, 0);
        return false;
    }
    struct sc_barrier *bar = &cta->barriers[*id];
    bar->expected = expected;
    bar->arrived += count_bits(strip->bits);
    uint32_t last = cta->threads - 1 - strip->first;
    uint32_t base = last & ~31u;
    if (expected && last < SC_LANES && strip->bits[base / 32] & 1)
        bar->arrived += 31 - last % 32;
    return true;
}

static const struct sc_op *wait_for(struct sc_strip *strip,
                                    const struct sc_op *op, uint32_t id)
{
    struct sc_cta *cta = strip->cta;
    struct sc_group *group = &strip->groups[strip->current];
    group->state = SC_GROUP_BARRIER;
    group->barrier = (uint8_t)id;
    group->pc = (uint32_t)(op - strip->code);
    if (!is_complete(cta, &cta->barriers[id]))
        return NULL;
    open_barrier(cta, id);
    /* alone in the strip: no other group to look for */
    return strip->group_count == 1 ? op + 1 : NULL;
}

const struct sc_op *sc_op_barrier(const struct sc_op *op,
                                  struct sc_strip *strip)
{
    uint32_t id;
    return arrive(op, strip, &id) ? wait_for(strip, op, id) : NULL;
}

const struct sc_op *sc_op_barrier_arrive(const struct sc_op *op,
                                         struct sc_strip *strip)
{
    uint32_t id;
    if (!arrive(op, strip, &id))
        return NULL;
    if (is_complete(strip->cta, &strip->cta->barriers[id]))
        open_barrier(strip->cta, id);
    return op + 1;
}

const struct sc_op *sc_op_barrier_red(const struct sc_op *op,
                                      struct sc_strip *strip)
{
    uint32_t id;
    if (!arrive(op, strip, &id))
        return NULL;
    const uint32_t *pred = SC_SLOT(const uint32_t, a);
    uint32_t flip = op->imm & 2 ? 1 : 0;
    for (uint32_t t = 0; t < strip->lanes; t++)
        if (strip->bits[t / 32] >> t % 32 & 1)
            strip->cta->barriers[id].popc += (pred[t] & 1) ^ flip;
    return wait_for(strip, op, id);
}
