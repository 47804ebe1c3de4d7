/*
 * Which addresses of the window are free, and what lies there in the program's
 * process.
 *
 * As with the H200's driver: PROT_NONE placeholders, over which the program may
 * map pages of its own. A range that is as large as to be mapped for one purpose
 * alone gets a fresh placeholder, and is unmapped when it is freed, with all that
 * lies over it: the program's next mmap may get the addresses. What is handed out
 * in smaller pieces stays mapped, and the program's pages over it stay as well,
 * also below the next memory there.
 *
 * Lock: sc_memory_lock, held by the callers of all but the last function.
 */
#ifndef SOFTCUDA_DRIVER_ADDRESSES_H
#define SOFTCUDA_DRIVER_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

/** Start with one range of placeholders. Return: false: no memory. */
bool sc_addresses_init(uint64_t base, uint64_t bytes);

/** Take addresses as they are. Return: SC_RANGES_NONE when nothing fits. */
uint64_t sc_addresses_take(uint64_t bytes, uint64_t align);

/** Give them back as they are. */
void sc_addresses_give(uint64_t base, uint64_t bytes);

/** Take addresses under a fresh placeholder.
 *  @hint where it would best be, 0: anywhere. Return: as above */
uint64_t sc_addresses_map(uint64_t bytes, uint64_t align, uint64_t hint);

/** Give them back with nothing there. */
void sc_addresses_unmap(uint64_t base, uint64_t bytes);

/** May an address of the window be one of host memory that the program has
 *  mapped there? Thread: any, takes the lock */
bool sc_addresses_are_host(uint64_t address);

#endif
