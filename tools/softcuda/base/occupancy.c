/*
 * Blocks of a multiprocessor; see base/occupancy.h.
 */
#include "base/occupancy.h"

#include "base/kernel.h"

#define WARP          32u
#define SM_THREADS    2048u
#define SM_BLOCKS     32u
#define SM_REGISTERS  65536u
#define SM_QUARTERS   4u   /* each with its part of the registers */
#define REGISTER_UNIT 256u /* a warp's registers come in multiples */

static unsigned round_up(unsigned value, unsigned unit)
{
    return (value + unit - 1) / unit * unit;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The number is an estimate, and a compiler would rather spill than make a
 * kernel that no block of the size it allows can run: one always fits. */
static unsigned by_registers(const struct sc_occupant *k, unsigned warps)
{
    unsigned each = round_up(k->registers * WARP, REGISTER_UNIT);
    if (each == 0)
        return SM_BLOCKS;
    unsigned blocks = SM_REGISTERS / SM_QUARTERS / each * SM_QUARTERS / warps;
    return blocks ? blocks : 1;
}

static unsigned by_shared(const struct sc_occupant *k, size_t dynamic)
{
    if (dynamic > SC_MAX_SHARED_BYTES ||
        dynamic + k->static_shared_bytes > SC_MAX_SHARED_BYTES)
        return 0;
    unsigned bytes = k->static_shared_bytes + (unsigned)dynamic;
    return SC_SM_SHARED / round_up(bytes + SC_SHARED_PER_BLOCK, SC_SHARED_UNIT);
}

unsigned sc_occupancy(const struct sc_occupant *k, unsigned threads,
                      size_t dynamic)
{
    if (threads == 0 || threads > k->max_threads)
        return 0;
    unsigned warps = (threads + WARP - 1) / WARP;
    unsigned blocks = least(SM_BLOCKS, SM_THREADS / WARP / warps);
    blocks = least(blocks, by_registers(k, warps));
    return least(blocks, by_shared(k, dynamic));
}
