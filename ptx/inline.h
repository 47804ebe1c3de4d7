/*
 * Calls within a module: who is meant, and bodies in place of calls.
 *
 * Lock: none; one load, one thread.
 */
#ifndef SOFTCUDA_PTX_INLINE_H
#define SOFTCUDA_PTX_INLINE_H

#include "ptx/ir.h"

/**
 * Settle declarations and aliases, then put the body of every function that
 * is called by name in place of the call, unless it is recursive or the
 * result grows too large. Calls that stay mark sc_func.calls and .is_called.
 *
 * @load receives the allocations and what is wrong
 * Thread: the owner of `load`
 * Signal: never
 */
void sc_ptx_inline(struct sc_load *load, struct sc_ir *ir);

#endif
