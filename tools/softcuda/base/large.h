/*
 * Large pages for mappings of memory files, by the driver and by devices.
 */
#ifndef SOFTCUDA_BASE_LARGE_H
#define SOFTCUDA_BASE_LARGE_H

#include <stdint.h>

#define SC_LARGE (2ull << 20)

/**
 * Give a mapping of a memory file large pages, one for each 2 MiB of it where
 * there is none yet, and as far as the system has some.
 *
 * @address, @bytes  address and place in the file agree modulo 2 MiB
 * Thread: any. Signal: fault path
 */
void sc_large_make(uint64_t address, uint64_t bytes);

#endif
