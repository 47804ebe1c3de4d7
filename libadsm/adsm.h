/*
 * libadsm: one pointer to data that lives in an accelerator's memory.
 *
 * Asymmetric distributed shared memory (Gelado et al., ASPLOS 2010, below "the
 * paper"): the CPU uses a shared object like any other memory, kernels use it
 * at the same address, and the runtime keeps both copies coherent from the CPU
 * side alone. Objects are released to the device by a call and acquired by its
 * return.
 *
 * Unless said otherwise every function may be called from any thread, must not
 * be called from a signal handler, and returns ADSM_OK or another status of
 * ADSM_STATUS_LIST; what the last failure of the calling thread was about says
 * adsmErrorDetail(). Nothing here ever ends the program. Any function that
 * brings the runtime up or reaches a device may return ADSM_E_NO_DEVICE,
 * ADSM_E_DEVICE, ADSM_E_DEVICE_LOST, ADSM_E_SYSTEM and, in a forked child,
 * ADSM_E_FORKED; `Return` names what else there is.
 *
 * The CPU uses shared objects by loads and stores. A system call fails with
 * EFAULT, or stops short, where it meets a part that is closed to the CPU. One
 * that only reads memory (write, send) gets what the CPU has read or written
 * since the last call that may have changed it: read a byte of every page
 * first. One that writes memory (read, recv) is given a plain buffer, from
 * which the CPU copies: under rolling a block just written is closed to writing
 * again as others follow it. (Under batch and lazy what was written since stays
 * open.) Preloaded, read and write and their relatives need none of this.
 *
 * This header stands alone: it includes nothing else of the project.
 */
#ifndef ADSM_H
#define ADSM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ADSM_VERSION_MAJOR 0
#define ADSM_VERSION_MINOR 1
#define ADSM_VERSION_PATCH 0

#ifndef ADSM_API
#define ADSM_API __attribute__((visibility("default")))
#endif

/** Every status: X(name, value, text). */
#define ADSM_STATUS_LIST(X)                                                    \
    X(ADSM_OK, 0, "success")                                                   \
    X(ADSM_E_INVALID, 1, "an argument is not valid")                           \
    X(ADSM_E_NOMEM, 2, "out of host memory")                                   \
    X(ADSM_E_DEVICE_NOMEM, 3, "out of device memory")                          \
    X(ADSM_E_NO_DEVICE, 4, "no CUDA driver or no device was found")            \
    X(ADSM_E_DEVICE, 5, "the device or its driver reported an error")          \
    X(ADSM_E_DEVICE_LOST, 6, "the device does not answer any more")            \
    X(ADSM_E_NOT_SHARED, 7, "the address is not a shared object")              \
    X(ADSM_E_NOT_FOUND, 8, "no kernel or module of that name")                 \
    X(ADSM_E_UNSUPPORTED, 9, "not supported here")                             \
    X(ADSM_E_LIMIT, 10, "a limit of the system was reached")                   \
    X(ADSM_E_SYSTEM, 11, "a system call failed")                               \
    X(ADSM_E_FORKED, 12, "the runtime does not follow into a forked child")

#define ADSM_STATUS_ENUM(name, value, text) name = value,
typedef enum { ADSM_STATUS_LIST(ADSM_STATUS_ENUM) } adsmStatus;
#undef ADSM_STATUS_ENUM

/** Name of a status, "ADSM_E_INVALID"; "?" for a number that is none. */
ADSM_API const char *adsmErrorName(int status);

/** One sentence for a status, without a full stop. */
ADSM_API const char *adsmErrorText(int status);

/**
 * What went wrong in the last call of this thread that failed: which argument,
 * what was expected. Valid until the next failing call of the thread; "" when
 * none has failed.
 */
ADSM_API const char *adsmErrorDetail(void);

/** Status of the last call of this thread, for calls that return a pointer. */
ADSM_API adsmStatus adsmLastStatus(void);

/* ---- devices ----------------------------------------------------------- */

/** Number of visible devices (ADSM_DEVICES); 0 when there is no driver, which
 *  adsmErrorDetail then says. */
ADSM_API int adsmDeviceCount(void);

/**
 * Device that allocations, modules and adsmSync of this thread use from now on;
 * 0 at first.
 *
 * Return: ADSM_OK; ADSM_E_INVALID (not from 0 to adsmDeviceCount() - 1)
 */
ADSM_API adsmStatus adsmDeviceUse(int device);

/** Total and free memory of a device in bytes; either pointer may be NULL.
 *  ADSM_E_INVALID when there is no such device. */
