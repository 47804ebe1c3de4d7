/*
 * Addresses: the window, and which part of it stands for which memory.
 *
 * Device memory is a file per device.  The host process only reserves the
 * window, inaccessible; bytes move by reading and writing the files.  Lock:
 * sc_memory_lock, rank 2.
 */
#ifndef SOFTCUDA_DRIVER_MEMORY_H
#define SOFTCUDA_DRIVER_MEMORY_H

#include <pthread.h>

#include "base/ranges.h"
#include "driver/driver.h"

struct sc_device;
struct sc_slab;
struct sc_physical;
struct sc_import;

enum sc_block_kind {
    SC_BLOCK_ALLOC,    /* cuMemAlloc */
    SC_BLOCK_MAPPED,   /* cuMemMap */
    SC_BLOCK_VARIABLE, /* a module's variable */
    SC_BLOCK_HOST,     /* cuMemHostAlloc */
    SC_BLOCK_MANAGED,  /* cuMemAllocManaged: lies where host memory does */
    SC_BLOCK_IMPORT    /* cuIpcOpenMemHandle: in another process's file */
};

/** What cuMemAdvise and cuMemPrefetchAsync said about managed memory. */
struct sc_advice {
    CUmemLocation preferred, prefetched;
    uint32_t accessed_by; /* devices */
    bool read_mostly, accessed_by_host;
};

/** One contiguous piece of memory at one address. */
struct sc_block {
    uint64_t address, bytes;
    uint64_t offset; /* in the file */
    uint64_t span;   /* bytes taken from window and file */
    enum sc_block_kind kind;
    struct sc_device *device; /* NULL: host memory */
    CUcontext ctx;
    unsigned flags;            /* of cuMemHostAlloc */
    uint64_t program;          /* memory it is a mirror of, 0: of none */
    struct sc_device *charged; /* with host memory, which it shares */
    uint64_t id;
    struct sc_slab *slab;
    struct sc_physical *physical;
    struct sc_import *import;    /* of another process, NULL none */
    uint32_t readable, writable; /* by device, for mapped blocks */
    CUmemoryPool pool;           /* of cuMemAllocAsync, NULL none */
    bool leaving;                /* its cuMemFreeAsync is under way */
    bool managed;                /* a variable the host has mapped as well */
    bool opaque;             /* an array's: programs have no address of it */
    struct sc_advice advice; /* managed memory */
};

/** A 2 MiB page shared by small allocations of one context, or of a pool. */
struct sc_slab {
    struct sc_slab *next;
    CUmemoryPool pool; /* NULL: of cuMemAlloc */
    CUcontext ctx;     /* NULL: the pool's, which is no context's */
    uint64_t address, offset;
    struct sc_ranges free;
    unsigned live;
};

/* The host file: page-locked memory, then scratch space through which bytes
 * pass between two host buffers that may not be readable. */
#define SC_HOST_FILE_BYTES (1ull << 38)
#define SC_SCRATCH_BYTES   (1ull << 20)

extern pthread_mutex_t sc_memory_lock;

/** Reserve the window and make the host memory file. Thread: cuInit only. */
CUresult sc_memory_init(void);

uint64_t sc_memory_window_base(void);
uint64_t sc_memory_window_bytes(void);

/** Descriptor of the host file, looked at before each use.
 *  Return: -1 where the program has closed it, said once. Thread: any */
int sc_memory_host_file(void);

/** Is the address inside the window, and not the program's by now?
 *  Thread: any, takes the lock */
bool sc_memory_in_window(uint64_t address);

/** Make the memory file of a device. Thread: holds the start lock. */
CUresult sc_memory_device_init(struct sc_device *device);

/** A device has started: show it the page-locked memory there is. */
void sc_memory_device_joined(struct sc_device *device);

/** Block that holds an address, NULL if none. Thread: holds the lock. */
struct sc_block *sc_memory_find(uint64_t address);

/** Add a block to the table; copies it.
 *  Return: the copy, NULL when memory ran out. Thread: holds the lock. */
struct sc_block *sc_memory_add(const struct sc_block *block);

/** Remove and free a block. Thread: holds the lock. */
void sc_memory_remove(struct sc_block *block);

/** Does memory of this kind lie in the host file, mapped everywhere? */
static inline bool sc_memory_is_host(enum sc_block_kind kind)
{
    return kind == SC_BLOCK_HOST || kind == SC_BLOCK_MANAGED;
}

/** First block at or behind an address, NULL. Thread: holds the lock. */
struct sc_block *sc_memory_next(uint64_t address);

/** As sc_memory_find, but copies the block. Return: false if none.
 *  Thread: any, takes the lock. */
bool sc_memory_lookup(uint64_t address, struct sc_block *block);

/**
 * Check that every byte of a range is device memory (or page-locked host
 * memory) that a copy may touch.
 *
 * Thread: any, takes the lock
 */
bool sc_memory_covers(uint64_t address, uint64_t bytes);

/** Where a device address lies in its file, and how far that goes on. */
struct sc_place {
    struct sc_device *device; /* NULL: host memory */
    uint64_t offset, bytes;
    const struct sc_import *import; /* whose file it is, NULL: the device's */
};

/** Return: false when nothing is there. Thread: any, takes the lock. */
bool sc_memory_place(uint64_t address, struct sc_place *place);

