/*
 * The serving loop of a device process.
 */
#ifndef SOFTCUDA_DEVICE_SERVE_H
#define SOFTCUDA_DEVICE_SERVE_H

#include "base/protocol.h"

/**
 * Execute commands in order until the process is ended from outside.
 *
 * @shared the channel; @socket passes files
 * Thread: one
 * Signal: never
 */
_Noreturn void sc_serve(struct sc_shared *shared, int socket);

/**
 * Receive one file from the driver.
 *
 * @socket of the pair
 * Return: the descriptor, -1 when the driver hung up
 * Thread: the serving thread
 */
int sc_serve_receive_file(int socket);

#endif
