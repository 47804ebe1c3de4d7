/*
 * Entry points by name, without a type of cuda.h.
 */
#ifndef SOFTCUDA_DRIVER_PROCADDR_H
#define SOFTCUDA_DRIVER_PROCADDR_H

#include <stdint.h>

/**
 * Find the entry point for a symbol, API version and stream kind.
 *
 * @symbol  e.g. "cuMemAlloc"; @version e.g. 13000; @flags of cuGetProcAddress
 * @pfn     receives the function or NULL
 * @status  receives a CUdriverProcAddressQueryResult; may be NULL
 * Return: a CUresult: success, invalid value, not found
 * Thread: any
 */
int sc_procaddr_get(const char *symbol, void **pfn, int version, uint64_t flags,
                    int *status);

#endif
