/*
 * Kernels that are functions of the program: they give the device work, of a
 * library or of their own, in a kernel's place (adsmKernelOf, adsmStream).
 *
 * They are acts (accel/launch.h). The function is called while the call is made,
 * between what its work waits for and the fence behind it: on the thread of the
 * call, and with the gates closed, so it is to the fault handler and to hooks as
 * if it were the driver. Where streams are no driver's (accel/host) it is called
 * in its turn by a thread of the device, with copies of its values.
 *
 * A stream of the program's is ordered behind the launch stream before, and the
 * launch stream behind it afterwards.
 *
 * Owns what such kernels are made of. Failures set the error detail. Thread: any.
 * Signal: never
 */
#ifndef ADSM_CALL_WORK_H
#define ADSM_CALL_WORK_H

#include "adsm.h"

/** A kernel that is `fn(.., user)`. @name  copied. Return: ADSM_OK;
 *  ADSM_E_NOMEM */
int adsm_work_kernel(const char *name, adsmWorkFn *fn, void *user,
                     adsmKernel **kernel);

/**
 * Call a function once, as a call of one part.
 *
 * @stream  of the program's, on the device; NULL: the launch stream
 * Return: as a call
 */
int adsm_work_once(void *stream, int device, adsmWorkFn *fn, void *user,
                   int count, const adsmArg *args);

#endif
