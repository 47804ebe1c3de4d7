/*
 * The seam between the device process and the PTX machine: load a module,
 * ask what it holds, launch its kernels.
 *
 * Owns modules and the worker pool that runs CTAs. Does not own device
 * memory (struct sc_space hands it out), streams, or any CUDA API type.
 * Lock: one internal mutex serialises launches; a module is read-only after
 * its load, so any thread may ask it questions.
 *
 * Blanket preconditions: pointers are valid unless a text says "may be NULL";
 * sc_exec_init has succeeded before the first launch (loading needs it not).
 */
#ifndef SOFTCUDA_EXEC_EXEC_H
#define SOFTCUDA_EXEC_EXEC_H

#include "base/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * One window of virtual addresses that holds everything a kernel may touch.
 * Addresses outside it are refused by compare; holes in it are PROT_NONE and
 * fault. Copied by sc_module_load; `ctx` must outlive the module.
 */
struct sc_space {
    uint64_t window_base, window_bytes;
    /* generic addresses of .shared: [shared_base, +SC_SHARED_WINDOW) and of
     * .local: [local_base, +SC_LOCAL_WINDOW); outside the window, neither
     * needs a mapping */
    uint64_t shared_base, local_base;
    /* storage for .global/.const variables: an address inside the window,
     * readable and writable by the loading thread; 0 = none left */
    uint64_t (*alloc)(void *ctx, size_t bytes, size_t align);
    void (*free)(void *ctx, uint64_t addr);
    /* as alloc, for managed variables, which host and device share; `free`
     * gives them back, too; NULL = modules with such variables are refused */
    uint64_t (*alloc_managed)(void *ctx, size_t bytes, size_t align);
    void *ctx;
    int sm; /* reported capability, 90 = sm_90; a newer .target is refused */
};

/** One kernel parameter; `is_pointer` when declared .ptr or used as address. */
struct sc_param {
    uint32_t offset, bytes, align;
    bool is_pointer;
};

/** What a module says about one of its kernels; lives as long as the module. */
struct sc_kernel_info {
    const char *name;
    uint32_t param_count;
    const struct sc_param *params;
    uint32_t param_bytes;
    uint32_t static_shared_bytes;
    uint32_t local_bytes;       /* per thread */
    uint32_t const_bytes;       /* of the module's .const variables */
    uint32_t registers;         /* 32-bit registers per thread, an estimate */
    uint32_t max_threads;       /* per CTA, at most SC_MAX_CTA_THREADS */
    uint32_t required_block[3]; /* .reqntid; 0 = free */
};

/** One .global or .const variable with its device address. */
struct sc_variable_info {
    const char *name;
    uint64_t address;
    uint64_t bytes;
    bool is_const, is_managed;
    /* .texref, .surfref: the variable holds a handle (base/texture.h), which
     * the driver stores; 0 = none bound */
    bool is_texture, is_surface;
};

struct sc_module;

/** What ran a launch. */
struct sc_launch_report {
    uint64_t interpreted, native; /* CTAs */
    const char *why;              /* not native; NULL = it is, or will be; lives
                                   * as long as the module */
};

/** One launch; `params` holds the parameters at the offsets of sc_param. */
struct sc_launch {
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    const void *params;         /* may be NULL when the kernel has none */
    size_t param_bytes;         /* at least the kernel's param_bytes */
    const volatile int *cancel; /* may be NULL; non-zero stops the launch */
    bool cooperative;           /* all CTAs must make progress together */
    /* receives what the kernel prints, from any worker, one call at a time;
     * NULL = dropped */
    void (*print)(void *ctx, const char *text, size_t bytes);
    void *print_ctx;
    struct sc_launch_report *report; /* may be NULL */
};

/** Where and why a launch died; `text` is a whole sentence for the log. */
struct sc_exec_fault {
    uint64_t address;   /* of the access; 0 when none was involved */
    uint32_t line;      /* line of the PTX text, from 1; 0 unknown */
    const char *kernel; /* lives as long as the module */
    char text[160];
};

/**
 * Parse, check and decode PTX text; place and initialise its variables.
 *
 * @module    receives the module; NULL on failure (everything freed)
 * @ptx       text, need not end in NUL (a NUL ends it early)
 * @bytes     length of `ptx`
 * @space     where variables live and what addresses mean
 * @log       receives "line 12: unknown opcode 'foo.s32'"; "" on success;
 *            may be NULL when log_bytes is 0
 * Return: SC_EXEC_OK, _INVALID_PTX, _UNSUPPORTED, _NO_MEMORY
 * Thread: any
 * Signal: never
 */
enum sc_exec_status sc_module_load(struct sc_module **module, const char *ptx,
                                   size_t bytes, const struct sc_space *space,
                                   char *log, size_t log_bytes);

/**
 * Free a module and its variables. No launch of it may be running.
 *
 * @module may be NULL
 * Thread: any
 * Signal: never
 */
void sc_module_unload(struct sc_module *module);

/** Return: capability of its .target, 75 = sm_75. Thread: any. */
uint32_t sc_module_target(const struct sc_module *module);

/** Return: number of kernels (.entry with a body). Thread: any. */
size_t sc_module_kernels(const struct sc_module *module);

/** Return: kernel `index` in order of the text, NULL past the end. */
const struct sc_kernel_info *sc_module_kernel(const struct sc_module *module,
                                              size_t index);

/** Return: number of module-scope .global and .const variables. */
size_t sc_module_variables(const struct sc_module *module);

/** Return: variable `index` in order of the text, NULL past the end. */
const struct sc_variable_info *
sc_module_variable(const struct sc_module *module, size_t index);

/**
 * Run one kernel over its whole grid and wait for it.
 *
 * @kernel index as for sc_module_kernel
 * @fault  receives address, line and text when the status is not OK; may be
 *         NULL
 * Return: SC_EXEC_OK or any status from _NO_MEMORY on
 * Thread: any; concurrent launches run one after another
 * Signal: never
 */
enum sc_exec_status sc_kernel_launch(const struct sc_module *module,
                                     size_t kernel,
                                     const struct sc_launch *launch,
                                     struct sc_exec_fault *fault);

/**
 * Start the worker pool and install the SIGSEGV/SIGBUS handler that turns
 * faults of a worker inside a kernel into SC_EXEC_ILLEGAL_ADDRESS; foreign
 * faults go to the previous handler or the default action.
 *
 * @workers threads that run CTAs; 0 = as many as the process may use CPUs
 * Return: false when no thread could be made; true also when already running
 * Thread: one at a time
 * Signal: never
 */
bool sc_exec_init(int workers);

/**
 * Have somebody look at faults first, of any thread.
 *
 * @open  given the address: whether it can be accessed from now on. Signal:
 *        fault path
 * Thread: one, before the first launch
 */
void sc_exec_open_faults(bool (*open)(uint64_t address));

/** Stop the pool and restore the signal handlers. Thread: one at a time. */
void sc_exec_fini(void);

/**
 * Set a limit.
 *
 * Return: false when `bytes` is out of range (stack 1 KiB … 512 KiB, heap
 *         4 KiB … 64 GiB) or the heap is already in use
 * Thread: any
 * Signal: never
 */
bool sc_exec_set_limit(enum sc_exec_limit limit, uint64_t bytes);

/** Return: the limit now in force. Thread: any. */
uint64_t sc_exec_limit(enum sc_exec_limit limit);

/** Return: fixed name of a status, e.g. "illegal address". Thread: any. */
const char *sc_exec_status_text(enum sc_exec_status status);

#endif
