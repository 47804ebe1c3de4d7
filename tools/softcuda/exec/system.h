/*
 * What device code asks of the system: printing, assertions, its heap.
 *
 * Lock: heap.c has one per heap, system.c one around the printing.
 */
#ifndef SOFTCUDA_EXEC_SYSTEM_H
#define SOFTCUDA_EXEC_SYSTEM_H

#include "exec/control.h"

/* ---- system.c ---- */

SC_DECLARE_OP(sc_op_vprintf); /* d: result or ~0, a: format, b: arguments */
SC_DECLARE_OP(sc_op_assert);  /* a: text, b: file, c: line, e: function */
SC_DECLARE_OP(sc_op_malloc);  /* d: address or ~0, a: bytes */
SC_DECLARE_OP(sc_op_free);    /* a: address */

/* ---- print.c ---- */

#define SC_PRINT_BYTES 4096u

/** Text on its way out, and where it comes from. */
struct sc_print {
    struct sc_strip *strip;
    const struct sc_op *op;
    uint32_t lane;
    bool failed; /* an address could not be read; the CTA is dead */
    size_t used;
    char text[SC_PRINT_BYTES];
};

/** Send what is there. Thread: a worker. */
void sc_print_flush(struct sc_print *print);

/** Add host text. */
void sc_print_text(struct sc_print *print, const char *text, size_t bytes);

/** Add a string of device memory at a generic address, "(null)" for 0; at
 *  most `most` characters of it. */
void sc_print_string(struct sc_print *print, uint64_t address, uint64_t most);

/**
 * Format as CUDA's vprintf.
 *
 * @format generic address of the format; @arguments of the packed arguments
 * Return: number of arguments used, -1 for format 0
 */
int sc_print_format(struct sc_print *print, uint64_t format,
                    uint64_t arguments);

/* ---- heap.c ---- */

struct sc_heap;

/**
 * The heap of a device, made with the first module that wants it.
 *
 * Return: NULL when host or device have no memory for one
 * Thread: any
 */
struct sc_heap *sc_heap_hold(const struct sc_space *space);

/** Give it back; the last one frees it. `heap` may be NULL. Thread: any. */
void sc_heap_release(struct sc_heap *heap);

/** Return: device address, 16-aligned; 0 = none left. Thread: any. */
uint64_t sc_heap_alloc(struct sc_heap *heap, uint64_t bytes);

/** Return: false when `address` is no live allocation. Thread: any. */
bool sc_heap_free(struct sc_heap *heap, uint64_t address);

/** Whether any heap exists. Thread: any. */
bool sc_heap_in_use(void);

#endif
