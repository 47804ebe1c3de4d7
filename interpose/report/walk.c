/* Ways up the stack, found and found again; see walk.h. No lock. */
#include "interpose/report/walk.h"

#include "os/real.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unwind.h>

enum { KEPT = 16 };

/* A return address, and where on the stack it lies. */
struct step {
    uintptr_t at;
    const uintptr_t *slot;
};

struct way {
    uintptr_t frame; /* where it begins                        */
    unsigned count;
    bool lasting; /* each slot has its address              */
    struct step step[REPORT_WALK_MOST];
};

/* Of one thread. */
struct ways {
    struct way way[KEPT];
    unsigned next;
};

static __typeof__(_Unwind_Backtrace) *find_way;
static __typeof__(_Unwind_GetIP) *address_of;
static __typeof__(_Unwind_GetCFA) *frame_of;
static pthread_key_t key;

bool report_walk_start(void)
{
    void *library = adsm_real()->dlopen("libgcc_s.so.1", RTLD_LAZY);
    if (!library)
        return false;
    find_way = adsm_real()->dlsym(library, "_Unwind_Backtrace");
    address_of = adsm_real()->dlsym(library, "_Unwind_GetIP");
    frame_of = adsm_real()->dlsym(library, "_Unwind_GetCFA");
    return find_way && address_of && frame_of &&
           pthread_key_create(&key, free) == 0;
}

/* The place behind which a call on x86-64 leaves its return address. Elsewhere
 * that is no fixed place. */
static const uintptr_t *slot_of(struct _Unwind_Context *context)
{
#ifdef __x86_64__
    return (const uintptr_t *)frame_of(context) - 1;
#else
    (void)context;
    return NULL;
#endif
}

static _Unwind_Reason_Code take(struct _Unwind_Context *context, void *to)
{
    struct way *way = to;
    struct step step = {address_of(context), slot_of(context)};
    if (way->count == REPORT_WALK_MOST || !step.at)
        return _URC_END_OF_STACK;
    /* The first is in report_walk, whose call has left it below. */
    if (step.slot && (uintptr_t)step.slot < way->frame)
        return _URC_NO_REASON;
    way->lasting &= step.slot && *step.slot == step.at;
    way->step[way->count++] = step;
    return _URC_NO_REASON;
}

static bool is_same(const struct way *way, uintptr_t frame)
{
    if (way->frame != frame || !way->lasting)
        return false;
    for (unsigned i = 0; i < way->count; i++)
        if (*way->step[i].slot != way->step[i].at)
            return false;
    return true;
}

static unsigned copy(uintptr_t at[REPORT_WALK_MOST], const struct way *way)
{
    for (unsigned i = 0; i < way->count; i++)
        at[i] = way->step[i].at;
    return way->count;
}

/* Those of the calling thread; NULL: no memory. */
static struct ways *ways_here(void)
{
    struct ways *ways = pthread_getspecific(key);
    if (ways)
        return ways;
    ways = calloc(1, sizeof *ways);
    if (ways && pthread_setspecific(key, ways) != 0) {
        free(ways);
        ways = NULL;
    }
    return ways;
}

__attribute__((noinline)) unsigned report_walk(uintptr_t at[REPORT_WALK_MOST])
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    struct ways *ways = ways_here();
    struct way found = {.frame = frame, .lasting = true};
    for (unsigned i = 0; ways && i < KEPT; i++)
        if (is_same(&ways->way[i], frame))
            return copy(at, &ways->way[i]);
    find_way(take, &found);
    if (ways)
        ways->way[ways->next++ % KEPT] = found;
    return copy(at, &found);
}
