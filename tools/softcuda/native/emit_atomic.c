/*
 * Writes atomic operations; see native/emit.h. Lock: none.
 */
#include "native/emit.h"

void sc_emit_atomic(struct sc_gen *gen)
{
    sc_gen_refuse(gen, "the generator lacks it");
}
