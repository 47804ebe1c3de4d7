/*
 * What the launcher wants to know of a kernel beforehand.
 */
#ifndef SOFTCUDA_EXEC_LAUNCH_H
#define SOFTCUDA_EXEC_LAUNCH_H

#include "ptx/ir.h"

/**
 * Whether a CTA of the kernel may wait for what another CTA writes: it reads
 * memory that others see in a way that loops for waiting use.
 *
 * Return: true also when that cannot be told
 * Thread: any
 * Signal: never
 */
bool sc_launch_may_wait(const struct sc_func *kernel);

#endif
