/*
 * What the driver and a device process say to each other.
 *
 * One shared memory file per device holds a byte ring of commands (driver to
 * device) and a ring of results (device to driver).  Commands are executed in
 * the order written and complete in that order, so a result needs no name.
 * A socket pair next to it only passes memory files and shows hang-up.
 *
 * Ordering: the producer publishes with a release store of its counter, the
 * consumer reads it with acquire.  Sleepers raise their flag, then look at
 * the counter again (both sequentially consistent) before the futex wait;
 * the producer stores the counter, then looks at the flag.
 */
#ifndef SOFTCUDA_BASE_PROTOCOL_H
#define SOFTCUDA_BASE_PROTOCOL_H

#include <stdatomic.h>
#include <stdint.h>

#define SC_PROTOCOL_VERSION 9u
#define SC_RING_BYTES       (1u << 20)
#define SC_RESULT_SLOTS     4096u
#define SC_MAX_DEVICES      16
#define SC_PRINT_BYTES      (64u << 20) /* a hole until it is used */
#define SC_PRINT_LIMIT      (1u << 20)  /* CU_LIMIT_PRINTF_FIFO_SIZE */
#define SC_WHY_SLOTS        64u

/* File numbers in map commands: 0..15 a device's memory, then: */
#define SC_FILE_HOST   16
#define SC_FILE_IMPORT 17 /* devices of other processes */
#define SC_IMPORTS     64
#define SC_FILES       (SC_FILE_IMPORT + SC_IMPORTS)

enum sc_command_type {
    SC_COMMAND_PAD,    /* skip to the start of the ring */
    SC_COMMAND_ADOPT,  /* take file `file` from the socket */
    SC_COMMAND_MAP,    /* map part of a file at an address */
    SC_COMMAND_UNMAP,  /* put the inaccessible placeholder back */
    SC_COMMAND_LOAD,   /* take an image from the socket, answer into it */
    SC_COMMAND_UNLOAD, /* forget a module */
    SC_COMMAND_LAUNCH, /* run a kernel, parameters follow */
    SC_COMMAND_FILL,   /* set rows of elements */
    SC_COMMAND_COPY,   /* copy rows within device memory */
    SC_COMMAND_LIMIT   /* set a limit of device code */
};

/** Head of every command; `bytes` counts it too and is a multiple of 16.
 *  After a fault the commands of the same context are skipped: they were sent
 *  before the driver could know.  0: a command of the driver itself. */
struct sc_command {
    uint32_t bytes;
    uint32_t type;
    uint64_t context;
};

struct sc_command_adopt {
    struct sc_command head;
    uint32_t file;
    uint32_t reserved;
};

struct sc_command_map {
    struct sc_command head;
    uint64_t address, bytes, offset;
    uint32_t file;
    uint32_t writable;
};

struct sc_command_unmap {
    struct sc_command head;
    uint64_t address, bytes;
};

struct sc_command_load {
    struct sc_command head;
    uint64_t image_bytes;
};

struct sc_command_unload {
    struct sc_command head;
    uint64_t module;
};

struct sc_command_launch {
    struct sc_command head;
    uint64_t module;
    uint32_t kernel;
    uint32_t grid[3], block[3];
    uint32_t shared_bytes;
    uint32_t param_bytes;
    uint32_t cooperative; /* 1: all blocks make progress together */
    uint8_t params[];
};

struct sc_command_fill {
    struct sc_command head;
    uint64_t address, pitch;
    uint64_t width; /* elements in a row */
    uint64_t height;
    uint32_t element_bytes; /* 1, 2, 4 or 8 */
    uint32_t value, high;   /* high: of 8 bytes */
    uint32_t reserved;
};

struct sc_command_copy {
    struct sc_command head;
    uint64_t dst, src;
    uint64_t dst_pitch, dst_slice, src_pitch, src_slice;
    uint64_t width, height, depth;
};

struct sc_command_limit {
    struct sc_command head;
    uint64_t bytes;
    uint32_t limit; /* a value of enum sc_exec_limit */
    uint32_t reserved;
};

/* Who ran a launch. */
#define SC_RAN_INTERPRETED 1u
#define SC_RAN_NATIVE      2u

