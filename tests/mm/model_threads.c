/*
 * Model test with threads: each owns bytes that lie between those of the
 * others, and checks them against a reference that has one copy of everything.
 *
 *   model_threads <events per thread> <seed> <threads>
 *
 * Objects are cut into cells which the threads own in turn, from a few bytes
 * to more than a block; besides, each thread allocates and frees objects of its
 * own, small ones in slabs that all share. So threads share blocks, but never
 * bytes: the rule of adsm.h, under which nothing may be lost. Events are those
 * of model.c, and memory that the device shares with the host is looked at behind
 * adsmSync there as well. Threads also share one object that is assigned to one kernel.
 *
 * Found within 1,000 events when tried: calls without the gate, batch's return
 * without the gate, write loans that do not hold their blocks or do not complete
 * partial ones, early write-backs that do not hold theirs, calls that leave no fence.
 *
 * Exit status 0: all equal; 1: a difference or a failed call; 2: wrong usage;
 * 3: a thread made no progress for LIMIT_S seconds.
 *
 * Under ThreadSanitizer: it sees the runtime's own memory and this program's.
 * What DMA and loans do to shared pages through their second mapping it cannot
 * see; for those the comparison with the reference stands in.
 */
#include "adsm.h"
#include "base/sanitized.h"
#include "common/no_handler.h"
#include "init.h"
#include "kernels.h"
#include "mm/doors/bulk.h"
#include "mm/doors/loan.h"
#include "mm/heap/life.h"
#include "mm/object/index.h"
#include "mm/state/coherence.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_THREADS = 6,
    SHARED = 7,
    PRIVATE = 4,
    LONGEST = 400000,
    KERNEL_BYTES = 1500,
    LIMIT_S = 60,
};

struct object {
    uint8_t *p;   /* the shared object    */
    uint8_t *ref; /* the reference's copy */
    size_t bytes;
    size_t cell; /* bytes a thread owns in turn; 0: one owner */
};

static struct object shared[SHARED] = {
    {.bytes = 3000, .cell = 24},        {.bytes = 12288, .cell = 700},
    {.bytes = 70000, .cell = 5000},     {.bytes = 300000, .cell = 64},
    {.bytes = 700001, .cell = 9000},    {.bytes = 1500000, .cell = 150000},
    {.bytes = 5000000, .cell = 400000},
};

struct thread {
    int id;
    uint64_t random;
    _Atomic long event;
    struct object own[PRIVATE];
    int pipe_fds[2];
    struct note *notes; /* what it has written, for the report */
    size_t noted;
    uint8_t scratch[LONGEST];
};

/* A range that the thread owns. */
struct range {
    const struct object *object;
    size_t at, n;
    uint8_t *p, *ref;
};

struct note {
    long event;
    const char *what;
    struct range range;
};

static struct thread threads[MOST_THREADS];
static int thread_count;
static long events;
static adsmModule *module;
static adsmKernel *mix, *mix_only, *fill, *fill_only;

static uint32_t draw(struct thread *t, uint32_t below)
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((t->random >> 33) % below);
}

/* Every event writes three ranges at most. */
static void note(struct thread *t, const char *what, struct range range)
{
    t->notes[t->noted++] = (struct note){atomic_load(&t->event), what, range};
}

/* What wrote the byte last, the newest first. */
static void print_history(const struct object *o, size_t at)
{
    for (int i = 0; i < thread_count; i++) {
        const struct thread *t = &threads[i];
        int left = 6;
        for (size_t k = t->noted; k-- > 0 && left > 0;) {
            const struct note *n = &t->notes[k];
            if (n->range.object != o || at < n->range.at ||
                at - n->range.at >= n->range.n)
                continue;
            fprintf(stderr, "  thread %d, event %ld: %s of [%zu, %zu)\n", i,
                    n->event, n->what, n->range.at, n->range.at + n->range.n);
            left--;
        }
    }
}

static _Noreturn void stop(struct thread *t, const char *what,
                           const struct object *o, size_t at)
{
    fprintf(stderr,
            "thread %d, event %ld: %s: %zu bytes in cells of %zu: %zu\n", t->id,
            atomic_load(&t->event), what, o->bytes, o->cell, at);
    print_history(o, at);
    _exit(1);
}

static void require(struct thread *t, int status, const char *what)
{
    if (status == ADSM_OK)
        return;
    fprintf(stderr, "thread %d, event %ld: %s: %s: %s\n", t->id,
            atomic_load(&t->event), what, adsmErrorName(status),
            adsmErrorDetail());
    _exit(1);
}

