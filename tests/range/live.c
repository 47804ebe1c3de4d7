/*
 * Random test of calls over several devices, through the library itself: after
 * each operation every array has what plain memory beside it has.
 *
 *   range_live <operations> <seed> [<kinds>]
 *
 * The operations are those of model.c, made by the program: calls over ranges
 * in parts, plain calls and launches, hints, new shapes, accesses of the CPU,
 * bulk copies, system calls through loans, arrays that come and go. Two threads
 * touch the arrays all the while: elements of their own, which lie between those
 * that kernels read and write, and, only looking, any other. Devices that have
 * little memory (SOFTCUDA_MEMORY=4M) may refuse, and then nothing has changed.
 *
 * What fails is reported with the operations before it; `kinds`, of "c" (calls),
 * "h" (the CPU) and "t" (touchers), narrows down which it takes, LIVE_FROM=n has
 * everything compared after each operation from n on, LIVE_ABORT=1 leaves a core.
 *
 * Exit status 0: all equal; 1: a difference or a failed call; 2: wrong usage;
 * 3: no progress for LIMIT_S seconds.
 */
#include "live.h"

#include "base/stats.h"
#include "common/no_handler.h"
#include "mm/coherence.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT_S = 60, NOTES = 96 };

bool live_tight;
long live_refused;

static char notes[NOTES][160];
static long noted, operation, seed;

void live_note(const char *format, ...)
{
    va_list arguments;
    char *line = notes[noted++ % NOTES];
    int n = snprintf(line, sizeof *notes, "%ld: ", operation);
    va_start(arguments, format);
    vsnprintf(line + n, sizeof *notes - (size_t)n, format, arguments);
    va_end(arguments);
}

void live_stop(const char *format, ...)
{
    va_list arguments;
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&one); /* the program ends with the first one */
    for (long i = noted > NOTES ? noted - NOTES : 0; i < noted; i++)
        fprintf(stderr, "%s\n", notes[i % NOTES]);
    fprintf(stderr, "seed %ld, operation %ld: ", seed, operation);
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
    live_refused++;
    live_note("  ... refused: %s", adsmErrorDetail());
    return false;
}

static void operate(struct live_random *r, bool calls, bool host)
{
    long kind = draw(r, 100);
    if (kind < 60 && calls)
        live_call(r);
    else if (kind < 96 && host)
        live_access(r, &live_arrays[draw(r, ARRAYS)], 0);
    else if (kind == 96)
        live_compare_all("now and then");
    else if (kind >= 97)
        live_renew(r, &live_arrays[draw(r, ARRAYS)]);
}

static void stuck(int number)
{
    (void)number;
    static const char text[] = "no progress\n";
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    if (getenv("LIVE_ABORT"))
        abort();
    _exit(3);
}

int main(int argc, char **argv)
{
    struct live_random random;
    if (argc < 3 || argc > 4)
        return 2;
    long operations = atol(argv[1]);
    const char *kinds = argc > 3 ? argv[3] : "cht";
    const char *each = getenv("LIVE_FROM");
    seed = atol(argv[2]);
    random.state = (uint64_t)seed * 0x9e3779b97f4a7c15u;
    const char *memory = getenv("SOFTCUDA_MEMORY");
    live_tight = memory && strcmp(memory, "4M") == 0;
    signal(SIGALRM, stuck);
    live_kernels(KERNELS_PTX);
    for (int i = 0; i < ARRAYS; i++) {
        live_arrays[i].number = i;
        pthread_rwlock_init(&live_arrays[i].lock, NULL);
        live_renew(&random, &live_arrays[i]);
    }
    if (strchr(kinds, 't'))
        live_touchers_begin((uint64_t)seed);
    for (operation = 0; operation < operations; operation++) {
        if (operation % 64 == 0)
            alarm(LIMIT_S);
        operate(&random, strchr(kinds, 'c'), strchr(kinds, 'h'));
        if (each && operation >= atol(each))
            live_compare_all("each");
    }
    if (strchr(kinds, 't'))
        live_touchers_end();
    live_compare_all("at the end");
    for (int i = 0; i < ARRAYS; i++)
        if (!live_done(adsmFree(live_arrays[i].base), "adsmFree"))
            live_stop("adsmFree needs no memory");
    printf("%ld operations, seed %ld, %s: equal, %ld refused, %lu copies "
           "evicted\n",
           operations, seed, adsm_coherence_protocol()->name, live_refused,
           (unsigned long)adsm_stats_get(ADSM_STAT_copies_evicted));
    return 0;
}
