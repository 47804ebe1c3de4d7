/*
 * How op handlers are written, and the look-ups that find them.
 *
 * Every ops_*.c is compiled once per instruction set of the host
 * (SC_ISA: base, avx2, avx512); exec/isa.c picks one set at run time.
 * Lock: none, constant tables.
 */
#ifndef SOFTCUDA_EXEC_OPS_H
#define SOFTCUDA_EXEC_OPS_H

#include "exec/machine.h"
#include "ptx/ir.h"
#include "ptx/round.h"

enum sc_alu {
#define X(kind) SC_ALU_##kind,
#include "exec/alu.def"
#undef X
    SC_ALU_COUNT
};

/** One set of handlers; every look-up returns NULL for "no such form". */
struct sc_isa {
    const char *name;
    sc_handler (*integer)(enum sc_alu kind, enum sc_type type);
    sc_handler (*real)(enum sc_alu kind, enum sc_type type);
    sc_handler (*half)(enum sc_alu kind, enum sc_type type);
    /* `flags` only choose between a fast and a general form */
    sc_handler (*convert)(enum sc_type to, enum sc_type from, unsigned flags);
    /* memory type, bytes of the register, bytes of the address register */
    sc_handler (*load)(enum sc_type type, unsigned reg_bytes,
                       enum sc_address_mode mode, unsigned address_bytes);
    sc_handler (*store)(unsigned bytes, unsigned reg_bytes,
                        enum sc_address_mode mode, unsigned address_bytes);
};

extern const struct sc_isa sc_isa_base, sc_isa_avx2, sc_isa_avx512;

/** The best set this host can run. Thread: any. */
const struct sc_isa *sc_isa_pick(void);

#define SC_PASTE2(a, b)   a##b
#define SC_PASTE(a, b)    SC_PASTE2(a, b)
#define SC_ISA_NAME(name) SC_PASTE(name##_, SC_ISA)

#define SC_SLOT(type, slot) ((type *)(void *)(strip->file + op->slot))

#ifdef __clang__
#define SC_LANE_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define SC_LANE_LOOP _Pragma("GCC ivdep")
#endif

/*
 * `body` sets `r` of type `td` from x, y, z of lane t. Lanes never depend on
 * each other, and a destination is either the same slot as a source or does
 * not overlap it, which is what the loop pragma promises.
 */
#define SC_DEFINE_OP(name, td, ta, tb, tc, body)                               \
    static const struct sc_op *name(const struct sc_op *op,                    \
                                    struct sc_strip *strip)                    \
    {                                                                          \
        td *d = SC_SLOT(td, d);                                                \
        const ta *a = SC_SLOT(const ta, a);                                    \
        const tb *b = SC_SLOT(const tb, b);                                    \
        const tc *c = SC_SLOT(const tc, c);                                    \
        const unsigned flags = op->flags;                                      \
        (void)flags;                                                           \
        const size_t n = strip->padded & ~(size_t)31;                          \
        if (strip->full) {                                                     \
            SC_LANE_LOOP                                                       \
            for (size_t t = 0; t < n; t++) {                                   \
                const ta x = a[t];                                             \
                const tb y = b[t];                                             \
                const tc z = c[t];                                             \
                td r;                                                          \
                (void)x, (void)y, (void)z;                                     \
                body;                                                          \
                d[t] = r;                                                      \
            }                                                                  \
        } else {                                                               \
            const uint32_t *m = strip->mask;                                   \
            SC_LANE_LOOP                                                       \
            for (size_t t = 0; t < n; t++) {                                   \
                const ta x = a[t];                                             \
                const tb y = b[t];                                             \
                const tc z = c[t];                                             \
                td r;                                                          \
                (void)x, (void)y, (void)z;                                     \
                body;                                                          \
                d[t] = m[t] ? r : d[t];                                        \
            }                                                                  \
        }                                                                      \
        return op + 1;                                                         \
    }

#endif
