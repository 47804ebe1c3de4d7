/*
 * Launches whose objects are all at home on the kernel's device: arguments
 * checked, objects released, kernel enqueued, fences kept. What else there is
 * to a call is call/call.h.
 */
#ifndef ADSM_CALL_LAUNCH_H
#define ADSM_CALL_LAUNCH_H

#include "base/region.h"
#include "call/grid.h"
#include "call/kernel.h"

/**
 * Launch a kernel where its view says. Failures set the error detail; nothing
 * is launched then.
 *
 * @kernel     held
 * @grid       0 blocks along x: the arguments are checked only. The launch in it
 *             is filled in
 * @count      adsm_arguments_check has found as many as the kernel takes
 * @args       values are checked, and stay until this returns
 * @region     for what the launch is put together in
 * @elsewhere  an argument's object is not at home there or is spread, and the
 *             kernel reads and writes its arguments only: nothing was launched
 * Return: ADSM_OK; ADSM_E_INVALID, ADSM_E_NOT_SHARED, ADSM_E_NOMEM; a device's
 *         error
 * Thread: any. Signal: never
 */
int adsm_launch(const struct adsm_kernel_view *kernel, struct adsm_grid *grid,
                int count, const adsmArg *args, struct adsm_region *region,
                bool *elsewhere);

#endif