/** Count bytes against a device's memory. Return: false: none left.
 *  Thread: holds the lock. */
bool sc_memory_charge(struct sc_device *device, uint64_t bytes);

/** A device had no room for so much: said when the program ends with a failure,
 *  or by a signal, and has got no memory since; most only print that it ran out.
 *  Return: CUDA_ERROR_OUT_OF_MEMORY. Thread: any, no lock held. */
CUresult sc_memory_refuse(struct sc_device *device, uint64_t bytes);

/** ... and had some later.  Thread: holds the lock. */
void sc_memory_allowed(struct sc_device *device);

/** Have that said when the program ends.  Thread: cuInit only. */
void sc_memory_expect_exit(void);

/** Take a piece of a device's memory file. Return: its offset or
 *  SC_RANGES_NONE; charged. Thread: holds the lock. */
uint64_t sc_memory_take(struct sc_device *device, uint64_t bytes);

/** Give a piece of the file back, with its pages. Thread: holds the lock. */
void sc_memory_give(struct sc_device *device, uint64_t offset, uint64_t bytes);

/** Let a device process map memory of `owner` (NULL: host memory).
 *  Takes effect before later kernels. Thread: holds the lock. */
void sc_memory_show(struct sc_device *viewer, struct sc_device *owner,
                    uint64_t address, uint64_t bytes, uint64_t offset,
                    bool writable);

/** As sc_memory_show, of a file by its number in the device process. */
void sc_memory_show_file(struct sc_device *viewer, uint32_t file,
                         uint64_t address, uint64_t bytes, uint64_t offset,
                         bool writable);

/** Undo sc_memory_show. Thread: holds the lock. */
void sc_memory_hide(struct sc_device *viewer, uint64_t address, uint64_t bytes);

/** Show or hide a piece for its owner and all peers. Holds the lock. */
void sc_memory_show_all(struct sc_device *owner, uint64_t address,
                        uint64_t bytes, uint64_t offset);
void sc_memory_hide_all(struct sc_device *owner, uint64_t address,
                        uint64_t bytes);

/** Let kernels of `viewer` reach the allocations of `owner`, or no more.
 *  Thread: any, takes the lock. */
void sc_memory_peer(struct sc_device *viewer, struct sc_device *owner,
                    bool enable);

/**
 * cuMemAlloc: 512-byte aligned pieces of shared pages for small sizes, whole
 * 2 MiB pages otherwise.
 *
 * @ctx that owns it; @bytes not 0; @address receives it
 * Return: CUDA_SUCCESS, CUDA_ERROR_OUT_OF_MEMORY
 * Thread: any
 */
CUresult sc_alloc(CUcontext ctx, uint64_t bytes, uint64_t *address);

/** The block at an address is not told of to programs that ask about addresses.
 *  Thread: any, takes the lock */
void sc_alloc_conceal(uint64_t address);

/** As sc_alloc, on another device than the context's. */
CUresult sc_alloc_on(CUcontext ctx, struct sc_device *device, uint64_t bytes,
                     uint64_t *address);

/** As sc_alloc_on, for a pool or NULL, and without a word when it fails. */
CUresult sc_alloc_in_pool(CUcontext ctx, struct sc_device *device,
                          CUmemoryPool pool, uint64_t bytes, uint64_t *address);

/** Free an allocation that nothing uses any more.
 *  @id of its block, since the address may be another one's by now */
void sc_alloc_release(uint64_t address, uint64_t id);

/** cuMemFree; waits for the device first.
 *  Return: CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE (no such allocation). */
CUresult sc_alloc_free(uint64_t address);

/** Free all allocations of a context that is being destroyed. */
void sc_alloc_free_context(CUcontext ctx);

/** cuMemHostAlloc and cuMemAllocManaged: host memory, visible to kernels.
 *  @kind SC_BLOCK_HOST or SC_BLOCK_MANAGED */
CUresult sc_pinned_alloc(CUcontext ctx, enum sc_block_kind kind, uint64_t bytes,
                         unsigned flags, uint64_t *address);

/** cuMemFreeHost, or cuMemFree of managed memory.
 *  Return: as sc_alloc_free. */
CUresult sc_pinned_free(enum sc_block_kind kind, uint64_t address);

/** cuMemHostRegister: note foreign memory as page-locked. */
CUresult sc_pinned_register(uint64_t address, uint64_t bytes, unsigned flags);

/** cuMemHostUnregister. */
CUresult sc_pinned_unregister(uint64_t address);

/** A registered range. */
struct sc_registered {
    uint64_t address, bytes;
    unsigned flags;
    uint64_t shown_address; /* block that is its mirror; 0: not shown */
};

/**
 * Show a registered range to the devices, by a mirror (mirror.h).
 *
 * @address inside the range; @shown receives what kernels use instead
 * Return: CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE (not registered, or not
 *         readable), CUDA_ERROR_OUT_OF_MEMORY
 * Thread: any
 */
CUresult sc_pinned_show(CUcontext ctx, uint64_t address, uint64_t *shown);

/** Registered range that holds an address. Return: false if none. */
bool sc_pinned_registered(uint64_t address, struct sc_registered *range);

/** Is a host range page-locked, allocated or registered? Thread: any. */
bool sc_pinned_covers(uint64_t address, uint64_t bytes);

#endif
