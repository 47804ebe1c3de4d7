/*
 * What a kernel may use and how it may end, as the driver, the device program
 * and generated code all know it. No state, no lock.
 */
#ifndef SOFTCUDA_BASE_KERNEL_H
#define SOFTCUDA_BASE_KERNEL_H

/** Bytes of generic address space that stand for .shared and for .local. */
#define SC_SHARED_WINDOW (16u << 20)
#define SC_LOCAL_WINDOW  (16u << 20)

/** Where kernel parameters appear among generic addresses: behind .local. */
#define SC_PARAM_WINDOW 65536u
#define SC_LOCAL_USABLE (SC_LOCAL_WINDOW - SC_PARAM_WINDOW)

/** Largest CTA, and the most shared memory one CTA may use (static + dynamic,
 *  the opt-in limit of sm_90). */
#define SC_MAX_CTA_THREADS  1024u
#define SC_MAX_SHARED_BYTES (227u << 10)

/** How a load or a launch ended. */
enum sc_exec_status {
    SC_EXEC_OK,
    SC_EXEC_INVALID_PTX,         /* text is no PTX; see the log */
    SC_EXEC_UNSUPPORTED,         /* PTX this machine refuses; see the log */
    SC_EXEC_NO_MEMORY,           /* host or device memory ran out */
    SC_EXEC_BAD_LAUNCH,          /* grid, block, shared or parameter size */
    SC_EXEC_ILLEGAL_ADDRESS,     /* outside the window, or a hole in it */
    SC_EXEC_MISALIGNED,          /* address not a multiple of the access size */
    SC_EXEC_ILLEGAL_INSTRUCTION, /* e.g. brx.idx past its table */
    SC_EXEC_TRAP,                /* the kernel executed trap */
    SC_EXEC_TIMEOUT,             /* cancelled, or a barrier that cannot open */
    SC_EXEC_ASSERT,              /* a device-side assert failed */
    SC_EXEC_STACK_OVERFLOW,      /* calls deeper than a thread's stack */
};

/** Limits of device code, as cuCtxSetLimit has them; for all devices' later
 *  launches, the heap's until a module that allocates is loaded. */
enum sc_exec_limit {
    SC_LIMIT_STACK, /* bytes a thread's calls may take; default 32 KiB */
    SC_LIMIT_HEAP,  /* bytes of device malloc; default 8 MiB */
};

#endif
