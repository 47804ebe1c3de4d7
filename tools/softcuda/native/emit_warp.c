/*
 * Writes operations that look across the lanes of a warp; see native/emit.h.
 * Lock: none.
 */
#include "native/emit.h"

void sc_emit_warp(struct sc_gen *gen)
{
    sc_gen_refuse(gen, "the generator lacks it");
}