/* Byte loops: interceptors of sanitizers should not meet protected pages. */
static void compare(struct thread *t, const struct range *r,
                    const volatile uint8_t *seen, const char *what)
{
    for (size_t i = 0; i < r->n; i++)
        if (seen[i] != r->ref[i]) {
            size_t wrong = 1;
            while (i + wrong < r->n && seen[i + wrong] != r->ref[i + wrong])
                wrong++;
            fprintf(stderr, "%zu bytes: %d instead of %d (then %d)\n", wrong,
                    seen[i], r->ref[i], r->p[i]);
            stop(t, what, r->object, r->at + i);
        }
}

static struct range range_of(const struct object *o, size_t at, size_t n)
{
    return (struct range){o, at, n, o->p + at, o->ref + at};
}

/* A range of own bytes: in an own object or in an own cell of a shared one. */
static struct range pick(struct thread *t, size_t most)
{
    bool is_shared = draw(t, 4) != 0;
    const struct object *o =
        is_shared ? &shared[draw(t, SHARED)] : &t->own[draw(t, PRIVATE)];
    size_t begin = 0, end = o->bytes;
    if (is_shared) {
        size_t turn = o->cell * (size_t)thread_count;
        size_t turns = o->bytes / turn;
        begin = draw(t, (uint32_t)turns) * turn + (size_t)t->id * o->cell;
        end = begin + o->cell;
    }
    size_t n = end - begin;
    if (n > most)
        n = most;
    if (draw(t, 3) != 0)
        n = 1 + draw(t, (uint32_t)n);
    size_t at = begin + draw(t, (uint32_t)(end - begin - n + 1));
    return range_of(o, at, n);
}

static void renew(struct thread *t, struct object *o)
{
    static const size_t sizes[] = {1,    100,   300,   4096,   4097,
                                   2000, 12288, 70000, 262144, 300001};
    if (o->p) {
        struct range all = range_of(o, 0, o->bytes);
        compare(t, &all, o->p, "before free");
        require(t, adsmFree(o->p), "adsmFree");
        free(o->ref);
    }
    o->bytes = sizes[draw(t, sizeof sizes / sizeof *sizes)];
    o->p = adsmAlloc(o->bytes);
    o->ref = malloc(o->bytes);
    if (!o->p || !o->ref)
        require(t, adsmLastStatus(), "adsmAlloc");
    require(t, adsm_bulk_set(o->p, 0x5a, o->bytes), "first set");
    memset(o->ref, 0x5a, o->bytes);
    note(t, "first set", range_of(o, 0, o->bytes));
}

static void cpu_read(struct thread *t)
{
    struct range r = pick(t, 6000);
    compare(t, &r, r.p, "CPU read");
}

static void store(struct thread *t, struct range r)
{
    uint8_t value = (uint8_t)draw(t, 256);
    /* One behind the other, or here and there. */
    size_t step = draw(t, 3) == 0 ? 2 + draw(t, (uint32_t)r.n / 4 + 1) : 1;
    note(t, "CPU write", r);
    for (size_t i = 0; i < r.n; i += step) {
        ((volatile uint8_t *)r.p)[i] = (uint8_t)(value + i);
        r.ref[i] = (uint8_t)(value + i);
    }
}

static void cpu_write(struct thread *t)
{
    store(t, pick(t, 6000));
}

static void bulk_move(struct thread *t)
{
    struct range from = pick(t, LONGEST), to = pick(t, LONGEST);
    if (from.n > to.n)
        from.n = to.n;
    to.n = from.n;
    switch (draw(t, 3)) {
    case 0:
        require(t, adsm_bulk_move(to.p, from.p, from.n), "move");
        memmove(to.ref, from.ref, from.n);
        note(t, "move", to);
        note(t, "(from it)", from);
        /* The copy may still be on its way inside the device. */
        if (draw(t, 2))
            store(t, from);
        break;
    case 1:
        require(t, adsm_bulk_move(t->scratch, from.p, from.n), "move out");
        compare(t, &from, t->scratch, "moved out");
        break;
    default:
        memset(t->scratch, (int)draw(t, 256), from.n);
        require(t, adsm_bulk_move(to.p, t->scratch, from.n), "move in");
        memcpy(to.ref, t->scratch, from.n);
        note(t, "move in", to);
    }
}

static void bulk_set(struct thread *t)
{
    struct range r = pick(t, LONGEST);
    int value = (int)draw(t, 256);
    require(t, adsm_bulk_set(r.p, value, r.n), "set");
    memset(r.ref, value, r.n);
    note(t, "set", r);
}

