/*
 * Inside of the generator: what its parts know of one kernel.
 *
 * A group is the lanes that run in lockstep: one vector of `lanes` lanes, or
 * for kernels that look across lanes a whole warp, `parts` vectors. Blocks are
 * numbered by their place in the layout (ptx/cfg.h); lanes with the lowest
 * place run first, as in the interpreter, so diverged lanes meet again at the
 * first block behind both ways. Everything lives in the arena of `load`, and
 * every refusal jumps back through it. Lock: none.
 */
#ifndef SOFTCUDA_NATIVE_GEN_H
#define SOFTCUDA_NATIVE_GEN_H

#include "native/alu.h"
#include "ptx/cfg.h"

#define SC_WARP 32u
/* no widening, no block, … */
#define SC_NONE UINT32_MAX

/** What is known of a register over the lanes of a group. */
enum sc_shape_kind {
    SC_SHAPE_UNSEEN,
    SC_SHAPE_LINEAR, /* lane l holds that of lane 0 plus l × stride */
    SC_SHAPE_VARYING,
};

/**
 * `widen` names the instruction that extended a 32-bit linear value, times
 * `factor` here: should the narrow one have wrapped within the group, the
 * lanes are not linear, and memory accesses take their slow way.
 */
struct sc_shape {
    enum sc_shape_kind kind;
    uint32_t widen;
    int64_t stride, factor;
};

static inline bool sc_shape_is_uniform(struct sc_shape s)
{
    return s.kind == SC_SHAPE_LINEAR && s.stride == 0;
}

/** A set of registers. */
typedef uint64_t sc_bits;

static inline bool sc_bits_has(const sc_bits *set, uint32_t i)
{
    return set[i / 64] >> i % 64 & 1;
}

static inline void sc_bits_add(sc_bits *set, uint32_t i)
{
    set[i / 64] |= (uint64_t)1 << i % 64;
}

/** A block at its place; place `count` stands for the end of the kernel. */
struct sc_place {
    uint32_t first, end; /* instructions */
    uint32_t *succs;     /* places; the fall-through first */
    uint32_t succ_count;
    bool falls;
    uint32_t pdom;     /* nearest post-dominator */
    uint32_t loop_end; /* last place of the innermost loop around it, or NONE */
    uint32_t loop_head;
    sc_bits *live_in, *live_out;
    sc_bits *clash; /* registers waiting lanes may need the old value of */
    sc_bits *fresh; /* registers set since a barrier, or none was met */
    bool diverged;  /* may run with some lanes of the group only */
    /* labels of the branch at its end, by place: 0 = not between the branch
     * and where its lanes meet; equal = reached by the same way */
    uint32_t *labels;
};

struct sc_text {
    char *data;
    size_t length, capacity;
};

struct sc_offset {
    const struct sc_var *var;
    uint64_t at;
};

/** Bytes [low, high) from a register on that accesses in [first, end) of one
 *  place share a check for. */
struct sc_range {
    uint32_t reg, mode; /* enum sc_mode */
    uint32_t first, end, number, align;
    int64_t low, high;
    bool asked; /* for the whole place, ahead of it */
};

/** Where groups go on from: the start, or a barrier. */
struct sc_turn {
    uint64_t from; /* a barrier: the turns groups come from */
    sc_bits *live;
    bool taken; /* some barrier hands on to it */
};

struct sc_gen {
    struct sc_load load;
    const struct sc_ir *ir;
    const struct sc_func *func;
    enum sc_native_isa isa;
    uint32_t ntid[3], threads;
    uint32_t lanes, parts, group, groups;
    bool partial;     /* the last group has lanes without a thread */
    bool whole_warps; /* a group is a warp */
    bool wide;        /* a group is several vectors of whole warps */
    bool rows;        /* tid.x is linear, tid.y and tid.z uniform */
    bool has_local, has_barrier;
    const char *why; /* being refused */

    struct sc_cfg cfg;
    uint32_t count; /* places */
    struct sc_place *places;
    uint32_t *place_of; /* block to place */

