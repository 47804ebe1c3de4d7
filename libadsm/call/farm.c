/* Farms: tasks that have nothing to do with each other, one device each. */
#include "call/skeleton.h"

#include "call/call.h"
#include "call/detail.h"
#include "call/event.h"
#include "call/progress.h"

#include <string.h>

static int check(const adsmTask *tasks, int count, const adsmOpts *o)
{
    if (count < 0 || (count > 0 && !tasks))
        return adsm_detail(ADSM_E_INVALID,
                           "%d tasks: 0 or more are possible, and an array of "
                           "them",
                           count);
    if (o->parts > 1 || o->tile[0] || o->tile[1] || o->tile[2])
        return adsm_detail(ADSM_E_INVALID,
                           "a farm's tasks are not cut: no parts and no tiles");
    for (int i = 0; i < count; i++)
        if (tasks[i].count > 0 && !tasks[i].args)
            return adsm_detail(ADSM_E_INVALID,
                               "task %d of %d has %d arguments and no array of "
                               "them",
                               i, count, tasks[i].count);
    return ADSM_OK;
}

/* The devices that are named; those that are not there are left to the calls,
 * which say so. */
static int devices_of(uint32_t set, int device, uint32_t bits[32])
{
    int there = adsmDeviceCount(), n = 0;
    if (set == 0)
        set = UINT32_C(1) << device;
    for (int d = 0; d < 32; d++)
        if ((set >> d & 1) && (d < there || set != ADSM_ALL_DEVICES))
            bits[n++] = UINT32_C(1) << d;
    return n;
}

/* One task: its fence joins those of the others. */
static int call(const adsmTask *task, const adsmOpts *opts, uint32_t device,
                struct adsm_progress *progress, struct adsm_ended *all)
{
    struct adsm_ended ended;
    adsmEvent event = {0};
    adsmOpts o = *opts;
    o.devices = device;
    o.parts = o.cyclic = o.sync = 0;
    o.event = &event;
    o.then = NULL;
    o.progress = NULL;
    int rc = adsm_call_as_said(task->kernel, &task->range, &o, -1, task->count,
                               task->args);
    struct adsm_fence last = {0};
    if (adsm_event_find(event.id, &ended) == ADSM_OK && ended.count > 0)
        adsm_ended_add(all, last = ended.fences[0]);
    if (rc == ADSM_OK)
        adsm_progress_add(progress, last);
    return rc;
}

int adsm_farm(const adsmTask *tasks, int count, const adsmOpts *opts,
              int device)
{
    struct adsm_ended all = {.status = ADSM_OK};
    struct adsm_progress *progress;
    adsmOpts set = *opts;
    uint32_t bits[32];
    char why[400];
    int rc = check(tasks, count, opts), i = 0;
    if (rc == ADSM_OK)
        rc = adsm_progress_begin(opts, "a farm", &progress);
    if (rc != ADSM_OK)
        return rc;
    rc = adsm_progress_expect(progress, count);
    adsm_call_override(&set); /* once: which devices share the tasks */
    int devices = devices_of(set.devices, device, bits);
    for (; i < count && rc == ADSM_OK; i++)
        rc = call(&tasks[i], &set, bits[i % devices], progress, &all);
    if (rc != ADSM_OK && i > 0) {
        strncpy(why, adsm_detail_text(), sizeof why - 1);
        why[sizeof why - 1] = '\0';
        (void)adsm_detail(rc, "task %d of %d: %s", i - 1, count, why);
    }
    /* Where the first failed nothing was done that could be waited for. */
    if (rc == ADSM_OK || i > 1)
        rc = adsm_call_follow(opts, "a farm", &all, rc);
    adsm_progress_end(progress, rc, opts->sync);
    return rc;
}