static void bulk_compare(struct thread *t)
{
    struct range a = pick(t, LONGEST), b = pick(t, LONGEST);
    size_t n = a.n < b.n ? a.n : b.n;
    int order;
    require(t, adsm_bulk_compare(a.p, b.p, n, &order), "compare");
    int expected = memcmp(a.ref, b.ref, n);
    if ((order > 0) - (order < 0) != (expected > 0) - (expected < 0))
        stop(t, "compare", a.object, a.at);
}

/* read(2) of fewer bytes than asked for, through a loan. */
static void short_read(struct thread *t)
{
    struct range r = pick(t, 30000);
    struct adsm_loan loan;
    size_t sent = draw(t, (uint32_t)r.n + 1);
    memset(t->scratch, (int)draw(t, 256), sent);
    if (sent && write(t->pipe_fds[1], t->scratch, sent) != (ssize_t)sent)
        stop(t, "pipe", r.object, r.at);
    require(t, adsm_loan_begin(r.p, r.n, ADSM_WRITE, &loan), "loan");
    if (draw(t, 8) == 0)
        usleep(200);
    ssize_t got = sent ? read(t->pipe_fds[0], loan.address, loan.bytes) : 0;
    if (got != (ssize_t)sent)
        stop(t, "read through a loan", r.object, r.at);
    require(t, adsm_loan_end(&loan, sent), "unpin");
    memcpy(r.ref, t->scratch, sent);
    r.n = sent;
    note(t, "short read", r);
}

static void write_out(struct thread *t)
{
    struct range r = pick(t, 30000);
    struct adsm_loan loan;
    require(t, adsm_loan_begin(r.p, r.n, ADSM_READ, &loan), "loan");
    if (write(t->pipe_fds[1], loan.address, loan.bytes) !=
            (ssize_t)loan.bytes ||
        read(t->pipe_fds[0], t->scratch, loan.bytes) != (ssize_t)loan.bytes)
        stop(t, "write through a loan", r.object, r.at);
    compare(t, &r, t->scratch, "written out");
    require(t, adsm_loan_end(&loan, loan.bytes), "unpin");
}

static void launch_mix(struct thread *t)
{
    struct range p = pick(t, KERNEL_BYTES), q = pick(t, KERNEL_BYTES);
    if (p.object == q.object)
        return;
    uint32_t n = (uint32_t)(p.n < q.n ? p.n : q.n);
    uint32_t s = draw(t, 256);
    adsmKernel *kernel = draw(t, 2) ? mix : mix_only;
    adsmArg in = adsmIn(q.p), inout = adsmInOut(q.p);
    require(t,
            adsmLaunch(kernel, adsmDim1((n + 63) / 64), adsmDim1(64), 0,
                       adsmInOut(p.p), draw(t, 2) ? in : inout, adsmVal(n),
                       adsmVal(s)),
            "launch mix");
    host_mix(p.ref, q.ref, n, s);
    p.n = q.n = n;
    note(t, kernel == mix ? "mix" : "mix of its arguments", p);
    note(t, "(mixed from it)", q);
}

/* adsmOut is a promise for all bytes: for own objects only. */
static void launch_fill(struct thread *t)
{
    struct object *o = &t->own[draw(t, PRIVATE)];
    struct range r = range_of(o, 0, o->bytes);
    bool out = o->bytes <= 12288 && draw(t, 2);
    if (!out)
        r = pick(t, KERNEL_BYTES);
    uint32_t n = (uint32_t)r.n, s = draw(t, 256);
    adsmArg all = adsmOut(r.p), some = adsmInOut(r.p);
    require(t,
            adsmLaunch(draw(t, 2) ? fill : fill_only, adsmDim1((n + 255) / 256),
                       adsmDim1(256), 0, out ? all : some, adsmVal(n),
                       adsmVal(s)),
            "launch fill");
    host_fill(r.ref, n, s);
    note(t, out ? "fill, out" : "fill", r);
}

/* The object that is assigned to one kernel is so to another as well, for a
 * while: the list of its kernels changes under calls that look at it. */
static void assign_again(struct thread *t)
{
    void *p = shared[SHARED - 1].p;
    adsmStatus rc =
        draw(t, 2) ? adsmAttach(p, mix_only) : adsmDetach(p, mix_only);
    require(t, rc == ADSM_E_NOT_FOUND ? ADSM_OK : rc, "adsmAttach, adsmDetach");
}

static void event(struct thread *t)
{
    uint32_t kind = draw(t, 1000);
    if (kind < 40)
        assign_again(t);
    else if (kind < 300)
        cpu_read(t);
    else if (kind < 560)
        cpu_write(t);
    else if (kind < 640)
        bulk_move(t);
    else if (kind < 690)
        bulk_set(t);
    else if (kind < 720)
        bulk_compare(t);
    else if (kind < 790)
        short_read(t);
    else if (kind < 830)
        write_out(t);
    else if (kind < 940)
        launch_mix(t);
    else if (kind < 970)
        launch_fill(t);
    else if (kind < 985)
        require(t, adsmSync(), "adsmSync");
    else
        renew(t, &t->own[draw(t, PRIVATE)]);
}

