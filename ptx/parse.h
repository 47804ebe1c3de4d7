/*
 * PTX text to IR.
 *
 * Lock: none; one load, one thread.
 */
#ifndef SOFTCUDA_PTX_PARSE_H
#define SOFTCUDA_PTX_PARSE_H

#include "ptx/ir.h"

/**
 * Parse a whole module. Names inside the IR are copies in the arena; statement
 * texts point into `text`.
 *
 * @load  arena, log and the place to jump back to on bad text
 * Return: the module, never NULL
 * Thread: the owner of `load`
 * Signal: never
 */
struct sc_ir *sc_ptx_parse(struct sc_load *load, const char *text, size_t bytes)
    __attribute__((returns_nonnull));

/**
 * Parse the head of the first entry of that name: its parameters, laid out. Of
 * all else the words are skipped, whatever they say.
 *
 * @load  arena, log and the place to jump back to on a head or words that are
 *        bad
 * Return: NULL: there is none
 * Thread: the owner of `load`
 * Signal: never
 */
const struct sc_func *sc_ptx_entry(struct sc_load *load, const char *text,
                                   size_t bytes, const char *name);

#endif
