/*
 * Vector accesses that other threads may watch: all components of a lane move
 * at once, as hardware moves them and look-back algorithms need it.
 *
 * The components' slots are in d, b, c and e; flags as SC_WHOLE packs them.
 * Lock: none; 8 bytes are one access of the host, and so are 16 where it has
 * AVX.
 */
#include "exec/address.h"
#include "exec/control.h"

typedef uint64_t pair __attribute__((vector_size(16), may_alias));

union whole {
    uint64_t words[2];
    uint32_t halves[4];
    pair all;
};

static void read_whole(union whole *x, const void *at, uint32_t bytes)
{
    const uint64_t *words = at;
    if (bytes == 8) {
        x->words[0] = __atomic_load_n(words, __ATOMIC_RELAXED);
        return;
    }
#ifdef __x86_64__
    /* left to itself the compiler takes two loads where they suit it */
    __asm__ volatile("movdqa %1, %0" : "=x"(x->all) : "m"(*(const pair *)at));
#else
    for (int i = 0; i < 2; i++)
        x->words[i] = __atomic_load_n(words + i, __ATOMIC_RELAXED);
#endif
}

static void write_whole(const union whole *x, void *at, uint32_t bytes)
{
    uint64_t *words = at;
    if (bytes == 8) {
        __atomic_store_n(words, x->words[0], __ATOMIC_RELAXED);
        return;
    }
#ifdef __x86_64__
    __asm__ volatile("movdqa %1, %0" : "=m"(*(pair *)at) : "x"(x->all));
#else
    for (int i = 0; i < 2; i++)
        __atomic_store_n(words + i, x->words[i], __ATOMIC_RELAXED);
#endif
}

/* One lane's components to or from its registers. */
static void move_lane(const struct sc_op *op, struct sc_strip *strip,
                      uint32_t lane, union whole *x, bool to_registers)
{
    const uint32_t slots[] = {op->d, op->b, op->c, op->e};
    for (uint32_t i = 0; i < SC_WHOLE_COUNT(op->flags); i++) {
        void *slot = strip->file + slots[i];
        uint64_t *word = (uint64_t *)slot + lane;
        uint32_t *half = (uint32_t *)slot + lane;
        bool wide = SC_WHOLE_SIZE(op->flags) == 8;
        if (wide && to_registers)
            *word = x->words[i];
        else if (wide)
            x->words[i] = *word;
        else if (to_registers)
            *half = x->halves[i];
        else
            x->halves[i] = *half;
    }
}

static const struct sc_op *run(const struct sc_op *op, struct sc_strip *strip,
                               bool load)
{
    uint32_t bytes = SC_WHOLE_COUNT(op->flags) * SC_WHOLE_SIZE(op->flags);
    strip->cta->access = op;
    for (uint32_t w = 0; w < strip->padded / 32; w++)
        for (uint32_t left = strip->bits[w]; left; left &= left - 1) {
            uint32_t lane = w * 32 + (uint32_t)__builtin_ctz(left);
            uint64_t at =
                sc_address_at(op, strip, lane, SC_WHOLE_ADDRESS(op->flags));
            union whole x;
            char *p = sc_address_lane(strip, (enum sc_address_mode)op->mode,
                                      lane, at, bytes);
            if (!p)
                return sc_address_fault(strip, op, at, bytes);
            if (load)
                read_whole(&x, p, bytes);
            move_lane(op, strip, lane, &x, load);
            if (!load)
                write_whole(&x, p, bytes);
        }
    return op + 1;
}

const struct sc_op *sc_op_load_whole(const struct sc_op *op,
                                     struct sc_strip *strip)
{
    return run(op, strip, true);
}

const struct sc_op *sc_op_store_whole(const struct sc_op *op,
                                      struct sc_strip *strip)
{
    return run(op, strip, false);
}
