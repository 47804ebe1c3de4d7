/*
 * Owns: launch counters by kernel name, on the device's side: the program's
 * are gone with it when a signal ends it.
 * Does not own: the lines (base/report.c).
 * No lock: one thread counts; the report of another reads atomics, and names,
 * which never change.
 */
#include "device/count.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "base/report.h"

struct sc_count {
    struct sc_count *next;
    char *name;
    _Atomic uint64_t launches, ns, interpreted, native, both;
    const char *_Atomic why;
};

static struct sc_count *_Atomic all;
static struct sc_count *_Atomic running;

static struct sc_count *find(const char *name)
{
    struct sc_count *count = atomic_load(&all);
    while (count && strcmp(count->name, name) != 0)
        count = count->next;
    if (count)
        return count;
    count = calloc(1, sizeof *count);
    if (count && !(count->name = strdup(name))) {
        free(count);
        return NULL;
    }
    if (count) {
        count->next = atomic_load(&all);
        atomic_store(&all, count);
    }
    return count;
}

struct sc_count *sc_count_begin(const char *name)
{
    struct sc_count *count = find(name);
    atomic_store(&running, count);
    return count;
}

void sc_count_end(struct sc_count *count, const struct sc_result *result,
                  const char *why)
{
    atomic_fetch_add(&count->launches, 1);
    atomic_fetch_add(&count->ns, result->end_ns - result->begin_ns);
    if (result->ran == (SC_RAN_INTERPRETED | SC_RAN_NATIVE))
        atomic_fetch_add(&count->both, 1);
    else if (result->ran == SC_RAN_NATIVE)
        atomic_fetch_add(&count->native, 1);
    else if (result->ran == SC_RAN_INTERPRETED)
        atomic_fetch_add(&count->interpreted, 1);
    if (why[0])
        atomic_store(&count->why, why);
    atomic_store(&running, NULL);
}

void sc_count_report(const struct sc_shared *shared, int ordinal)
{
    const struct sc_count *now = atomic_load(&running);
    sc_report_device(ordinal, atomic_load(&shared->bytes_up),
                     atomic_load(&shared->bytes_down));
    sc_report_pace(ordinal, atomic_load(&shared->paced),
                   atomic_load(&shared->late));
    for (const struct sc_count *c = atomic_load(&all); c; c = c->next) {
        const char *why = atomic_load(&c->why);
        sc_report_kernel(&(struct sc_report){.name = c->name,
                                             .launches = c->launches,
                                             .ns = c->ns,
                                             .interpreted = c->interpreted,
                                             .native = c->native,
                                             .both = c->both,
                                             .why = why ? why : ""});
    }
    if (now)
        fprintf(stderr, "softcuda: %s: ran when the program ended\n",
                now->name);
}