ADSM_API adsmStatus adsmDeviceMemory(int device, size_t *total, size_t *avail);

/* ---- shared objects ---------------------------------------------------- */

/**
 * Allocate `bytes` of shared memory on the thread's device (paper, Table 1).
 *
 * The address is valid on the CPU and in kernels. Contents are undefined.
 * Return: 512-byte aligned address; NULL with adsmLastStatus ADSM_E_INVALID
 *         (0 bytes), ADSM_E_DEVICE_NOMEM, ADSM_E_NOMEM or ADSM_E_LIMIT
 */
ADSM_API void *adsmAlloc(size_t bytes);

/**
 * As adsmAlloc, for devices where one address for both sides cannot be had (the
 * paper, section 4.2): the address is for the CPU, adsmSafe gives the device's.
 */
ADSM_API void *adsmSafeAlloc(size_t bytes);

/**
 * Device address of a CPU address inside a shared object; the same value where
 * the object has one address. NULL when `address` is not shared.
 */
ADSM_API void *adsmSafe(const void *address);

/**
 * Release an object after the work that uses it has ended.
 *
 * NULL is allowed and does nothing. An address that is not the start of a
 * live object gives ADSM_E_NOT_SHARED and changes nothing.
 */
ADSM_API adsmStatus adsmFree(void *address);

/* ---- kernels ----------------------------------------------------------- */

typedef struct adsmModule adsmModule;
typedef struct adsmKernel adsmKernel;

/**
 * Load device code.
 *
 * @image  path of a PTX, cubin or fat binary file when `bytes` is 0, otherwise
 *         the code itself (PTX text needs no terminating zero)
 * Return: ADSM_OK; ADSM_E_NOT_FOUND (no such file); ADSM_E_INVALID (the driver
 *         refused the code: adsmErrorDetail has its words)
 */
ADSM_API adsmStatus adsmModuleLoad(adsmModule **module, const void *image,
                                   size_t bytes);

/** Unload a module and every kernel handle taken from it. ADSM_E_INVALID when
 *  it is none that is loaded. */
ADSM_API adsmStatus adsmModuleUnload(adsmModule *module);

/** What a kernel may touch besides what its calls say. */
typedef enum {
    ADSM_ANY_OBJECT = 0,    /**< every object (the paper's rule)          */
    ADSM_ONLY_ARGUMENTS = 1 /**< follows no pointers stored in memory   */
} adsmReach;

/**
 * Look up a kernel by its name in the code, which for C++ is the mangled one
 * (declare it extern "C").
 *
 * Return: ADSM_OK; ADSM_E_NOT_FOUND (the module has none of that name);
 *         ADSM_E_INVALID
 */
ADSM_API adsmStatus adsmKernelGet(adsmKernel **kernel, adsmModule *module,
                                  const char *name, adsmReach reach);

/**
 * Assign an object to a kernel (the paper, section 3.3). An object assigned to
 * at least one kernel is released and acquired by calls of those kernels only;
 * an object assigned to none belongs to every ADSM_ANY_OBJECT kernel. At most 8
 * kernels per object (ADSM_E_LIMIT).
 */
ADSM_API adsmStatus adsmAttach(void *address, adsmKernel *kernel);
ADSM_API adsmStatus adsmDetach(void *address, adsmKernel *kernel);

/* ---- calls ------------------------------------------------------------- */

/**
 * What a call does with an argument's object.
 *
 * Until a call has returned, the program may go on using bytes of its objects
 * that the kernel does not write; they survive whatever block they share with
 * what the kernel writes. Bytes that both write have no defined value.
 * ADSM_IN promises that this call writes no byte of the object, ADSM_OUT that
 * it writes every byte when the pointer is the object's start: no thread may
 * write any byte of such an object while the call is made.
 */
typedef enum { ADSM_IN = 1, ADSM_OUT = 2, ADSM_INOUT = 3 } adsmMode;

/** One argument: a value (`mode` 0) or a pointer into a shared object. */
typedef struct {
    const void *p; /**< the value's address, or the shared pointer */
    size_t bytes;  /**< size of the value; 0 for a pointer         */
    int mode;      /**< 0 for a value, else adsmMode               */
} adsmArg;

/** CUDA dimensions: blocks of a grid, or threads of a block. */
typedef struct {
    unsigned x, y, z;
} adsmDim;

/*
 * adsmVal(x) passes the value that the variable x has when the call is made,
 * the others an address inside a shared object. C++ has functions of the same
 * names and uses (C++11).
 */
#ifndef __cplusplus

