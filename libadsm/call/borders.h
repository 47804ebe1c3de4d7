/*
 * Parts whose borders the call says: by themselves (adsmOpts.bounds), or by the
 * work of each index (weights, weigh), of which parts have about the same.
 *
 * The outermost dimension of the range is cut, and no other. No lock. Thread: any.
 * Signal: never
 */
#ifndef ADSM_CALL_BORDERS_H
#define ADSM_CALL_BORDERS_H

#include "call/task.h"

/** What the options say is possible. ADSM_OK; ADSM_E_INVALID with a sentence */
int adsm_borders_check(const struct adsm_task *task);

/**
 * Borders of the parts, where the options say any: what the program gave is read,
 * and its function called.
 *
 * @split    whose parts, devices, shares, alignment and grain are known; gets
 *           borders, of the task's memory, and the number of parts
 * Return: ADSM_OK; ADSM_E_INVALID with a sentence: they are not where parts may
 *         begin; ADSM_E_NOMEM
 */
int adsm_borders_make(struct adsm_task *task, struct adsm_split *split);

#endif
