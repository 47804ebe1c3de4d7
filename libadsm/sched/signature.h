/*
 * What a kernel's parameters are, as its PTX declares them: `.param .f32` is not
 * `.param .u32`, which drivers cannot tell.
 *
 * Pure. Thread: any. Signal: never
 */
#ifndef ADSM_SCHED_SIGNATURE_H
#define ADSM_SCHED_SIGNATURE_H

#include "adsm.h"

/**
 * @text   ends in a zero; of what is no PTX nothing is known
 * @kinds  an adsmKind for each of the first `most` parameters
 */
void adsm_signature_read(const char *text, const char *kernel, uint8_t *kinds,
                         int most);

#endif