#define adsmVal(x)     ((adsmArg){&(x), sizeof(x), 0})
#define adsmIn(ptr)    ((adsmArg){(ptr), 0, ADSM_IN})
#define adsmOut(ptr)   ((adsmArg){(ptr), 0, ADSM_OUT})
#define adsmInOut(ptr) ((adsmArg){(ptr), 0, ADSM_INOUT})

#define adsmDim1(x)       ((adsmDim){(x), 1, 1})
#define adsmDim2(x, y)    ((adsmDim){(x), (y), 1})
#define adsmDim3(x, y, z) ((adsmDim){(x), (y), (z)})

#define ADSM_ARGS(...)                                                         \
    (int)(sizeof((adsmArg[]){__VA_ARGS__}) / sizeof(adsmArg)), (adsmArg[])     \
    {                                                                          \
        __VA_ARGS__                                                            \
    }

#endif

/**
 * Launch an ordinary CUDA kernel (release): asynchronous, in the order of the
 * thread's earlier calls on that device.
 *
 * @grid @block  CUDA dimensions; @shared_bytes  dynamic shared memory
 * @args         one entry per kernel parameter, in order. ADSM_IN objects stay
 *               valid on the CPU; ADSM_OUT objects are not sent to the device
 *               (the kernel must write all that is read later).
 * Return: ADSM_OK; ADSM_E_INVALID (wrong number or size of arguments, bad
 *         dimensions); ADSM_E_NOT_SHARED (argument n is no shared pointer)
 */
ADSM_API adsmStatus adsmLaunchV(adsmKernel *kernel, adsmDim grid, adsmDim block,
                                size_t shared_bytes, int count,
                                const adsmArg *args);

/** adsmLaunch(k, grid, block, shared_bytes, adsmInOut(a), adsmVal(n)) */
#ifndef __cplusplus
#define adsmLaunch(kernel, grid, block, shared_bytes, ...)                     \
    adsmLaunchV(kernel, grid, block, shared_bytes, ADSM_ARGS(__VA_ARGS__))
#endif

/**
 * Call a range kernel (the paper, Table 1: adsmCall) over elements [0, n).
 *
 * A range kernel's first two parameters are `long i0, long i1`; thread t of
 * the one-dimensional grid handles element i0 + t when that is below i1.
 * Asynchronous as adsmLaunch; n = 0 does nothing.
 */
ADSM_API adsmStatus adsmCallV(adsmKernel *kernel, long n, int count,
                              const adsmArg *args);

/** adsmCall(k, n, adsmIn(x), adsmOut(y)) */
#ifndef __cplusplus
#define adsmCall(kernel, n, ...) adsmCallV(kernel, n, ADSM_ARGS(__VA_ARGS__))
#endif

/**
 * Wait for every call of the process on the thread's device and acquire
 * (the paper, Table 1). A CPU access waits for its own object without it.
 *
 * Return: ADSM_OK; ADSM_E_DEVICE (a kernel failed: adsmErrorDetail says how)
 */
ADSM_API adsmStatus adsmSync(void);

#ifdef __cplusplus
} /* extern "C" */

/* What is a macro in C: a compound literal has no address in C++. */

template <typename T> inline adsmArg adsmVal(const T &x)
{
    return adsmArg{&x, sizeof x, 0};
}

inline adsmArg adsmIn(const void *ptr)
{
    return adsmArg{ptr, 0, ADSM_IN};
}

inline adsmArg adsmOut(const void *ptr)
{
    return adsmArg{ptr, 0, ADSM_OUT};
}

inline adsmArg adsmInOut(const void *ptr)
{
    return adsmArg{ptr, 0, ADSM_INOUT};
}

inline adsmDim adsmDim3(unsigned x, unsigned y, unsigned z)
{
    return adsmDim{x, y, z};
}

inline adsmDim adsmDim2(unsigned x, unsigned y)
{
    return adsmDim3(x, y, 1);
}

inline adsmDim adsmDim1(unsigned x)
{
    return adsmDim3(x, 1, 1);
}

template <typename... Args>
inline adsmStatus adsmLaunch(adsmKernel *kernel, adsmDim grid, adsmDim block,
                             size_t shared_bytes, const Args &...args)
{
    const adsmArg list[sizeof...(args) + 1] = {args...};
    return adsmLaunchV(kernel, grid, block, shared_bytes, (int)sizeof...(args),
                       list);
}

template <typename... Args>
inline adsmStatus adsmCall(adsmKernel *kernel, long n, const Args &...args)
{
    const adsmArg list[sizeof...(args) + 1] = {args...};
    return adsmCallV(kernel, n, (int)sizeof...(args), list);
}
#endif

#endif
