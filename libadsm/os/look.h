/*
 * Reading and writing memory that may not be there.
 *
 * A pointer of the program's that the kernel would have refused must not end
 * the program here, nor memory that another of its threads gives back
 * meanwhile. Owns one instruction, whose faults the engine's handler turns into
 * an answer.
 */
#ifndef ADSM_OS_LOOK_H
#define ADSM_OS_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/**
 * Copy `bytes`, a multiple of 8, from memory that may not be there.
 *
 * Return: false where some of it is not; `to` is undefined then
 * Thread: any. Signal: any handler
 */
bool adsm_look(void *to, const void *from, size_t bytes);

/** The same where an engine is installed that is not remote, without asking
 *  about that. Signal: any handler */
bool adsm_look_words(uint64_t *to, const uint64_t *from, size_t words);

/**
 * Have the kernel copy from, or to, memory that may not be there; on the other
 * side is the runtime's own.
 *
 * Return: bytes that were copied, up to where memory ends; errno is kept
 * Thread: any. Signal: any handler
 */
size_t adsm_look_get(void *to, const void *from, size_t bytes);
size_t adsm_look_put(void *to, const void *from, size_t bytes);

/** A fault that nobody owns: if it is one of adsm_look, let that go on.
 *  Return: true when it was. Signal: fault path */
bool adsm_look_recover(ucontext_t *context);

#endif
