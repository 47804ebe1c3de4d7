/*
 * Model test: random events on shared objects against a reference that has one
 * copy of everything and therefore nothing to keep coherent.
 *
 *   model <events> <seed> [<planted bug> | large]
 *
 * `large`: objects of several MiB, of which long stretches are used in order.
 * Memory that the device shares with the host is looked at behind adsmSync only,
 * which is all that is left of coherence there.
 *
 * Events: CPU loads and stores of random ranges, bulk moves, sets and compares,
 * system calls through loans that transfer less than they were asked for,
 * launches with random access sets, bursts of calls, syncs, frees and
 * allocations; blocks are written back early by themselves under rolling. Protocol and block
 * size come from the environment. A difference is printed with the number of
 * the event, the object and the offset. Exit status 0: all equal; 1: a
 * difference; with a planted bug the other way round. 2: anything else went
 * wrong.
 */
#include "adsm.h"
#include "init.h"
#include "kernels.h"
#include "mm/doors/bulk.h"
#include "mm/doors/loan.h"
#include "mm/heap/life.h"
#include "mm/object/index.h"
#include "mm/state/coherence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OBJECTS = 12, MOST = 3 << 20, KERNEL_BYTES = 4096 };

static struct shared {
    uint8_t *p;   /* the shared object    */
    uint8_t *ref; /* the reference's copy */
    size_t bytes;
} objects[OBJECTS];

static uint64_t random_state;
static long event_number;
static adsmModule *module;
static adsmKernel *mix, *mix_only, *fill, *fill_only;
static bool planted, large;
static uint32_t longest = 200000; /* range of one event */
static int pipe_fds[2];
static uint8_t scratch[MOST];

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % below);
}

static void stop(const char *what, const struct shared *o, size_t at)
{
    printf("event %ld: %s: object %d (%zu bytes) at %zu\n", event_number, what,
           (int)(o - objects), o->bytes, at);
    exit(planted ? 0 : 1);
}

static void require(int status, const char *what)
{
    if (status == ADSM_OK)
        return;
    printf("event %ld: %s: %s: %s\n", event_number, what, adsmErrorName(status),
           adsmErrorDetail());
    exit(1);
}

static void compare(const struct shared *o, const uint8_t *seen, size_t at,
                    size_t n, const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (seen[i] != o->ref[at + i])
            stop(what, o, at + i);
}

/* A random object and a random range of it, one in `rarity` long. */
static struct shared *pick_long(size_t *at, size_t *n, uint32_t rarity)
{
    struct shared *o = &objects[draw(OBJECTS)];
    *at = draw((uint32_t)o->bytes);
    *n = 1 + draw(draw(rarity) == 0 ? longest : 100);
    if (*n > o->bytes - *at)
        *n = o->bytes - *at;
    return o;
}

static struct shared *pick(size_t *at, size_t *n)
{
    return pick_long(at, n, 20);
}

static void renew(struct shared *o)
{
    static const size_t sizes[] = {1,     100,    4096,    4097,   12288,
                                   70000, 262144, 300000,  655360, 1048576,
                                   5000,  9000,   2097152, 2500001};
    static const size_t large_sizes[] = {2097152, 2500001, 4194304,
                                         6000000, 300000,  8388608};
    if (o->p) {
        compare(o, o->p, 0, o->bytes, "before free");
        require(adsmFree(o->p), "adsmFree");
        free(o->ref);
    }
    /* Whole objects move: large ones would only make the run longer. */
    bool whole = adsm_coherence_protocol()->granularity == ADSM_BY_OBJECT;
    o->bytes = sizes[draw(whole ? 6 : sizeof sizes / sizeof *sizes)];
    if (large)
        o->bytes = large_sizes[draw(sizeof large_sizes / sizeof *large_sizes)];
    o->p = adsmAlloc(o->bytes);
    o->ref = malloc(o->bytes);
    if (!o->p)
        require(adsmLastStatus(), "adsmAlloc");
    /* Fresh contents are undefined: make them equal, by either side. */
    require(adsm_bulk_set(o->p, 0x5a, o->bytes), "first set");
    memset(o->ref, 0x5a, o->bytes);
}

