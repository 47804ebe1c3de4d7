/*
 * The device ends while kernels are being compiled: a process of its own goes
 * on, so that the next run finds them in the cache.
 *
 * It is detached, has the lowest priority and no file of the program open.  In
 * one cache folder one of them works and one may wait; more end at once.
 */
#ifndef SOFTCUDA_NATIVE_BUILD_LATER_H
#define SOFTCUDA_NATIVE_BUILD_LATER_H

#include "native/build_options.h"

/** The first locked by who works in the folder, the second by who waits. */
#define SC_BUILD_LATER_WORKS ".later"
#define SC_BUILD_LATER_WAITS ".later-next"

/**
 * Have the caller's turn in a cache folder.
 *
 * Return: false: enough others are there, or the folder is gone
 * Thread: a process's only one
 */
bool sc_build_later_turn(const char *folder);

/** May a process with threads be forked, and memory be allocated in the child?
 *  Sanitizers keep locks of their own, which stay locked there. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SC_BUILD_LATER_CAN 0
#else
#define SC_BUILD_LATER_CAN 1
#endif

/** Begin: lowest priority, the clock of the whole process starts; whatever it
 *  waits for, it is ended some time later.
 *  Thread: a process's only one */
void sc_build_later_begin(void);

/** Return: whether another compiler run may begin. Thread: any. */
bool sc_build_later_goes_on(void);

#endif
