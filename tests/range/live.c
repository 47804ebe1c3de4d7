/*
 * Random test of calls over several devices, through the library itself: after
 * each operation every array has what plain memory beside it has.
 *
 *   range_live <operations> <seed> [<callers> [<kinds>]]
 *
 * The operations are those of model.c, made by the program: calls over ranges in
 * parts, by distributions and by boxes, plain calls and launches, hints, new
 * shapes, accesses of the CPU, bulk copies, system calls through loans, arrays
 * that come and go. One to four threads make them, and functions that follow
 * calls do as well, on the thread of the runtime. Some arrays are divided among
 * them, so that their calls meet in one object in any order; of the others a
 * caller has those it uses until its call is made. Two more threads touch the
 * arrays all the while: elements of their own, which lie between those that
 * kernels read and write, and, only looking, any other. Devices that have little
 * memory (SOFTCUDA_MEMORY=4M) may refuse, and then nothing has changed.
 *
 * What fails is reported with the operations before it. One caller does the same
 * in every run. `kinds`, of "c" (calls), "h" (the CPU) and "t" (touchers),
 * narrows down which it takes, LIVE_FROM=n has everything compared after each
 * operation from n on, LIVE_ABORT=1 leaves a core.
 *
 * Exit status 0: all equal; 1: a difference or a failed call; 2: wrong usage;
 * 3: no progress for LIMIT_S seconds.
 */
#include "live.h"

#include "base/stats.h"
#include "common/no_handler.h"
#include "mm/state/coherence.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT_S = 60, NOTES = 96 };

int live_callers = 1;
bool live_tight;
_Atomic long live_refused, live_made, live_beside;

static char notes[NOTES][160];
static long noted;
static pthread_mutex_t notes_lock = PTHREAD_MUTEX_INITIALIZER;
static long operations, seed, compared_from = -1;
static _Atomic long operation;
static const char *kinds = "cht";

void live_note(const char *format, ...)
{
    va_list arguments;
    pthread_mutex_lock(&notes_lock);
    char *line = notes[noted++ % NOTES];
    int n = snprintf(line, sizeof *notes, "%ld: ", atomic_load(&operation));
    va_start(arguments, format);
    vsnprintf(line + n, sizeof *notes - (size_t)n, format, arguments);
    va_end(arguments);
    pthread_mutex_unlock(&notes_lock);
}

void live_stop(const char *format, ...)
{
    va_list arguments;
    pthread_mutex_lock(&notes_lock); /* the program ends with the first one */
    for (long i = noted > NOTES ? noted - NOTES : 0; i < noted; i++)
        fprintf(stderr, "%s\n", notes[i % NOTES]);
    fprintf(stderr, "seed %ld, %d callers, operation %ld: ", seed, live_callers,
            atomic_load(&operation));
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    if (getenv("LIVE_ABORT"))
        abort();
    _exit(1);
}

bool live_done(int status, const char *what)
{
    if (status == ADSM_OK)
        return true;
    if (status != ADSM_E_DEVICE_NOMEM || !live_tight)
        live_stop("%s: %s: %s", what, adsmErrorName(status), adsmErrorDetail());
    atomic_fetch_add(&live_refused, 1);
    live_note("  ... refused: %s", adsmErrorDetail());
    return false;
}

/* Those before it have run, where others took the memory that it was to have. */
int live_failed_part(void)
{
    int part = 0;
    return sscanf(adsmErrorDetail(), "part %d of", &part) == 1 ? part : 0;
}

/* ---- callers ----------------------------------------------------------------- */

static void operate(struct live_thread *t)
{
    long kind = draw(t, 100);
    struct live_array *a;
    bool calls = strchr(kinds, 'c'), host = strchr(kinds, 'h');
    if (kind < 56 && calls)
        live_call(t);
    else if (kind < 58 && calls)
        live_order(t);
    else if (kind < 60 && calls)
        live_follow_wait(t);
    else if (kind < 96 && host && (a = live_any(t)))
        live_access(t, a);
    live_let_all_go(t);
    if (kind == 96)
        live_compare_all("now and then");
    else if (kind >= 97)
        live_renew(t, &live_arrays[draw(t, ARRAYS)]);
}

