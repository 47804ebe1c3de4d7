/*
 * What the addresses of a kernel are computed by, made ready for launches.
 *
 * Steps are the instructions that registers of addresses and of comparisons
 * depend on, in a vocabulary of their own (flow.c). Limits say what holds of a
 * register where a step or an access uses it, because of branches and guards
 * (fact.c). Counters are the registers that loops advance by a step (loop.c).
 * What depends on what, and on which numbers of a launch, is known before there
 * is one (depend.c), and which pointers only shift what is touched (base.c). A
 * launch evaluates them with its numbers (ptx/solve.h).
 *
 * All of it lives in the arena of the load. Lock: none; read-only once made.
 */
#ifndef SOFTCUDA_PTX_FLOW_H
#define SOFTCUDA_PTX_FLOW_H

#include "ptx/cfg.h"
#include "ptx/interval.h"
#include "ptx/origin.h"

enum sc_step_kind {
    SC_STEP_ANY, /* of from_bits, extended */
    SC_STEP_PARAM,
    SC_STEP_COPY, /* of from_bits, extended */
    SC_STEP_ADD,
    SC_STEP_SUB,
    SC_STEP_MUL,
    SC_STEP_MUL_WIDE,
    SC_STEP_MAD,
    SC_STEP_MAD_WIDE,
    SC_STEP_SHL,
    SC_STEP_SHR,
    SC_STEP_AND,
    SC_STEP_OR, /* exclusive or too */
    SC_STEP_MIN,
    SC_STEP_MAX,
    SC_STEP_DIV,
    SC_STEP_REM,
    SC_STEP_NEG,
    SC_STEP_NOT,
    SC_STEP_SELECT,
    SC_STEP_PACK,
    SC_STEP_LOW,
    SC_STEP_HIGH,
};

enum sc_source_kind {
    SC_SOURCE_ANY,
    SC_SOURCE_REG,
    SC_SOURCE_NUMBER,
    SC_SOURCE_SPECIAL,
};

/** A comparison that holds of a register. */
struct sc_limit {
    uint16_t fact;
    bool negated; /* the comparison does not hold */
    bool turned;  /* the register is its second operand */
};

struct sc_limits {
    const struct sc_limit *list;
    uint32_t count;
};

struct sc_source {
    enum sc_source_kind kind;
    uint32_t reg;      /* or number of the special register */
    uint32_t variable; /* of the register; UINT32_MAX: nothing sets it */
    int64_t number;
    const struct sc_limit *limits;
    uint32_t limit_count;
};

struct sc_step {
    enum sc_step_kind kind;
    uint8_t bits;      /* the operation's */
    uint8_t from_bits; /* of what it takes */
    bool is_signed;    /* numbers it takes are */
    uint32_t to, inst;
    uint32_t at;    /* of SC_STEP_PARAM: byte in the list */
    uint32_t input; /* ... and its number in flow->inputs */
    struct sc_source from[3];
};

/** What a predicate says: a comparison of registers, or other predicates. */
enum sc_fact_kind { SC_FACT_COMPARES, SC_FACT_AND, SC_FACT_OR, SC_FACT_NOT };

struct sc_fact {
    enum sc_fact_kind kind;
    uint32_t inst, predicate;
    enum sc_relation relation;
    uint8_t bits;
    bool is_signed;
    struct sc_source from[2]; /* registers; predicates, for the others */
    bool negated[2];          /* ... that are */
};

/** What of a launch a value depends on: a bit for each input, the last of these
 *  for all that are more; and one for each size of the grid and of a block. */
typedef uint64_t sc_inputs;
enum { SC_INPUT_MORE = 57, SC_INPUT_GRID = 58, SC_INPUT_BLOCK = 61 };

/** A number that a launch passes: some bytes of its parameters. */
struct sc_input {
    uint32_t at, bytes;
    /* It is added to addresses once and nothing else is done with it: values
     * that it is part of are evaluated less it. */
    bool shifts;
};

enum { SC_BASE_NONE = -1 };

