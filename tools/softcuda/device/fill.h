/*
 * Fills and copies within device memory, the plain-CPU part of a device.
 */
#ifndef SOFTCUDA_DEVICE_FILL_H
#define SOFTCUDA_DEVICE_FILL_H

#include "base/protocol.h"

/** Set rows of elements; the driver has checked the addresses. */
void sc_fill_run(const struct sc_command_fill *command);

/** Copy rows; source and destination rows may overlap. */
void sc_copy_run(const struct sc_command_copy *command);

#endif