static void cpu_read(void)
{
    size_t at, n;
    struct shared *o = pick(&at, &n);
    compare(o, o->p + at, at, n, "CPU read");
}

static void cpu_write(void)
{
    size_t at, n;
    struct shared *o = pick(&at, &n);
    uint8_t value = (uint8_t)draw(256);
    /* One behind the other, or here and there. */
    size_t step = draw(3) == 0 ? 2 + draw((uint32_t)o->bytes / 8 + 1) : 1;
    for (size_t i = 0; i < n && at < o->bytes; i++, at += step) {
        ((volatile uint8_t *)o->p)[at] = (uint8_t)(value + i);
        o->ref[at] = (uint8_t)(value + i);
    }
}

static void bulk_move(void)
{
    size_t at, n, to_at, to_n;
    struct shared *from = pick_long(&at, &n, 3);
    struct shared *to = pick_long(&to_at, &to_n, 2);
    if (n > to_n)
        n = to_n;
    switch (draw(3)) {
    case 0:
        require(adsm_bulk_move(to->p + to_at, from->p + at, n), "move");
        memmove(to->ref + to_at, from->ref + at, n);
        break;
    case 1:
        require(adsm_bulk_move(scratch, from->p + at, n), "move out");
        compare(from, scratch, at, n, "moved out");
        break;
    default:
        memset(scratch, (int)draw(256), n);
        require(adsm_bulk_move(to->p + to_at, scratch, n), "move in");
        memcpy(to->ref + to_at, scratch, n);
    }
}

static void bulk_set(void)
{
    size_t at, n;
    struct shared *o = pick(&at, &n);
    int value = (int)draw(256);
    require(adsm_bulk_set(o->p + at, value, n), "set");
    memset(o->ref + at, value, n);
}

static void bulk_compare(void)
{
    size_t at, n, b_at, b_n;
    struct shared *a = pick(&at, &n);
    struct shared *b = pick(&b_at, &b_n);
    int order;
    if (n > b_n)
        n = b_n;
    require(adsm_bulk_compare(a->p + at, b->p + b_at, n, &order), "compare");
    int expected = memcmp(a->ref + at, b->ref + b_at, n);
    if ((order > 0) - (order < 0) != (expected > 0) - (expected < 0))
        stop("compare", a, at);
}

/* read(2) of fewer bytes than asked for, through a loan. */
static void short_read(void)
{
    size_t at, n;
    struct shared *o = pick(&at, &n);
    struct adsm_loan loan;
    size_t sent = draw((uint32_t)(n < 30000 ? n : 30000) + 1);
    memset(scratch, (int)draw(256), sent);
    if (sent && write(pipe_fds[1], scratch, sent) != (ssize_t)sent)
        stop("pipe", o, at);
    require(adsm_loan_begin(o->p + at, n, ADSM_WRITE, &loan), "loan");
    ssize_t got = sent ? read(pipe_fds[0], loan.address, loan.bytes) : 0;
    if (got < 0 || (size_t)got > sent)
        stop("read through a loan", o, at);
    require(adsm_loan_end(&loan, (size_t)got), "unpin");
    memcpy(o->ref + at, scratch, (size_t)got);
    if ((size_t)got != sent)
        stop("read less than was there", o, at);
}

static void write_out(void)
{
    size_t at, n;
    struct shared *o = pick(&at, &n);
    struct adsm_loan loan;
    if (n > 30000)
        n = 30000;
    require(adsm_loan_begin(o->p + at, n, ADSM_READ, &loan), "loan");
    if (write(pipe_fds[1], loan.address, loan.bytes) != (ssize_t)loan.bytes ||
        read(pipe_fds[0], scratch, loan.bytes) != (ssize_t)loan.bytes)
        stop("write through a loan", o, at);
    compare(o, scratch, at, loan.bytes, "written out");
    require(adsm_loan_end(&loan, loan.bytes), "unpin");
}

