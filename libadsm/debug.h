/*
 * What a debugger calls in a stopped program, and where it may stop it.
 *
 * A debugger reads memory past every protection: of a block that the device has it
 * sees what the CPU had last. So it asks for the bytes first, as an access of the
 * program's would. Owns nothing. The names are those that adsm-gdb.py uses.
 */
#ifndef ADSM_DEBUG_H
#define ADSM_DEBUG_H

#include <stddef.h>

/**
 * Make [address, +bytes) what the program would read there, or with `write` let it
 * be written; memory that is not shared is that anyway. Waits for kernels as an
 * access does.
 *
 * Return: NULL; why it is not done, a literal
 * Thread: the one that was stopped. Signal: any handler
 */
const char *adsm_debug_fetch(const void *address, size_t bytes, int write);

#endif
