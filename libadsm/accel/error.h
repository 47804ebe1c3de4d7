/*
 * The text of the last failure: one per thread, no malloc, no stdio.
 *
 * Owns the text of the last failure of the calling thread in this layer, and
 * the status that went with it: what is above asks for the words of a failure,
 * which may be another one. Does not log: whoever decides what a failure means
 * does. No lock.
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

/** Text of the last driver error seen by the calling thread in this layer.
 *  Thread: any. Signal: any handler */
const char *adsm_accel_error_text(void);

/** The text, if the last failure that was not forgotten had this status, else "".
 *  Thread: any. Signal: any handler */
const char *adsm_accel_error_of(int status);

/** What failed last was no failure, or is told: its words are not those of the
 *  next one. Thread: any. Signal: any handler */
void adsm_accel_error_forget(void);

/** A number as decimal text in `buffer`. Return: the text. Any handler. */
const char *adsm_accel_number(char buffer[24], int64_t number);

#endif
