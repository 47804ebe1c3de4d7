/*
 * A store that faulted: what it would have stored, and going on behind it.
 *
 * So that who answers a fault may note some bytes instead of opening memory for
 * them. Owns a table of the instructions that store and do nothing else: mov and
 * its like, from a register, a constant or a vector of 32 bytes at most. No other
 * is told, above all none that reads what lies there first. What counts is what
 * the instruction says: that memory is there and may be written is not asked.
 *
 * Of x86-64; on other processors no store is told. No lock. Thread: any.
 */
#ifndef ADSM_OS_STORE_H
#define ADSM_OS_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

enum { ADSM_STORE_BYTES_MAX = 32 };

struct adsm_stored {
    uintptr_t address;                   /* first byte it stores to */
    uintptr_t next;                      /* the instruction behind it */
    uint32_t bytes;                      /* 1 to ADSM_STORE_BYTES_MAX */
    uint8_t value[ADSM_STORE_BYTES_MAX]; /* what it stores */
};

/**
 * Which store is the instruction that `context` was interrupted at? Reads the
 * program's code, no page of it that the processor has not read.
 *
 * Return: false: none that is told; `store` is undefined then
 * Thread: any. Signal: fault path
 */
bool adsm_store_decode(const ucontext_t *context, struct adsm_stored *store);

/** Continue behind it. Signal: fault path */
void adsm_store_step(ucontext_t *context, const struct adsm_stored *store);

#endif
