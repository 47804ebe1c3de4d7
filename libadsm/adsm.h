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
 * open.) Preloaded, read and write and their relatives need none of this; nor do
 * MPI calls where libadsm-mpi is preloaded or linked (docs/mpi.md).
 *
 * Accesses are told by SIGSEGV, of which the program's own faults still reach the
 * program's own handler. The kernel ends a program whose thread has it blocked at
 * such an access: leave it out of masks. A function of this header opens it in the
 * thread that calls it (preloaded programs, and ADSM_FAULT_ENGINE=uffd, need none
 * of this). An access needs 16 KiB of the thread's stack, or of the alternate
 * one where the program handles SIGSEGV on it; these functions need 32 KiB, and
 * what the driver needs.
 *
 * This header stands alone: of the project it includes nothing but adsm_data.h
 * and, in C++, adsm_cxx.h, which belong to it.
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
 * 0 at first. Kernels run where their modules were loaded.
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
 * live object gives ADSM_E_NOT_SHARED and changes nothing. What adsmAdopt has
 * made shared goes on as the program's; where a device is lost, without what only
 * that had of it (ADSM_E_DEVICE_LOST).
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
 *         ADSM_E_INVALID; ADSM_E_LIMIT (it has more than 256 parameters)
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

/* ---- kernels on the CPU ------------------------------------------------ */

/** Blocks [first, first + count) of a grid, numbered x first. */
typedef struct adsmBlocks {
    unsigned grid[3], block[3];
    uint64_t first, count;
} adsmBlocks;

/**
 * A kernel's function for the CPU: with ADSM_DEVICES=cpu the kernel of that name
 * is this, whatever the module's code is. adsm_cpu.h makes one from the kernel
 * itself.
 */
typedef struct adsmCpuCode {
    const char *name;
    /** Do some of the blocks. values[i] points at the value of parameter i, as
     *  the kernel gets it. Called by several threads at once, for different
     *  blocks; where arrays lie while kernels run no access waits. */
    void (*run)(const adsmBlocks *blocks, void *const *values);
    int count;                /**< parameters ...      */
    const size_t *bytes;      /**< ... and their sizes */
    struct adsmCpuCode *next; /**< the library's */
} adsmCpuCode;

/** Make a kernel's function known; it stays the library's until it is removed,
 *  which no launch of it may outlast. May be called before main, and needs no
 *  device. Return: ADSM_OK; ADSM_E_INVALID (a member is missing, or there is one
 *  of that name) */
ADSM_API adsmStatus adsmCpuAdd(adsmCpuCode *code);
ADSM_API adsmStatus adsmCpuRemove(adsmCpuCode *code);

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

/** How an argument follows the range of a call; adsmLaunch and a call without
 *  options read nothing but `p`, `bytes` and `mode`. */
typedef enum {
    ADSM_BY_RANGE, /**< the part's box of the array                        */
    ADSM_WHOLE,    /**< all of it (a MapArray operand)                     */
    ADSM_NEAR,     /**< the part's box and its surroundings (MapOverlap)   */
    ADSM_BOXED,    /**< boxes that a text or a function names              */
    ADSM_INTO,     /**< all of it, accumulated: adsmInto of adsm_skeleton.h */
    ADSM_KEPT,     /**< a value, which is in the argument itself: `param`  */
    ADSM_SCATTER   /**< all of it, each element written by one part at most */
} adsmHow;

/** What a kernel reads beyond the array's edge. */
typedef enum {
    ADSM_EDGE_NONE,  /**< nothing: the kernel looks where it is          */
    ADSM_EDGE_CLAMP, /**< the element nearest to it                      */
    ADSM_EDGE_WRAP,  /**< the elements of the opposite side              */
    ADSM_EDGE_PAD    /**< one element that the call names: adsmPad       */
} adsmEdge;

/** What a value is, which is compared with its parameter in PTX. */
typedef enum {
    ADSM_ANY_KIND, /**< not known                    */
    ADSM_INTEGER,  /**< with or without a sign       */
    ADSM_REAL      /**< float, double                */
} adsmKind;

/**
 * Box of indices in `nd` dimensions, 1 to 3: those from lo[d], and below hi[d].
 * Dimension 0 is the outermost (row-major: the last one is contiguous), and
 * entries from nd on are 0.
 */
