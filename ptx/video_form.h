/*
 * The text of video instructions: opcodes and selectors, as the decoder and the
 * native back end both read them.
 *
 * Owns no state. Nothing here is for signal handlers. Lock: none.
 */
#ifndef SOFTCUDA_PTX_VIDEO_FORM_H
#define SOFTCUDA_PTX_VIDEO_FORM_H

#include "ptx/video.h"
#include "ptx/ir.h"

struct sc_video_form {
    enum sc_opcode opcode;
    enum sc_video_kind kind;
    uint32_t parts; /* 1, or 2 or 4 of a SIMD form */
};

/** What the opcode stands for. Return: NULL when it is none of video. */
const struct sc_video_form *sc_video_form_find(enum sc_opcode opcode);

/** Comparison of vset and the modifier that names it. Return: enum
 *  sc_video_compare; -1 when missing, and `name` is left alone. */
int sc_video_compare_of(const struct sc_inst *inst, enum sc_modifier *name);

/** Selector behind a register, as ptx/ir.h packs it. Return: 0 = none. */
uint64_t sc_video_selector(const struct sc_operand *operand);

/** The one part a scalar form names, as SC_VIDEO_PART. Return: -1 = wrong. */
int sc_video_part_of(const struct sc_operand *operand);

/**
 * A digit for each part of a SIMD form.
 *
 * @parts 2 or 4; @second of operand b, whose parts follow those of a
 * Return: 4 bits per part; -1 when the selector is wrong
 */
int sc_video_digits_of(const struct sc_operand *operand, uint32_t parts,
                       bool second);

/** Mask of the parts a SIMD form writes. Return: -1 = wrong. */
int sc_video_written_of(const struct sc_operand *operand, uint32_t parts);

#endif