    uint32_t reg_count; /* the condition code is the last one */
    uint32_t words;     /* of a set of registers */
    uint64_t compared;  /* words of places that clash, ever */
    struct sc_shape *shapes;
    uint32_t *defs;     /* how many instructions write the register */
    uint32_t *def_inst; /* one of them */
    bool *widens;       /* by instruction: linear narrow to linear wide */

    struct sc_offset *offsets; /* of .shared and .local variables */
    uint32_t offset_count;
    size_t offset_capacity;
    uint32_t local_bytes, shared_bytes; /* placed */

    struct sc_alu_set alu;
    struct sc_text library, hoist, body, whole;
    bool *rt_used;     /* rows of rt_memory.def */
    uint64_t *hoisted; /* parameters already loaded */
    size_t hoisted_count, hoisted_capacity;
    const struct sc_inst *inst;
    uint32_t place;        /* being emitted */
    char mask;             /* lanes meant: see native/emit.h */
    uint32_t barriers;     /* so far in the text */
    bool tid_used;         /* as a vector of a kernel without rows */
    sc_bits *saved;        /* registers live across any barrier */
    bool *saved_widens;    /* by instruction */
    uint64_t save_bytes;   /* of one group */
    struct sc_turn *turns; /* by number of the barrier, 0 the start; or NULL */
    bool reduces;          /* there is a bar.red */
    struct sc_range *ranges;
    uint32_t range_count;
    size_t range_capacity;
    bool *steady;   /* by register: the same in all groups whenever it is set */
    bool *fetched;  /* by register: varies, and stems from loads of lanes */
    bool *same;     /* by register: all that set it set the same value */
    bool flushes;   /* runs while the processor takes subnormals for zeros */
    bool *raw;      /* by register: a subnormal in it stands for a zero */
    bool *known;    /* by register: a compiler may know its value */
    bool reads_raw; /* what is being emitted takes them as they are */
};

/* ---- generate.c ---- */

/** Leave the kernel to the interpreter. */
_Noreturn void sc_gen_refuse(struct sc_gen *gen, const char *why);

/* ---- text.c ---- */

/** Append; memory that runs out is refused like anything else. */
void sc_text_put(struct sc_gen *gen, struct sc_text *text, const char *format,
                 ...) __attribute__((format(printf, 3, 4)));