typedef struct {
    int nd;
    long lo[3], hi[3];
} adsmBox;

/** A part of a call over several devices, for box functions. */
typedef struct {
    adsmBox box;      /**< its share of the range, or a piece of that      */
    adsmBox whole;    /**< the range                                       */
    int index, count; /**< which of the call's parts it is                 */
    int device;       /**< where it runs                                   */
} adsmPart;

/**
 * Which boxes of an array a part uses, in elements; at most `most` (8) are
 * stored in `out`. Called on the thread that makes the call, before anything
 * moves, more than once, and also for pieces that a part is not cut into in the
 * end: it depends on nothing but its arguments, and calls nothing of this
 * header.
 *
 * Return: how many boxes, 0 or more; below 0: the call fails with ADSM_E_INVALID
 */
typedef int adsmBoxFn(const adsmPart *part, void *user, adsmBox *out, int most);

/**
 * One argument: a value (`mode` 0) or a pointer into a shared object.
 *
 * `size` is sizeof(adsmArg), which the macros and functions below set: structures
 * grow, and a library runs programs that were built with an older header. 0 is
 * the structure as it is in version 0.1. An argument made by hand needs it where
 * it has members that came later, and then so do all of its array. A newer
 * header's is refused (ADSM_E_INVALID) if it uses what the library does not know.
 */
typedef struct {
    const void *p;     /**< the value's address, or the shared pointer; NULL
                            for a value that is kept                       */
    size_t bytes;      /**< size of the value; 0 for a pointer                */
    int mode;          /**< 0 for a value, else adsmMode                      */
    unsigned size;     /**< of the structure                                  */
    size_t elem;       /**< bytes of an element; 0: adsmShape has said it     */
    uint8_t how, edge; /**< adsmHow, adsmEdge; of a value adsmKind        */
    uint8_t view;      /**< 1: the parameter is a view, adsmView; 2: the array
                            is taken as flat, adsmFlat                     */
    uint8_t align;     /**< of an element; 0: not known                   */
    /** Dimension d of the array follows dimension follow[d] - 1 of the
     *  range; 0: its own; -1: it is not cut. */
    int8_t follow[3];
    int radius[3];     /**< ADSM_NEAR: elements on both sides             */
    const void *extra; /**< ADSM_EDGE_PAD: the element; adsmBoxedBy: user;
                            adsmInto: the operator */
    long per[3];       /**< indices for which there is an element: adsmPer */
    const char *text;  /**< ADSM_BOXED: adsmBoxed's, read during the call */
    adsmBoxFn *boxes;  /**< or adsmBoxedBy's                              */
    int params;        /**< of it: how many there are, 0 to 4            */
    long param[5];     /**< $1 to $4, and a 0 behind them; ADSM_KEPT: value */
} adsmArg;

/** CUDA dimensions: blocks of a grid, up to 2^31 - 1, 65,535 and 65,535; or
 *  threads of a block, 1,024 together. What is more is refused. */
typedef struct {
    long x, y, z;
} adsmDim;

