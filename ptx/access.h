/*
 * What a launch may read and write, told from its kernel's PTX.
 *
 * For who looks into programs: takes any image as cuModuleLoadData does, reads
 * it when the first of its kernels is asked for, and never runs anything.
 * Every doubt ends in "anything". Stands alone: the rest of the room is not
 * needed to include it.
 *
 * Owns the text and what was read from it. Lock: none; the caller sees to it
 * that a module is used by one thread at a time.
 */
#ifndef SOFTCUDA_PTX_ACCESS_H
#define SOFTCUDA_PTX_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SC_PLACES_MOST = 32, SC_RANGES_MOST = 48, SC_STRIDES_MOST = 3 };

/** Eight bytes of a kernel's parameters. */
struct sc_place {
    uint16_t param;  /* its number                                        */
    uint16_t offset; /* in it, bytes                                      */
    uint16_t at;     /* in the list of all of them, bytes                 */
};

/** What a number is, as far as a declaration says it. */
enum sc_number { SC_NUMBER_ANY, SC_NUMBER_INTEGER, SC_NUMBER_REAL };

/** A parameter as it is declared. */
struct sc_parameter {
    uint16_t offset, bytes; /* in the list of all of them                 */
    uint8_t number;         /* enum sc_number, where it is one            */
};

/** What is known of a kernel whatever its launch. */
struct sc_reach {
    bool writes_anywhere;  /* it may write to any memory                  */
    bool reaches_anywhere; /* it may read or write any memory             */
    bool writes_own;       /* it may write to variables of its module     */
    bool reaches_own;      /* ... or read them                            */
    unsigned place_count;
    struct sc_place place[SC_PLACES_MOST];
    uint32_t written; /* bit i: it may write where place[i] points        */
    uint32_t reached; /* ... or read                                      */
};

/** A launch, or some of its blocks: from `from` on, in each dimension, up to but
 *  not including `to`; 0: to the end of the grid. */
struct sc_geometry {
    uint32_t grid[3], block[3];
    uint32_t from[3], to[3];
};

/** Where its blocks end in dimension `d`. */
static inline uint32_t sc_geometry_end(const struct sc_geometry *g, unsigned d)
{
    return g->to[d] && g->to[d] < g->grid[d] ? g->to[d] : g->grid[d];
}

/** Rows, each `bytes` behind the one before. */
struct sc_stride {
    uint64_t bytes, count;
};

/**
 * Bytes that a launch may touch: those from the first to the last, or, where
 * there are strides, of them some rows of `row` bytes. The first row begins at
 * the first byte; from each row on, others lie at up to `count` - 1 times each
 * stride's bytes.
 */
struct sc_range {
    uint64_t first, last;
    uint64_t row;
    unsigned stride_count;
    struct sc_stride stride[SC_STRIDES_MOST]; /* the largest first        */
    uint32_t places; /* its address was computed from these               */
    bool reads, writes;
    bool known;  /* otherwise: anywhere in what the places point into     */
    bool sparse; /* rows were not looked for, and there may be some       */
};

/** Of one launch. */
struct sc_touched {
    unsigned count;
    struct sc_range range[SC_RANGES_MOST];
};

struct sc_program;
struct sc_program_kernel;

/**
 * Keep a copy of an image's PTX as it is packed there, to be read when a kernel
 * of it is asked for.
 *
 * @image  as given to cuModuleLoadData: text, or a fat binary
 * @sm     of the device that will run it, 90 for capability 9.0
 * Return: NULL: no memory, or no PTX that says what this device will do
 * Thread: any. Signal: never
 */
struct sc_program *sc_program_new(const void *image, unsigned sm);
void sc_program_free(struct sc_program *program);

/**
 * The parameters of the kernel of that name. Its body is not read, nor are
 * others: what they do need not be understood.
 *
 * @list   receives the first `most`
 * Return: how many there are; -1: there is no such kernel, or it is not
 *         declared as one
 * Signal: never
 */
int sc_program_parameters(struct sc_program *program, const char *name,
                          struct sc_parameter *list, int most);

/** Its text, unpacked, which lives as long as the program; NULL: it is damaged,
 *  or there is no memory. Signal: never */
const char *sc_program_text(struct sc_program *program, size_t *bytes);

/** The kernel of that name; NULL: it has none, or none that was understood. It
 *  lives as long as the program. Signal: never */
struct sc_program_kernel *sc_program_kernel(struct sc_program *program,
                                            const char *name);

/** What is known of it without a launch. */
const struct sc_reach *sc_program_reach(const struct sc_program_kernel *kernel);

/**
 * What a launch touches, or those of its blocks, for a kernel that does not
 * reach anywhere. Launches that differ from one of the last few in nothing that
 * matters cost a comparison, and those that differ little cost little. No
 * strides are looked for.
 *
 * @params values of all parameters, where the kernel has them; @bytes of them
 * Return: false: nothing is known but sc_program_reach
 * Signal: never
 */
bool sc_program_touched(struct sc_program_kernel *kernel,
                        const struct sc_geometry *geometry,
                        const uint8_t *params, size_t bytes,
                        struct sc_touched *touched);

/**
 * The same with strides, which takes longer, a few times as long for a launch
 * that is not like one before: for who has seen sparse ranges. Who asks behind
 * that is told of strides either way.
 */
bool sc_program_rows(struct sc_program_kernel *kernel,
                     const struct sc_geometry *geometry, const uint8_t *params,
                     size_t bytes, struct sc_touched *touched);

#endif
