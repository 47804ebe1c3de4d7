/*
 * The device's end of the print ring.
 */
#ifndef SOFTCUDA_DEVICE_OUTPUT_H
#define SOFTCUDA_DEVICE_OUTPUT_H

#include <stddef.h>

/**
 * Append what a kernel printed; overwrites the oldest output when there is
 * more than the limit, as CUDA's buffer does.
 *
 * @shared the struct sc_shared of the channel; @text, @bytes to append
 * Thread: one call at a time
 * Signal: never
 */
void sc_output_print(void *shared, const char *text, size_t bytes);

#endif