/*
 * adsmVal(x) passes the value that x has when the argument is made: a variable, a
 * constant or an expression (a structure in place in parentheses of its own); x is
 * evaluated once. An argument has a value of up to 40 bytes with it, so arguments
 * and tasks may be kept. What is larger is copied in C until the end of the block,
 * but an array, which is used where it is; in C++ it has to be a variable that is
 * there when the call is made. The others pass an address inside a shared object.
 * C++ has functions of the same names and uses (C++11). adsmR1 to adsmR3 are boxes
 * that begin at 0.
 *
 * What a part of a call over several devices gets (adsmCallWith): adsmIn,
 * adsmOut and adsmInOut its own box of the array; adsmAll all of it; adsmHalo
 * (1-D) its box and `r` elements on both sides; of a 2-D array adsmColumn the
 * rows above and below, adsmRow the columns left and right, adsmCross both and
 * adsmSquare both with the corners. What an adsmOut names is not sent to the
 * device: the kernel writes all of its box. The pointer's type says how large
 * an element is; of a void pointer adsmShape does.
 *
 * adsmScatter(p) is for writes anywhere: a permutation, a sort's last step. Any
 * part may write any element of the array, and no element is written by two. Those
 * that none writes keep what they are, and a part reads what was there before the
 * call and what it has written. A call of one part works in the array. Of several
 * each has a copy of all of it, to begin with as the array is; behind them one
 * call on the first device finds what differs: with k parts, up to k + 2 times
 * the array's memory in the library. That is exact whatever an element's type and
 * value, also where it is written with what it was. Bits of an element that two
 * parts write are undefined, and nobody is told. No other argument may lie in the
 * array. (Partial writes of one element by two parts, such as of different members
 * of a structure, come together as well.)
 *
 * adsmBoxed(path, ADSM_IN, "[$1][:]", k) names the boxes that a part uses, in
 * elements: [a:b] for indices from a on and below b, [a] for [a:a+1], [:] for
 * all, one for each dimension of the array. Values are made with + - * and
 * parentheses of integers, i0 i1 j0 j1 k0 k1 (the part's box; i is the range's
 * outermost dimension, and [i] is [i0:i1]), N0 N1 N2 (the array's extents) and
 * $1 to $4 (the `long`s behind the text). Up to 8 boxes are joined by |: the
 * part's memory is that of the box around them, what moves are the boxes. All
 * lie in the array; where b <= a one is empty. They are what the kernel touches:
 * what it writes of an ADSM_OUT is all of them. The text is read during the
 * call; a mistake in it is ADSM_E_INVALID with the column. Without options it is
 * not looked at: the kernel has all of the object. (Ramashekar and Bondhugula,
 * "Automatic Data Allocation and Buffer Management for Multi-GPU Machines",
 * where a compiler finds the boxes.) adsmBoxedBy(p, mode, f, user) asks a
 * function, for boxes that no such text can say.
 */
#ifndef __cplusplus

/* A value that lies at `p`: in the argument, where it has room for it. */
static inline adsmArg adsmKeep_(const void *p, size_t bytes, int kind)
{
    adsmArg arg = {.p = p, .bytes = bytes, .size = sizeof arg};
    arg.edge = (uint8_t)kind;
    if (bytes > sizeof arg.param)
        return arg;
    arg.how = ADSM_KEPT;
    __builtin_memcpy(arg.param, p, bytes);
    return arg;
}

#define adsmVal(x)       adsmKeep_(ADSM_KEEP_(x), sizeof(x), ADSM_KIND_(x))
#define adsmIn(ptr)      ADSM_ARG_(ptr, ADSM_IN, ADSM_BY_RANGE)
#define adsmOut(ptr)     ADSM_ARG_(ptr, ADSM_OUT, ADSM_BY_RANGE)
#define adsmInOut(ptr)   ADSM_ARG_(ptr, ADSM_INOUT, ADSM_BY_RANGE)
#define adsmAll(ptr)     ADSM_ARG_(ptr, ADSM_IN, ADSM_WHOLE)
#define adsmScatter(ptr) ADSM_ARG_(ptr, ADSM_INOUT, ADSM_SCATTER)

#define adsmHalo(ptr, r, e)        ADSM_NEAR_(ptr, r, 0, e)
#define adsmColumn(ptr, ry, e)     ADSM_NEAR_(ptr, ry, 0, e)
#define adsmRow(ptr, rx, e)        ADSM_NEAR_(ptr, 0, rx, e)
#define adsmCross(ptr, ry, rx, e)  ADSM_NEAR_(ptr, ry, rx, e)
#define adsmSquare(ptr, ry, rx, e) ADSM_NEAR_(ptr, ry, rx, e)

/* A copy of x as a compound literal, which no array can be: of that the address. */
#define ADSM_KEEP_(x)                                                          \
    __builtin_choose_expr(                                                     \
        ADSM_IS_ARRAY_(x),                                                     \
        (const void *)__builtin_choose_expr(ADSM_IS_ARRAY_(x), (x), 0),        \
        (const void *)(__typeof__(ADSM_NO_ARRAY_(x))[1]){ADSM_NO_ARRAY_(x)})
