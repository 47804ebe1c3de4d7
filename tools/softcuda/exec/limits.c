/*
 * Limits of device code that the host may set; see exec/exec.h.
 *
 * Lock: none, each limit is one atomic number.
 */
#include "exec/system.h"

#include <stdatomic.h>

static _Atomic uint64_t limits[] = {
    [SC_LIMIT_STACK] = 32u << 10,
    [SC_LIMIT_HEAP] = 8u << 20,
};

bool sc_exec_set_limit(enum sc_exec_limit limit, uint64_t bytes)
{
    bool stack = limit == SC_LIMIT_STACK;
    uint64_t least = stack ? 1u << 10 : 4u << 10;
    uint64_t most = stack ? 512u << 10 : UINT64_C(64) << 30;
    if (bytes < least || bytes > most || (!stack && sc_heap_in_use()))
        return false;
    /* launches that run keep what they took */
    atomic_store_explicit(&limits[limit], bytes, memory_order_relaxed);
    return true;
}

uint64_t sc_exec_limit(enum sc_exec_limit limit)
{
    return atomic_load_explicit(&limits[limit], memory_order_relaxed);
}
