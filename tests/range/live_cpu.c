/* What CPU threads do to the arrays of the random test; see live.h. */
#include "live.h"

#include "base/sanitized.h"
#include "mm/doors/bulk.h"
#include "mm/doors/loan.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- accesses --------------------------------------------------------------------- */

struct access {
    struct live_thread *t;
    struct live_array *a;
    long at, n;
};

static void store(const struct access *c)
{
    int value = (int)draw(c->t, 1 << 30);
    for (long i = c->at; i < c->at + c->n; i++)
        ((volatile int *)c->a->p)[i] = c->a->flat[i] = value++;
}

/* memset and memcpy: as programs have them, and as they do preloaded. */
static void fill(const struct access *c)
{
    int byte = (int)draw(c->t, 256);
    size_t bytes = (size_t)c->n * sizeof *c->a->p;
    if (!SANITIZED && draw(c->t, 2))
        memset(c->a->p + c->at, byte, bytes);
    else if (!live_done(adsm_bulk_set(c->a->p + c->at, byte, bytes), "set"))
        return;
    memset(c->a->flat + c->at, byte, bytes);
}

static void copy_in(const struct access *c)
{
    size_t bytes = (size_t)c->n * sizeof *c->a->p;
    int *from = malloc(bytes);
    memset(from, (int)draw(c->t, 256), bytes);
    if (!SANITIZED && draw(c->t, 2))
        memcpy(c->a->p + c->at, from, bytes);
    else if (!live_done(adsm_bulk_move(c->a->p + c->at, from, bytes), "move"))
        bytes = 0;
    memcpy(c->a->flat + c->at, from, bytes);
    free(from);
}

static __thread int ends[2];

/* read(2) of fewer bytes than were asked for, through a loan. */
static void receive(const struct access *c)
{
    struct adsm_loan loan;
    size_t bytes = (size_t)c->n * sizeof *c->a->p;
    size_t sent = (size_t)draw(c->t, c->n + 1) * sizeof *c->a->p;
    int *from = malloc(bytes);
    memset(from, (int)draw(c->t, 256), bytes);
    if (sent && write(ends[1], from, sent) != (ssize_t)sent)
        live_stop("a pipe takes less");
    if (!live_done(adsm_loan_begin(c->a->p + c->at, bytes, ADSM_WRITE, &loan),
                   "loan to write"))
        live_stop("a loan needs no device memory");
    if (loan.bytes < bytes)
        live_stop("a loan of %zu bytes, not %zu", loan.bytes, bytes);
    ssize_t got = sent ? read(ends[0], loan.address, loan.bytes) : 0;
    if (got != (ssize_t)sent)
        live_stop("read through a loan gave %zd of %zu", got, sent);
    if (draw(c->t, 4) == 0)
        usleep(300); /* others meet what has arrived */
    if (!live_done(adsm_loan_end(&loan, sent), "end of a loan"))
        live_stop("a loan's end needs no device memory");
    memcpy(c->a->flat + c->at, from, sent);
    free(from);
}

static void send_out(const struct access *c)
{
    struct adsm_loan loan;
    size_t bytes = (size_t)c->n * sizeof *c->a->p;
    int *seen = malloc(bytes);
    if (!live_done(adsm_loan_begin(c->a->p + c->at, bytes, ADSM_READ, &loan),
                   "loan to read"))
        live_stop("a loan needs no device memory");
    if (write(ends[1], loan.address, bytes) != (ssize_t)bytes ||
        read(ends[0], seen, bytes) != (ssize_t)bytes)
        live_stop("a pipe takes less");
    if (!live_done(adsm_loan_end(&loan, bytes), "end of a loan"))
        live_stop("a loan's end needs no device memory");
    for (long i = 0; i < c->n; i++)
        if (seen[i] != c->a->flat[c->at + i])
            live_stop("sent out: array %d: element %ld of owner %d is %d, not "
                      "%d",
                      c->a->number, c->at + i, c->t->owner, seen[i],
                      c->a->flat[c->at + i]);
    free(seen);
}

void live_access_to(struct live_thread *t, struct live_array *a, long at,
                    long n)
{
    struct access c = {t, a, at, n};
    static const char *const names[] = {
        "compare", "compare", "compare", "store",   "store",
        "store",   "fill",    "copy in", "receive", "send"};
    int kind = (int)draw(t, 10);
    if (!ends[0] && pipe(ends) != 0)
        live_stop("no pipe");
    if (t->owner < CALLERS)
        live_note("caller %d: array %d: %s [%ld, %ld)", t->owner, a->number,
                  names[kind], c.at, c.at + c.n);
    if (kind < 3)
        live_compare(a, c.at, c.n,
                     t->owner < CALLERS ? "a caller's" : "a toucher's");
    else if (kind < 6)
        store(&c);
    else if (kind == 6)
        fill(&c);
    else if (kind == 7)
        copy_in(&c);
    else if (kind == 8)
        receive(&c);
    else
        send_out(&c);
}

void live_access(struct live_thread *t, struct live_array *a)
{
    long at, n;
    if (live_stretch(t, a, LONGEST, &at, &n))
        live_access_to(t, a, at, n);
}

void live_access_end(void)
{
    if (ends[0]) {
        close(ends[0]);
        close(ends[1]);
    }
}

/* ---- touchers ----------------------------------------------------------------------- */

static _Atomic bool stop;
static struct toucher {
    pthread_t thread;
    struct live_thread about;
} touchers[TOUCHERS];

/* Anything, whoever writes it just now: a value nobody looks at. */
__attribute__((no_sanitize("thread"))) static void
peek(struct live_thread *t, const struct live_array *a)
{
    const volatile int *p = a->p;
    for (long i = 0; i < 3; i++)
        (void)p[draw(t, a->n)];
}

static void *touch(void *argument)
{
    struct live_thread *t = argument;
    while (!atomic_load(&stop)) {
        struct live_array *a = live_any(t);
        if (a && draw(t, 3) == 0)
            peek(t, a);
        else if (a)
            live_access(t, a);
        live_let_all_go(t);
        if (draw(t, 4) == 0)
            usleep((useconds_t)draw(t, 200));
    }
    return NULL;
}

void live_touchers_begin(uint64_t seed)
{
    for (int i = 0; i < TOUCHERS; i++) {
        struct toucher *t = &touchers[i];
        t->about.random = seed * 31 + (uint64_t)i + 1;
        t->about.owner = CALLERS + i;
        if (pthread_create(&t->thread, NULL, touch, &t->about) != 0)
            live_stop("no thread");
    }
}

void live_touchers_end(void)
{
    atomic_store(&stop, true);
    for (int i = 0; i < TOUCHERS; i++)
        pthread_join(touchers[i].thread, NULL);
}
