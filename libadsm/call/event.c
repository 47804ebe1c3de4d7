/* The table of calls, and the thread that runs what follows them. */
#include "call/event.h"

#include "base/region.h"
#include "base/thread.h"

#include <pthread.h>
#include <stdlib.h>

struct kept {
    uint64_t id;
    bool open; /* reserved, and not complete */
    struct adsm_ended ended;
};

/* What is to run behind a call. */
struct follower {
    struct adsm_region region; /* where it lies */
    struct follower *next;
    uint64_t open; /* a call that was reserved; 0: it is `ended` */
    struct adsm_ended ended;
    void (*then)(void *arg, adsmStatus status);
    void *arg;
};

static struct {
    pthread_mutex_t lock; /* of the queue, too */
    uint64_t last;        /* number given last; 0: none */
    struct kept *table;   /* ADSM_EVENTS_KEPT; NULL: none was kept yet */
    pthread_cond_t complete;
} kept_events = {.lock = PTHREAD_MUTEX_INITIALIZER,
                 .complete = PTHREAD_COND_INITIALIZER};

static struct {
    pthread_cond_t more, fewer;
    struct follower *first, **end;
    int count;
    bool started;
} queue = {PTHREAD_COND_INITIALIZER,
           PTHREAD_COND_INITIALIZER,
           NULL,
           &queue.first,
           0,
           false};
static __thread bool is_runtime;

void adsm_ended_add(struct adsm_ended *ended, struct adsm_fence fence)
{
    for (int i = 0; i < ended->count; i++)
        if (ended->fences[i].accel == fence.accel) {
            ended->fences[i] = fence;
            return;
        }
    ended->fences[ended->count++] = fence;
}

int adsm_ended_wait(const struct adsm_ended *ended)
{
    int first = ended->status;
    for (int i = 0; i < ended->count; i++) {
        int rc = adsm_fence_wait(ended->fences[i]);
        if (first == ADSM_OK)
            first = rc;
    }
    return first;
}

bool adsm_ended_done(const struct adsm_ended *ended)
{
    for (int i = 0; i < ended->count; i++)
        if (!adsm_fence_done(ended->fences[i]))
            return false;
    return true;
}

/* Without memory: what has ended needs none. The lock is held. */
static uint64_t wait_instead(const struct adsm_ended *ended)
{
    pthread_mutex_unlock(&kept_events.lock);
    (void)adsm_ended_wait(ended);
    pthread_mutex_lock(&kept_events.lock);
    return ++kept_events.last;
}

/* A place for the next one. The lock is held, and let go of meanwhile. */
static struct kept *place_of_next(void)
{
    for (;;) {
        struct kept *kept =
            &kept_events.table[(kept_events.last + 1) % ADSM_EVENTS_KEPT];
        if (kept->open && is_runtime) {
            kept_events.last++; /* it may wait for this thread */
            continue;
        }
        if (kept->open) {
            pthread_cond_wait(&kept_events.complete, &kept_events.lock);
            continue;
        }
        if (adsm_ended_done(&kept->ended)) /* or none was here yet */
            return kept;
        struct adsm_ended oldest = kept->ended;
        pthread_mutex_unlock(&kept_events.lock);
        (void)adsm_ended_wait(&oldest);
        pthread_mutex_lock(&kept_events.lock);
    }
}

/* The lock is held. */
static bool has_table(void)
{
    if (!kept_events.table)
        kept_events.table = calloc(ADSM_EVENTS_KEPT, sizeof *kept_events.table);
    return kept_events.table != NULL;
}

uint64_t adsm_event_reserve(void)
{
    uint64_t id = 0;
    pthread_mutex_lock(&kept_events.lock);
    if (has_table()) {
        struct kept *kept = place_of_next();
        id = ++kept_events.last;
        *kept = (struct kept){.id = id, .open = true};
    }
    pthread_mutex_unlock(&kept_events.lock);
    return id;
}

/* Of one that is in the table; NULL: it was pushed out, or is none. The lock is
 * held. */
static struct kept *find_kept(uint64_t id)
{
    struct kept *kept =
        kept_events.table ? &kept_events.table[id % ADSM_EVENTS_KEPT] : NULL;
    return kept && kept->id == id ? kept : NULL;
}

void adsm_event_complete(uint64_t id, const struct adsm_ended *ended)
{
    pthread_mutex_lock(&kept_events.lock);
    struct kept *kept = find_kept(id);
    kept->ended = *ended;
    kept->open = false;
    pthread_cond_broadcast(&kept_events.complete);
    pthread_mutex_unlock(&kept_events.lock);
}

