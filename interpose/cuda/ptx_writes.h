/*
 * Through which of its parameters a kernel may write, and through which it may
 * reach memory at all, read from its PTX.
 *
 * A store or a load can only reach what its address was computed from, so registers are
 * followed back to the parameters that flow into them, without regard to
 * order. An address that comes from anywhere else (memory, two halves put
 * together, an instruction that is not known here) may point to anything; so
 * may what a called function writes. PTX ISA, "State Spaces", "Instruction
 * Set"; no paper of ours has this.
 *
 * Owns its tables. No lock: made by one thread, then only read.
 */
#ifndef INTERPOSE_CUDA_PTX_WRITES_H
#define INTERPOSE_CUDA_PTX_WRITES_H

#include <stdbool.h>
#include <stdint.h>

enum { PTX_PLACES_MOST = 32 };

/** Eight bytes of a kernel's parameters. */
struct ptx_place {
    uint16_t param;  /* its number                                        */
    uint16_t offset; /* in it, bytes                                      */
    uint16_t at;     /* in the list of all of them, bytes                 */
};

struct ptx_kernel {
    char *name;
    bool anywhere;  /* it may write to any memory, `place` says nothing   */
    unsigned count; /* of places that it may write through                */
    struct ptx_place place[PTX_PLACES_MOST];
    bool reaches_anywhere; /* it may read or write any memory              */
    unsigned reach_count;  /* of places that it may do so through          */
    struct ptx_place reach[PTX_PLACES_MOST];
};

struct ptx_module;

/**
 * Read the kernels of a module.
 *
 * @text    PTX, terminated by 0
 * Return:  NULL: no memory, or not PTX with 64-bit addresses
 * Thread:  any. Signal: never
 */
struct ptx_module *ptx_module_read(const char *text);
void ptx_module_free(struct ptx_module *module);

/** The kernel of that name; NULL: it has none, or none that was understood. */
const struct ptx_kernel *ptx_module_kernel(const struct ptx_module *module,
                                           const char *name);

#endif
