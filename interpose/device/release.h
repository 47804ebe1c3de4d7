/*
 * Calls in the sense of the paper, as hooks make them: everything that a kernel
 * may reach is released to the device before the driver is called.
 *
 * device_call, then device_release, the driver's call, device_called. Between the
 * two middle ones the program's memory is not touched: gates are closed.
 */
#ifndef INTERPOSE_DEVICE_RELEASE_H
#define INTERPOSE_DEVICE_RELEASE_H

#include "interpose/device/driver.h"
#include "mm/doors/boundary.h"

/** A call that may read and write every object; its accel is NULL where there
 *  is nothing to keep coherent, and then the driver is called right away. */
struct adsm_call device_call(struct device_order order);

/** Return: an error is the call's; the driver is not called */
int device_release(struct adsm_call *call);

/** The driver took it, or did not. Return: what happened behind that */
int device_called(const struct adsm_call *call, bool taken);

#endif
