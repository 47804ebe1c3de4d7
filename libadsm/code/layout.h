/*
 * Where a kernel's parameters lie, and what they are.
 */
#ifndef ADSM_CODE_LAYOUT_H
#define ADSM_CODE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

enum { ADSM_PARAMETERS_MOST = 256 };

/** A parameter. */
struct adsm_parameter {
    uint16_t offset, bytes; /* in the list of all of them                  */
    uint8_t kind;           /* adsmKind, as far as PTX says it             */
};

/** Counts that are none. */
enum {
    ADSM_LAYOUT_UNKNOWN = -1, /* nobody can tell                           */
    ADSM_LAYOUT_REFUSED = -2, /* nobody has told: ask again                */
};

struct adsm_layout {
    int count; /* of all; `at` has the most of them                        */
    const struct adsm_parameter *at;
};

/**
 * Say where parameter `index` of a loaded kernel lies, as drivers do.
 *
 * Return: ADSM_OK; ADSM_E_NOT_FOUND: it has no more; ADSM_E_UNSUPPORTED: that
 *         cannot be told; anything else: not now
 */
typedef int adsm_parameter_fn(void *context, unsigned index, size_t *offset,
                              size_t *bytes);

/** Ask for all of them, `at` is room for the most. Return: how many there are,
 *  one more than the most at most; or a count that is none */
int adsm_layout_ask(struct adsm_parameter *at, adsm_parameter_fn *ask,
                    void *context);

#endif
