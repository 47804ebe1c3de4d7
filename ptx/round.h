/*
 * How floating point instructions round and what else they do to a result, as
 * the interpreter and the native back end both note it. Constants only.
 */
#ifndef SOFTCUDA_PTX_ROUND_H
#define SOFTCUDA_PTX_ROUND_H

/* Flags of the slow floating point forms (kind_x) and of cvt. */
enum sc_round { SC_RN, SC_RZ, SC_RM, SC_RP, SC_RNA };
#define SC_FLAG_ROUND 7u /* mask: enum sc_round */
#define SC_FLAG_FTZ   8u
#define SC_FLAG_SAT   16u
#define SC_FLAG_INT   32u /* round to an integral value first */
#define SC_FLAG_RELU  64u
#define SC_FLAG_ABS   128u /* min/max: .xorsign.abs */
#define SC_FLAG_NAN   256u

#endif
