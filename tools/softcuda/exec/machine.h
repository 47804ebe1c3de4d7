/*
 * The machine that runs decoded kernels: ops, register file, strips, CTAs.
 *
 * A CTA is cut into strips of SC_LANES lanes; a strip has its own register
 * file (arrays of lanes) and runs one op over all its lanes at a time. Lanes
 * of a strip that stand at different positions form groups; the group with
 * the lowest position runs until it reaches another group's position and
 * merges with it (ptx/cfg.h says why that reconverges).
 *
 * Owned by one worker thread while a CTA runs; no locks.
 */
#ifndef SOFTCUDA_EXEC_MACHINE_H
#define SOFTCUDA_EXEC_MACHINE_H

#include "exec/exec.h"

#define SC_LANES    256u /* per strip; a multiple of 32 */
#define SC_WORDS    (SC_LANES / 32)
#define SC_CHUNK    16u /* lanes a memory op looks at together */
#define SC_BARRIERS 16u
/* back edges until a group yields, and what one costs where a lane asked what
 * it had asked before and heard the same */
#define SC_BUDGET     (1u << 20)
#define SC_SPIN_PRICE (SC_BUDGET / 64)
#define SC_ASKED      4u /* questions that are remembered */
#define SC_MAX_STRIPS (SC_MAX_CTA_THREADS / SC_LANES)

/** No slot of the register file. */
#define SC_NO_SLOT UINT32_MAX

struct sc_strip;
struct sc_op;

/** Runs one op; returns the next one, NULL when the group must stop. */
typedef const struct sc_op *(*sc_handler)(const struct sc_op *op,
                                          struct sc_strip *strip);

enum sc_address_mode {
    SC_ADDR_GLOBAL, /* .global and .const: device addresses */
    SC_ADDR_SHARED, /* offsets into the CTA's shared memory */
    SC_ADDR_LOCAL,  /* offsets into the lane's local memory */
    SC_ADDR_PARAM,  /* offsets into the kernel's parameters */
    SC_ADDR_GENERIC,
};

/** One decoded instruction; d, a, b, c, e are byte offsets of register-file
 *  slots. What the rest means is up to the handler. */
struct sc_op {
    sc_handler run;
    uint32_t d, a, b, c, e;
    uint32_t line;
    int64_t imm;
    uint32_t target; /* index of an op */
    uint16_t flags;
    uint16_t mode; /* enum sc_address_mode */
};

enum sc_group_state { SC_GROUP_READY, SC_GROUP_BARRIER, SC_GROUP_STALLED };

/** Lanes of a strip that stand at one position. */
struct sc_group {
    uint32_t pc;
    uint32_t bits[SC_WORDS];
    uint32_t turn; /* when it last ran, for fairness */
    uint8_t state, barrier;
};

struct sc_barrier {
    uint32_t arrived;  /* lanes */
    uint32_t expected; /* lanes; 0 = all of the CTA */
    uint32_t popc;     /* of bar.red predicates */
};

struct sc_cta;

/** An access that other lanes may answer, and what its lanes heard. */
struct sc_question {
    const struct sc_op *op;
    uint64_t heard;
};

struct sc_strip {
    char *file;                           /* register file */
    _Alignas(64) uint32_t mask[SC_LANES]; /* 0 or ~0 */
    uint32_t bits[SC_WORDS];              /* the same, one bit per lane */
    bool full;             /* every lane that exists is in the mask */
    uint32_t padded;       /* lanes rounded up to SC_CHUNK × 2 */
    uint32_t lanes, first; /* of the CTA: [first, first + lanes) */
    uint32_t all[SC_WORDS], alive[SC_WORDS];
    struct sc_cta *cta;
    const struct sc_op *code;

    uint32_t stop;   /* position of the next other group */
    uint32_t budget; /* back edges before somebody else gets a turn */
    bool spinning;   /* nothing new was heard since the last one */
    bool waited;     /* such a back edge was paid for since the last turn */
    uint32_t calm;   /* turns in a row without one */
    struct sc_question asked[SC_ASKED];
    uint32_t ask_next;
    bool forced; /* .sync ops must not wait for lanes that cannot come */
    bool yielded, rotate;
    uint32_t turn, current, group_count;
    struct sc_group groups[SC_LANES];
};

struct sc_worker;
struct sc_code;

