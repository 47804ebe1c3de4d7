/*
 * What calls of the random test come behind and what follows them: events that
 * any caller may wait for, and functions that run once, when their calls have
 * ended, in the order in which a caller made these. See live.h.
 */
#include "live.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

enum { KNOWN = 64, AFTERS = 3, UNKNOWN = -1 };

/* What was asked for with a call. */
struct live_follow {
    struct live_follow *next;
    adsmEvent event, after[AFTERS];
    int caller;
    long number;       /* of those of its caller that a function follows */
    int status;        /* that the call returned; UNKNOWN before; lock */
    int seen;          /* that the function was given */
    _Atomic int began; /* how often the function did */
    _Atomic bool ended;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    adsmEvent event;
    int status;
} known[KNOWN];                    /* lock */
static long known_count;           /* lock */
static struct live_follow *all;    /* that a function follows; lock */
static long numbers[CALLERS];      /* each its caller's */
static long last_number[CALLERS];  /* the runtime's thread's */
static struct live_thread runtime; /* the same */
static _Atomic bool is_over;

/* ---- events -------------------------------------------------------------------- */

/* One of the last; its call may have failed. False: there is none yet. */
static bool some_event(struct live_thread *t, adsmEvent *event, int *status)
{
    pthread_mutex_lock(&lock);
    long n = known_count < KNOWN ? known_count : KNOWN;
    long i = n > 0 ? draw(t, n) : 0;
    *event = known[i].event;
    *status = known[i].status;
    pthread_mutex_unlock(&lock);
    return n > 0;
}

/* Ended for good: whoever asks hears so. */
static void require_ended(adsmEvent event, const char *what)
{
    int done = 0;
    if (adsmTest(event, &done) != ADSM_OK || !done)
        live_stop("event %lu: %s, and it has not ended",
                  (unsigned long)event.id, what);
}

void live_follow_wait(struct live_thread *t)
{
    adsmEvent event;
    int failed, done;
    if (!some_event(t, &event, &failed))
        return;
    live_note("caller %d: wait for event %lu", t->owner,
              (unsigned long)event.id);
    if (draw(t, 2)) {
        int status = adsmWait(event);
        if (status != ADSM_OK && status != failed) /* an old one is forgotten */
            live_stop("adsmWait of event %lu: %s", (unsigned long)event.id,
                      adsmErrorDetail());
        require_ended(event, "waited for");
    } else if (adsmTest(event, &done) != ADSM_OK) {
        live_stop("adsmTest of event %lu: %s", (unsigned long)event.id,
                  adsmErrorDetail());
    }
}

/* ---- functions ------------------------------------------------------------------- */

/* The thread of the runtime may use shared memory, and make calls, which one
 * caller's run would not do twice alike. */
static void take_turn(void)
{
    struct live_array *a;
    if (live_callers == 1 || atomic_load(&is_over))
        return;
    runtime.owner = RUNTIME;
    if (draw(&runtime, 4) == 0)
        live_call(&runtime);
    else if ((a = live_any(&runtime)))
        live_access(&runtime, a);
    live_let_all_go(&runtime);
}

static void follow(void *arg, adsmStatus status)
{
    struct live_follow *f = arg;
    if (atomic_fetch_add(&f->began, 1) != 0)
        live_stop("what follows call %ld of caller %d ran twice", f->number,
                  f->caller);
    require_ended(f->event, "what follows it ran");
    if (f->number <= last_number[f->caller])
        live_stop("what follows call %ld of caller %d ran behind that of %ld",
                  f->number, f->caller, last_number[f->caller]);
    last_number[f->caller] = f->number;
    f->seen = status;
    take_turn();
    atomic_store(&f->ended, true);
}

/* ---- calls ------------------------------------------------------------------------ */

void live_follow_draw(struct live_thread *t, adsmOpts *opts)
{
    int unused;
    if (draw(t, 3))
        return;
    struct live_follow *f = calloc(1, sizeof *f);
    *f = (struct live_follow){.caller = t->owner, .status = UNKNOWN};
    opts->event = &f->event;
    opts->after = f->after;
    opts->afters = (int)draw(t, AFTERS + 1);
    for (int i = 0; i < opts->afters; i++)
        if (!some_event(t, &f->after[i], &unused))
            opts->afters = 0;
    if (draw(t, 2)) {
        opts->then = follow;
        opts->then_arg = f;
        f->number = ++numbers[t->owner];
        pthread_mutex_lock(&lock);
        f->next = all;
        all = f;
        pthread_mutex_unlock(&lock);
    }
    t->follow = f;
}

void live_follow_made(struct live_thread *t, const adsmOpts *opts, int status)
{
    struct live_follow *f = t->follow;
    if (!f)
        return;
    t->follow = NULL;
    if (opts->sync)
        require_ended(f->event, "the call was to return when it has ended");
    pthread_mutex_lock(&lock);
    f->status = status;
    known[known_count % KNOWN].event = f->event;
    known[known_count++ % KNOWN].status = status;
    pthread_mutex_unlock(&lock);
    if (!opts->then)
        free(f);
}

/* Has all that follows calls that were made run? */
static bool have_ended(void)
{
    bool ended = true;
    pthread_mutex_lock(&lock);
    for (const struct live_follow *f = all; f && ended; f = f->next)
        ended = f->status != UNKNOWN &&
                (f->status != ADSM_OK || atomic_load(&f->ended));
    pthread_mutex_unlock(&lock);
    return ended;
}

/* A call that failed may have been refused before anything could follow it. */
static void check(const struct live_follow *f)
{
    if (atomic_load(&f->began) && f->seen != f->status)
        live_stop("what follows call %ld of caller %d was told %s, the call %s",
                  f->number, f->caller, adsmErrorName(f->seen),
                  adsmErrorName(f->status));
}

void live_follow_end(void)
{
    atomic_store(&is_over, true);
    while (!have_ended()) /* else there is no progress, which is noticed */
        usleep(1000);
    for (const struct live_follow *f = all; f; f = f->next)
        check(f);
}
