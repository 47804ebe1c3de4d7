/*
 * Between the parts of os/store.h: what an instruction says, and what that means
 * with the registers of a thread. Of x86-64.
 */
#ifndef ADSM_OS_STORE_PARTS_H
#define ADSM_OS_STORE_PARTS_H

#include <stdbool.h>
#include <stdint.h>

/** What is stored. */
enum adsm_store_source {
    ADSM_STORE_CONSTANT,
    ADSM_STORE_GENERAL,        /* lowest bytes of a general register    */
    ADSM_STORE_GENERAL_SECOND, /* its second byte                       */
    ADSM_STORE_VECTOR,         /* lowest bytes of a vector              */
    ADSM_STORE_VECTOR_HALF,    /* bytes 8 to 15 of one                  */
};

/** Beside the numbers of general registers. */
enum { ADSM_STORE_NO_REGISTER = 16, ADSM_STORE_NEXT };

/** An instruction that stores. */
struct adsm_store_text {
    enum adsm_store_source source;
    bool aligned; /* to `bytes`, or it fails in another way       */
    uint8_t reg;  /* that holds what is stored                    */
    uint8_t base, index, scale;
    uint32_t bytes;
    int64_t distance; /* with base and index: where it stores          */
    int64_t constant;
    uintptr_t next; /* address of the instruction behind it          */
};

/** Read the instruction at `ip`. Return: false: it is none of those told */
bool adsm_store_read(uintptr_t ip, struct adsm_store_text *text);

#endif
