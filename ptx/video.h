/*
 * Video instructions: bytes and half-words of 32-bit registers, one at a time
 * (vadd …) or two and four together (vadd2, vadd4 …).
 *
 * What an instruction does fits the imm of one op. Lock: none.
 */
#ifndef SOFTCUDA_PTX_VIDEO_H
#define SOFTCUDA_PTX_VIDEO_H

#include <stdint.h>

enum sc_video_kind {
    SC_VIDEO_ADD,
    SC_VIDEO_SUB,
    SC_VIDEO_AVRG,
    SC_VIDEO_ABSDIFF,
    SC_VIDEO_MIN,
    SC_VIDEO_MAX,
    SC_VIDEO_SET,
    SC_VIDEO_SHL,
    SC_VIDEO_SHR,
};

/** What happens to the result and operand c. */
enum sc_video_second {
    SC_VIDEO_ALONE,
    SC_VIDEO_MERGE, /* the parts that were not computed come from c */
    SC_VIDEO_PLUS,
    SC_VIDEO_LEAST,
    SC_VIDEO_MOST,
};

enum sc_video_compare { SC_EQ, SC_NE, SC_LT, SC_LE, SC_GT, SC_GE };

struct sc_video {
    uint64_t kind : 4, second : 3, compare : 3;
    uint64_t sat : 1, wrap : 1, d_signed : 1, a_signed : 1, b_signed : 1;
    uint64_t parts : 3;   /* 1, or 2 or 4 of a SIMD form */
    uint64_t a : 16;      /* SIMD: a digit per part, into a and b together; */
    uint64_t b : 16;      /* else the SC_VIDEO_PART that is read */
    uint64_t written : 4; /* SIMD: mask of parts; else SC_VIDEO_PART */
};

_Static_assert(sizeof(struct sc_video) == sizeof(int64_t), "fits imm");

/** Digit and size (0 byte, 1 half-word, 2 word) of a lone part. */
#define SC_VIDEO_PART(digit, size) ((digit) | (size) << 2)

#endif