/** Outcome of one command: a value of enum sc_exec_status, and when it ran. */
struct sc_result {
    uint16_t status;
    uint8_t ran; /* SC_RAN_*, both when native code took over */
    uint8_t why; /* not native: index of sc_shared.why, 0 = no reason */
    uint32_t line;
    uint64_t address;
    uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
};

/** Answer to a load, at offset 0 of the image file; tables follow in order. */
struct sc_load_answer {
    uint32_t status;
    uint32_t log_bytes; /* text after the tables, with its NUL */
    uint32_t kernels, params, variables;
    uint32_t name_bytes; /* names after the log, each with its NUL */
    uint32_t target;     /* capability the PTX was made for */
    uint32_t reserved;
    uint64_t module;
    uint64_t heap_bytes; /* variable storage this device uses in all */
    uint64_t total_bytes;
};

struct sc_load_kernel {
    uint32_t name; /* offset among the names */
    uint32_t first_param, param_count, param_bytes;
    uint32_t static_shared_bytes, local_bytes, const_bytes, registers;
    uint32_t max_threads, required_block[3];
};

struct sc_load_param {
    uint32_t offset, bytes;
};

struct sc_load_variable {
    uint64_t address, bytes;
    uint32_t name;
    uint32_t managed; /* 1: the host process maps it, too */
};

/** The shared memory itself. */
struct sc_shared {
    uint32_t version;
    _Atomic uint32_t ready; /* 1 mapped and serving, 2 address collision */
    uint32_t sm;            /* capability to report, 90 = 9.0 */
    uint64_t window_base, window_bytes;
    uint64_t heap_base, heap_bytes, heap_offset; /* module variables */

    /* SOFTCUDA_STATS=1: the device process prints its report when the program
     * ends; the program takes it back when it prints one itself. */
    _Atomic uint32_t report;
    _Atomic uint64_t bytes_up, bytes_down; /* ever moved */

    /* What the last allocation asked for, where the device had no room for it,
     * and how much of how much was in use; 0: it had. Told by either in the same
     * way. */
    _Atomic uint64_t refused_bytes;
    uint64_t refused_used, memory_bytes;

    /* SOFTCUDA_PACE, 0 = none; launches that had one, and those that ended
     * more than 1 ms behind it: the device process counts. */
    uint64_t threads_per_second;
    _Atomic uint64_t paced, late;

    /* Commands: bytes ever written, bytes ever read.  Written by one side
     * each, on lines of their own. */
    _Alignas(64) _Atomic uint32_t head;
    _Atomic int32_t driver_cpu; /* where `head` was written last */
    _Alignas(64) _Atomic uint32_t tail;
    /* Flags: 1 while that side sleeps, or is about to. Whoever wakes it takes
     * the flag back, and it sleeps on nothing else: a wake that comes late, for
     * what it has seen by itself, or before it sleeps, cannot be lost. */
    _Atomic uint32_t device_sleeps;
    /* Results ever written. */
    _Alignas(64) _Atomic uint32_t done;
    _Atomic int32_t device_cpu; /* where `done` was written last */
    _Alignas(64) _Atomic uint32_t driver_sleeps;
    /* Value of `done` from which a sleeping driver wants to be woken. */
    _Atomic uint32_t wake_at;

    char fault_text[256]; /* of the last failed launch, one sentence */
    /* why kernels are not run natively, each text once; [0] is not used */
    char why[SC_WHY_SLOTS][160];
    struct sc_result results[SC_RESULT_SLOTS];
    /* Non-zero stops the kernel whose result goes to that slot; set by the
     * driver while the command is in the ring, cleared after its result. A
     * futex: the device process sleeps on it. */
    _Atomic uint32_t cancel[SC_RESULT_SLOTS];
    /* When the command whose result goes to that slot was written; kept where
     * there is a pace. */
    uint64_t written_ns[SC_RESULT_SLOTS];
    _Alignas(64) uint8_t ring[SC_RING_BYTES];

    /* What kernels print: bytes ever claimed by a writer, then bytes ever
     * written.  The oldest beyond the limit count as lost, so a reader that
     * finds its bytes still inside the limit after copying them has them. */
    _Alignas(64) _Atomic uint64_t print_claimed;
    _Atomic uint64_t printed;
    _Atomic uint32_t print_limit;
    _Alignas(64) uint8_t print[SC_PRINT_BYTES];
};

#endif
