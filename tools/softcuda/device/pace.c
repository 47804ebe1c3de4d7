/*
 * Owns: the schedule of a device whose kernels have a pace (SOFTCUDA_PACE).
 * Does not own: execution (serve.c).  No lock: one thread serves.
 *
 * A command begins where the one before it was to end, or when it was written
 * if that is later: idle time is lost, but after a launch that was late those
 * that wait behind it catch up, so the pace holds on a busy machine.
 */
#include "device/pace.h"

#include <stdatomic.h>

#include "base/futex.h"

#define LATE_NS 1000000u
/* Some 30 years, so that sums do not overflow. */
#define LONGEST_NS 1e18

static uint64_t free_ns; /* when the device is through with what it was given */

static uint32_t slot_of(const struct sc_shared *shared)
{
    return atomic_load_explicit(&shared->done, memory_order_relaxed) %
           SC_RESULT_SLOTS;
}

/* Extend the schedule by the command in hand. Return: when that ends. */
static uint64_t schedule(const struct sc_shared *shared, uint64_t ns)
{
    uint64_t written = shared->written_ns[slot_of(shared)];
    if (free_ns < written)
        free_ns = written;
    return free_ns += ns;
}

static uint64_t duration(const struct sc_shared *shared, const uint32_t grid[3],
                         const uint32_t block[3])
{
    double ns = 1e9 / (double)shared->threads_per_second;
    for (int i = 0; i < 3; i++)
        ns *= (double)grid[i] * (double)block[i];
    return (uint64_t)(ns < LONGEST_NS ? ns : LONGEST_NS);
}

bool sc_pace_keep(struct sc_shared *shared, const uint32_t grid[3],
                  const uint32_t block[3])
{
    _Atomic uint32_t *cancel = &shared->cancel[slot_of(shared)];
    uint64_t end = schedule(shared, duration(shared, grid, block));
    uint64_t now;
    while ((now = sc_now_ns()) < end) {
        struct timespec left = {(time_t)((end - now) / 1000000000u),
                                (long)((end - now) % 1000000000u)};
        if (atomic_load(cancel))
            return false;
        sc_futex_wait(cancel, 0, &left);
    }
    atomic_fetch_add(&shared->paced, 1);
    if (now - end > LATE_NS)
        atomic_fetch_add(&shared->late, 1);
    return true;
}

void sc_pace_pass(const struct sc_shared *shared, uint64_t ns)
{
    schedule(shared, ns);
}
