/* The calls that are watched, and the thread that watches: see progress.h. */
#include "call/progress.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/option.h"
#include "base/region.h"
#include "base/thread.h"
#include "call/detail.h"
#include "call/event.h"

#include <pthread.h>
#include <string.h>

enum { NAME_BYTES = 64 };

static const uint64_t second = 1000000000;

struct adsm_progress {
    struct adsm_region region; /* where all of it lies */
    struct adsm_progress *next;
    char kernel[NAME_BYTES];
    void (*tell)(void *arg, int done, int parts);
    void *arg;
    uint64_t begun, printed; /* nanoseconds */
    struct adsm_fence *under_way;
    int count; /* of them */
    int done, parts, told;
    struct adsm_ended ended; /* of all that were launched */
    bool complete;           /* no more parts are to come */
    bool awaited;            /* who waits for it frees it */
    bool out;                /* of the list */
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t more, gone;
    struct adsm_progress *first, **end;
    bool started;
} watched = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .more = PTHREAD_COND_INITIALIZER,
    .gone = PTHREAD_COND_INITIALIZER,
    .end = &watched.first,
};
static __thread bool is_watcher;

/* ---- what is seen ------------------------------------------------------------- */

/* Parts of a device end in the order in which they were launched. */
static void look(struct adsm_progress *p)
{
    uint64_t busy = 0;
    int left = 0;
    for (int i = 0; i < p->count; i++) {
        struct adsm_fence fence = p->under_way[i];
        uint64_t device = UINT64_C(1) << adsm_accel_device(fence.accel);
        if (!(busy & device) && adsm_fence_done(fence)) {
            p->done++;
            continue;
        }
        busy |= device;
        p->under_way[left++] = fence;
    }
    p->count = left;
}

/* All have ended: how many; -1: one did not end well, or could not be made. */
static int result(struct adsm_progress *p)
{
    return adsm_ended_wait(&p->ended) == ADSM_OK ? p->done : -1;
}

/* For who watches: after a second, once a second, and at the end of what was
 * printed before. */
static void print(struct adsm_progress *p, int done, bool over)
{
    uint64_t now = adsm_now_ns();
    uint64_t since = p->printed ? p->printed : p->begun;
    if (done < 0 || (now - since < second && !(over && p->printed)))
        return;
    p->printed = now;
    adsm_log_asked("%d of %d parts of kernel '%s' after %.1f s", done, p->parts,
                   p->kernel, (double)(now - p->begun) / 1e9);
}

/* Only the oldest is printed: the others wait for it, or run beside it.
 * Return: whether it is over */
static bool report(struct adsm_progress *p, bool prints)
{
    look(p);
    bool over = p->complete && p->count == 0;
    int done = over ? result(p) : p->done;
    if (prints)
        print(p, done, over);
    if (p->tell && (over || (done > p->told && done < p->parts))) {
        p->told = done;
        pthread_mutex_unlock(&watched.lock);
        p->tell(p->arg, done, p->parts);
        pthread_mutex_lock(&watched.lock);
    }
    return over;
}

/* ---- the thread --------------------------------------------------------------- */

static void drop(struct adsm_progress *p)
{
    struct adsm_region region = p->region;
    adsm_region_end(&region);
}

static void take_out(struct adsm_progress **at)
{
    struct adsm_progress *p = *at;
    *at = p->next;
    if (watched.end == &p->next)
        watched.end = at;
    p->out = true;
    if (p->awaited)
        pthread_cond_broadcast(&watched.gone);
    else
        drop(p);
}

static void sleep_a_while(void)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ADSM_PROGRESS_MS * 1000000L;
    if (until.tv_nsec >= (long)second) {
        until.tv_nsec -= (long)second;
        until.tv_sec++;
    }
    pthread_cond_clockwait(&watched.more, &watched.lock, CLOCK_MONOTONIC,
                           &until);
}

static void *watch(void *unused)
{
    (void)unused;
    is_watcher = true;
    bool prints = adsm_options_get()->progress;
    pthread_mutex_lock(&watched.lock);
    for (;;) {
        while (!watched.first)
            pthread_cond_wait(&watched.more, &watched.lock);
        for (struct adsm_progress **at = &watched.first; *at;) {
            if (report(*at, prints && *at == watched.first))
                take_out(at);
            else
                at = &(*at)->next;
        }
        if (watched.first)
            sleep_a_while();
    }
    return NULL;
}

/* ---- calls -------------------------------------------------------------------- */

/* In the list, with a thread that looks at it. */
static int enlist(struct adsm_progress *p)
{
    int rc = ADSM_OK;
    pthread_mutex_lock(&watched.lock);
    if (!watched.started) {
        rc = adsm_thread_start(watch, 0, true);
        watched.started = rc == ADSM_OK;
    }
    if (rc == ADSM_OK) {
        *watched.end = p;
        watched.end = &p->next;
        pthread_cond_signal(&watched.more);
    }
    pthread_mutex_unlock(&watched.lock);
    return rc;
}

int adsm_progress_begin(const adsmOpts *opts, const char *kernel,
                        struct adsm_progress **progress)
{
    *progress = NULL;
    if ((!opts->progress && !adsm_options_get()->progress) || is_watcher)
        return ADSM_OK;
    struct adsm_region region = {NULL, NULL, NULL};
    struct adsm_progress *p = adsm_region_get(&region, 1, sizeof *p);
    int rc = ADSM_E_NOMEM;
    if (p) {
        memset(p, 0, sizeof *p);
        p->region = region;
        p->tell = opts->progress;
        p->arg = opts->progress_arg;
        p->begun = adsm_now_ns();
        strncpy(p->kernel, kernel, sizeof p->kernel - 1);
        rc = enlist(p);
    }
    if (rc == ADSM_OK)
        *progress = p;
    else
        adsm_region_end(&region);
    return rc == ADSM_OK || !opts->progress
               ? ADSM_OK
               : adsm_detail_cause(rc, "`progress` of kernel '%s' cannot run",
                                   kernel);
}

int adsm_progress_expect(struct adsm_progress *p, int parts)
{
    if (!p)
        return ADSM_OK;
    struct adsm_fence *room =
        adsm_region_get(&p->region, (size_t)parts, sizeof *room);
    if (!room)
        return adsm_detail(ADSM_E_NOMEM, "no memory to watch %d parts", parts);
    pthread_mutex_lock(&watched.lock);
    p->under_way = room;
    p->parts = parts;
    pthread_mutex_unlock(&watched.lock);
    return ADSM_OK;
}

void adsm_progress_add(struct adsm_progress *p, struct adsm_fence fence)
{
    if (!p)
        return;
    pthread_mutex_lock(&watched.lock);
    if (fence.accel) {
        p->under_way[p->count++] = fence;
        adsm_ended_add(&p->ended, fence);
    } else
        p->done++;
    pthread_mutex_unlock(&watched.lock);
}

void adsm_progress_end(struct adsm_progress *p, int rc, bool wait)
{
    if (!p)
        return;
    wait = wait || rc != ADSM_OK;
    pthread_mutex_lock(&watched.lock);
    p->complete = true;
    p->ended.status = rc;
    if (rc != ADSM_OK)
        p->count = 0; /* those under way are not waited for */
    p->awaited = wait;
    pthread_cond_signal(&watched.more);
    while (wait && !p->out)
        pthread_cond_wait(&watched.gone, &watched.lock);
    pthread_mutex_unlock(&watched.lock);
    if (wait)
        drop(p);
}
