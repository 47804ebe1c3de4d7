/*
 * The operators that the library has with it: a module each, whose text is what
 * tools/ptx.sh makes of tools/cuda/operators/NAME.cu.
 *
 * Constant. Thread: any. Signal: any handler
 */
#ifndef ADSM_SCHED_SHIPPED_H
#define ADSM_SCHED_SHIPPED_H

#include "adsm_skeleton.h"

enum { ADSM_SHIPPED = 26 };

struct adsm_shipped {
    const char *name;
    size_t bytes; /* of an element */
    const char *text;
};

extern const struct adsm_shipped adsm_shipped[ADSM_SHIPPED];

/** Its number; -1: there is none of that type. */
int adsm_shipped_find(adsmOp op, adsmType type);

#endif
