/*
 * Owns: the processors the process started with; see base/aside.h.
 * Lock: none; they are written once.
 */
#include "base/aside.h"

#include <sched.h>

#include "base/futex.h"

#define LEAST_NS 2000000u /* between two moves of a thread */

static cpu_set_t allowed;

void sc_aside_init(void)
{
    sched_getaffinity(0, sizeof allowed, &allowed);
}

bool sc_aside(int cpu)
{
    static _Thread_local uint64_t moved;
    uint64_t now;
    if (cpu < 0 || cpu >= CPU_SETSIZE || cpu != sched_getcpu() ||
        (now = sc_now_ns()) - moved < LEAST_NS)
        return false;
    cpu_set_t others = allowed;
    CPU_CLR((size_t)cpu, &others);
    moved = now;
    return CPU_COUNT(&others) &&
           sched_setaffinity(0, sizeof others, &others) == 0;
}

void sc_aside_end(void)
{
    sched_setaffinity(0, sizeof allowed, &allowed);
}