/** The same to gen->body. */
void sc_put(struct sc_gen *gen, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- live.c ---- */

#define SC_MAX_DEFS 10u
#define SC_MAX_USES 24u

/** Registers an instruction writes; `regs` has room for SC_MAX_DEFS. */
uint32_t sc_gen_defs(const struct sc_gen *gen, const struct sc_inst *inst,
                     uint32_t *regs);
/** Registers it reads, its guard included; room for SC_MAX_USES. */
uint32_t sc_gen_uses(const struct sc_gen *gen, const struct sc_inst *inst,
                     uint32_t *regs);
/** Whether operand 0 is written rather than read. */
bool sc_gen_writes(const struct sc_inst *inst);
/** Registers live before instruction `inst` of a place. */
void sc_gen_live_before(const struct sc_gen *gen, uint32_t place, uint32_t inst,
                        sc_bits *live);
/** Fill live_in, live_out, defs and def_inst. */
void sc_gen_live(struct sc_gen *gen);

/* ---- flow.c ---- */

/** Fill places: edges, post-dominators, loops. */
void sc_gen_flow(struct sc_gen *gen);
/** Place an edge to a block leads to: `count` when it only returns. */
uint32_t sc_gen_place(const struct sc_gen *gen, uint32_t block);
/** Label the ways from the end of `place` to where its lanes meet, mark what
 *  lies between as diverged. */
void sc_gen_split(struct sc_gen *gen, uint32_t place);
/** Recompute `clash` of every place from the labels. */
void sc_gen_clash(struct sc_gen *gen);
/** Whether lanes that wait elsewhere may need the old value of what a place
 *  writes. */
bool sc_gen_clashes(const struct sc_gen *gen, uint32_t place, uint32_t reg);
/** First place behind `place` where lanes may wait, or all meet. */
uint32_t sc_gen_next(const struct sc_gen *gen, uint32_t place);
/** Whether lanes may wait between `place` and `target`, both excluded. */
bool sc_gen_waits(const struct sc_gen *gen, uint32_t place, uint32_t target);

/* ---- steady.c ---- */

/** Fill `steady`; after sc_gen_shapes. */
void sc_gen_steady(struct sc_gen *gen);
/** Whether it loads a parameter by its name. */
bool sc_gen_loads_param(const struct sc_inst *inst);

/* ---- fetched.c ---- */

/** Fill `fetched`; after sc_gen_shapes. */
void sc_gen_fetched(struct sc_gen *gen);

/* ---- fresh.c ---- */

/** Fill `fresh` of every place. */
void sc_gen_fresh(struct sc_gen *gen);
/** Registers set since a barrier, before instruction `inst` of a place. */
void sc_gen_fresh_before(const struct sc_gen *gen, uint32_t place,
                         uint32_t inst, sc_bits *fresh);

/* ---- same.c ---- */

/** Fill `same`; after sc_gen_live. */
void sc_gen_same(struct sc_gen *gen);

/* ---- flush.c ---- */

/** Fill `flushes`, `raw` and `known`; after sc_gen_live. */
void sc_gen_flush(struct sc_gen *gen);
/** Find what gen->inst computes and set `reads_raw` for it. */
bool sc_gen_find(struct sc_gen *gen, struct sc_alu_call *call);
/** Whether gen->inst gives `reg` a number no compiler may know. */
bool sc_gen_hides(const struct sc_gen *gen, uint32_t reg);

/* ---- accept.c ---- */

/** Refuse what the generator does not do; find what groups must be. */
void sc_gen_accept(struct sc_gen *gen);
/** Refuse loops in which lanes may wait for each other; after sc_gen_live. */
void sc_gen_accept_loops(struct sc_gen *gen);

/* ---- shape.c ---- */

/** Fill shapes and widens, and split places that need it. */
void sc_gen_shapes(struct sc_gen *gen);
/** Shape of an operand. */
struct sc_shape sc_gen_shape(const struct sc_gen *gen,
                             const struct sc_operand *operand);
/** Whether the lanes that pass the guard may differ. */
bool sc_gen_guard_varies(const struct sc_gen *gen, const struct sc_inst *inst);

/* ---- exchange.c ---- */

/** Whether lanes of a warp may see what others of it did in memory since the
 *  last barrier; after sc_gen_live. After sc_gen_shapes for whole warps it is
 *  sure of more that they do not. */
bool sc_gen_exchanges(struct sc_gen *gen);

/* ---- emit_warp.c ---- */

/** Whether an instruction is a shuffle that gives all lanes one value. */
bool sc_gen_broadcasts(const struct sc_gen *gen, const struct sc_inst *inst);

/* ---- value.c ---- */

/** Text of one value; long enough for any operand. */
struct sc_value {
    char text[200];
};

/** C class of a register: by its size. */
enum sc_lane_class sc_gen_class(const struct sc_gen *gen, uint32_t reg);
/** Whether an operand is an integer constant, or a register that only ever
 *  receives one, which is how compilers hand them over. */
bool sc_gen_is_constant(const struct sc_gen *gen,
                        const struct sc_operand *operand, uint32_t *value);
/** Uniform value of an operand, or its lane 0 when it is linear. */
struct sc_value sc_gen_scalar(struct sc_gen *gen,
                              const struct sc_operand *operand,
                              enum sc_lane_class class, enum sc_type type);
/** Vector of part `part`. */
struct sc_value sc_gen_vector(struct sc_gen *gen,
                              const struct sc_operand *operand,
                              enum sc_lane_class class, enum sc_type type,
                              uint32_t part);
/** A scalar turned into a vector. */
struct sc_value sc_gen_spread(enum sc_lane_class class, const char *scalar);
/** Whether a variable lies in device memory. */
bool sc_gen_in_window(const struct sc_var *var);
/** Where a variable lies in its space; from the start of the window, which is
 *  another one in each process, so that objects can be kept. */
uint64_t sc_gen_offset(struct sc_gen *gen, const struct sc_var *var);

#endif
