/*
 * What a kernel's speed has in common with its model on disk: read once, before
 * it first counts, and written where something new was measured.
 *
 * Files are code/model_file.h. Neither fails: a kernel without a model begins as
 * one that nobody has run. Lock: none but that of times. Thread: any, who holds
 * the kernel. Signal: never
 */
#ifndef ADSM_CODE_REMEMBER_H
#define ADSM_CODE_REMEMBER_H

#include "code/model.h"
#include "code/speed.h"

/** What a device is, its driver with it: models are of such a one. Behind
 *  adsm_accel_init */
void adsm_remember_kind(int device, char kind[ADSM_MODEL_KIND]);

/** Read what is known, if nobody has yet. Who comes meanwhile goes without. */
void adsm_remember(struct adsm_speed *speed);

/** Write what was measured since it was read or written. */
void adsm_remember_save(struct adsm_speed *speed);

#endif
