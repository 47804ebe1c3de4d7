/*
 * Runs one CTA: which strip, which group of lanes, until all have left.
 *
 * Within a strip the group with the lowest position runs (see machine.h), and
 * the others wait for it as those of a warp do on hardware. Only where it
 * seems to wait for them, as lanes do that spin on a lock held by a lane of
 * their own warp, does the group that waited longest get a turn: after 64 back
 * edges at which an atomic or volatile access told nothing new, or after very
 * many. Lock: none.
 */
#include "exec/machine.h"

#include <stdio.h>
#include <string.h>

/* Turns of a group that asks nothing, or hears news, before others get one. */
#define MOST_CALM 16u

const struct sc_op *sc_machine_fault(struct sc_strip *strip,
                                     const struct sc_op *op,
                                     enum sc_exec_status status,
                                     uint64_t address)
{
    struct sc_cta *cta = strip->cta;
    cta->status = status;
    cta->fault = (struct sc_exec_fault){
        .address = address, .line = op->line, .kernel = cta->code->name};
    snprintf(cta->fault.text, sizeof cta->fault.text,
             "%s in kernel '%.60s', line %u, address 0x%llx",
             sc_exec_status_text(status), cta->code->name, op->line,
             (unsigned long long)address);
    return NULL;
}

void sc_machine_ask(struct sc_strip *strip, const struct sc_op *op,
                    uint64_t heard)
{
    for (uint32_t i = 0; i < SC_ASKED; i++) {
        struct sc_question *question = &strip->asked[i];
        if (question->op != op)
            continue;
        strip->spinning |= question->heard == heard;
        question->heard = heard;
        return;
    }
    strip->asked[strip->ask_next++ % SC_ASKED] =
        (struct sc_question){op, heard};
}

void sc_machine_set_mask(struct sc_strip *strip, const uint32_t *bits)
{
    bool full = true;
    for (uint32_t w = 0; w < SC_WORDS; w++) {
        full &= bits[w] == strip->all[w];
        strip->bits[w] = bits[w];
    }
    strip->full = full;
    for (uint32_t w = 0; w < strip->padded / 32; w++)
        for (uint32_t i = 0; i < 32; i++)
            strip->mask[w * 32 + i] = 0 - (bits[w] >> i & 1);
}

/* One group for each position that is ready or stalled. */
static void merge_groups(struct sc_strip *strip)
{
    for (uint32_t i = 0; i < strip->group_count; i++) {
        struct sc_group *into = &strip->groups[i];
        if (into->state == SC_GROUP_BARRIER)
            continue;
        for (uint32_t k = i + 1; k < strip->group_count; k++) {
            const struct sc_group *from = &strip->groups[k];
            if (from->state == SC_GROUP_BARRIER || from->pc != into->pc)
                continue;
            for (uint32_t w = 0; w < SC_WORDS; w++)
                into->bits[w] |= from->bits[w];
            into->state = SC_GROUP_READY;
            strip->groups[k--] = strip->groups[--strip->group_count];
        }
    }
}

static int pick_group(const struct sc_strip *strip, enum sc_group_state state,
                      bool oldest)
{
    int best = -1;
    for (uint32_t i = 0; i < strip->group_count; i++) {
        const struct sc_group *group = &strip->groups[i];
        if (group->state != state)
            continue;
        const struct sc_group *other = best < 0 ? NULL : &strip->groups[best];
        if (!other ||
            (oldest ? group->turn < other->turn : group->pc < other->pc))
            best = (int)i;
    }
    return best;
}

static uint32_t next_stop(const struct sc_strip *strip, uint32_t pc)
{
    uint32_t stop = UINT32_MAX;
    for (uint32_t i = 0; i < strip->group_count; i++) {
        const struct sc_group *group = &strip->groups[i];
        if (group->state != SC_GROUP_BARRIER && group->pc > pc &&
            group->pc < stop)
            stop = group->pc;
    }
    return stop;
}

static void run_group(struct sc_strip *strip, int index, bool forced)
{
    struct sc_group *group = &strip->groups[index];
    strip->current = (uint32_t)index;
    strip->forced = forced;
    strip->yielded = false;
    strip->spinning = false;
    strip->stop = strip->rotate ? UINT32_MAX : next_stop(strip, group->pc);
    strip->rotate = false;
    group->turn = ++strip->turn;
    group->state = SC_GROUP_READY;
    if (memcmp(group->bits, strip->bits, sizeof group->bits) != 0)
        sc_machine_set_mask(strip, group->bits);
    const struct sc_op *op = strip->code + group->pc;
    while (op)
        op = op->run(op, strip);
}

/* Whether the group that yields may wait for others. */
static bool may_wait(struct sc_strip *strip)
{
    bool waits = strip->waited || ++strip->calm == MOST_CALM;
    if (waits)
        strip->calm = 0;
    strip->cta->moved |= !strip->waited;
    strip->waited = false;
    return waits;
}

/* Runs groups until none is ready, one yields, or the CTA fails. Returns
 * whether anything ran. */
static bool run_strip(struct sc_strip *strip)
{
    bool ran = false;
    strip->budget = SC_BUDGET;
    while (strip->cta->status == SC_EXEC_OK) {
        if (strip->group_count > 1)
            merge_groups(strip);
        bool forced = false;
        int index = pick_group(strip, SC_GROUP_READY, strip->rotate);
        if (index < 0) {
            index = pick_group(strip, SC_GROUP_STALLED, false);
            forced = true;
        }
        if (index < 0) {
            strip->cta->moved |= ran;
            return ran;
        }
        ran = true;
        run_group(strip, index, forced);
        if (strip->yielded) {
            strip->rotate = may_wait(strip);
            return true;
        }
    }
    return ran;
}

static bool is_cancelled(const struct sc_cta *cta)
{
    const volatile int *cancel = cta->launch->cancel;
    return cancel && *cancel;
}

static void stop_waiting(struct sc_cta *cta, const char *why)
{
    cta->status = SC_EXEC_TIMEOUT;
    cta->fault = (struct sc_exec_fault){.kernel = cta->code->name};
    snprintf(cta->fault.text, sizeof cta->fault.text, "kernel '%.60s' %s",
             cta->code->name, why);
}

bool sc_machine_turn(struct sc_cta *cta)
{
    bool ran = false;
    cta->moved = false;
    for (uint32_t i = 0; i < cta->strip_count; i++)
        ran |= run_strip(&cta->strips[i]);
    if (cta->status != SC_EXEC_OK || !cta->alive)
        return false;
    if (!ran)
        stop_waiting(cta, "waits at a barrier that cannot open");
    else if (is_cancelled(cta))
        stop_waiting(cta, "was cancelled");
    return cta->status == SC_EXEC_OK;
}