#define ADSM_NO_ARRAY_(x) __builtin_choose_expr(ADSM_IS_ARRAY_(x), 0, (x))
/* To the builtin, 5 is a pointer; ?: makes an array one. */
#define ADSM_IS_ARRAY_(x)                                                      \
    (__builtin_classify_type(x) == 5 &&                                        \
     !__builtin_types_compatible_p(__typeof__(x), __typeof__(0 ? (x) : (x))))

#define ADSM_KIND_(x)                                                          \
    _Generic((x), float                                                        \
             : ADSM_REAL, double                                               \
             : ADSM_REAL, _Bool                                                \
             : ADSM_INTEGER, char                                              \
             : ADSM_INTEGER, signed char                                       \
             : ADSM_INTEGER, unsigned char                                     \
             : ADSM_INTEGER, short                                             \
             : ADSM_INTEGER, unsigned short                                    \
             : ADSM_INTEGER, int                                               \
             : ADSM_INTEGER, unsigned                                          \
             : ADSM_INTEGER, long                                              \
             : ADSM_INTEGER, unsigned long                                     \
             : ADSM_INTEGER, long long                                         \
             : ADSM_INTEGER, unsigned long long                                \
             : ADSM_INTEGER, default                                           \
             : ADSM_ANY_KIND)

/* Bytes of *(ptr), and what they are aligned to; 0 where that is void. */
#define ADSM_OF_(measure, ptr)                                                 \
    _Generic((ptr), void *: 0, const void *: 0, volatile void *: 0,            \
             const volatile void *: 0,                                         \
             default: measure(*_Generic((ptr), void *: (char *)0,              \
                                        const void *: (char *)0,               \
                                        volatile void *: (char *)0,            \
                                        const volatile void *: (char *)0,      \
                                        default: (ptr))))
#define ADSM_ELEM_(ptr)  ADSM_OF_(sizeof, ptr)
#define ADSM_ALIGN_(ptr) ADSM_OF_(__alignof__, ptr)
#define ADSM_ARG_(ptr, m, h)                                                   \
    ((adsmArg){.p = (ptr),                                                     \
               .mode = (m),                                                    \
               .size = sizeof(adsmArg),                                        \
               .elem = ADSM_ELEM_(ptr),                                        \
               .how = (h),                                                     \
               .align = ADSM_ALIGN_(ptr)})
#define ADSM_NEAR_(ptr, ry, rx, e)                                             \
    ((adsmArg){.p = (ptr),                                                     \
               .mode = ADSM_IN,                                                \
               .size = sizeof(adsmArg),                                        \
               .elem = ADSM_ELEM_(ptr),                                        \
               .align = ADSM_ALIGN_(ptr),                                      \
               .how = ADSM_NEAR,                                               \
               .edge = (e),                                                    \
               .radius = {(ry), (rx)}})

#define adsmBoxed(ptr, mode, ...) ADSM_BOXED_(ptr, mode, __VA_ARGS__, 0)
#define ADSM_BOXED_(ptr, m, t, ...)                                            \
    ((adsmArg){.p = (ptr),                                                     \
               .mode = (m),                                                    \
               .size = sizeof(adsmArg),                                        \
               .elem = ADSM_ELEM_(ptr),                                        \
               .align = ADSM_ALIGN_(ptr),                                      \
               .how = ADSM_BOXED,                                              \
               .text = (t),                                                    \
               .params =                                                       \
                   (int)(sizeof((long[]){__VA_ARGS__}) / sizeof(long)) - 1,    \
               .param = {__VA_ARGS__}})
#define adsmBoxedBy(ptr, m, fn, user)                                          \
    ((adsmArg){.p = (ptr),                                                     \
               .mode = (m),                                                    \
               .size = sizeof(adsmArg),                                        \
               .elem = ADSM_ELEM_(ptr),                                        \
               .align = ADSM_ALIGN_(ptr),                                      \
               .how = ADSM_BOXED,                                              \
               .extra = (user),                                                \
               .boxes = (fn)})

#define adsmDim1(x)       ((adsmDim){(x), 1, 1})
#define adsmDim2(x, y)    ((adsmDim){(x), (y), 1})
#define adsmDim3(x, y, z) ((adsmDim){(x), (y), (z)})

