/*
 * A call over a range as an object: what the files of call/call*.c share;
 * nobody else's.
 *
 * A task lies in a region of its own, with all that it is made of: copies of the
 * program's arguments and of what they point to, operands, parts. Nothing of it
 * is on a stack, and it asks the program for nothing any more but its functions
 * and the event it receives. So between two steps it can be kept, and go on in
 * another thread; it is of one thread at a time.
 *
 *   made      what was asked for is copied, and as far as it can be wrong by
 *             itself was looked at; the kernel is held
 *   planned   devices, operands and parts are known; nothing has moved
 *   begun     parts are launched; those that are not, for a failure, never will
 *             be
 *   ended     what options ask for behind the call is set up
 *
 * A step that fails leaves the task as it was, but that it may have begun; what
 * has begun is ended with the failure. It is freed in any state.
 *
 * Failures set the error detail. Signal: never
 */
#ifndef ADSM_CALL_TASK_H
#define ADSM_CALL_TASK_H

#include "base/region.h"
#include "call/call.h"
#include "call/event.h"
#include "call/grid.h"
#include "call/kernel.h"
#include "call/operand.h"
#include "call/progress.h"

enum adsm_task_state {
    ADSM_TASK_MADE,
    ADSM_TASK_PLANNED,
    ADSM_TASK_BEGUN,
    ADSM_TASK_ENDED,
};

struct adsm_task {
    struct adsm_region region; /* where all of it lies */
    enum adsm_task_state state;

    /* Made. */
    struct adsm_kernel_view kernel;
    adsmBox range;
    adsmOpts opts;
    bool has_opts; /* they were given */
    int device;    /* where `opts` name none; -1: the kernel's first */
    bool is_launch;
    bool is_part; /* of another task, whose kernel, arguments and progress
                     it uses */
    const struct adsm_policy *policy;
    struct adsm_grid grid; /* of a launch; planned: of a call that is whole */
    int count;
    adsmArg *args;

    /* Planned. */
    bool whole;  /* one part that has all of its objects */
    bool direct; /* it is given memory that host and devices share */
    struct adsm_speed_calls *timed; /* what its parts are measured for */
    double *work; /* of each part that has a weight; NULL: they have indices */
    bool may_chunk; /* into how many pieces parts are cut is the library's */
    struct adsm_operand *operands; /* of pointers; NULL: not looked for yet */
    int operand_count;
    struct adsm_split_part *parts; /* where it is not whole */
    int part_count, devices;

    /* Begun. */
    struct adsm_progress *progress;
    struct adsm_ended ended; /* fences of what was launched */

    /* Planned: by device, and by argument. */
    int numbers[ADSM_SPLIT_DEVICES];
    struct adsm_accel *accels[ADSM_SPLIT_DEVICES];
    void *handles[ADSM_SPLIT_DEVICES];
    int16_t operand_of[ADSM_KERNEL_PARAMETERS]; /* -1: a value */
};

/* ---- steps --------------------------------------------------------------------- */

/**
 * Make a task of a call.
 *
 * @opts @device  as adsm_call_range has them
 * Return: ADSM_OK; ADSM_E_INVALID, ADSM_E_LIMIT, ADSM_E_NOMEM: there is none
 */
int adsm_task_make(const adsmKernel *kernel, const adsmBox *range,
                   const adsmOpts *opts, int device, int count,
                   const adsmArg *args, struct adsm_task **task);

/** The same of a launch: as adsm_call_launch has it. */
int adsm_task_make_launch(const adsmKernel *kernel, const unsigned grid[3],
                          const unsigned block[3], size_t shared_bytes,
                          int count, const adsmArg *args,
                          struct adsm_task **task);

/** ADSM_OK; ADSM_E_INVALID, ADSM_E_UNSUPPORTED, ADSM_E_NOT_SHARED, ADSM_E_NOMEM;
 *  a device that cannot be had */
int adsm_task_plan(struct adsm_task *task);

/** Launch it, in its parts. What accumulates is combined behind them. */
int adsm_task_begin(struct adsm_task *task);

/** A planned task will be begun part by part, by others: its progress, and
 *  adsmSync's devices. ADSM_OK; ADSM_E_NOMEM, ADSM_E_SYSTEM */
int adsm_task_begin_late(struct adsm_task *task);

/** A part of a planned task as a task of its own, which that outlives.
 *  ADSM_OK; ADSM_E_NOMEM */
