/*
 * A library that keeps an eye on mappings as UCX and Open MPI do: it writes a
 * jump over the first instructions of functions, and makes the calls that it
 * stands before by number.
 */
#ifndef PATCHER_H
#define PATCHER_H

#pragma GCC visibility push(default)

/** Write over all of them, where a program finds them and in the C library. */
void patch_all(void);

/** How many calls were seen of a function since; -1: it has no such name. */
int patch_calls(const char *name);

/** The first call that the runtime has made of one of them for itself, by the
 *  function's name; NULL: there was none. */
const char *patch_from_runtime(void);

#pragma GCC visibility pop

#endif
