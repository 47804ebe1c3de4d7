/*
 * Which parameters the addresses of a kernel are computed from.
 *
 * A load or a store can only reach what its address was computed from, so
 * registers are followed back to the parameters that flow into them, without
 * regard to order. An address that comes from anywhere else (memory, two
 * halves put together, an instruction that is not known here) may point to
 * anything; so may what a called function writes. PTX ISA, "State Spaces",
 * "Instruction Set"; no paper of ours has this.
 *
 * Works on what ptx/parse.h gives, calls put in place. All of it lives in the
 * arena of the load. Lock: none.
 */
#ifndef SOFTCUDA_PTX_ORIGIN_H
#define SOFTCUDA_PTX_ORIGIN_H

#include "ptx/access.h"
#include "ptx/ir.h"

/** What a value may have been computed from: a bit for each place, and: */
typedef uint64_t sc_origin;
#define SC_ORIGIN_LOOSE   ((sc_origin)1 << 61) /* loaded, less than 64 bits */
#define SC_ORIGIN_OWN     ((sc_origin)1 << 62) /* a variable of the module  */
#define SC_ORIGIN_UNKNOWN ((sc_origin)1 << 63) /* may be any address        */
#define SC_ORIGIN_PLACES  (((sc_origin)1 << SC_PLACES_MOST) - 1)

/** An instruction that loads or stores where objects may be. */
struct sc_access {
    uint32_t inst;
    const struct sc_operand *address;
    uint32_t bytes; /* 0: not known how many */
    bool reads, writes;
    sc_origin origin; /* of the address */
};

struct sc_origins {
    struct sc_place places[SC_PLACES_MOST];
    unsigned place_count;
    sc_origin *of; /* by register */
    struct sc_access *accesses;
    size_t access_count, access_capacity;
    bool writes_anywhere, reaches_anywhere;
    bool writes_own, reaches_own; /* variables of the module */
    /* The first one for which that is so; NULL: it is not. */
    const struct sc_inst *anywhere_for;
};

/**
 * Follow the addresses of a kernel with a body.
 *
 * @load receives the allocations; jumped back through when memory runs out
 * Thread: the owner of `load`
 * Signal: never
 */
void sc_origins_find(struct sc_load *load, const struct sc_func *func,
                     struct sc_origins *origins);

/** The parameter an operand is the address of, with *offset in it; also by way
 *  of a register that nothing else is put into. NULL: none. */
const struct sc_var *sc_origin_parameter(const struct sc_func *func,
                                         const struct sc_operand *operand,
                                         uint64_t *offset);

/** Whether the instruction moves data in a space where objects are not. */
bool sc_origin_is_private(const struct sc_inst *inst);

/** Bytes of all that a load or a store moves. */
uint32_t sc_origin_bytes(const struct sc_inst *inst);

#endif