/** Everything a running CTA needs; one per worker. */
struct sc_cta {
    const struct sc_code *code;
    const struct sc_launch *launch;
    uint64_t window_base, window_bytes, shared_base, local_base;
    char *shared;
    uint32_t shared_bytes;
    char *local; /* of all lanes, lane after lane */
    uint32_t local_bytes;
    const char *params;
    uint32_t param_bytes;
    uint32_t id[3], threads, strip_count;
    uint32_t worker_number, worker_count;
    uint32_t alive;
    bool moved; /* in its last turn it did more than ask the same again */
    struct sc_barrier barriers[SC_BARRIERS];
    struct sc_strip *strips;
    const struct sc_op *access; /* memory op under way, for SIGSEGV */
    enum sc_exec_status status;
    struct sc_exec_fault fault;
};

/** What to put in a slot before a kernel or a CTA starts. */
enum sc_fill_kind { SC_FILL_VALUE, SC_FILL_PARAM, SC_FILL_SPECIAL };

struct sc_fill {
    uint32_t slot;
    uint8_t kind, bytes; /* of the slot's lanes */
    uint8_t load_bytes;  /* of a parameter */
    bool is_signed;
    uint64_t value; /* bits, offset, or enum sc_special */
};

/** A register that a call saves on the lane's stack. */
struct sc_save {
    uint32_t slot, bytes, offset; /* in the frame */
};

/** The registers of one function that calls. */
struct sc_frame {
    struct sc_save *saves;
    uint32_t count;
    uint32_t bytes; /* of the whole frame, variables first */
};

/** Slots of one texture or surface instruction; SC_NO_SLOT where it has no
 *  such operand. */
struct sc_texture_form {
    uint8_t shape, lod_mode, gather, bound; /* of exec/texture.h; */
    uint8_t query, bytes; /* bytes of one destination or source */
    bool integer, packed;
    uint8_t count; /* of data */
    uint32_t handle, x[3], layer, lod, dx[3], dy[3], offset[3];
    uint32_t data[4], present;
};

/** One decoded kernel. */
struct sc_code {
    const char *name;
    struct sc_op *ops;
    uint32_t op_count;
    uint32_t file_bytes; /* of one strip */
    struct sc_fill *fills;
    uint32_t fill_count;
    uint32_t shared_bytes, local_bytes, param_bytes;
    bool uses_barrier;
    bool needs_stack;     /* .local is followed by a stack */
    uint32_t *entries;    /* by function number: its op, ~0 = not callable */
    uint32_t entry_count; /* functions of the module */
    struct sc_frame *frames;
    uint32_t stack_slot;  /* 8-byte lanes: where the lane's stack ends */
    struct sc_heap *heap; /* of device malloc; NULL = none */
    struct sc_texture_form *textures;
    uint32_t texture_count;
    uint64_t workspace; /* of grid barriers, device memory; 0 = not needed */
};

/** Bytes of sc_code.workspace; cooperative groups use the first few. */
#define SC_WORKSPACE_BYTES 256u

/** Bytes of .local one thread needs now, its stack included. */
static inline uint32_t sc_code_local(const struct sc_code *code)
{
    uint32_t bytes = (code->local_bytes + 15) & ~15u;
    return code->needs_stack
               ? bytes + (uint32_t)(sc_exec_limit(SC_LIMIT_STACK) & ~15u)
               : bytes;
}

/**
 * Note why the CTA dies.
 *
 * Return: NULL, so that a handler can return it
 */
const struct sc_op *sc_machine_fault(struct sc_strip *strip,
                                     const struct sc_op *op,
                                     enum sc_exec_status status,
                                     uint64_t address);

/** `heard`, and one more lane's address and answer. */
static inline uint64_t sc_machine_hear(uint64_t heard, uint64_t at,
                                       uint64_t answer)
{
    heard = (heard ^ at) * UINT64_C(0x9e3779b97f4a7c15);
    heard = (heard ^ heard >> 29 ^ answer) * UINT64_C(0xbf58476d1ce4e5b9);
    return heard ^ heard >> 32;
}

/** The lanes that run asked something at `op`, and `heard` stands for what
 *  and the answers: note whether that is news. */
void sc_machine_ask(struct sc_strip *strip, const struct sc_op *op,
                    uint64_t heard);

/** Make `bits` the running mask of the strip. */
void sc_machine_set_mask(struct sc_strip *strip, const uint32_t *bits);

/**
 * Run the CTA whose strips are set up until it ends or every lane waits for
 * somebody else: another lane, or another CTA of a cooperative launch.
 *
 * Return: true when there is more to run; status and fault are in `cta`
 */
bool sc_machine_turn(struct sc_cta *cta);

#endif
