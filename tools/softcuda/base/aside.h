/*
 * Keeping threads that work for each other on different processors.
 *
 * A scheduler that wakes a thread where it slept last may have two of them take
 * turns on one processor, wake after wake, beside an idle one.
 */
#ifndef SOFTCUDA_BASE_ASIDE_H
#define SOFTCUDA_BASE_ASIDE_H

#include <stdbool.h>

/** Note which processors the process may use; before any call of sc_aside. */
void sc_aside_init(void);

/** Where the calling thread is on processor `cpu` and may use others, keep it
 *  to those; now and then at most, since moving costs more than a wake. Return:
 *  whether it moved */
bool sc_aside(int cpu);

/** Let the calling thread, which has its creator's limits, use them all. */
void sc_aside_end(void);

#endif
