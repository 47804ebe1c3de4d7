/*
 * A kernel run both ways, by the interpreter and as native code, on the same
 * memory; both must leave the same behind.
 *
 * Owns the folder of the case and the device window. No lock.
 */
#ifndef TESTS_SOFTCUDA_NATIVE_BOTH_H
#define TESTS_SOFTCUDA_NATIVE_BOTH_H

#include <stddef.h>
#include <stdint.h>

/** Leave the program as skipped when SOFTCUDA_ISA names an instruction set
 *  this processor lacks. For main(). */
void both_skip(void);

/** Open a device whose memory starts with `bytes` of data. Return: the data,
 *  zeroed. */
void *both_open(size_t bytes);
void both_close(void);

/** One launch of kernel 0 of a module. */
struct both {
    const char *ptx;
    uint32_t ctas, threads;
    uint64_t arguments[4];
};

/**
 * Run both ways from what the data holds now; afterwards it holds what both
 * left. Anything else fails the test: a refusal, a fault, a difference.
 */
void both_run(const struct both *both);

/** The same for a launch that must die both ways; compares status, line and
 *  address, not the data. Return: the status */
int both_fault(const struct both *both);

#endif
