/*
 * What the benches of the software device share: the driver API, checked.
 */
#ifndef BENCH_SOFTCUDA_DEVICE_H
#define BENCH_SOFTCUDA_DEVICE_H

#include <cuda.h>
#include <stddef.h>

/** Make a call of the driver; say what failed and exit 1 otherwise. */
#define CHECK(call) device_check(call, #call)

void device_check(CUresult result, const char *call);

/** Bring up the first device with a context. */
void device_start(void);

/** Load PTX. Return: its kernel `name`; the module stays for ever. */
CUfunction device_kernel(const char *text, const char *name);

/** A kernel that does nothing. */
CUfunction device_empty(void);

#endif
