/*
 * The driver's own functions, behind the hooks.
 */
#ifndef INTERPOSE_CUDA_RESOLVE_H
#define INTERPOSE_CUDA_RESOLVE_H

#include "base/lock.h"
#include "base/slices.h"
#include "interpose/hook.h"
#include "interpose/device/adopt.h"
#include "interpose/device/serve.h"
#include "mm/heap/heap.h"
#include "mm/object/passing.h"
#include "os/fault.h"

/** What goes behind a hook instead of the driver's function for it, and is found
 *  by that one: report/cuda_parts.h. Without a report the function itself, by no call of
 *  libc. */
extern void *(*const cuda_before)(void **slot, void *found);
extern void *(*const cuda_standing)(void *found);

/**
 * Find the driver that the program loaded and fill the cuda half of hook_real.
 * Never loads it. Idempotent. Thread: any. Signal: never
 */
void cuda_resolve(void);

/** The program looked `link` up and got `found`: take it where cuda_resolve
 *  found nothing (a driver under another file name). */
void cuda_resolve_adopt(const struct hook_link *link, void *found);

/** Whether the real function at `slot` is known; tries once more. */
bool cuda_resolve_has(void **slot);

/** The real driver function `name` called with the arguments in parentheses;
 *  CUDA_ERROR_NOT_INITIALIZED when there is no driver. */
#define CUDA_REAL(name, args)                                                  \
    (hook_likely(hook_real.name != NULL) ||                                    \
             cuda_resolve_has((void **)&hook_real.name)                        \
         ? hook_real.name args                                                 \
         : CUDA_ERROR_NOT_INITIALIZED)

/** The driver's own call, with nothing of ours around it but the mark that the
 *  thread is inside. */
#define CUDA_INSIDE(name, args)                                                \
    ({                                                                         \
        hook_depth++;                                                          \
        hook_driver++;                                                         \
        CUresult cuda_inside_result = CUDA_REAL(name, args);                   \
        hook_driver--;                                                         \
        hook_depth--;                                                          \
        cuda_inside_result;                                                    \
    })

/** The same for a call that uses no memory that is shared, since none is, or
 *  since the call was given plain memory: what the driver does by functions of
 *  libc is not looked at. */
#define CUDA_BARE(name, args)                                                  \
    ({                                                                         \
        hook_bare++;                                                           \
        CUresult cuda_bare_result = CUDA_INSIDE(name, args);                   \
        hook_bare--;                                                           \
        cuda_bare_result;                                                      \
    })

/** The driver's own call in what comes around it, which counts only where
 *  something is shared. */
#define CUDA_AMID(name, args, around)                                          \
    (hook_likely(!adsm_passing_is_barred()) ? CUDA_BARE(name, args) : (around))

/** CUDA_REAL for calls that may last for ever: what the driver calls meanwhile
 *  is its own business, and so are its faults. */
#define CUDA_CALL_OPEN(name, args)                                             \
    CUDA_AMID(name, args, ({                                                   \
                  hook_enter();                                                \
                  CUresult cuda_call_result = CUDA_INSIDE(name, args);         \
                  hook_leave();                                                \
                  cuda_call_result;                                            \
              }))

/** Where there is shared memory no handler of the program's, which may touch it,
 *  comes between while the driver holds its locks. Return: what to give to
 *  cuda_call_end. */
static inline bool cuda_call_begin(void)
{
    bool quiet = adsm_heap_count() > 0;
    if (quiet)
        adsm_quiet_enter();
    return quiet;
}

static inline void cuda_call_end(bool quiet)
{
    if (quiet)
        adsm_quiet_leave();
}

/**
 * Whether a call passes the runtime by, because nothing is shared or because it
 * is the driver's own; then it was made, and *result is its answer. For calls
 * that submit work: who shares memory for the first time waits for those that
 * are on their way (mm/object/passing.h). That nothing is shared is no reason
 * once somebody is about to: he has waited already.
 */
#define CUDA_PASSES(result, name, args)                                        \
    ({                                                                         \
        bool cuda_passes = adsm_passing_begin();                               \
        if (hook_likely(cuda_passes)) {                                        \
            *(result) = CUDA_BARE(name, args);                                 \
            adsm_passing_end();                                                \
        } else if (hook_passes()) {                                            \
            *(result) = CUDA_CALL(name, args);                                 \
            cuda_passes = true;                                                \
        }                                                                      \
        cuda_passes;                                                           \
    })

/** CUDA_CALL_OPEN with handlers kept away: for all other calls. */
#define CUDA_CALL(name, args)                                                  \
    CUDA_AMID(name, args, ({                                                   \
                  bool cuda_call_quiet = cuda_call_begin();                    \
                  CUresult cuda_call_answer = CUDA_CALL_OPEN(name, args);      \
                  cuda_call_end(cuda_call_quiet);                              \
                  cuda_call_answer;                                            \
              }))

/** The same for one that nothing of ours belongs to: only where the program has a
 *  handler that could come. */
#define CUDA_CALL_HELD(name, args)                                             \
    CUDA_AMID(name, args, ({                                                   \
                  bool cuda_call_quiet =                                       \
                      adsm_slices_begin() && cuda_call_begin();                \
                  CUresult cuda_call_answer = CUDA_CALL_OPEN(name, args);      \
                  cuda_call_end(cuda_call_quiet);                              \
                  cuda_call_answer;                                            \
              }))

/** The same for one that may wait for kernels: signals that end the program get
 *  through. */
#define CUDA_CALL_LONG(name, args)                                             \
    CUDA_AMID(name, args, ({                                                   \
                  bool cuda_call_quiet = cuda_call_begin();                    \
                  uint64_t cuda_call_opened = adsm_quiet_wait_begin();         \
                  CUresult cuda_call_answer = CUDA_CALL_OPEN(name, args);      \
                  adsm_quiet_wait_end(cuda_call_opened);                       \
                  cuda_call_end(cuda_call_quiet);                              \
                  cuda_call_answer;                                            \
              }))

/** CUDA_CALL_LONG for one that gives memory back to the driver; `goes` is one of
 *  device/adopt.h's. */
#define CUDA_GIVES(goes, name, args)                                           \
    ({                                                                         \
        struct device_going cuda_going = goes;                                 \
        CUresult cuda_gives_result = cuda_going.passes                         \
                                         ? CUDA_BARE(name, args)               \
                                         : CUDA_CALL_LONG(name, args);         \
        device_gone(cuda_going);                                               \
        cuda_gives_result;                                                     \
    })

/** CUDA_CALL for submitted work: an object or all of them are closed to the
 *  CPU meanwhile, so that a fault inside the driver could only wait for ever.
 *  It is reported instead. */
#define CUDA_SUBMIT(name, args)                                                \
    ({                                                                         \
        adsm_fault_enter_driver();                                             \
        CUresult cuda_submit_result = CUDA_CALL(name, args);                   \
        adsm_fault_leave_driver();                                             \
        cuda_submit_result;                                                    \
    })

/** A call that waits. What it waits for was awaited: handlers are kept away for
 *  the little that is left; or nobody minds that the driver waits. */
#define CUDA_WAIT(awaited, name, args)                                         \
    ((awaited) ? CUDA_CALL_LONG(name, args) : CUDA_CALL_OPEN(name, args))

/**
 * The wrapper for what cuGetProcAddress answered, or `found` itself.
 *
 * @found  the driver's answer for (api, version, flags)
 */
void *cuda_resolve_wrap(const char *api, int version, uint64_t flags,
                        void *found);

#endif
