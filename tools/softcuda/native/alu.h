/*
 * Arithmetic of generated kernels: which C function does what an instruction
 * says, and the text of those functions.
 *
 * Owns arithmetic, comparisons, selections, conversions and moves between
 * registers; not memory, control, warp operations and special registers.
 * Lock: none; a set belongs to one thread, everything else is constant.
 *
 * What generated text can rely on after abi.h and sc_alu_prelude():
 *
 *  types   SC_W lanes (16 on AVX-512, else 8)
 *    v32   vector of SC_W uint32_t: + - * & | ^ ~ << >> work. Holds 8-, 16- and
 *          32-bit registers of any type, unused upper bits zero
 *    v64   struct of two vectors vq of uint64_t: .l lanes 0 … SC_W/2-1, .h rest
 *    vm    one truth value per lane: uint16_t, bit per lane (AVX-512), else
 *          a v32 of 0 and ~0
 *    uniform values are uint32_t, uint64_t and int (0 or 1)
 *  basics (static inline, always there)
 *    v32 v_bc32(uint32_t)   v64 v_bc64(uint64_t)   vm m_bc(int)
 *    v32 v_iota32(void)     v64 v_iota64(void)           0, 1, 2 …
 *    v32 v_sel32(vm, a, b)  v64 v_sel64(vm, a, b)  vm m_sel(vm, a, b)  m ? a : b
 *    v64 v_add64(a, b)  v_sub64(a, b)  v_mul64(a, b)  v_and64(a, b)
 *    v64 v_shl64(a, int)  v_shr64(a, int)          amounts below 64
 *    v64 v_zext64(v32)  v_sext64(v32)  v_pack64(v32 low, v32 high)
 *    v32 v_lo32(v64)    v_hi32(v64)
 *    vm  m_and m_or m_xor m_andn(a, b): a & ~b     m_not m_full() m_none()
 *    int m_any(m)  m_all(m)   uint32_t m_bits(m)   vm m_from_bits(uint32_t)
 *    int m_first(m): lane of the lowest set bit, m not empty
 *    vm  m_below(int n): lanes 0 … n-1            int m_count(m)
 *    uint32_t v_get32(v, i)  uint64_t v_get64(v, i)  int m_get(m, i)
 *    v32 v_set32(v, i, x)    v64 v_set64(v, i, x)    vm m_set(m, i, x)
 *    uint32_t v_first32(vm, v)   uint64_t v_first64(vm, v)
 *    v_mask32(vm): 0 or ~0 per lane
 *    v_eq32 v_ne32 v_ltu32 v_lts32 v_eq64 v_ltu64 (a, b): vm
 */
#ifndef SOFTCUDA_NATIVE_ALU_H
#define SOFTCUDA_NATIVE_ALU_H

#include "native/native.h"

/** C type of a value: v32 and uint32_t, v64 and uint64_t, vm and int. */
enum sc_lane_class { SC_LANE_32, SC_LANE_64, SC_LANE_PRED };

/** One argument or result of a function. */
struct sc_alu_value {
    enum sc_lane_class class;
    /* How an immediate is to be read, as in the instruction. */
    enum sc_type type;
    /* Points into the instruction; !p is up to the caller. NULL: the
     * condition code of the .cc forms, a predicate per thread. */
    const struct sc_operand *operand;
};

#define SC_ALU_ARGS    5
#define SC_ALU_RESULTS 4
#define SC_ALU_NAME    64

/**
 * What one instruction computes: result i = function i of all arguments.
 * Arguments must be read before any result is written. A destination `_` is
 * left out of the results.
 */
struct sc_alu_call {
    uint32_t arg_count, result_count;
    struct sc_alu_value args[SC_ALU_ARGS], results[SC_ALU_RESULTS];
    /* f32 arithmetic with .ftz that leaves subnormal inputs to the processor
     * and may give a subnormal result where it means a zero */
    bool raw;
    /* Private: names without v_ and s_, and what they are made of. */
    enum sc_alu_form { SC_ALU_PLAIN, SC_ALU_HALVES, SC_ALU_LANES } form;
    char names[SC_ALU_RESULTS][SC_ALU_NAME - 4];
    char bodies[SC_ALU_RESULTS][1024];
};

/**
 * Find what an instruction computes. The guard is not looked at.
 *
 * @func  whose registers the operands name
 * @inst  any instruction the interpreter has accepted
 * Return: true; false: not arithmetic, or a form this library lacks
 * Thread: any
 * Signal: never
 */
bool sc_alu_find(const struct sc_func *func, const struct sc_inst *inst,
                 struct sc_alu_call *call);

/** The same for code that runs while the processor takes subnormal inputs for
 *  zeros: call->raw says whether the functions rely on that. */
bool sc_alu_find_raw(const struct sc_func *func, const struct sc_inst *inst,
                     struct sc_alu_call *call);

/** Definitions collected for one kernel; `text` grows, ends in NUL. */
struct sc_alu_set {
    enum sc_native_isa isa;
    char *text;
    size_t length, capacity;
    char **names;
    size_t name_count, name_capacity;
    bool failed; /* out of memory, or a name nobody defines */
};

/** Start an empty set. Thread: one */
void sc_alu_begin(struct sc_alu_set *set, enum sc_native_isa isa);

/** Free the text and the names. Thread: one */
void sc_alu_end(struct sc_alu_set *set);

/**
 * Make sure the function of one result is defined in the text.
 *
 * @vector  arguments and result are vectors; else all are uniform values
 * @name    receives the C name, SC_ALU_NAME bytes
 * Return: true; false: set->failed is set
 * Thread: one
 */
bool sc_alu_add(struct sc_alu_set *set, const struct sc_alu_call *call,
                uint32_t result, bool vector, char *name);

/** The same for a function known by name, such as "v_add_u32". */
bool sc_alu_need(struct sc_alu_set *set, const char *name);

/** Types and basics of an isa: goes behind abi.h, before set->text. */
const char *sc_alu_prelude(enum sc_native_isa isa);

/**
 * Compiler options generated code needs, ended by NULL: instruction set and
 * what keeps results exact. Optimisation level and output are up to the caller.
 */
const char *const *sc_alu_options(enum sc_native_isa isa);

#endif
