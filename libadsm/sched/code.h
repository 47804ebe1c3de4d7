/*
 * Code as a module keeps it: a copy of its own, ended by a zero, which the driver
 * wants behind PTX text and `bytes` does not count. Failures set the error detail.
 *
 * No lock. Thread: any. Signal: never. The caller frees the copy.
 */
#ifndef ADSM_SCHED_CODE_H
#define ADSM_SCHED_CODE_H

#include "base/status.h"

#include <stddef.h>

/** A whole file. Return: ADSM_OK; ADSM_E_NOT_FOUND; ADSM_E_INVALID: it cannot be
 *  read, or is empty; ADSM_E_NOMEM */
int adsm_code_read(const char *path, char **image,
                   size_t *bytes) ADSM_MUST_CHECK;

/** What lies in memory. Return: ADSM_OK; ADSM_E_NOMEM */
int adsm_code_copy(const void *image, size_t bytes,
                   char **copy) ADSM_MUST_CHECK;

#endif
