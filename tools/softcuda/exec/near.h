/*
 * Reads shortly outside an allocation.
 *
 * Hardware maps pages of 2 MiB, so what lies just before or behind an array
 * can be read there. A page of the window that nobody owns and that lies as
 * near gives zeros until the launch ends; it can never be written.
 *
 * Lock: none; launches are one at a time, and its workers append to a list
 * whose length is atomic.
 */
#ifndef SOFTCUDA_EXEC_NEAR_H
#define SOFTCUDA_EXEC_NEAR_H

#include "exec/worker.h"

/** The first read of a launch that strayed. */
struct sc_near_read {
    uint64_t address;
    uint32_t line; /* of the PTX text; 0 = native code does not know */
};

/** Read SOFTCUDA_STRICT, which forbids all that. Thread: one at a time. */
void sc_near_init(void);
void sc_near_fini(void);

/**
 * Let a worker read the page of `address`, which it has faulted at.
 *
 * Return: whether to try again; false: nothing is near, or it was a write
 * Thread: a worker's
 * Signal: fault path
 */
bool sc_near_allow(struct sc_worker *worker, uint64_t address);

/**
 * Take all pages back at the end of a launch.
 *
 * @read receives the first one that was read
 * Return: whether there was one
 * Thread: one at a time, no worker inside
 * Signal: never
 */
bool sc_near_end(struct sc_near_read *read);

#endif
