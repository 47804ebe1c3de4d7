/*
 * One lane's address to host memory, in every space.
 *
 * Lock: none.
 */
#ifndef SOFTCUDA_EXEC_ADDRESS_H
#define SOFTCUDA_EXEC_ADDRESS_H

#include "exec/machine.h"

/**
 * Host address of a generic, local or param access.
 *
 * Return: NULL when it lies nowhere; alignment is the caller's business
 */
static inline char *sc_address_slow(const struct sc_strip *strip,
                                    enum sc_address_mode mode, uint32_t lane,
                                    uint64_t at, uint64_t bytes)
{
    const struct sc_cta *cta = strip->cta;
    if (mode == SC_ADDR_GENERIC) {
        if (at - cta->shared_base < SC_SHARED_WINDOW) {
            at -= cta->shared_base;
            mode = SC_ADDR_SHARED;
        } else if (at - cta->local_base < SC_LOCAL_USABLE) {
            at -= cta->local_base;
            mode = SC_ADDR_LOCAL;
        } else {
            at -= cta->local_base + SC_LOCAL_USABLE;
            mode = SC_ADDR_PARAM;
        }
    }
    if (mode == SC_ADDR_SHARED)
        return bytes <= cta->shared_bytes && at <= cta->shared_bytes - bytes
                   ? cta->shared + at
                   : NULL;
    if (mode == SC_ADDR_LOCAL)
        return bytes <= cta->local_bytes && at <= cta->local_bytes - bytes
                   ? cta->local +
                         (size_t)(strip->first + lane) * cta->local_bytes + at
                   : NULL;
    /* parameters are read only, which the decoder sees to for ld/st.param */
    return bytes <= cta->param_bytes && at <= cta->param_bytes - bytes
               ? (char *)(uintptr_t)cta->params + at
               : NULL;
}

/** A lane's address `offset` behind what slot `a` holds of it; `bytes` of its
 *  register, of four: addresses go round at 2^32, as on hardware. */
static inline uint64_t sc_address_behind(const struct sc_op *op,
                                         const struct sc_strip *strip,
                                         uint32_t lane, uint32_t bytes,
                                         uint64_t offset)
{
    const char *slot = strip->file + op->a;
    if (bytes == 8)
        return ((const uint64_t *)(const void *)slot)[lane] + offset;
    return ((const uint32_t *)(const void *)slot)[lane] + (uint32_t)offset;
}

/** Address a lane accesses; the slot `a` holds `bytes` of each lane's. */
static inline uint64_t sc_address_at(const struct sc_op *op,
                                     const struct sc_strip *strip,
                                     uint32_t lane, uint32_t bytes)
{
    return sc_address_behind(op, strip, lane, bytes, (uint64_t)op->imm);
}

/** Host address of one lane's access; NULL: misaligned or nowhere. */
static inline char *sc_address_lane(const struct sc_strip *strip,
                                    enum sc_address_mode mode, uint32_t lane,
                                    uint64_t at, uint64_t bytes)
{
    const struct sc_cta *cta = strip->cta;
    if (at & (bytes - 1))
        return 0;
    if ((mode == SC_ADDR_GLOBAL || mode == SC_ADDR_GENERIC) &&
        at - cta->window_base <= cta->window_bytes - bytes)
        return (char *)(uintptr_t)at;
    if (mode == SC_ADDR_GLOBAL)
        return 0;
    return sc_address_slow(strip, mode, lane, at, bytes);
}

/** Fault of an access that sc_address_lane refused. Return: NULL. */
static inline const struct sc_op *sc_address_fault(struct sc_strip *strip,
                                                   const struct sc_op *op,
                                                   uint64_t at, uint64_t bytes)
{
    return sc_machine_fault(
        strip, op,
        at & (bytes - 1) ? SC_EXEC_MISALIGNED : SC_EXEC_ILLEGAL_ADDRESS, at);
}

#endif
