/*
 * A libcuda.so.1 that stands before another one and passes every call on,
 * except for what the environment variable PLANTED asks it to do otherwise:
 * words, separated by commas.
 *
 *   register=N   cuMemHostRegister refuses all memory with result N
 *   count        how often it did is said at the end
 *   range        reserved addresses are taken on the host
 *   memory       so are those of allocations
 *   lookup       there is no cuGetProcAddress
 *   copies       memory mapped from a file that is not registered is refused
 *   named        what a copy of rows, or of an array, calls memory of the host
 *                is that: refused where it is the device's
 *   granule=N    memory is mapped in pieces of N bytes
 *   vmm          there is cuMemMap and its like, but no device supports them
 *   dead=N       launches fail with result N, and so do waits for the context
 *   params=N     where a parameter lies is said N times, then no more
 *   newer        what the software device refuses of copies and launches works
 *                (newer.c, which has calls of newer drivers in any case)
 *   old=V        a driver of CUDA version V: what is newer is missing
 *   inside       plantedInside() tells (x86-64 only)
 *
 *   crash=NAME   the function of this name dies by SIGSEGV
 *   hang=NAME    it never returns
 *   forget=NAME  it says that it is done, and is not
 *   touch=NAME   it only writes to where its first argument points
 *
 * PLANTED_DRIVER names the file behind it; not set, it is the software
 * device's. planted.c finds the functions, behaviour.c and accident.c change them.
 *
 * Calls are counted in any case; who counts them finds plantedCount with dlsym.
 */
#ifndef TESTS_DRIVERS_PLANTED_H
#define TESTS_DRIVERS_PLANTED_H

#include <stdbool.h>

typedef void planted_function(void);

#define PLANTED_EXPORT __attribute__((visibility("default")))

/** How often export number `i` was called, and its name; NULL behind the last.
 *  Thread: any */
PLANTED_EXPORT unsigned long long plantedCount(int i, const char **name);

/** Where it says how many calls of the driver the calling thread is in, one from
 *  another; always 0 without the word "inside". Thread: any, each has its own */
PLANTED_EXPORT const volatile long *plantedInside(void);

/** A word of PLANTED, and the number behind its '='; 0 without one. */
bool planted_has(const char *word, unsigned long long *number);

/** The function behind this driver's export `name`. */
planted_function *planted_real(const char *name);

/** What takes the place of the export `name`, made in CUDA version `since`;
 *  NULL: nothing does. */
planted_function *planted_instead(const char *name);

/** The same for copies that are believed (named.c). */
planted_function *planted_named(const char *name);

/** The same for what can befall any export. */
planted_function *planted_accident(const char *name);

/** The same for what the software device refuses. */
planted_function *planted_newer(const char *name);

/** Whether the export `name` is to be missing. */
bool planted_is_missing(const char *name, int since);

/** This driver's function for one of the driver's behind it, NULL where that
 *  is missing; a function that is none of them as it is. */
void *planted_own(void *real);

#endif
