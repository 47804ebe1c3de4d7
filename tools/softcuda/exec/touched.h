/*
 * What launches really read and write, beside what was proved of them.
 *
 * SOFTCUDA_TOUCHED=FILE turns it on: kernels then run in the interpreter, with
 * an op before each access that notes its addresses, and at the end of each
 * launch a line for the kernel and one for each access are appended to FILE. An
 * access outside of what ptx/solve.h said of it, or between its rows, is a line
 * with WRONG.
 *
 * Lock: the launcher's, one launch at a time; ops note by atomics.
 */
#ifndef SOFTCUDA_EXEC_TOUCHED_H
#define SOFTCUDA_EXEC_TOUCHED_H

#include "exec/lower.h"
#include "ptx/solve.h"

/** Whether it is on. Thread: any, after the first module began to load. */
bool sc_touched_is_on(void);

/** Prepare a kernel. Return: NULL when it is off. */
struct sc_solve *sc_touched_prepare(struct sc_load *load,
                                    const struct sc_func *kernel);

/** Append the op that notes an access of the instruction being decoded. */
void sc_touched_lower(struct sc_lower *lower, const struct sc_lower_place *at,
                      uint32_t bytes);

/** Around a launch of a kernel that was prepared (`solve` NULL: nothing). */
void sc_touched_begin(struct sc_solve *solve, const struct sc_launch *launch);
void sc_touched_end(const struct sc_solve *solve,
                    const struct sc_launch *launch);

#endif