/** A register that some instruction sets; `steps` are all that do. */
struct sc_variable {
    uint32_t reg;
    unsigned bits;
    const struct sc_step **steps;
    uint32_t step_count;
    const struct sc_counter *counter; /* or NULL */
    sc_inputs inputs;
    int32_t base; /* the input that shifts it, or SC_BASE_NONE */
};

/** Variables that depend on each other; or one. */
struct sc_flow_group {
    const uint32_t *list;
    uint32_t count;
    bool is_cyclic;
    sc_inputs inputs;
};

/** Leaves a loop unless a comparison of a counter holds. */
struct sc_test {
    const struct sc_counter *counter;
    struct sc_limit limit;
    bool advanced; /* the counter has advanced before, each time around */
    bool ordered;  /* ... or each time after */
};

struct sc_loop {
    uint32_t first, end; /* blocks, by place in the order */
    uint32_t head;
    bool is_simple; /* entered at its head alone */
    struct sc_test *tests;
    size_t test_count, test_capacity;
};

/** variable = variable + step, once each time around at most. */
struct sc_counter {
    const struct sc_variable *variable;
    struct sc_loop *loop;
    const struct sc_step *advance; /* the sum or difference */
    const struct sc_step *closing; /* puts it into the variable */
    bool each_time;
};

struct sc_flow {
    const struct sc_func *func;
    struct sc_cfg cfg;
    struct sc_origins origins;
    uint32_t *place_of; /* block -> place in the order; UINT32_MAX: none */
    struct sc_fact *facts;
    size_t fact_count, fact_capacity;
    struct sc_step **steps; /* in the order of blocks */
    size_t step_count, step_capacity;
    struct sc_variable *variables;
    size_t variable_count;
    struct sc_loop *loops;
    size_t loop_count, loop_capacity;
    struct sc_source *addresses; /* by access */
    /* by access: all that holds there, not of its address alone; `turned` means
     * nothing */
    struct sc_limits *conditions;
    bool *needed; /* registers */
    struct sc_input *inputs;
    size_t input_count, input_capacity;
    struct sc_flow_group *groups; /* what they depend on comes before them */
    size_t group_count, group_capacity;
    sc_inputs *access_inputs; /* by access */
    sc_inputs all_inputs;     /* of all accesses */
};

/**
 * Prepare a kernel with a body.
 *
 * @load receives the allocations; jumped back through when memory runs out
 * Thread: the owner of `load`
 * Signal: never
 */
void sc_flow_build(struct sc_load *load, const struct sc_func *func,
                   struct sc_flow *flow);

/* ---- between the parts ---- */

/** Call `each` for every register the instruction sets. */
void sc_flow_results(const struct sc_inst *inst,
                     void (*each)(void *context, uint32_t reg), void *context);

/** An operand where a number is taken. */
struct sc_source sc_flow_source(const struct sc_operand *operand);

unsigned sc_flow_bits(const struct sc_func *func, uint32_t reg);

/** Find what predicates say (flow->facts). */
void sc_facts_find(struct sc_load *load, struct sc_flow *flow);

/** Note in steps, addresses and loops' tests what holds there. */
void sc_limits_find(struct sc_load *load, struct sc_flow *flow);

/** Find loops and counters; before the limits. */
void sc_loops_find(struct sc_load *load, struct sc_flow *flow);

/** A branch that leaves loops: staying in them means these limits. */
void sc_loops_note(struct sc_load *load, struct sc_flow *flow, uint32_t block,
                   uint32_t stays, const struct sc_limit *limits,
                   uint32_t count);

/** Find what accesses depend on; after the limits. */
void sc_depend_find(struct sc_load *load, struct sc_flow *flow);

/** Call `each` for all that evaluating a variable looks at. */
void sc_depend_reads(const struct sc_flow *flow, const struct sc_variable *v,
                     void (*each)(void *context, const struct sc_source *read),
                     void *context);

/** The same, for an access. */
void sc_depend_access(const struct sc_flow *flow, size_t access,
                      void (*each)(void *context, const struct sc_source *read),
                      void *context);

/** Find the inputs that only shift; `relevant` are the variables that accesses
 *  depend on. */
void sc_bases_find(struct sc_flow *flow, const bool *relevant);

#endif
