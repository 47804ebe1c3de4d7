/* Policies that go by how fast devices were; see policy.h. */
#include "call/policy.h"

#include "accel/rate.h"
#include "base/clock.h"
#include "code/speed.h"
#include "range/box.h"

/* What a task takes on a device of its task's, in ns; 0: nobody knows. */
static double kernel_ns(const struct adsm_waiting *waiting, int i)
{
    const struct adsm_task *task = waiting->task;
    return waiting->indices * adsm_speed_ns(task->kernel.speed,
                                            task->numbers[i], waiting->indices);
}

/* ---- random ------------------------------------------------------------------ */

static double draw(void)
{
    static uint64_t seed = 0x9e3779b97f4a7c15u; /* the queue's lock is held */
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (double)(seed >> 11) / (double)(UINT64_C(1) << 53);
}

/* In proportion to their speeds; equally where one is not known. */
static int anyone(struct adsm_waiting *waiting)
{
    const struct adsm_task *task = waiting->task;
    double all = 0;
    bool known = true;
    for (int i = 0; i < task->devices; i++) {
        double ns = kernel_ns(waiting, i);
        known = known && ns > 0;
        all += ns > 0 ? 1 / ns : 0;
    }
    double at = draw() * (known ? all : task->devices);
    for (int i = 0; i < task->devices; i++) {
        at -= known ? 1 / kernel_ns(waiting, i) : 1;
        if (at < 0)
            return task->numbers[i];
    }
    return task->numbers[task->devices - 1];
}

const struct adsm_policy adsm_policy_random = {"random", anyone, NULL, false};

/* ---- the earliest end -------------------------------------------------------- */

/* A device that is not known to have run the kernel gets two tasks at a time until
 * it is. */
enum { TRIES = 2 };

/* Its place in the task. -1: there is none */
static int untried(const struct adsm_waiting *waiting)
{
    const struct adsm_task *task = waiting->task;
    int found = -1, least = TRIES;
    for (int i = 0; i < task->devices; i++) {
        int has = adsm_queue_has(task->numbers[i]);
        if (has >= least || kernel_ns(waiting, i) > 0 ||
            adsm_accel_health(task->accels[i]) != ADSM_OK)
            continue;
        found = i;
        least = has;
    }
    return found;
}

/* Of all that the task reads, what its device lacks. */
static double missing_bytes(const struct adsm_waiting *waiting, int i)
{
    const struct adsm_task *task = waiting->task;
    double bytes = 0;
    for (int k = 0; k < waiting->use_count; k++) {
        const struct adsm_want *want = waiting->uses[k].want;
        size_t all = adsm_box_bytes(&want->read);
        if (all > 0)
            bytes += (double)(all - adsm_spread_there(&want->array, &want->read,
                                                      task->accels[i]));
    }
    return bytes;
}

static double link_ns(struct adsm_accel *accel, double bytes)
{
    struct adsm_rate up, down;
    return bytes > 0 && adsm_rates_get(accel, &up, &down)
               ? bytes * up.byte_ns + up.copy_ns
               : 0;
}

static int earliest(struct adsm_waiting *waiting, bool moves)
{
    const struct adsm_task *task = waiting->task;
    double now = (double)adsm_now_ns(), best = 0;
    int found = untried(waiting);
    if (found >= 0)
        return task->numbers[found];
    for (int i = 0; i < task->devices; i++) {
        double ns = kernel_ns(waiting, i), bytes = 0;
        if (ns == 0 || adsm_accel_health(task->accels[i]) != ADSM_OK)
            continue;
        if (moves) {
            bytes = missing_bytes(waiting, i);
            ns += link_ns(task->accels[i], bytes);
        }
        double end = ns + adsm_queue_free_at(task->numbers[i], now);
        if (found >= 0 && end >= best)
            continue;
        found = i;
        best = end;
        waiting->ns = ns;
        waiting->missing = bytes;
    }
    return found < 0 ? ADSM_ANY_DEVICE : task->numbers[found];
}

static int by_time(struct adsm_waiting *waiting)
{
    return earliest(waiting, false);
}

static int by_time_and_bytes(struct adsm_waiting *waiting)
{
    return earliest(waiting, true);
}

static bool lacks_less(const struct adsm_waiting *a,
                       const struct adsm_waiting *b)
{
    return a->missing < b->missing;
}

const struct adsm_policy adsm_policy_dm = {"dm", by_time, NULL, false};
const struct adsm_policy adsm_policy_dmda = {"dmda", by_time_and_bytes, NULL,
                                             false};
const struct adsm_policy adsm_policy_dmdar = {"dmdar", by_time_and_bytes,
                                              lacks_less, false};
const struct adsm_policy adsm_policy_dmdas = {"dmdas", by_time_and_bytes,
                                              adsm_policy_higher, false};
