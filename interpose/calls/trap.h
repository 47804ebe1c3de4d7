/*
 * System calls made by instructions of the program's own, outside libc
 * (ADSM_SYSCALLS=trap): of statically linked code, of Go, of liburing.
 *
 * The kernel turns each of them into a SIGSYS (syscall user dispatch), but for
 * those from one range of addresses, in which libc lies. Where memory is shared
 * the call is answered as syscall(2) is; any other one is made again, from a
 * copy of the instruction that jumps back: so nothing stands between the kernel
 * and calls that change stacks, masks or threads.
 *
 * Owns the range, the copies and the action of SIGSYS. The program's own action
 * is kept, and gets what is none of ours. No lock.
 */
#ifndef INTERPOSE_CALLS_TRAP_H
#define INTERPOSE_CALLS_TRAP_H

#include "interpose/hook.h"

/** The runtime has come into use: SIGSYS is ours from now on. Thread: one.
 *  Signal: never */
void trap_start(void);

/** Is it? Signal: any handler. */
bool trap_is_on(void);

/** From now on the calling thread's calls are seen, if any are. Not inherited.
 *  Signal: any handler */
void trap_enter_thread(void);

/** sigaction for SIGSYS as the program means it. Signal: any handler. */
int trap_action(int number, const struct sigaction *action,
                struct sigaction *before);

/**
 * Where to make a call again that was made by the instruction before `site`.
 *
 * Return: the address; 0: there are too many
 * Signal: any handler
 */
uintptr_t trap_copy_of(uintptr_t site);

/**
 * Find room for the copies next to [text, +bytes), which becomes the range that
 * has both. Return: false: there is none
 * Thread: the first. Signal: never
 */
bool trap_make_copies(uintptr_t *text, size_t *bytes);

#endif
