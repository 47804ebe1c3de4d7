/*
 * Moving bytes between host memory and memory files.
 */
#ifndef SOFTCUDA_DRIVER_MOVE_H
#define SOFTCUDA_DRIVER_MOVE_H

#include <stdbool.h>

#include "driver/memory.h"

/**
 * Move bytes. Host memory that is not there is an answer, never a signal, as
 * long as it does not go away meanwhile.
 *
 * @to, @from places that hold `bytes`; @dst, @src host addresses
 * Return: false when host memory is not readable or writable (part may have
 *         been moved), or memory ran out
 * Thread: any, no lock held
 */
bool sc_move_up(const struct sc_place *to, uint64_t src, uint64_t bytes);
bool sc_move_down(uint64_t dst, const struct sc_place *from, uint64_t bytes);
bool sc_move_peer(const struct sc_place *to, const struct sc_place *from,
                  uint64_t bytes);
bool sc_move_host(uint64_t dst, uint64_t src, uint64_t bytes);

#endif
