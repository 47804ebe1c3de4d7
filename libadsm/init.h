/*
 * Bring-up and teardown of the one runtime of a process.
 */
#ifndef ADSM_INIT_H
#define ADSM_INIT_H

#include "base/status.h"

#include <stdbool.h>

/**
 * Bring the runtime up: options, driver, protocol, fault engine. Idempotent;
 * the first caller does the work, others wait. A failure is final and returned
 * to every later caller.
 *
 * Return: ADSM_OK; ADSM_E_NO_DEVICE; ADSM_E_SYSTEM (no fault engine);
 *         ADSM_E_FORKED in the child of a fork
 * Thread: any. Signal: never
 */
ADSM_MUST_CHECK adsm_status_t adsm_init(void);

/** Is the runtime up in this process? Signal: any handler. */
bool adsm_is_up(void);

#endif