#define adsmR1(n)          ((adsmBox){1, {0}, {(n)}})
#define adsmR2(ny, nx)     ((adsmBox){2, {0}, {(ny), (nx)}})
#define adsmR3(nz, ny, nx) ((adsmBox){3, {0}, {(nz), (ny), (nx)}})

#define ADSM_ARGS(...)                                                         \
    (int)(sizeof((adsmArg[]){__VA_ARGS__}) / sizeof(adsmArg)), (adsmArg[])     \
    {                                                                          \
        __VA_ARGS__                                                            \
    }

#endif

/**
 * Launch an ordinary CUDA kernel (release): asynchronous, on the device that its
 * module was loaded on, whichever the thread uses, and in the order of the
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
 * Asynchronous as adsmLaunch, and on the same device, which adsmDefaults may
 * change; n = 0 does nothing.
 */
ADSM_API adsmStatus adsmCallV(adsmKernel *kernel, long n, int count,
                              const adsmArg *args);

/** adsmCall(k, n, adsmIn(x), adsmOut(y)) */
#ifndef __cplusplus
#define adsmCall(kernel, n, ...) adsmCallV(kernel, n, ADSM_ARGS(__VA_ARGS__))
#endif

/**
 * Wait for every call of the process on the thread's device, for those that the
 * thread has made on others, and for those over several devices (adsmCallWith) on
 * all of them, and acquire (the paper, Table 1). A CPU access waits for its own
 * object without it.
 *
 * Return: ADSM_OK; ADSM_E_DEVICE (a kernel failed: adsmErrorDetail says how)
 */
ADSM_API adsmStatus adsmSync(void);

/* ---- several devices --------------------------------------------------- */

/* Of `home` and of adsmPrefetch's and adsmDrop's `device`. */
enum { ADSM_HOST = -1, ADSM_NO_HOME = -1 };

#define ADSM_ALL_DEVICES 0xffffffffu

/**
 * Allocate a shared array.
 *
 * @elem   bytes of an element; @shape  a box that begins at 0, in elements
 * @home   device that keeps memory for all of it, as adsmAlloc has it, or
 *         ADSM_NO_HOME: devices hold only the boxes that calls need. Its
 *         address is the CPU's then: kernels get it as an argument only.
 * Return: as adsmAlloc; contents are undefined
 */
ADSM_API void *adsmAllocArray(size_t elem, adsmBox shape, int home);

/**
 * Say that an object, or the rest of one from `array` on, is a row-major array:
 * calls may cut it by any dimension. Without it an argument has the shape of
 * the call's range if that begins at 0 and its object is that large, else it is
 * one-dimensional; adsmRows and its like need the same size, or are told so.
 *
 * Return: ADSM_OK; ADSM_E_INVALID (larger than the object, or not from 0 on);
 *         ADSM_E_NOT_SHARED
 */
ADSM_API adsmStatus adsmShape(void *array, size_t elem, adsmBox shape);

/** A call that was made; {0} is one that has ended. */
typedef struct {
    uint64_t id;
} adsmEvent;

/**
 * How a call is spread; all 0: one part on the thread's device.
 *
 * `size` is sizeof(adsmOpts), which adsmWith sets, and means what adsmArg's does:
 * with 0 members that came after version 0.1 are not looked at.
 */
