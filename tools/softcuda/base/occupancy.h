/*
 * How many blocks a multiprocessor of this capability would hold, by the rules
 * of the CUDA programming guide: the driver says so, and as many are run at
 * once where they wait for each other. No state, no lock.
 */
#ifndef SOFTCUDA_BASE_OCCUPANCY_H
#define SOFTCUDA_BASE_OCCUPANCY_H

#include <stddef.h>

#define SC_SMS              4u /* multiprocessors a device reports */
#define SC_SM_SHARED        (228u << 10)
#define SC_SHARED_UNIT      128u
#define SC_SHARED_PER_BLOCK 1024u /* taken by the system */

/** What a kernel takes; max_threads of a block. */
struct sc_occupant {
    unsigned registers, static_shared_bytes, max_threads;
};

/** Blocks of so many threads and bytes of dynamic shared memory that one
 *  multiprocessor holds at a time; 0: it cannot run. Thread: any.
 *  Signal: never */
unsigned sc_occupancy(const struct sc_occupant *kernel, unsigned threads,
                      size_t dynamic);

#endif