int adsm_task_part(const struct adsm_task *whole, int part,
                   struct adsm_task **task);

/** What options ask for behind it. Return: `rc` of its beginning; where that is
 *  ADSM_OK, a failure here. Of what has not begun nothing follows */
int adsm_task_end(struct adsm_task *task, int rc);

/** NULL is allowed. */
void adsm_task_free(struct adsm_task *task);

/* ---- pieces of steps ------------------------------------------------------------- */

/** Do the options say how many parts there are? */
static inline bool adsm_task_has_parts(const adsmOpts *o)
{
    return o->parts > 0 || o->tile[0] > 0 || o->tile[1] > 0 || o->tile[2] > 0;
}

/** Do parts accumulate into copies that are combined behind them? */
static inline bool adsm_task_accumulates(const struct adsm_task *task)
{
    for (int k = 0; k < task->operand_count; k++)
        if (task->operands[k].into)
            return true;
    return false;
}

/** Parameters before those of the arguments: the bounds of a part. */
static inline int adsm_task_fixed(const struct adsm_task *task)
{
    return task->is_launch ? 0 : 2 * task->range.nd;
}

/** Memory of the task, for so many of `what`. NULL with a sentence that says so */
void *adsm_task_get(struct adsm_task *task, size_t count, size_t bytes,
                    const char *what);

/** ADSM_OK; ADSM_E_INVALID: the options cannot be had. */
int adsm_task_check_options(const struct adsm_task *task);

/** The launch over a box of its range: dimensions, bounds and shared memory.
 *  ADSM_OK; ADSM_E_INVALID with a sentence */
int adsm_task_grid(const struct adsm_task *task, const adsmBox *box,
                   struct adsm_grid *grid);

/** Whether it is given memory that all share, and can be: `direct`.
 *  ADSM_OK; ADSM_E_UNSUPPORTED with a sentence */
int adsm_task_check_direct(struct adsm_task *task);

/** Operands of the arguments that are pointers.
 *  ADSM_OK; ADSM_E_INVALID, ADSM_E_NOT_SHARED, ADSM_E_LIMIT, ADSM_E_NOMEM */
int adsm_task_take(struct adsm_task *task);

/** A device that a call has parts on: adsmSync waits for it from now on. */
void adsm_call_use(const struct adsm_accel *accel);

/** One that a call of this thread runs on: the thread's next adsmSync does. */
void adsm_call_use_here(const struct adsm_accel *accel);

/** Launch some parts: task->ended is of those that were, also on failure. */
int adsm_task_issue(struct adsm_task *task, const struct adsm_split_part *boxes,
                    int count);

/** Whether chunks are left to the library, and so much was moved last time that
 *  they matter. */
bool adsm_task_may_chunk(const struct adsm_task *task);

/** Chunks of each part: as the options say, or by call/chunks.h, with what
 *  moved for the kernel's last call, its times, and the device's rates. */
int adsm_task_chunks(const struct adsm_task *task);

/**
 * Parts cut into pieces: as many as opts.chunks asks for, all of one round, or
 * of one each where they accumulate. Or into rounds of one piece of each device,
 * for parts that together need more memory than their devices have: where the
 * options do not say how many parts there are, so many that one can be brought
 * while another computes and, of arrays that are read and written, a third is
 * saved; where that cannot be, that each fits. Of a device's rounds the first is
 * the one at the end of the range of which it has more.
 *
 * @pieces  of the task's memory
 * Return: ADSM_OK; ADSM_E_DEVICE_NOMEM, ADSM_E_INVALID: the range cannot be cut
 *         so; ADSM_E_NOMEM. Nothing has moved
 * Paper:  Parisi, "Optimization of Parallel Computations on Heterogeneous
 *         GPU-Based Systems", MultiStream; Ramashekar and Bondhugula, box-in and
 *         box-out. Differs: a part's pieces are one copy where it fits, and no
 *         tile size is given where it does not
 */
int adsm_task_pieces(struct adsm_task *task, bool rounds,
                     struct adsm_split_part **pieces, int *pieces_count);

/** With ADSM_CHECK, when all parts have ended: the first that stored where it
 *  must not. ADSM_OK; ADSM_E_INVALID with a sentence */
int adsm_task_checked(const struct adsm_task *task,
                      const struct adsm_split_part *boxes,
                      const struct adsm_part *parts, int count);

#endif
