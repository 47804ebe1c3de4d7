/*
 * Functions that generated text calls for memory, atomics and warps, written
 * into it as they are needed. Lock: none.
 */
#ifndef SOFTCUDA_NATIVE_RT_H
#define SOFTCUDA_NATIVE_RT_H

#include "native/gen.h"

/** Kinds of elements in memory. */
enum sc_element {
    SC_ELEMENT_u8,
    SC_ELEMENT_s8,
    SC_ELEMENT_u16,
    SC_ELEMENT_s16,
    SC_ELEMENT_u32,
    SC_ELEMENT_u64,
    SC_ELEMENT_COUNT,
};

/** Suffix, such as "u8"; bytes. */
const char *sc_element_name(enum sc_element element);
uint32_t sc_element_bytes(enum sc_element element);

/** How many rows there are, for sc_gen.rt_used. */
size_t sc_rt_rows(void);

/** Make sure a function is in gen->library. The element is ignored by rows
 *  that are not by element. Refuses the kernel when there is none. */
void sc_rt_need(struct sc_gen *gen, const char *name, enum sc_element element);

#endif
