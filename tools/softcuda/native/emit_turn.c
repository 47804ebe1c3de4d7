/*
 * Hands the turn from a group that has come to a barrier straight to the next
 * one; see native/emit.h.
 *
 * All groups mostly wait at the same barrier, or at the start, and go from it
 * to the same next one. Then the next group goes on at once: the compiler sees
 * a loop over the groups between two barriers. Any other group is found the
 * long way, by its place (put_cta in generate.c). Lock: none.
 */
#include "native/emit.h"

/* Entries are bits of a word: the start, and the barriers by their number. */
#define MOST_BARRIERS 63u
/* Ways in of a barrier that are told apart. */
#define MOST_ENTRIES 1
/* Registers made empty, over all entries. */
#define MOST_TEXT 8192u

static uint32_t barriers_in(const struct sc_gen *gen, uint32_t place)
{
    const struct sc_place *p = &gen->places[place];
    uint32_t n = 0;
    for (uint32_t i = p->first; i < p->end; i++)
        n += sc_emit_is_barrier(&gen->func->insts[i]);
    return n;
}

/* Entries a group may have come from last when it leaves a place; `in` are
 * those when it gets there, `number` is that of its first barrier. */
static uint64_t leave(const struct sc_gen *gen, uint32_t place, uint64_t in,
                      uint32_t number)
{
    uint32_t n = barriers_in(gen, place);
    return n ? (uint64_t)1 << (number + n - 1) : in;
}

static bool pass_on(const struct sc_gen *gen, uint64_t *in)
{
    bool changed = false;
    uint32_t number = 1;
    for (uint32_t i = 0; i < gen->count; i++) {
        const struct sc_place *p = &gen->places[i];
        uint64_t out = leave(gen, i, in[i], number);
        number += barriers_in(gen, i);
        for (uint32_t k = 0; k < p->succ_count; k++) {
            uint32_t to = p->succs[k];
            changed |= (out & ~in[to]) != 0;
            in[to] |= out;
        }
    }
    return changed;
}

/* What leads to each barrier, and what is live behind it. */
static void note_entries(struct sc_gen *gen, const uint64_t *in)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < gen->count; i++) {
        const struct sc_place *p = &gen->places[i];
        uint64_t from = in[i];
        for (uint32_t k = p->first; k < p->end; k++) {
            if (!sc_emit_is_barrier(&gen->func->insts[k]))
                continue;
            struct sc_turn *turn = &gen->turns[++number];
            turn->from = from;
            turn->live =
                sc_load_alloc(&gen->load, gen->words, sizeof *turn->live);
            sc_gen_live_before(gen, i, k + 1, turn->live);
            from = (uint64_t)1 << number;
        }
    }
    gen->turns[0].live = gen->places[0].live_in;
    gen->turns[number + 1].from = in[gen->count];
}

void sc_emit_plan_turns(struct sc_gen *gen)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < gen->count; i++)
        n += barriers_in(gen, i);
    if (!gen->save_bytes || !n || n > MOST_BARRIERS ||
        (uint64_t)n * gen->reg_count * gen->parts > MOST_TEXT)
        return;
    uint64_t *in = sc_load_alloc(&gen->load, gen->count + 1, sizeof *in);
    in[0] = 1;
    while (pass_on(gen, in)) {
    }
    gen->turns = sc_load_alloc(&gen->load, n + 2, sizeof *gen->turns);
    note_entries(gen, in);
}

void sc_emit_turn(struct sc_gen *gen, struct sc_text *text, uint32_t barrier)
{
    if (!gen->turns ||
        __builtin_popcountll(gen->turns[barrier].from) > MOST_ENTRIES)
        return;
    for (uint64_t left = gen->turns[barrier].from; left; left &= left - 1) {
        uint32_t entry = (uint32_t)__builtin_ctzll(left);
        gen->turns[entry].taken = true;
        sc_text_put(gen, text, "if (where[g + 1] == %u) goto A%u;\n", entry,
                    entry);
    }
}

/* What is dead there must not look as if it went on from group to group. */
static void put_empty(struct sc_gen *gen, struct sc_text *text,
                      const sc_bits *live)
{
    static const char *const none[] = {[SC_LANE_32] = "(v32){0}",
                                       [SC_LANE_64] = "(v64){0}",
                                       [SC_LANE_PRED] = "m_none()"};
    for (uint32_t part = 0; part < gen->parts; part++) {
        for (uint32_t r = 0; r < gen->reg_count; r++)
            if (sc_gen_varies(gen, r) && !sc_bits_has(live, r))
                sc_text_put(gen, text, "v%u_%u = %s;\n", r, part,
                            none[sc_gen_class(gen, r)]);
        for (uint32_t i = 0; i < gen->count; i++)
            if (gen->places[i].diverged)
                sc_text_put(gen, text, "m%u_%u = m_none();\n", i, part);
    }
}

void sc_emit_turns(struct sc_gen *gen, struct sc_text *text,
                   void (*advance)(struct sc_gen *, struct sc_text *))
{
    for (uint32_t i = 0; gen->turns && i <= gen->barriers; i++) {
        if (!gen->turns[i].taken)
            continue;
        sc_text_put(gen, text, "A%u:;\ng++;\n", i);
        advance(gen, text);
        put_empty(gen, text, gen->turns[i].live);
        sc_text_put(gen, text, "goto %c%u;\n", i ? 'R' : 'S', i);
    }
}