typedef struct {
    unsigned size;    /**< of the structure                                 */
    uint32_t devices; /**< bit per visible device; 0: the thread's          */
    int parts;        /**< 0: one per device, their sizes by measured speed;
                           more than there are devices: as many, dealt out  */
    long tile[3];     /**< or the extents of a part; 0: not cut there       */
    int cyclic;       /**< parts are dealt round robin, not in blocks       */
    int chunks;       /**< pieces of each part, up to 32: one computes while
                           the next is brought and what the last made is
                           fetched; 0: by what moved the last time and how long
                           it took                                          */
    int fetch;        /**< what parts write comes to the host as it is made */
    int sync;         /**< return when the call has ended                   */
    long align;       /**< parts begin at multiples of it in the outermost
                           dimension that is cut                            */
    const adsmEvent *after; /**< `afters` calls that end before this begins */
    int afters;
    adsmEvent *event; /**< receives the call                                */
    /** Called on a thread of the runtime when the call has ended; may use
     *  shared objects and make calls. */
    void (*then)(void *arg, adsmStatus status);
    void *then_arg;
    /** Called on a thread of the runtime as parts end (pieces, where they are
     *  cut into such), within 50 ms: `done` of `parts`; the last time with
     *  all of them, or with -1 where one failed. When a call with `sync`, or
     *  one that fails, has returned it is called no more. May use shared
     *  objects and make calls; those have no progress.                     */
    void (*progress)(void *arg, int done, int parts);
    void *progress_arg;
    unsigned block[3];   /**< threads, x y z; 0: 256; 32 x 8; 32 x 4 x 2    */
    long each[3];        /**< indices in each dimension that a thread
                              handles, by which there are fewer; 0: 1       */
    size_t shared_bytes; /**< dynamic shared memory of a block              */
    /** Where parts run, where `parts` or `tile` says how many there are:
     *  "static", on devices in order; or they wait as tasks, and "eager",
     *  "prio", "random", "ws", "dm", "dmda", "dmdar" or "dmdas" places each
     *  when it is ready. NULL: as ADSM_POLICY says. No policy changes a
     *  result.                                                             */
    const char *policy;
    int priority; /**< of its tasks; prio and dmdas begin higher ones first */
    /** `parts` + 1 numbers, where parts are to begin in the outermost dimension
     *  of the range, from its beginning to its end, rising; NULL: as above. */
    const long *bounds;
    /** How much work each index of the outermost dimension is, `weight_count` of
     *  them, from 0 on, or a function that says so: parts have about the same
     *  of it, or with `parts` 0 each device as much as it is fast. Read while
     *  the call is made.                                                    */
    const double *weights;
    long weight_count;
    double (*weigh)(void *arg, long index);
    void *weigh_arg;
} adsmOpts;

/**
 * Call a range kernel over a box of indices (the skeletons map, MapArray and
 * MapOverlap), in parts on one or several devices.
 *
 * The kernel's first parameters are the bounds of its part, `long i0, long i1`
 * in each dimension, outermost first; thread (x, y, z) of the grid handles x in
 * the innermost dimension, y and z in those around it. Indices are the whole
 * array's: a pointer is shifted so that element i of the array is p[i] whatever
 * part the device has. Where rows are cut the parameter is an adsm_view2 or
 * adsm_view3 (adsm_device.h) instead of a pointer.
 *
 * Reads see what was there before the call. Asynchronous: a CPU access waits
 * for the parts that write what it touches, and for no others.
 *
 * @opts  NULL: what adsmDefaults has set, at first one part on the thread's
 *        device, whose kernel may use all of its objects
 * Return: ADSM_OK; ADSM_E_INVALID (arguments that do not fit the kernel or the
 *         range, parts that write the same byte, a pointer where a view is
 *         needed, ADSM_ANY_OBJECT on several devices; with ADSM_CHECK, when
 *         all parts have ended, a store outside what an argument says);
 *         ADSM_E_NOT_SHARED;
 *         ADSM_E_DEVICE_NOMEM (what one device needs is more than it has).
 *         When a part fails those before it run, the others do not, and
 *         nothing else changes
 */
ADSM_API adsmStatus adsmCallRangeV(adsmKernel *kernel, adsmBox range,
                                   const adsmOpts *opts, int count,
                                   const adsmArg *args);

/** Options of the thread's calls that give none; NULL: as at first. What
 *  concerns one call alone (`event`, `then`, `after`, bounds and weights) is not
 *  kept. */
ADSM_API adsmStatus adsmDefaults(const adsmOpts *opts);

/** Wait for a call; the first failure of its parts. Without acquiring: batch
 *  brings objects back at adsmSync. */
ADSM_API adsmStatus adsmWait(adsmEvent event);

/** Whether a call has ended, without waiting. */
ADSM_API adsmStatus adsmTest(adsmEvent event, int *done);

/**
 * Wait for the calls that use a box of an array: those that write it and, for
 * ADSM_OUT and ADSM_INOUT, those that read it.
 *
 * @box  in elements of the array; NULL: all of it
 */
ADSM_API adsmStatus adsmWaitFor(const void *array, const adsmBox *box,
                                adsmMode mode);

/*
 * Hints: nothing is wrong without them. `box` is in elements, NULL for all of
 * the array; `array` begins an object or what adsmShape was told of.
 */

