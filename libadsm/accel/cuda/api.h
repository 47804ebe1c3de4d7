/*
 * The driver's entry points, found at run time.
 *
 * Owns the handle of libcuda.so.1 and the table of api.def. Resolved with
 * the C library's own dlsym, so the table always holds the driver's functions,
 * never those of a preloaded library that answers in their place. Does not
 * initialise the driver. No lock of its own: loading is serialised by
 * adsm_accel_init, the table is read-only afterwards.
 */
#ifndef ADSM_ACCEL_CUDA_API_H
#define ADSM_ACCEL_CUDA_API_H

#include "accel/cuda/abi.h"

#include <stddef.h>

struct adsm_cuda_api {
#define X(member, symbol, need, params) adsm_cu_result(*member) params;
#include "accel/cuda/api.def"
#undef X
};

/**
 * Load the driver and fill the table. Calls after a success do nothing.
 *
 * Return: ADSM_OK; ADSM_E_NO_DEVICE (adsm_accel_error_text says what failed)
 * Thread: one at a time
 * Signal: never
 */
int adsm_cuda_api_load(void);

/**
 * The driver's functions.
 *
 * Return: the table; NULL before adsm_cuda_api_load succeeded
 * Thread: any
 * Signal: any handler
 */
const struct adsm_cuda_api *adsm_cuda_api(void);

/**
 * Any other function the driver exports, by its exact symbol.
 *
 * Return: the driver's own function; NULL when there is none, or no driver
 * Thread: any
 * Signal: never
 */
void *adsm_cuda_api_symbol(const char *symbol);

#endif
