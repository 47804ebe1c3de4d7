/*
 * Operators of reductions and scans: the shipped ones, and those that a
 * program's ADSM_OPERATOR or ADSM_MAP_REDUCE has made (adsm_operator.h).
 *
 * Owns adsmOperator: a name, a module, and the size of an element, which a
 * kernel of the module says. Its kernels are looked up by name when they are
 * needed. The module of a shipped operator is made of text in the library when
 * its operator is used first. Operators live until the process ends; what is
 * asked of one whose module was unloaded fails as a call of its kernels does.
 *
 * Lock: a mutex, held over no call. Failures set the error detail. Thread: any.
 * Signal: never
 */
#ifndef ADSM_CALL_OPERATOR_H
#define ADSM_CALL_OPERATOR_H

#include "adsm_skeleton.h"

/* What the kernels of adsm_operator.h do. */
enum {
    ADSM_FOLD_LANES = 32,
    ADSM_FOLD_ROW = 256, /* elements that a warp folds at once */
    ADSM_FOLD_FEW = 64,  /* most that a thread does            */
    ADSM_FOLD_ROWS = 32, /* of a reduction's chunk             */
    ADSM_SCAN_ROWS = 4,  /* of a scan's                        */
    ADSM_FOLD_CHUNK = ADSM_FOLD_ROW * ADSM_FOLD_ROWS,
    ADSM_SCAN_CHUNK = ADSM_FOLD_ROW * ADSM_SCAN_ROWS,
};

enum adsm_operator_kernel {
    ADSM_OPERATOR_FOLD,
    ADSM_OPERATOR_NONE,
    ADSM_OPERATOR_BYTES,
    ADSM_OPERATOR_ROWS, /* from here on of operators, not of maps */
    ADSM_OPERATOR_COLUMNS,
    ADSM_OPERATOR_LAST,
    ADSM_OPERATOR_SCAN,
};

/** The shipped operator, or NULL. */
const adsmOperator *adsm_operator_of(adsmOp op, adsmType type);

/** The operator of that name. Return: ADSM_OK; ADSM_E_NOT_FOUND; what calls of
 *  a kernel return */
int adsm_operator_get(adsmModule *module, const char *name,
                      const adsmOperator **op);

/** The operator that a map's values are reduced with. ADSM_E_INVALID: it has
 *  none, or is no kernel */
int adsm_operator_of_map(const adsmKernel *map, const adsmOperator **op);

/** ADSM_OK; ADSM_E_INVALID: it is none. */
int adsm_operator_check(const adsmOperator *op);

size_t adsm_operator_bytes(const adsmOperator *op);

/** What its elements are aligned to, as far as is known: 1 of a program's. */
size_t adsm_operator_align(const adsmOperator *op);
const char *adsm_operator_name(const adsmOperator *op);

/** A kernel, its module loaded where the thread's device is if need be. */
int adsm_operator_kernel(const adsmOperator *op,
                         enum adsm_operator_kernel which, adsmKernel **kernel);

#endif
