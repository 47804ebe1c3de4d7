/*
 * The set of handlers of one instruction set; compiled once for each.
 *
 * Lock: none.
 */
#include "exec/ops_parts.h"

#define TEXT2(x) #x
#define TEXT(x)  TEXT2(x)

const struct sc_isa SC_ISA_NAME(sc_isa) = {
    .name = TEXT(SC_ISA),
    .integer = SC_ISA_NAME(sc_alu_integer),
    .real = SC_ISA_NAME(sc_alu_real),
    .half = SC_ISA_NAME(sc_alu_half),
    .convert = SC_ISA_NAME(sc_convert),
    .load = SC_ISA_NAME(sc_load),
    .store = SC_ISA_NAME(sc_store),
};
