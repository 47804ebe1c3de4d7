/*
 * Calls whose memory depends on a command: fcntl, prctl and the controls of
 * System V's queues, segments and semaphores.
 */
#ifndef INTERPOSE_CALLS_COMMAND_H
#define INTERPOSE_CALLS_COMMAND_H

#include <stddef.h>
#include <stdint.h>

/** Most bytes behind an argument of any command. */
enum { CALL_COMMAND_MOST = 1 << 16 };

/** Whose commands they are: the unit of a part CALL_COMMAND. */
enum call_commands {
    CALL_BY_FCNTL,
    CALL_BY_SEMCTL,
    CALL_BY_SHMCTL,
    CALL_BY_MSGCTL,
    CALL_BY_PRCTL,
    CALL_BY_ARCH_PRCTL,
};

/**
 * Bytes that an argument of a call points to.
 *
 * @words  all its arguments
 * Return: 0: none; the argument is a number, or the command is not known
 * Thread: any. Signal: any handler
 */
size_t call_command_bytes(enum call_commands whose, int argument,
                          const uintptr_t *words);

#endif
