/*
 * The text behind adsm_accel_error_text: one per thread, no malloc, no stdio.
 *
 * Owns the text of the last failure of the calling thread in this layer. Does
 * not log: whoever decides what a failure means does. No lock.
 */
#ifndef ADSM_ACCEL_ERROR_H
#define ADSM_ACCEL_ERROR_H

#include "base/status.h"

#include <stdint.h>

/**
 * Keep the text of a failure and pass its status on.
 *
 * @status  returned as it is; @...  strings to join, closed by NULL; what does
 *          not fit is cut
 * Return: status
 * Thread: any
 * Signal: fault path
 */
int adsm_accel_fail(int status, ...) __attribute__((sentinel));

/** A number as decimal text in `buffer`. Return: the text. Any handler. */
const char *adsm_accel_number(char buffer[24], int64_t number);

#endif
