/*
 * The operators that the library has with it, a module each: their names, and
 * their kernels as text. There are few texts, which tools/ptx.sh makes of
 * tools/cuda/operators; an operator's is one of them with some words replaced.
 *
 * Constant. Thread: any. Signal: any handler, but for the text
 */
#ifndef ADSM_CALL_SHIPPED_H
#define ADSM_CALL_SHIPPED_H

#include "adsm_skeleton.h"

enum {
#define X(...) +1
    ADSM_SHIPPED = 0
#include "call/shipped.def"
#undef X
};

struct adsm_shipped_of;

struct adsm_shipped {
    const char *name;
    adsmOp op;
    adsmType type;
    const struct adsm_shipped_of *of; /* whose text it is */
    const char *combine, *none;       /* words of its own */
};

extern const struct adsm_shipped adsm_shipped[ADSM_SHIPPED];

/** Its number; -1: there is none of that type. */
int adsm_shipped_find(adsmOp op, adsmType type);

/** Of an element. */
size_t adsm_shipped_bytes(const struct adsm_shipped *shipped);

/** Its module, to be free()d; NULL: no memory. Signal: never */
char *adsm_shipped_text(const struct adsm_shipped *shipped);

/** Make their kernels for the CPU known, once. */
void adsm_shipped_add_cpu(void);

#endif