static void *run(void *argument)
{
    struct thread *t = argument;
    for (int i = 0; i < PRIVATE; i++)
        renew(t, &t->own[i]);
    while (atomic_load(&t->event) < events) {
        event(t);
        atomic_fetch_add(&t->event, 1);
    }
    return NULL;
}

/* Wait for one thread as long as any of them gets on. */
static void join(pthread_t thread)
{
    long seen = -1;
    for (int idle = 0;;) {
        struct timespec limit;
        clock_gettime(CLOCK_REALTIME, &limit);
        limit.tv_sec++;
        if (pthread_timedjoin_np(thread, NULL, &limit) == 0)
            return;
        long sum = 0;
        for (int i = 0; i < thread_count; i++)
            sum += atomic_load(&threads[i].event);
        idle = sum == seen ? idle + 1 : 0;
        seen = sum;
        if (idle < LIMIT_S)
            continue;
        fprintf(stderr, "no progress for %d s at events", LIMIT_S);
        for (int i = 0; i < thread_count; i++)
            fprintf(stderr, " %ld", atomic_load(&threads[i].event));
        fprintf(stderr, "\n");
        _exit(3);
    }
}

static void bring_up(struct thread *t)
{
    require(t, adsm_init(), "adsm_init");
    require(t, adsmModuleLoad(&module, kernels_ptx, sizeof kernels_ptx - 1),
            "adsmModuleLoad");
    require(t, adsmKernelGet(&mix, module, "mix", ADSM_ANY_OBJECT), "mix");
    require(t, adsmKernelGet(&mix_only, module, "mix", ADSM_ONLY_ARGUMENTS),
            "mix");
    require(t, adsmKernelGet(&fill, module, "fill", ADSM_ANY_OBJECT), "fill");
    require(t, adsmKernelGet(&fill_only, module, "fill", ADSM_ONLY_ARGUMENTS),
            "fill");
    for (int i = 0; i < SHARED; i++) {
        struct object *o = &shared[i];
        o->p = adsmAlloc(o->bytes);
        o->ref = calloc(1, o->bytes);
        require(t, o->p && o->ref ? ADSM_OK : ADSM_E_NOMEM, "adsmAlloc");
        require(t, adsm_bulk_set(o->p, 0, o->bytes), "first set");
    }
    require(t, adsmAttach(shared[SHARED - 1].p, mix_only), "adsmAttach");
    require(t, adsmAttach(shared[SHARED - 1].p, mix), "adsmAttach");
}

static void check_all(struct thread *t)
{
    require(t, adsmSync(), "adsmSync");
    for (int i = 0; i < SHARED; i++) {
        struct range all = range_of(&shared[i], 0, shared[i].bytes);
        compare(t, &all, all.p, "at the end");
        struct adsm_object *o = adsm_index_acquire_alone(all.p);
        if (!o || !adsm_object_is_valid(o))
            stop(t, "object invariant", all.object, 0);
        adsm_rwlock_release(&o->lock);
    }
}

int main(int argc, char **argv)
{
    pthread_t ids[MOST_THREADS];
    if (argc != 4 || atoi(argv[3]) < 1 || atoi(argv[3]) > MOST_THREADS)
        return 2;
    events = atol(argv[1]);
    unsigned long seed = strtoul(argv[2], NULL, 0);
    thread_count = atoi(argv[3]);
    bring_up(&threads[0]);
    for (int i = 0; i < thread_count; i++) {
        struct thread *t = &threads[i];
        t->id = i;
        t->random = (seed * MOST_THREADS + (uint64_t)i) * 0x9e3779b97f4a7c15u;
        t->notes = calloc((size_t)events * 3 + PRIVATE, sizeof *t->notes);
        if (!t->notes || pipe(t->pipe_fds) != 0)
            return 2;
    }
    for (int i = 0; i < thread_count; i++)
        if (pthread_create(&ids[i], NULL, run, &threads[i]) != 0)
            return 2;
    for (int i = 0; i < thread_count; i++)
        join(ids[i]);
    check_all(&threads[0]);
    printf("%d threads, %ld events each, seed %lu, %s: equal%s\n", thread_count,
           events, seed, adsm_coherence_protocol()->name,
           SANITIZED ? " (sanitized: DMA and loans are only compared)" : "");
    return 0;
}
