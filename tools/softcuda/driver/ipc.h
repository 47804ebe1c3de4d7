/*
 * Memory that another process allocated, and this one has opened.
 */
#ifndef SOFTCUDA_DRIVER_IPC_H
#define SOFTCUDA_DRIVER_IPC_H

#include "driver/driver.h"
#include "driver/file.h"

struct sc_block;

/** Fixed while the block is in the table, but for `opened` (memory lock). */
struct sc_import {
    CUcontext ctx;
    struct sc_file file; /* the other process's device memory */
    uint32_t file_id;    /* in the device process */
    uint64_t id;         /* the other process's block */
    uint64_t pages, span;
    unsigned opened;
    struct sc_block *block;
};

/** Close all that a context has opened. */
void sc_ipc_free_context(CUcontext ctx);

#endif
