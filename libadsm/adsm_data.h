/*
 * libadsm: what programs do with data besides calling kernels: memory of their own
 * that is shared for a while, fills and copies on devices, and work of libraries,
 * in the order of the data. Part of adsm.h, which includes it, and whose words on
 * threads, signals and statuses hold here.
 */
#include "adsm.h" /* before the guard: it includes this where that has its place */

#ifndef ADSM_DATA_H
#define ADSM_DATA_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Make memory of the program's a shared object at its own address, with the bytes
 * that it has: of mmap, also of a file, or of malloc where that is aligned.
 * adsmFree gives it back with those it has then.
 *
 * Shared mappings are mapped a second time, and nothing is copied. The system has
 * private memory at one place only: it is copied within the host once, some pages
 * at a time, in each direction. No thread touches it during either call. Kernels
 * get it as an argument; its address on the device is another (adsmSafe). It is
 * not there in a forked child, and is not unmapped or given to free() before
 * adsmFree. What was mapped of a file with MAP_PRIVATE is anonymous afterwards.
 *
 * @memory  begins a page; @bytes  whole pages (sysconf(_SC_PAGESIZE)), all of them
 *          readable and writable; shared ones of one file
 * @home    as of adsmAllocArray: ADSM_NO_HOME for what no device has room for
 * Return: ADSM_OK; ADSM_E_INVALID (see above; what is shared already);
 *         ADSM_E_UNSUPPORTED (ADSM_FAULT_ENGINE=uffd and a shared mapping of a
 *         file on disk); ADSM_E_DEVICE_NOMEM, ADSM_E_NOMEM, ADSM_E_LIMIT: it is
 *         as it was
 */
ADSM_API adsmStatus adsmAdopt(void *memory, size_t bytes, int home);

/* ---- fills and copies ---------------------------------------------------- */

/*
 * adsmFill, adsmMemset and adsmCopy are calls as those of kernels are: they are
 * enqueued, behind earlier calls that use the same bytes and before later ones,
 * and bring nothing to the CPU, which waits and fetches when it accesses what
 * they have written. Without options, and where adsmDefaults has set none, they
 * run where the memory lives; an array without a home on the thread's device.
 * Memory is shared, all of it in one allocation: ADSM_E_NOT_SHARED,
 * ADSM_E_INVALID where it goes on behind its end. 0 bytes do nothing, whatever
 * the addresses. Of options `bounds` are refused, and weights and policies not
 * looked at.
 */

/**
 * Fill memory with a pattern. Drivers fill with patterns of 1, 2 and 4 bytes, and
 * those that repeat in themselves so; of others the beginning is sent, and copied
 * within the device until all of it is there.
 *
 * @to             begins anywhere; where it is not aligned to a pattern of 2 or
 *                 4 bytes, it is filled as with one of another size
 * @bytes          to fill: a multiple of `pattern_bytes`
 * @pattern        read during the call; of up to some 4,000 bytes
 *                 (ADSM_E_LIMIT)
 * @opts           NULL: see above; `align` and `tile` count patterns
 * Return: as adsmCallWith
 */
ADSM_API adsmStatus adsmFillV(const adsmOpts *opts, void *to, size_t bytes,
                              const void *pattern, size_t pattern_bytes);

/** adsmFill(x, n, 0.5f): n elements from `x` on, whose type the value gets */
#ifndef __cplusplus
#define adsmFill(to, n, value)                                                 \
    (__extension__({                                                           \
        __typeof__(*(to)) adsm_value_ = (value);                               \
        adsmFillV(NULL, (to), (size_t)(n) * sizeof adsm_value_, &adsm_value_,  \
                  sizeof adsm_value_);                                         \
    }))
#endif

/** Set bytes of shared memory to one, as memset does. Return: as adsmFillV */
ADSM_API adsmStatus adsmMemset(void *to, int byte, size_t bytes);

