/*
 * Operands: what the pointers of a call over a range mean, part by part.
 *
 * From a public adsmArg, the array it points to and the call's range comes an
 * operand: a shape, and for each of its dimensions the dimension of the range
 * that it follows. From an operand and a part come the boxes that the part
 * reads and writes. Pure: asks no object and no device.
 *
 * The read box of adsmCross is the one around the cross, corners included: a
 * copy is one box, so they have their place in it either way, and it is the
 * radius squared that they cost.
 *
 * A boxed argument names its boxes itself (call/expression.h): an operand may
 * want several, all of which lie in one copy, as a kernel has one pointer to it.
 *
 * Which boxes can be had by a pointer: whole rows only, so an operand whose
 * parameter is a pointer keeps a dimension of the range from being cut that its
 * inner dimensions follow. Thread: any. Signal: never
 */
#ifndef ADSM_CALL_OPERAND_H
#define ADSM_CALL_OPERAND_H

#include "adsm_skeleton.h"
#include "range/spread.h"
#include "call/expression.h"
#include "call/split.h"

/** What is known of a call when one of its arguments is looked at. */
struct adsm_operand_call {
    const char *kernel; /* its name, for messages */
    adsmBox range;
    bool several;       /* parts there may be */
    const int *numbers; /* of its devices, as the program counts them */
};

/** What is known of the memory an argument points to. */
struct adsm_operand_memory {
    struct adsm_array array; /* shape.nd 0: none was said */
    size_t bytes;            /* from the pointer to its allocation's end */
};

enum { ADSM_OPERAND_WANTS = ADSM_EXPRESSION_BOXES };

struct adsm_operand {
    int number; /* of the argument, for messages */
    struct adsm_array array;
    bool reads, writes;
    int dim[3];     /* of the range, that the array's follows; -1: none */
    long per[3];    /* indices of the range for an element; 1 or more */
    long radius[3]; /* elements */
    adsmEdge edge;
    const void *pad;
    /* What accumulates in it; NULL: nothing does. A part's own is `stride` bytes
     * behind that of the part before; 0: all have the array itself. */
    const adsmOperator *into;
    bool scatter; /* no, but each element is written once (call/into.h) */
    size_t stride;
    bool pointer; /* the parameter is one, not a view */
    int wants;    /* most of a part: 1, or more when it is boxed */
    /* Of ADSM_BOXED, else NULL; `dim` is -1 then. Bits of `follows` are
     * dimensions of the range that the array's depend on. */
    const adsmArg *boxed;
    uint8_t follows[3];
    bool
        passing; /* its boxes are the call's alone: likely others in the next */
    /* For a box function: the call's range and devices. */
    adsmBox range;
    const int *numbers;
};

/**
 * Check an argument that is a pointer.
 *
 * @number  of the argument, which was checked by itself (call/argument.h)
 * @parameter_bytes  of its parameter: 8 a pointer, 16 an adsm_view2, 24 an
 *          adsm_view3; 0: the driver cannot tell
 * @arg     kept, with its text, where it is boxed
 * Return: ADSM_OK; ADSM_E_INVALID with a sentence
 */
int adsm_operand_make(const struct adsm_operand_call *call, int number,
                      const adsmArg *arg, size_t parameter_bytes,
                      const struct adsm_operand_memory *memory,
                      struct adsm_operand *operand);

/** Give each output room for the neighbours that another operand of its shape,
 *  cut as it is, reads: often the next call reads it so, and a copy without
 *  would have to be made again. */
void adsm_operand_give_room(struct adsm_operand *operands, int count);

/** What cuts cost and which may not be, by all operands. `may` is true and
 *  `halo` 0 before. */
void adsm_operand_weigh(const struct adsm_operand *operands, int count,
                        struct adsm_split *split);

/**
 * Whether the cuts of a grid can be made: pointers where views are needed.
 * Parts that write the same byte, found before anything moves.
 *
 * Return: ADSM_OK; ADSM_E_INVALID with a sentence; ADSM_E_NOMEM
 */
int adsm_operand_check(const struct adsm_operand_call *call,
                       const struct adsm_operand *operands, int count,
                       const struct adsm_split_part *parts, int part_count,
                       const int grid[3]);

/** Whether two parts write the same byte by two operands, or, `a` being `b`, by
 *  one that is boxed. ADSM_OK; ADSM_E_INVALID with a sentence; ADSM_E_NOMEM */
int adsm_operand_check_writes(const struct adsm_operand_call *call,
                              const struct adsm_operand *a,
                              const struct adsm_operand *b,
                              const struct adsm_split_part *parts, int count);

/** What a part uses of an operand, at most operand->wants. Return: how many, 1 or
 *  more, all of one copy; adsm_operand_check has found them in the array */
int adsm_operand_want(const struct adsm_operand *operand,
                      const struct adsm_split_part *part,
                      struct adsm_want *wants);

/** Whether a dimension of the array depends on dimension `e` of the range. */
static inline bool adsm_operand_follows(const struct adsm_operand *operand,
                                        int d, int e)
{
    return operand->boxed ? operand->follows[d] >> e & 1 : operand->dim[d] == e;
}

/** Has each part a copy of all of it? */
static inline bool adsm_operand_is_copied(const adsmArg *arg)
{
    return arg->how == ADSM_INTO || arg->how == ADSM_SCATTER;
}

/** Whether all parts use the same of it. */
static inline bool adsm_operand_is_whole(const struct adsm_operand *operand)
{
    return operand->dim[0] < 0 && operand->dim[1] < 0 && operand->dim[2] < 0 &&
           !(operand->follows[0] | operand->follows[1] | operand->follows[2]);
}

/* ---- boxed operands: of the files that make operands ------------------------ */

/** Read the argument's text, if it has one. ADSM_OK; ADSM_E_INVALID with a sentence */
int adsm_operand_read_boxes(const struct adsm_operand_call *call,
                            const adsmArg *arg, struct adsm_operand *operand);

/** As adsm_operand_want. */
int adsm_operand_want_boxes(const struct adsm_operand *operand,
                            const struct adsm_split_part *part,
                            struct adsm_want *wants);

/** Whether a part's boxes lie in the array. ADSM_OK; ADSM_E_INVALID with a
 *  sentence */
int adsm_operand_check_boxes(const struct adsm_operand_call *call,
                             const struct adsm_operand *operand,
                             const struct adsm_split_part *part);

/** Bytes of a part's boxes together; 0 where a function names them. */
double adsm_operand_bytes_of_boxes(const struct adsm_operand *operand,
                                   const adsmBox *part);

#endif
