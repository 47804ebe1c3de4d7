/* What the files of sched/call*.c share; nobody else's. A call that is being
 * made belongs to its thread. Failures set the error detail. Signal: never */
#ifndef ADSM_SCHED_TASK_H
#define ADSM_SCHED_TASK_H

#include "sched/call.h"
#include "sched/event.h"
#include "sched/grid.h"
#include "sched/kernel.h"
#include "sched/operand.h"
#include "sched/progress.h"

enum { ADSM_CALL_VALUES = 4096 }; /* bytes of all values */

/** A call that is being made. */
struct adsm_task {
    struct adsm_kernel_view kernel;
    adsmBox range;
    adsmOpts opts;
    bool whole;  /* one part that has all of its objects */
    bool direct; /* it is given memory that host and devices share */
    int count;
    const adsmArg *args;
    struct adsm_grid given; /* adsmLaunch: bound_count 0, the grid it says */
    bool is_launch;
    bool timed; /* how long its parts take is measured */
    struct adsm_progress *progress;
    bool may_chunk; /* into how many pieces parts are cut is the library's */

    int devices;
    int numbers[ADSM_SPLIT_DEVICES];
    struct adsm_accel *accels[ADSM_SPLIT_DEVICES];
    void *handles[ADSM_SPLIT_DEVICES];

    struct adsm_operand *operands; /* of pointers; free()d with the call */
    int operand_count;
    int16_t operand_of[ADSM_KERNEL_PARAMETERS]; /* by argument; -1: a value */
    /* Values and padding, copied: the program's may lie in shared memory. */
    uint16_t value_at[ADSM_KERNEL_PARAMETERS];
    _Alignas(16) uint8_t values[ADSM_CALL_VALUES];
    size_t values_used;
};

/** Do the options say how many parts there are? */
static inline bool adsm_task_has_parts(const adsmOpts *o)
{
    return o->parts > 0 || o->tile[0] > 0 || o->tile[1] > 0 || o->tile[2] > 0;
}

/** ADSM_OK; ADSM_E_INVALID: the options cannot be had. */
int adsm_task_check_options(const struct adsm_task *task);

/** Whether it is given memory that all share, and can be: `direct`, on one
 *  device. ADSM_OK; ADSM_E_UNSUPPORTED with a sentence */
int adsm_task_check_direct(struct adsm_task *task);

/** Copy a value; its place in task->values. ADSM_E_LIMIT */
int adsm_task_keep(struct adsm_task *task, const void *value, size_t bytes,
                   size_t *at);

/** Operands of the arguments that are pointers, and copies of the others.
 *  ADSM_OK; ADSM_E_INVALID, ADSM_E_NOT_SHARED, ADSM_E_LIMIT, ADSM_E_NOMEM */
int adsm_task_take(struct adsm_task *task);

/** Which devices: accels and handles of the kernel there. */
int adsm_task_devices(struct adsm_task *task, int device);

/** Make the parts. `ended` is of those that were launched, also on failure. */
int adsm_task_issue(struct adsm_task *task, const struct adsm_split_part *boxes,
                    int count, struct adsm_ended *ended);

/** Whether chunks are left to the library, and so much was moved last time that
 *  they matter. */
bool adsm_task_may_chunk(const struct adsm_task *task);

/** Chunks of each part: as the options say, or by sched/chunks.h, with what
 *  moved for the kernel's last call, its times, and the device's rates. */
int adsm_task_chunks(const struct adsm_task *task,
                     const struct adsm_split_part *parts, int count);

/**
 * Parts cut into pieces: as many as opts.chunks asks for, all of one round, or
 * of one each where they accumulate. Or into rounds of one piece of each device,
 * for parts that together need more memory than their devices have: where the
 * options do not say how many parts there are, so many that one can be brought
 * while another computes and, of arrays that are read and written, a third is
 * saved; where that cannot be, that each fits. Of a device's rounds the first is
 * the one at the end of the range of which it has more.
 *
 * @pieces  free()d by the caller
 * Return: ADSM_OK; ADSM_E_DEVICE_NOMEM, ADSM_E_INVALID: the range cannot be cut
 *         so; ADSM_E_NOMEM. Nothing has moved
 * Paper:  Parisi, "Optimization of Parallel Computations on Heterogeneous
 *         GPU-Based Systems", MultiStream; Ramashekar and Bondhugula, box-in and
 *         box-out. Differs: a part's pieces are one copy where it fits, and no
 *         tile size is given where it does not
 */
int adsm_task_pieces(const struct adsm_task *task,
                     const struct adsm_split_part *parts, int count,
                     bool rounds, struct adsm_split_part **pieces,
                     int *pieces_count);

/** With ADSM_CHECK, when all parts have ended: the first that stored where it
 *  must not. ADSM_OK; ADSM_E_INVALID with a sentence */
int adsm_task_checked(const struct adsm_task *task,
                      const struct adsm_split_part *boxes,
                      const struct adsm_part *parts, int count);

#endif
