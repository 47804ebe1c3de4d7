/*
 * What a generated kernel is called with. The text of this file is also the
 * head of every generated C file, so it includes nothing but <stdint.h>.
 *
 * Owned by the worker thread that runs the call; no locks.
 */
#ifndef SOFTCUDA_NATIVE_ABI_H
#define SOFTCUDA_NATIVE_ABI_H

#include <stdint.h>

/** Part of every cache key: raise it when this file or the meaning of
 *  generated code changes. */
#define SC_NATIVE_ABI 2

struct sc_native_cta;

/** What generated code calls back for; filled by the device process. */
struct sc_native_services {
    /* Note why the CTA dies and leave the call for good (siglongjmp). */
    void (*fail)(struct sc_native_cta *cta, uint32_t status, uint32_t line,
                 uint64_t address) __attribute__((noreturn));
    uint64_t (*clock_ns)(void);
    /* A CTA goes on for long: others may need the processor. */
    void (*pause)(struct sc_native_cta *cta);
};

/** State of one call, which runs CTAs one after another on one thread. */
struct sc_native_cta {
    const unsigned char
        *params;           /* 64-aligned, 64 bytes past the end readable */
    unsigned char *shared; /* 64-aligned; undefined at CTA start */
    unsigned char *local;  /* of all threads, thread after thread */
    unsigned char *save;   /* 64-aligned room for sc_native_code.save */
    uint32_t shared_bytes; /* static + dynamic */
    uint32_t local_bytes;  /* of one thread */
    uint32_t dynamic_shared_bytes;
    uint32_t grid[3], block[3];
    uint32_t worker_number, worker_count;
    uint64_t window_base, window_bytes; /* device addresses; bytes = 2^n */
    uint64_t shared_base, local_base;   /* generic windows, 16 MiB each */
    const volatile int *cancel;         /* may be NULL */
    const struct sc_native_services *services;
    void *worker; /* of the device process; generated code leaves it alone */
};

/** Entry point `sc_native_run` of a generated object: run the CTAs with linear
 *  number first … first + count - 1, x fastest. Returns when all are done;
 *  failures leave through services->fail. */
typedef void sc_native_run(struct sc_native_cta *cta, uint64_t first,
                           uint64_t count);

#endif
