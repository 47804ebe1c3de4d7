/*
 * The code of modules, as it is given: a file, or bytes in memory.
 *
 * What is made ends in a zero that `bytes` does not count, which drivers want
 * behind PTX, and is free()d by the caller. Failures set the error detail.
 * Thread: any. Signal: never
 */
#ifndef ADSM_CALL_CODE_H
#define ADSM_CALL_CODE_H

#include "base/status.h"

#include <stddef.h>

/** All of a regular file. Waits for no writer of a pipe. Return: ADSM_OK;
 *  ADSM_E_NOT_FOUND (it cannot be opened); ADSM_E_INVALID (it is no file, empty
 *  or too large, or cannot be read); ADSM_E_NOMEM */
int adsm_code_read(const char *path, char **code,
                   size_t *bytes) ADSM_MUST_CHECK;

/** A copy. Return: ADSM_OK; ADSM_E_NOMEM */
int adsm_code_copy(const void *image, size_t bytes,
                   char **code) ADSM_MUST_CHECK;

#endif
