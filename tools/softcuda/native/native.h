/*
 * The generator: one kernel of the IR becomes C text for one block size.
 *
 * Owns analysis and text. Does not compile, load or cache (build.h does).
 * Lock: none; the IR is only read, so any thread may generate.
 */
#ifndef SOFTCUDA_NATIVE_NATIVE_H
#define SOFTCUDA_NATIVE_NATIVE_H

#include "native/abi.h"
#include "ptx/ir.h"

/** Vector form of the generated code. */
enum sc_native_isa {
    SC_NATIVE_GENERIC, /* 8 lanes, GNU vector extensions only */
    SC_NATIVE_AVX2,    /* 8 lanes */
    SC_NATIVE_AVX512,  /* 16 lanes: f, bw, dq, vl */
};

/** One generated kernel. `text` is malloc'ed, ends in NUL. */
struct sc_native_code {
    char *text;
    uint64_t save; /* bytes of sc_native_cta.save one CTA needs */
    char why[160]; /* when refused: the reason, one sentence without a dot */
};

/**
 * Generate C for one kernel.
 *
 * Addresses of .global/.const variables are emitted as numbers from
 * sc_var.address (placed before the call), so the same text means the same
 * code at the same place.
 *
 * @ir     the whole module: variables and functions the kernel may use
 * @kernel a .entry with a body
 * @block  threads per CTA in x, y, z; generated code is for these only
 * @isa    what the machine has
 * @code   receives text and save; on refusal text is NULL and why is set
 * Return: true when there is text; false: stay with the interpreter
 * Thread: any
 * Signal: never
 */
bool sc_native_generate(const struct sc_ir *ir, const struct sc_func *kernel,
                        const uint32_t block[3], enum sc_native_isa isa,
                        struct sc_native_code *code);

#endif
