/*
 * Kernels that are compiled into the program for its processors (adsmCpuAdd).
 *
 * Owns the list of them. Lock: one, of rank ACCEL. Thread: any. Signal: never.
 */
#ifndef ADSM_ACCEL_CPU_CODE_H
#define ADSM_ACCEL_CPU_CODE_H

#include "adsm.h"
#include "base/status.h"

/** Put it on the list, where it is found by its name, or take it away. Return:
 *  ADSM_OK; ADSM_E_INVALID (a member is missing, or the name is there) */
int adsm_cpu_code_add(adsmCpuCode *code) ADSM_MUST_CHECK;
void adsm_cpu_code_remove(adsmCpuCode *code);

/** The one of that name; NULL: there is none. */
adsmCpuCode *adsm_cpu_code_find(const char *name);

#endif