static void launch_mix(void)
{
    struct shared *p = &objects[draw(OBJECTS)];
    struct shared *q = &objects[draw(OBJECTS)];
    size_t most = p->bytes < q->bytes ? p->bytes : q->bytes;
    if (p == q)
        return;
    uint32_t n =
        1 + draw((uint32_t)(most < KERNEL_BYTES ? most : KERNEL_BYTES));
    size_t p_at = draw((uint32_t)(p->bytes - n + 1));
    size_t q_at = draw((uint32_t)(q->bytes - n + 1));
    uint32_t s = draw(256);
    adsmKernel *kernel = draw(2) ? mix : mix_only;
    adsmArg in = adsmIn(q->p + q_at), inout = adsmInOut(q->p + q_at);
    require(adsmLaunch(kernel, adsmDim1((n + 63) / 64), adsmDim1(64), 0,
                       adsmInOut(p->p + p_at), draw(2) ? in : inout, adsmVal(n),
                       adsmVal(s)),
            "launch mix");
    host_mix(p->ref + p_at, q->ref + q_at, n, s);
}

static void launch_fill(void)
{
    struct shared *p = &objects[draw(OBJECTS)];
    if (p->bytes > 12288)
        return;
    uint32_t n = (uint32_t)p->bytes;
    uint32_t s = draw(256);
    require(adsmLaunch(draw(2) ? fill : fill_only, adsmDim1((n + 255) / 256),
                       adsmDim1(256), 0, adsmOut(p->p), adsmVal(n), adsmVal(s)),
            "launch fill");
    host_fill(p->ref, n, s);
}

static void event(void);

/* Some calls that read one object, which the CPU writes before most of them;
 * now and then something else happens in between. */
static void call_burst(void)
{
    struct shared *q = &objects[draw(OBJECTS)];
    struct shared *p = &objects[draw(OBJECTS)];
    if (p == q)
        return;
    uint32_t n = (uint32_t)(p->bytes < q->bytes ? p->bytes : q->bytes);
    if (n > KERNEL_BYTES)
        n = KERNEL_BYTES;
    for (uint32_t rounds = 4 + draw(8); rounds > 0; rounds--) {
        uint32_t at = draw(n), s = draw(256);
        if (draw(8) != 0) {
            q->p[at] = (uint8_t)s;
            q->ref[at] = (uint8_t)s;
        }
        require(adsmLaunch(mix_only, adsmDim1((n + 63) / 64), adsmDim1(64), 0,
                           adsmInOut(p->p), adsmIn(q->p), adsmVal(n),
                           adsmVal(s)),
                "launch in a burst");
        host_mix(p->ref, q->ref, n, s);
        if (draw(4) != 0)
            require(adsmSync(), "adsmSync");
        if (draw(6) == 0) {
            event();
            if (n > p->bytes || n > q->bytes) /* another object by now */
                return;
        }
    }
    compare(p, p->p, 0, p->bytes, "after a burst");
}

static void check_structures(void)
{
    for (int i = 0; i < OBJECTS; i++) {
        struct adsm_object *o = adsm_index_acquire_alone(objects[i].p);
        if (!o || !adsm_object_is_valid(o))
            stop("object invariant", &objects[i], 0);
        adsm_rwlock_release(&o->lock);
    }
}

static void event(void)
{
    uint32_t kind = draw(1000);
    if (kind < 380)
        cpu_read();
    else if (kind < 700)
        cpu_write();
    else if (kind < 760)
        bulk_move();
    else if (kind < 800)
        bulk_set();
    else if (kind < 830)
        bulk_compare();
    else if (kind < 870)
        short_read();
    else if (kind < 900)
        write_out();
    else if (kind < 970)
        launch_mix();
    else if (kind < 983)
        launch_fill();
    else if (kind < 985)
        call_burst();
    else if (kind < 997)
        require(adsmSync(), "adsmSync");
    else if (kind < 999)
        renew(&objects[draw(OBJECTS)]);
    else
        check_structures();
}

/* Those that tests/engine/planted_pages.c knows, where it is linked. */
const char *model_bug = "";
static const char *const bugs_of_pages[] = {"page-lost", "page-forgotten",
                                            "loan-unnoted"};

static bool is_of_pages(const char *bug)
{
    size_t i = 0, n = sizeof bugs_of_pages / sizeof *bugs_of_pages;
    while (i < n && strcmp(bug, bugs_of_pages[i]) != 0)
        i++;
    return i < n;
}

