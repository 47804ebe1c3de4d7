/*
 * A device address window inside the test process, and kernels run in it: by
 * the interpreter (machine.c), or by a CUDA driver (machine_driver.c).
 *
 * Owns the window and its bump allocator, one per process; tests run in
 * processes of their own. No lock.
 */
#ifndef TESTS_OPCODES_MACHINE_H
#define TESTS_OPCODES_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exec/exec.h"

/* The first MACHINE_MAPPED bytes of the window can be used; the rest of it is
 * a hole. */
enum { MACHINE_WINDOW = 256 << 20, MACHINE_MAPPED = 64 << 20 };

/** Make the window and start the workers. Fails the test. Thread: one. */
void machine_open(void);

/** Stop the workers, unmap the window. Thread: one. */
void machine_close(void);

/** Zeroed device memory, aligned to 256; fails the test when none is left. */
void *machine_alloc(size_t bytes);

/** Forget every allocation. */
void machine_forget(void);

/** The address space modules are loaded with; of the interpreter only. */
const struct sc_space *machine_space(void);

/**
 * Load PTX text.
 *
 * @log receives the loader's message, at least 1 byte
 * Return: status of sc_module_load. Thread: one
 */
enum sc_exec_status machine_load(struct sc_module **module, const char *ptx,
                                 char *log, size_t log_bytes);

/** Whether a guard holds for all an instruction does; of NVIDIA's assembler it
 *  cannot be expected, see runner_loses_guard. */
bool machine_keeps_guards(void);

/** Who answers, for the head of what it answered. */
void machine_describe(char *text, size_t bytes);

/** Free a module. Thread: one */
void machine_unload(struct sc_module *module);

/** Launch kernel 0 with 64-bit arguments and one-dimensional sizes. */
enum sc_exec_status machine_launch(const struct sc_module *module,
                                   uint32_t ctas, uint32_t threads,
                                   const uint64_t *arguments, size_t count,
                                   struct sc_exec_fault *fault);

/**
 * Load, launch and unload; any failure fails the test with the log, except
 * that SC_EXEC_UNSUPPORTED at load is counted, printed and returned.
 */
enum sc_exec_status machine_run(const char *ptx, uint32_t ctas,
                                uint32_t threads, const uint64_t *arguments,
                                size_t count);

/** `(uint64_t)(uintptr_t)p`, the device address of window memory. */
static inline uint64_t machine_address(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

/** Head of every test module: version, target, address size. */
#define MACHINE_HEAD ".version 8.5\n.target sm_90\n.address_size 64\n"

#endif
