/*
 * Threads of the runtime: detached, and no signal of the program goes to them.
 *
 * One that calls functions of the program takes those signals that its own
 * instructions cause, as accesses to shared memory do. No lock.
 */
#ifndef ADSM_BASE_THREAD_H
#define ADSM_BASE_THREAD_H

#include <stdbool.h>
#include <stddef.h>

/** Whether the calling thread is one of the runtime's. Signal: any handler */
extern __thread bool adsm_thread_is_own
    __attribute__((tls_model("initial-exec")));

/**
 * Start a thread that lives as long as the process.
 *
 * @run          its function, called with NULL
 * @stack_bytes  beside thread-local variables; 0: as the program's threads
 *               have it
 * @calls_back   it calls functions of the program
 * Return: ADSM_OK; ADSM_E_SYSTEM
 * Thread: any
 * Signal: never
 */
int adsm_thread_start(void *(*run)(void *unused), size_t stack_bytes,
                      bool calls_back);

#endif
