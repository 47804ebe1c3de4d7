/*
 * How a load gives up: one sentence into the log, a status, and a jump back.
 *
 * Owns nothing; the front end and the decoder share one context per load.
 * A jump instead of status returns keeps a hundred small parse functions free
 * of error plumbing; it is safe because every allocation is in the arena.
 */
#ifndef SOFTCUDA_PTX_DIAG_H
#define SOFTCUDA_PTX_DIAG_H

#include "ptx/arena.h"

#include <setjmp.h>

enum sc_load_error { SC_LOAD_INVALID = 1, SC_LOAD_UNSUPPORTED, SC_LOAD_NOMEM };

/** One load in progress; `back` is set by whoever started it. */
struct sc_load {
    struct sc_arena arena;
    /* Nobody will run it: instructions that are not understood become one of
     * opcode SC_OP_COUNT, unknown modifiers are noted, special registers that
     * hold a number on this device have any. */
    bool tolerant;
    char *log;
    size_t log_bytes;
    jmp_buf back; /* receives an enum sc_load_error */
};

/**
 * Write "line N: …" to the log and jump back.
 *
 * @line line of the text, 0 leaves the prefix out
 */
_Noreturn void sc_load_fail(struct sc_load *load, enum sc_load_error error,
                            uint32_t line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** Zeroed arena memory for count × size bytes; jumps back when none is left. */
void *sc_load_alloc(struct sc_load *load, size_t count, size_t size)
    __attribute__((returns_nonnull));

/**
 * Grow an array in the arena so that one more element fits.
 *
 * @array old array or NULL; @count elements in use; @capacity updated
 * Return: the array to use from now on
 */
void *sc_load_grow(struct sc_load *load, void *array, size_t count,
                   size_t *capacity, size_t size)
    __attribute__((returns_nonnull));

/** Copy of text[0..bytes) with a NUL. */
char *sc_load_text(struct sc_load *load, const char *text, size_t bytes)
    __attribute__((returns_nonnull));

#endif
