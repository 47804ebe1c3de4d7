/*
 * Calls of the random test that share no data, one behind the other by `after`,
 * and whatever tells that a call has ended. Each element of their arrays gets
 * the times at which its thread began and ended, by the devices' clock, which is
 * the host's on software devices (tests/call/stamp.cu). See live.h.
 */
#include "live.h"

#include <stddef.h>
#include <unistd.h>

enum { STAMPS = 16, MOST_NS = 200 * 1000 };

/* Two calls of a caller. */
static struct pair {
    long *what, *began[2], *ended[2];
    adsmEvent event[2];
    _Atomic long followed; /* when the second one's function ran; 0: not yet */
} pairs[CALLERS];

static adsmKernel *stamp;

static long *times(void)
{
    long *p = adsmAllocArray(sizeof *p, adsmR1(STAMPS), ADSM_NO_HOME);
    if (!p)
        live_stop("an array of %d times: %s", STAMPS, adsmErrorDetail());
    for (int i = 0; i < STAMPS; i++)
        p[i] = 0;
    return p;
}

void live_order_begin(void)
{
    stamp = live_kernel("stamp.ptx", "stamp", ADSM_ONLY_ARGUMENTS);
    for (int c = 0; c < CALLERS; c++) {
        pairs[c].what = times();
        for (int k = 0; k < 2; k++) {
            pairs[c].began[k] = times();
            pairs[c].ended[k] = times();
        }
    }
}

void live_order_end(void)
{
    for (int c = 0; c < CALLERS; c++) {
        long *const all[] = {pairs[c].what, pairs[c].began[0],
                             pairs[c].began[1], pairs[c].ended[0],
                             pairs[c].ended[1]};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            if (!live_done(adsmFree(all[i]), "adsmFree"))
                live_stop("adsmFree needs no memory");
    }
}

/* Behind a call that was refused nobody waits. */
static void follow(void *arg, adsmStatus status)
{
    struct pair *pair = arg;
    if (status == ADSM_OK)
        atomic_store(&pair->followed, live_now());
}

/* Call number `k` of a pair. Return: was it made? */
static bool make(struct live_thread *t, struct pair *pair, int k, adsmOpts opts)
{
    long ns = draw(t, 2) ? draw(t, MOST_NS) : 0;
    opts.devices = (uint32_t)(1 + draw(t, 15));
    opts.parts = (int)draw(t, 6);
    opts.event = &pair->event[k];
    live_note("caller %d: stamp %d, devices %x, parts %d, %ld ns%s%s", t->owner,
              k, opts.devices, opts.parts, ns, opts.sync ? ", sync" : "",
              opts.then ? ", then" : "");
    return live_done(adsmCallWith(&opts, stamp, adsmR1(STAMPS),
                                  adsmIn(pair->what), adsmOut(pair->began[k]),
                                  adsmOut(pair->ended[k]), adsmVal(ns)),
                     "stamp");
}

/* In some way hear that the second call has ended. Return: when */
static long hear(struct live_thread *t, struct pair *pair, const adsmOpts *opts)
{
    int done = opts->sync;
    if (opts->then) {
        while (!atomic_load(&pair->followed))
            usleep(50);
        return atomic_load(&pair->followed);
    }
    if (!done && draw(t, 2) && adsmWait(pair->event[1]) == ADSM_OK)
        done = 1;
    while (!done) {
        if (adsmTest(pair->event[1], &done) != ADSM_OK)
            live_stop("adsmTest of a call: %s", adsmErrorDetail());
        usleep(20);
    }
    return live_now();
}

static void check(const struct pair *pair, long heard)
{
    int done = 0;
    if (adsmTest(pair->event[0], &done) != ADSM_OK || !done)
        live_stop("a call that another one came behind has not ended");
    for (int i = 0; i < STAMPS; i++) {
        if (pair->ended[1][i] > heard)
            live_stop("element %d ended %ld ns after its call had", i,
                      pair->ended[1][i] - heard);
        for (int k = 0; k < STAMPS; k++)
            if (pair->began[1][i] < pair->ended[0][k])
                live_stop("element %d began %ld ns before element %d of the "
                          "call `after` names ended",
                          i, pair->ended[0][k] - pair->began[1][i], k);
    }
}

void live_order(struct live_thread *t)
{
    struct pair *pair = &pairs[t->owner];
    adsmOpts second = {.after = &pair->event[0], .afters = 1};
    if (!make(t, pair, 0, (adsmOpts){0}))
        return;
    atomic_store(&pair->followed, 0);
    second.sync = draw(t, 4) == 0;
    /* The runtime's thread would wait for itself. */
    if (draw(t, 4) == 0 && t->owner != RUNTIME) {
        second.then = follow;
        second.then_arg = pair;
    }
    if (make(t, pair, 1, second))
        check(pair, hear(t, pair, &second));
}
