/*
 * Hints about managed memory, as somebody who writes CUDA gives them by hand.
 *
 * Two libraries have these functions: in one they call the driver (hints.c),
 * in the other they do nothing (no_hints.c). A program on managed memory is
 * linked twice, with each, and that is all its two forms differ in.
 *
 * Every function returns what the driver said. A hint that the device has no
 * use for counts as given: one without concurrent managed access moves all
 * managed memory at a launch and refuses to be told when. The memory is of
 * cuMemAllocManaged, the context current. Errors are the caller's business.
 * Any thread, no locks, no signal handler.
 */
#ifndef BENCH_MANAGED_HINTS_H
#define BENCH_MANAGED_HINTS_H

#include <cuda.h>

/** The CPU has written it, and from here on kernels only read it: both sides
 *  may keep pages of their own. */
CUresult hint_read_mostly(const void *memory, size_t bytes);

/** Kernels use it and the CPU hardly: its place is the device. */
CUresult hint_prefer_device(const void *memory, size_t bytes);

/** The next kernel in the default stream uses it. Does not wait. */
CUresult hint_to_device(const void *memory, size_t bytes);

/** The CPU uses it next. Waits until it is there. */
CUresult hint_to_host(const void *memory, size_t bytes);

#endif
