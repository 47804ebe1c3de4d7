/*
 * Parameters of functions and calls become registers or .local variables.
 *
 * Lock: none; one load, one thread.
 */
#ifndef SOFTCUDA_PTX_ARGUMENT_H
#define SOFTCUDA_PTX_ARGUMENT_H

#include "ptx/ir.h"

/** What is known of a parameter's accesses; nothing yet. */
struct sc_argument *sc_argument_new(struct sc_load *load)
    __attribute__((returns_nonnull));

/**
 * Rewrite every function so that no parameter of a .func or a call is left:
 * ld.param and st.param of them become moves between registers, or accesses
 * to a .local variable where the address is taken or pieces overlap. Calls
 * that were not inlined pass their operands as struct sc_call says.
 *
 * @load receives the allocations and what is wrong
 * Thread: the owner of `load`
 * Signal: never
 */
void sc_ptx_arguments(struct sc_load *load, struct sc_ir *ir);

#endif
