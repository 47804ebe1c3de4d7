/*
 * Status codes inside the library: the public list of adsm.h and no other.
 *
 * Owns the names and texts of the codes. Does not own the per-thread detail
 * text behind adsmErrorDetail (call/detail.h). No lock.
 */
#ifndef ADSM_BASE_STATUS_H
#define ADSM_BASE_STATUS_H

#include "adsm.h"

typedef adsmStatus adsm_status_t;

/** Put before every function whose status must not be dropped. */
#define ADSM_MUST_CHECK __attribute__((warn_unused_result))

/**
 * Name of a status, as in "ADSM_E_INVALID".
 *
 * @status  any number
 * Return: a literal; "?" for a number that is no status
 * Thread: any
 * Signal: any handler
 */
const char *adsm_status_name(int status);

/**
 * One sentence for a status, without a full stop.
 *
 * @status  any number
 * Return: a literal; "unknown status" for a number that is no status
 * Thread: any
 * Signal: any handler
 */
const char *adsm_status_text(int status);

#endif