/**
 * Copy bytes between objects, or within one: both may overlap, as of memmove.
 * From one device to another they go to a copy on the one that has `to`, and
 * from there.
 *
 * One of both may be memory that is not shared: the calling thread makes that
 * copy, as memcpy does, and it is over when this returns.
 *
 * @opts  NULL: see above
 * Return: as adsmCallWith; ADSM_E_NOT_SHARED (neither is shared)
 */
ADSM_API adsmStatus adsmCopyV(const adsmOpts *opts, void *to, const void *from,
                              size_t bytes);

/** adsmCopyV without options */
ADSM_API adsmStatus adsmCopy(void *to, const void *from, size_t bytes);

/* ---- work of libraries --------------------------------------------------- */

/**
 * What a function gets that stands for a kernel: `values[i]` points to what a
 * kernel would get for argument i, a value, a pointer that the device knows
 * (adsmWorkPointer), or a view where the argument is one (adsmView).
 */
typedef struct {
    unsigned size;       /**< of the structure                               */
    int device;          /**< where the work goes                            */
    void *stream;        /**< a CUstream (cudaStream_t), into which it goes;
                              NULL on the processors                         */
    adsmBox box;         /**< the part's share of the range                  */
    int count;           /**< arguments                                      */
    void *const *values; /**< theirs, until the function returns             */
} adsmWork;

/**
 * Gives a device work in a kernel's place: launches, copies, calls of cuBLAS or
 * cuFFT, all into `work->stream`. They come behind all earlier calls that use
 * what the arguments name; later calls and CPU accesses come behind them.
 *
 * Called once for each part, with the device's primary context current, on the
 * thread of the call, or of the runtime where a policy places parts; other threads' accesses to shared memory wait meanwhile, and
 * handlers of the program's signals. It touches no shared memory through the
 * CPU's addresses, calls nothing of this header but adsmWorkPointer, and leaves
 * by returning. An access gets one message and is the program's own fault.
 *
 * On the processors (ADSM_DEVICES=cpu) it does the work itself, with pointers
 * that it may use, and is called when its turn has come, by a thread of the
 * runtime, to which `user` has to be there yet; `stream` is NULL, and what it
 * returns is printed if it is not 0.
 *
 * Return: 0; anything else: the call fails with ADSM_E_DEVICE, when what was
 *         enqueued by then has ended
 */
typedef int adsmWorkFn(const adsmWork *work, void *user);

/** Argument `i` of those that are pointers; its `double *` is yours to cast. */
static inline void *adsmWorkPointer(const adsmWork *work, int i)
{
    return *(void **)work->values[i];
}

/**
 * Enqueue work into a stream, as a call on the thread's device that uses what the
 * arguments say: all of the object of a pointer, as in a call without options.
 *
 * @stream  a stream of the program's on that device, of its primary context:
 *          what is in it already comes before. NULL: one of the library's
 * Return: ADSM_OK; ADSM_E_NOT_SHARED; ADSM_E_DEVICE (see adsmWorkFn);
 *         ADSM_E_UNSUPPORTED (a stream on the processors)
 */
ADSM_API adsmStatus adsmStreamV(void *stream, adsmWorkFn *fn, void *user,
                                int count, const adsmArg *args);

/** adsmStream(NULL, multiply, &handle, adsmIn(a), adsmIn(b), adsmOut(c)) */
#ifndef __cplusplus
#define adsmStream(stream, fn, user, ...)                                      \
    adsmStreamV(stream, fn, user, ADSM_ARGS(__VA_ARGS__))
#endif

/**
 * A kernel that is such a function, for calls with a range, options and parts on
 * several devices: adsmCallWith gives each part the pointers that a range kernel
 * gets, and its box.
 *
 * @name  for messages; copied
 * Return: ADSM_OK; ADSM_E_INVALID (NULL); ADSM_E_NOMEM
 */
ADSM_API adsmStatus adsmKernelOf(adsmKernel **kernel, const char *name,
                                 adsmWorkFn *fn, void *user);

/** The kernel is none any more; calls of it that were made go on. ADSM_E_INVALID
 *  when it was not made by adsmKernelOf, or has ended. */
ADSM_API adsmStatus adsmKernelEnd(adsmKernel *kernel);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