static void *call(void *argument)
{
    struct live_thread *t = argument;
    long n;
    while ((n = atomic_fetch_add(&operation, 1)) < operations) {
        if (n % 64 == 0)
            alarm(LIMIT_S);
        operate(t);
        if (compared_from >= 0 && n >= compared_from)
            live_compare_all("each");
    }
    return NULL;
}

static uint64_t some_seed(int owner)
{
    return (uint64_t)seed * 0x9e3779b97f4a7c15u + 77 * (uint64_t)owner;
}

/* The first of them is this thread. */
static void call_all(struct live_thread *first)
{
    struct live_thread others[CALLERS];
    pthread_t threads[CALLERS];
    for (int i = 1; i < live_callers; i++) {
        others[i] = (struct live_thread){.random = some_seed(i), .owner = i};
        if (pthread_create(&threads[i], NULL, call, &others[i]) != 0)
            live_stop("no thread");
    }
    call(first);
    for (int i = 1; i < live_callers; i++)
        pthread_join(threads[i], NULL);
}

/* ---- the program -------------------------------------------------------------- */

static void stuck(int number)
{
    (void)number;
    static const char text[] = "no progress\n";
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    if (getenv("LIVE_ABORT"))
        abort();
    _exit(3);
}

static void begin_arrays(struct live_thread *t)
{
    pthread_rwlockattr_t how; /* who renews one is not kept waiting */
    pthread_rwlockattr_init(&how);
    pthread_rwlockattr_setkind_np(&how,
                                  PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    for (int i = 0; i < ARRAYS; i++) {
        live_arrays[i].number = i;
        pthread_rwlock_init(&live_arrays[i].lock, &how);
        pthread_mutex_init(&live_arrays[i].calls, NULL);
        live_renew(t, &live_arrays[i]);
    }
}

static bool take_arguments(int argc, char **argv)
{
    const char *from = getenv("LIVE_FROM");
    const char *memory = getenv("SOFTCUDA_MEMORY");
    if (argc < 3 || argc > 5)
        return false;
    operations = atol(argv[1]);
    seed = atol(argv[2]);
    live_callers = argc > 3 ? atoi(argv[3]) : 1;
    kinds = argc > 4 ? argv[4] : kinds;
    compared_from = from ? atol(from) : -1;
    live_tight = memory && strcmp(memory, "4M") == 0;
    return live_callers >= 1 && live_callers < CALLERS;
}

int main(int argc, char **argv)
{
    struct live_thread first = {.owner = 0};
    if (!take_arguments(argc, argv))
        return 2;
    first.random = some_seed(0);
    signal(SIGALRM, stuck);
    live_call_begin();
    live_boxed_begin();
    live_plain_begin();
    live_order_begin();
    begin_arrays(&first);
    if (strchr(kinds, 't'))
        live_touchers_begin((uint64_t)seed);
    call_all(&first);
    live_follow_end();
    live_order_end();
    if (strchr(kinds, 't'))
        live_touchers_end();
    live_compare_all("at the end");
    for (int i = 0; i < ARRAYS; i++)
        if (!live_done(adsmFree(live_arrays[i].base), "adsmFree"))
            live_stop("adsmFree needs no memory");
    printf("%ld operations, seed %ld, %d callers, %s: equal; %ld calls, %ld of "
           "them beside others, %ld refused, %lu copies evicted\n",
           operations, seed, live_callers, adsm_coherence_protocol()->name,
           atomic_load(&live_made), atomic_load(&live_beside),
           atomic_load(&live_refused),
           (unsigned long)adsm_stats_get(ADSM_STAT_copies_evicted));
    alarm(0); /* what ends the process may look for leaks at length */
    return 0;
}