/** Bring a box to a device, or to the host, before it is needed. */
ADSM_API adsmStatus adsmPrefetch(const void *array, const adsmBox *box,
                                 int device);

/** Give up a device's copies that lie in the box, what only they have saved;
 *  the home keeps its memory. */
ADSM_API adsmStatus adsmDrop(const void *array, const adsmBox *box, int device);

/** The box's contents are not needed any more: nobody saves what only a device
 *  has of it, and who reads it before it is written again gets anything. */
ADSM_API adsmStatus adsmDiscard(void *array, const adsmBox *box);

/** A copy of a part of an array in a device's memory. */
typedef struct {
    int device;
    adsmBox box;  /**< elements of the array                              */
    size_t bytes; /**< that it takes                                      */
    size_t valid; /**< of them current                                    */
    size_t only;  /**< of these, current nowhere else                     */
    int in_use;   /**< work that uses it has not ended                    */
} adsmCopyInfo;

/** Describe the copies of an array, at most `most`; how many there are, or -1
 *  (adsmLastStatus). */
ADSM_API int adsmCopies(const void *array, adsmCopyInfo *out, int most);

/* Arguments made from others; rows and columns are those of a 2-D array. */

/** The general form, see adsmArg.follow: numbers of dimensions of the range
 *  from 1 on, 0 for its own, -1 for not cut. */
static inline adsmArg adsmAlong(adsmArg arg, int d0, int d1, int d2)
{
    arg.follow[0] = (int8_t)(d0 < -1 || d0 > 3 ? INT8_MAX : d0);
    arg.follow[1] = (int8_t)(d1 < -1 || d1 > 3 ? INT8_MAX : d1);
    arg.follow[2] = (int8_t)(d2 < -1 || d2 > 3 ? INT8_MAX : d2);
    return arg;
}

/** Rows follow the range's outermost dimension, all columns (A of A * B). */
static inline adsmArg adsmRows(adsmArg arg)
{
    return adsmAlong(arg, 1, -1, -1);
}

/** Columns follow the range's dimension 1, all rows (B of A * B). */
static inline adsmArg adsmCols(adsmArg arg)
{
    return adsmAlong(arg, -1, 2, -1);
}

/**
 * The array has an element for every d0, d1, d2 indices of the range in the
 * dimensions that it follows; 0: one for each. Element k stands for indices
 * from k * d0 on, and below (k + 1) * d0. Of an output that says that parts
 * begin at multiples of it: what a part makes of its indices is its own.
 */
static inline adsmArg adsmPer(adsmArg arg, long d0, long d1, long d2)
{
    arg.per[0] = d0;
    arg.per[1] = d1;
    arg.per[2] = d2;
    return arg;
}

/** ADSM_EDGE_PAD with the element at `element`, read during the call. */
static inline adsmArg adsmPad(adsmArg arg, const void *element)
{
    arg.edge = ADSM_EDGE_PAD;
    arg.extra = element;
    return arg;
}

/** The parameter is a view; needed only where the driver cannot tell the sizes
 *  of parameters. */
static inline adsmArg adsmView(adsmArg arg)
{
    arg.view |= 1;
    return arg;
}

/** The elements from the pointer on, one behind the other, whatever shape
 *  adsmShape or adsmAllocArray gave the array: of one dimension, for a range of
 *  one; for others as an array whose shape nobody has told. */
static inline adsmArg adsmFlat(adsmArg arg)
{
    arg.view |= 2;
    return arg;
}

/** adsmCallWith(&opts, k, adsmR2(ny, nx), adsmCross(u, 1, 1, ADSM_EDGE_CLAMP),
 *  adsmOut(w), adsmVal(c)); adsmWith(.parts = 4) for opts in place. */
#ifndef __cplusplus
#define adsmWith(...) (&(adsmOpts){.size = sizeof(adsmOpts), __VA_ARGS__})
#define adsmCallWith(opts, kernel, range, ...)                                 \
    adsmCallRangeV(kernel, range, opts, ADSM_ARGS(__VA_ARGS__))
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif

#include "adsm_data.h"

#ifdef __cplusplus
#include "adsm_cxx.h"
#endif

#endif