/* Of memory that the device may share. */
static struct adsm_protocol of_memory(void)
{
    void *p = adsmAlloc(1 << 20);
    struct adsm_protocol found =
        *adsm_coherence_protocol_of(adsm_index_find(p));
    require(adsmFree(p), "adsmFree");
    return found;
}

/* One wrong cell in a copy of the protocols that are in use. */
static void plant(const char *bug)
{
    static struct adsm_protocol wrong, direct;
    model_bug = bug;
    if (is_of_pages(bug))
        return;
    wrong = *adsm_coherence_protocol();
    direct = of_memory();
    if (strcmp(bug, "direct-call-stays-open") == 0)
        direct.cell[ADSM_CALL][ADSM_DIRTY].next = ADSM_DIRTY;
    else if (strcmp(bug, "direct-reads-too-early") == 0)
        direct.cell[ADSM_READ_FAULT][ADSM_INVALID] =
            (struct adsm_cell){.next = ADSM_READ_ONLY};
    else if (strcmp(bug, "direct-writes-under-readers") == 0)
        direct.cell[ADSM_CALL_IN][ADSM_DIRTY].next = ADSM_DIRTY;
    else if (strcmp(bug, "call-keeps-read-only") == 0)
        wrong.cell[ADSM_CALL][ADSM_READ_ONLY].next = ADSM_READ_ONLY;
    else if (strcmp(bug, "call-without-flush") == 0)
        wrong.cell[ADSM_CALL][ADSM_DIRTY].actions = 0;
    else if (strcmp(bug, "write-back-without-flush") == 0)
        wrong.cell[ADSM_WRITE_BACK][ADSM_DIRTY].actions = 0;
    else if (strcmp(bug, "write-without-fetch") == 0)
        wrong.cell[ADSM_WRITE_FAULT][ADSM_INVALID].actions &=
            (uint8_t)~ADSM_DO_FETCH;
    else if (strcmp(bug, "device-write-keeps-read-only") == 0)
        wrong.cell[ADSM_DEVICE_WRITE][ADSM_READ_ONLY].next = ADSM_READ_ONLY;
    else if (strcmp(bug, "ahead-without-fetch") == 0)
        wrong.cell[ADSM_FETCH_AHEAD][ADSM_INVALID].actions = 0;
    else if (strcmp(bug, "kept-open-unsent") == 0)
        wrong.cell[ADSM_CALL_KEPT][ADSM_DIRTY].actions = 0;
    else
        exit(2);
    adsm_coherence_init(&wrong, &direct,
                        &(struct adsm_options){.rolling_size = 4});
}

static void bring_up(void)
{
    require(adsm_init(), "adsm_init");
    require(adsmModuleLoad(&module, kernels_ptx, sizeof kernels_ptx - 1),
            "adsmModuleLoad");
    require(adsmKernelGet(&mix, module, "mix", ADSM_ANY_OBJECT), "mix");
    require(adsmKernelGet(&mix_only, module, "mix", ADSM_ONLY_ARGUMENTS),
            "mix");
    require(adsmKernelGet(&fill, module, "fill", ADSM_ANY_OBJECT), "fill");
    require(adsmKernelGet(&fill_only, module, "fill", ADSM_ONLY_ARGUMENTS),
            "fill");
    if (pipe(pipe_fds) != 0)
        exit(2);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    long events = atol(argv[1]);
    unsigned long seed = strtoul(argv[2], NULL, 0);
    random_state = seed * 0x9e3779b97f4a7c15u + 1;
    bring_up();
    large = argc > 3 && strcmp(argv[3], "large") == 0;
    if (large)
        longest = MOST;
    planted = argc > 3 && !large;
    if (planted)
        plant(argv[3]);
    for (int i = 0; i < OBJECTS; i++)
        renew(&objects[i]);
    for (event_number = 0; event_number < events; event_number++)
        event();
    for (int i = 0; i < OBJECTS; i++)
        compare(&objects[i], objects[i].p, 0, objects[i].bytes, "at the end");
    printf("%ld events, seed %lu, %s: equal\n", events, seed,
           adsm_coherence_protocol()->name);
    return planted ? 1 : 0;
}
