/*
 * Launches in which nothing begins or ends for long; see exec/job.h.
 *
 * CUDA promises a CTA nothing of those that have not begun, and yet programs
 * wait for any that fits on the device beside it, which every GPU runs.
 * Lock: none; counters are looked at without order, and the more often.
 */
#include "exec/crowd.h"
#include "exec/job.h"

#include "base/futex.h"
#include "base/occupancy.h"

#include <sched.h>
#include <stdio.h>

/* What waits gets other CTAs after so long without news, as does native code
 * that may, of which nothing is known; and what seems to compute. */
#define SOON_NS UINT64_C(5000000)
#define LATE_NS UINT64_C(1000000000)
/* When it is said that nothing moves, and of what may move or not. */
#define LONG_NS   UINT64_C(10000000000)
#define LONGER_NS UINT64_C(60000000000)

uint32_t sc_job_resident(const struct sc_job *job)
{
    const struct sc_launch *launch = job->launch;
    const struct sc_kernel_info *info = &job->kernel->info;
    const struct sc_occupant kernel = {.registers = info->registers,
                                       .static_shared_bytes =
                                           info->static_shared_bytes,
                                       .max_threads = info->max_threads};
    return SC_SMS *
           sc_occupancy(&kernel,
                        launch->block[0] * launch->block[1] * launch->block[2],
                        launch->dynamic_shared_bytes);
}

static uint64_t begun(struct sc_job *job)
{
    uint64_t next = atomic_load_explicit(&job->next, memory_order_relaxed);
    return next < job->ctas ? next : job->ctas;
}

/* As many threads again as there are. */
static void crowd(struct sc_job *job)
{
    uint32_t had = atomic_load(&job->crowd);
    uint32_t have = sc_crowd_add(had + sc_pool_workers());
    atomic_store(&job->crowd, have);
    if (have == had)
        atomic_store(&job->crowd_is_full, true);
}

/* The line an interpreted CTA is at; 0: not known, as in native code. */
static uint32_t line_of(const struct sc_cta *cta)
{
    for (uint32_t i = 0; i < cta->strip_count; i++) {
        const struct sc_strip *strip = &cta->strips[i];
        for (uint32_t g = 0; g < strip->group_count; g++)
            if (strip->groups[g].state == SC_GROUP_READY)
                return cta->code->ops[strip->groups[g].pc].line;
    }
    return 0;
}

static void tell(struct sc_job *job, const struct sc_worker *worker,
                 uint64_t since)
{
    const struct sc_cta *cta = &worker->cta;
    uint32_t line = worker->in_native ? 0 : line_of(cta);
    uint64_t left = job->ctas - begun(job);
    char where[32] = "", more[120] = "";
    if (atomic_exchange(&job->told, true) || job->kernel->has_waited)
        return;
    job->kernel->has_waited = true;
    if (line)
        snprintf(where, sizeof where, " at line %u", line);
    if (left)
        snprintf(more, sizeof more,
                 "; %llu begin only when others end, for a device holds %u at "
                 "a time",
                 (unsigned long long)left, job->resident);
    fprintf(stderr,
            "softcuda: kernel '%s': none of its blocks has ended for %llu s: "
            "block (%u, %u, %u)%s may wait for what does not come%s\n",
            job->kernel->info.name, (unsigned long long)(since / 1000000000),
            cta->id[0], cta->id[1], cta->id[2], where, more);
}

/* Bring the watch up to date. Return: how long no CTA has begun or ended. */
static uint64_t keep_watch(struct sc_job *job, struct sc_watch *watch,
                           uint64_t count)
{
    uint64_t now = sc_now_ns();
    uint64_t news =
        count + atomic_load_explicit(&job->ended, memory_order_relaxed);
    uint64_t moves = atomic_load_explicit(&job->moves, memory_order_relaxed);
    if (!watch->since_ns || watch->news != news)
        *watch = (struct sc_watch){news, now, moves, now};
    if (watch->moves != moves) {
        watch->moves = moves;
        watch->still_ns = now;
    }
    return now - watch->since_ns;
}

void sc_job_look(struct sc_job *job, struct sc_watch *watch,
                 const struct sc_worker *worker)
{
    bool may_wait = job->kernel->may_wait || atomic_load(&job->crowd);
    bool moved = worker->in_native || worker->cta.moved;
    uint64_t count = begun(job);
    if (moved)
        atomic_fetch_add_explicit(&job->moves, 1, memory_order_relaxed);
    uint64_t since = keep_watch(job, watch, count);
    uint64_t still = since - (watch->still_ns - watch->since_ns);
    bool soon = worker->in_native ? may_wait : !moved;
    if (since >= (soon || atomic_load(&job->crowd) ? SOON_NS : LATE_NS) &&
        count < job->ctas && !atomic_load(&job->crowd_is_full))
        crowd(job);
    if (still >= LONG_NS || (may_wait && since >= LONGER_NS))
        tell(job, worker, since);
    if (atomic_load_explicit(&job->crowd, memory_order_relaxed))
        sched_yield();
}
