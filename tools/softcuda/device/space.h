/*
 * The address window of a device process: what is mapped where, and the
 * storage of module variables.
 */
#ifndef SOFTCUDA_DEVICE_SPACE_H
#define SOFTCUDA_DEVICE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/protocol.h"

/**
 * Reserve the window inaccessible, before anything else can land in it.
 *
 * @base, @bytes of the window, from the driver
 * Return: false when something of this process lies there already
 * Thread: one, at start
 */
bool sc_space_reserve(uint64_t base, uint64_t bytes);

/** Remember the variable heap described in `shared`. Return: false: memory. */
bool sc_space_init(const struct sc_shared *shared, uint32_t own_file);

/** Give file number `file` a descriptor; takes it over. */
void sc_space_adopt(uint32_t file, int fd);

/**
 * Map part of a file inside the window.
 *
 * Return: false when the system refused
 * Thread: the serving thread
 */
bool sc_space_map(uint64_t address, uint64_t bytes, uint32_t file,
                  uint64_t offset, bool writable);

/**
 * An access faulted: it may be the first store to 2 MiB of a large allocation,
 * which get a large page then, where there is nothing in the file yet.
 *
 * Return: whether to try again
 * Thread: any, out of code of kernels, or of this process on their memory.
 * Signal: fault path
 */
bool sc_space_open(uint64_t address);

/** Make part of the window inaccessible again. Thread: the serving thread. */
void sc_space_unmap(uint64_t address, uint64_t bytes);

/** struct sc_space.alloc: variable storage, mapped; 0 = none left. */
uint64_t sc_space_heap_alloc(void *ctx, size_t bytes, size_t align);

/** struct sc_space.free: the address came from sc_space_heap_alloc. */
void sc_space_heap_free(void *ctx, uint64_t address);

/** Bytes of variable storage in use. */
uint64_t sc_space_heap_bytes(void);

#endif