bool adsm_event_is_open(uint64_t id)
{
    pthread_mutex_lock(&kept_events.lock);
    const struct kept *kept = find_kept(id);
    bool open = kept && kept->open;
    pthread_mutex_unlock(&kept_events.lock);
    return open;
}

uint64_t adsm_event_keep(const struct adsm_ended *ended)
{
    struct kept *kept;
    uint64_t id;
    pthread_mutex_lock(&kept_events.lock);
    if (has_table()) {
        kept = place_of_next();
        *kept = (struct kept){.id = ++kept_events.last, .ended = *ended};
        id = kept->id;
    } else {
        id = wait_instead(ended);
    }
    pthread_mutex_unlock(&kept_events.lock);
    return id;
}

int adsm_event_find(uint64_t id, struct adsm_ended *ended)
{
    *ended = (struct adsm_ended){.status = ADSM_OK};
    if (id == 0)
        return ADSM_OK;
    pthread_mutex_lock(&kept_events.lock);
    bool given = id <= kept_events.last;
    const struct kept *kept = given ? find_kept(id) : NULL;
    while (kept && kept->open) {
        pthread_cond_wait(&kept_events.complete, &kept_events.lock);
        kept = find_kept(id);
    }
    if (kept)
        *ended = kept->ended;
    pthread_mutex_unlock(&kept_events.lock);
    return given ? ADSM_OK : ADSM_E_INVALID;
}

void adsm_ended_join(struct adsm_ended *ended, adsmEvent event)
{
    struct adsm_ended more;
    if (adsm_event_find(event.id, &more) == ADSM_OK)
        for (int i = 0; i < more.count; i++)
            adsm_ended_add(ended, more.fences[i]);
}

/* ---- what follows ----------------------------------------------------------- */

void adsm_event_of_runtime(void)
{
    is_runtime = true;
}

static struct follower *take(void)
{
    pthread_mutex_lock(&kept_events.lock);
    while (!queue.first)
        pthread_cond_wait(&queue.more, &kept_events.lock);
    struct follower *follower = queue.first;
    pthread_mutex_unlock(&kept_events.lock);
    return follower;
}

/* It counts until it has run. */
static void drop(struct follower *follower)
{
    struct adsm_region region = follower->region;
    pthread_mutex_lock(&kept_events.lock);
    queue.first = follower->next;
    if (!queue.first)
        queue.end = &queue.first;
    queue.count--;
    pthread_cond_signal(&queue.fewer);
    pthread_mutex_unlock(&kept_events.lock);
    adsm_region_end(&region);
}

static void *run(void *unused)
{
    (void)unused;
    is_runtime = true;
    for (;;) {
        struct follower *follower = take();
        if (follower->open)
            (void)adsm_event_find(follower->open, &follower->ended);
        int status = adsm_ended_wait(&follower->ended);
        follower->then(follower->arg, (adsmStatus)status);
        drop(follower);
    }
    return NULL;
}

static int follow(uint64_t open, const struct adsm_ended *ended,
                  void (*then)(void *arg, adsmStatus status), void *arg)
{
    struct adsm_region region = {NULL, NULL, NULL};
    struct follower *follower = adsm_region_get(&region, 1, sizeof *follower);
    if (!follower)
        return ADSM_E_NOMEM;
    *follower = (struct follower){.region = region,
                                  .open = open,
                                  .ended = *ended,
                                  .then = then,
                                  .arg = arg};
    int rc = ADSM_OK;
    pthread_mutex_lock(&kept_events.lock);
    if (!queue.started) {
        rc = adsm_thread_start(run, 0, true);
        queue.started = rc == ADSM_OK;
    }
    /* What follows a call may make calls: nobody else takes it from there. */
    while (rc == ADSM_OK && queue.count >= ADSM_EVENTS_KEPT && !is_runtime)
        pthread_cond_wait(&queue.fewer, &kept_events.lock);
    if (rc == ADSM_OK) {
        *queue.end = follower;
        queue.end = &follower->next;
        queue.count++;
        pthread_cond_signal(&queue.more);
    }
    pthread_mutex_unlock(&kept_events.lock);
    if (rc != ADSM_OK)
        adsm_region_end(&region);
    return rc;
}

int adsm_event_follow(const struct adsm_ended *ended,
                      void (*then)(void *arg, adsmStatus status), void *arg)
{
    return follow(0, ended, then, arg);
}

int adsm_event_follow_open(uint64_t id,
                           void (*then)(void *arg, adsmStatus status),
                           void *arg)
{
    const struct adsm_ended none = {.status = ADSM_OK};
    return follow(id, &none, then, arg);
}
