/*
 * Cooperative launches: a worker runs several CTAs in turns; see exec/job.h.
 *
 * Lock: none.
 */
#include "exec/job.h"

#include <stdlib.h>

struct members {
    struct sc_worker **workers; /* one for each CTA that was begun */
    uint32_t count, room, number, worker_count;
};

/* Begin one more CTA. Return: false: none left, or no memory. */
static bool add_member(struct members *members, struct sc_job *job)
{
    uint64_t first;
    uint32_t id[3];
    if (!sc_job_take(job, &first))
        return false;
    if (members->count == members->room) {
        uint32_t room = members->room ? members->room * 2 : 8;
        void *grown =
            realloc(members->workers, room * sizeof *members->workers);
        if (!grown) {
            sc_job_fail_for_memory(job);
            return false;
        }
        members->workers = grown;
        members->room = room;
    }
    struct sc_worker *worker = calloc(1, sizeof *worker);
    sc_job_place(job, first, id);
    if (!worker ||
        !sc_worker_init(worker, members->number, members->worker_count) ||
        !sc_worker_prepare(worker, job->module, job->kernel, job->launch) ||
        !sc_worker_begin(worker, id)) {
        if (worker)
            sc_worker_fini(worker);
        free(worker);
        sc_job_fail_for_memory(job);
        return false;
    }
    members->workers[members->count++] = worker;
    return true;
}

static void remove_member(struct members *members, uint32_t i)
{
    sc_worker_fini(members->workers[i]);
    free(members->workers[i]);
    members->workers[i] = members->workers[--members->count];
}

/* One turn of each CTA. Return: CTAs that ended. */
static uint64_t turn_members(struct members *members, struct sc_job *job)
{
    uint64_t ended = 0;
    for (uint32_t i = 0; i < members->count && !sc_job_is_stopped(job);) {
        struct sc_worker *worker = members->workers[i];
        if (sc_worker_turn(worker)) {
            i++;
            continue;
        }
        if (worker->cta.status == SC_EXEC_OK) {
            ended++;
            atomic_fetch_add_explicit(&job->ended, 1, memory_order_relaxed);
        } else
            sc_job_fail(job, worker->cta.status, &worker->cta.fault);
        remove_member(members, i);
    }
    return ended;
}

/* All of them: one that moves is enough. */
static void look_at_members(const struct members *members, struct sc_job *job,
                            struct sc_watch *watch)
{
    for (uint32_t i = 0; i < members->count; i++)
        sc_job_look(job, watch, members->workers[i]);
}

/* After a round in which no CTA ended all of them may be waiting for one that
 * has not begun. */
void sc_job_together(struct sc_worker *worker, void *argument)
{
    struct sc_job *job = argument;
    struct members members = {.number = worker->cta.worker_number,
                              .worker_count = worker->cta.worker_count};
    uint64_t ended = 0;
    worker->watch = (struct sc_watch){0};
    for (;;) {
        add_member(&members, job);
        if (!members.count || sc_job_is_stopped(job))
            break;
        ended += turn_members(&members, job);
        look_at_members(&members, job, &worker->watch);
    }
    while (members.count)
        remove_member(&members, members.count - 1);
    free(members.workers);
    atomic_fetch_add_explicit(&job->interpreted, ended, memory_order_relaxed);
}
