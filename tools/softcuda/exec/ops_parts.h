/*
 * What every ops_*.c offers to ops_isa.c of the same instruction set.
 *
 * Lock: none.
 */
#ifndef SOFTCUDA_EXEC_OPS_PARTS_H
#define SOFTCUDA_EXEC_OPS_PARTS_H

#include "exec/ops.h"

/* Each look-up: see struct sc_isa. */
sc_handler SC_ISA_NAME(sc_alu_integer)(enum sc_alu kind, enum sc_type type);
sc_handler SC_ISA_NAME(sc_alu_real)(enum sc_alu kind, enum sc_type type);
sc_handler SC_ISA_NAME(sc_alu_half)(enum sc_alu kind, enum sc_type type);
sc_handler SC_ISA_NAME(sc_convert)(enum sc_type to, enum sc_type from,
                                   unsigned flags);
sc_handler SC_ISA_NAME(sc_load)(enum sc_type type, unsigned reg_bytes,
                                enum sc_address_mode mode,
                                unsigned address_bytes);
sc_handler SC_ISA_NAME(sc_store)(unsigned bytes, unsigned reg_bytes,
                                 enum sc_address_mode mode,
                                 unsigned address_bytes);

#endif
