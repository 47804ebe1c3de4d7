/*
 * Threads that use the arrays of a call of the random test at once behind it,
 * while its pieces are brought, computed and fetched: what was written there,
 * and what was read, element by element one's own. See live.h.
 */
#include "live.h"

enum { HELPERS = 3, SLICES = 48, STRETCHES = 3 };

/* Elements that one thread has. */
struct slice {
    struct live_array *a;
    long at, n;
};

struct slices {
    struct slice all[SLICES];
    int count;
};

struct helper {
    pthread_t thread;
    struct live_thread about;
    const struct slices *slices;
    int first; /* of its own: every HELPERS-th */
};

static bool is_taken(const struct slices *slices, const struct live_array *a,
                     long at, long n)
{
    for (int i = 0; i < slices->count; i++) {
        const struct slice *s = &slices->all[i];
        if (s->a == a && at < s->at + s->n && s->at < at + n)
            return true;
    }
    return false;
}

/* Cut a stretch of the caller's into slices, some of a few elements only. */
static void cut(struct live_thread *t, struct live_array *a,
                struct slices *slices)
{
    long at, n;
    if (!live_stretch(t, a, a->n, &at, &n) || is_taken(slices, a, at, n))
        return;
    for (long end = at + n; at < end && slices->count < SLICES;) {
        n = 1 + draw(t, draw(t, 3) ? LONGEST : 64);
        n = n < end - at ? n : end - at;
        slices->all[slices->count++] = (struct slice){a, at, n};
        at += n;
    }
}

static void *help(void *argument)
{
    struct helper *h = argument;
    for (int i = h->first; i < h->slices->count; i += HELPERS) {
        const struct slice *s = &h->slices->all[i];
        live_access_to(&h->about, s->a, s->at, s->n);
    }
    live_access_end();
    return NULL;
}

void live_arrive(struct live_thread *t)
{
    struct slices slices = {.count = 0};
    struct helper helpers[HELPERS];
    for (int i = 0; i < t->helds * STRETCHES; i++)
        cut(t, t->held[i % t->helds], &slices);
    live_note("caller %d: threads behind it: %d slices", t->owner,
              slices.count);
    for (int i = 0; i < HELPERS; i++) {
        struct helper *h = &helpers[i];
        *h = (struct helper){.slices = &slices, .first = i};
        h->about.owner = t->owner;
        h->about.random = (uint64_t)draw(t, 1L << 31) + 1;
        if (pthread_create(&h->thread, NULL, help, h) != 0)
            live_stop("no thread");
    }
    for (int i = 0; i < HELPERS; i++)
        pthread_join(helpers[i].thread, NULL);
}
