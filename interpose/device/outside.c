/* The list of such memory; see outside.h. */
#include "interpose/device/outside.h"

#include "base/grow.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/option.h"
#include "base/status.h"
#include "mm/doors/boundary.h"

#include <stdatomic.h>

struct outside {
    uint64_t begin;
    size_t bytes;
    bool is_theirs;
    unsigned opened;
};

static struct adsm_lock lock = ADSM_LOCK_INIT(ADSM_RANK_POOL);
static struct outside *list;
static size_t room;
static _Atomic size_t count; /* changed under the lock */
static _Atomic bool any;

/* The lock is held; `count` where there is none. */
static size_t find(uint64_t begin)
{
    size_t i = 0;
    while (i < count && list[i].begin != begin)
        i++;
    return i;
}

/* The lock is held. Return: false: no memory */
static bool add(uint64_t begin, size_t bytes, bool is_theirs)
{
    size_t i = find(begin);
    if (i == count) {
        void *larger = adsm_grow(list, &room, count, sizeof *list);
        if (!larger)
            return false;
        list = larger;
        list[i] = (struct outside){begin, bytes, is_theirs, 0};
        atomic_fetch_add(&count, 1);
    }
    list[i].opened++;
    return true;
}

/* All that is there counts as written, whatever the CPU did. */
static void warn_of_batch(void)
{
    if (adsm_options_get()->protocol == ADSM_OPT_PROTOCOL_BATCH)
        adsm_log_once(ADSM_LOG_WARN,
                      "ADSM_PROTOCOL=batch sends all of an array back that the "
                      "CPU has read: what other processes write there at the "
                      "same time is lost");
}

void device_outside(uint64_t begin, size_t bytes, bool is_theirs)
{
    warn_of_batch();
    adsm_lock_acquire(&lock);
    bool added = add(begin, bytes, is_theirs);
    adsm_lock_release(&lock);
    if (!added)
        device_outside_any();
}

void device_outside_any(void)
{
    warn_of_batch();
    atomic_store(&any, true);
}

/* Most programs have no such memory: a load. */
static bool is_none(void)
{
    return atomic_load_explicit(&count, memory_order_relaxed) == 0;
}

static void leave(uint64_t begin, bool at_once)
{
    if (is_none())
        return;
    adsm_lock_acquire(&lock);
    size_t i = find(begin);
    if (i < count && (at_once || --list[i].opened == 0)) {
        list[i] = list[count - 1];
        atomic_fetch_sub(&count, 1);
    }
    adsm_lock_release(&lock);
}

void device_outside_closed(uint64_t begin)
{
    leave(begin, false);
}

void device_outside_freed(uint64_t begin)
{
    leave(begin, true);
}

bool device_outside_is_theirs(uint64_t begin)
{
    if (is_none())
        return false;
    adsm_lock_acquire(&lock);
    size_t i = find(begin);
    bool is = i < count && list[i].is_theirs;
    adsm_lock_release(&lock);
    return is;
}

/* Return: false: there are not so many */
static bool get(size_t i, struct outside *outside)
{
    adsm_lock_acquire(&lock);
    bool is = i < count;
    if (is)
        *outside = list[i];
    adsm_lock_release(&lock);
    return is;
}

int device_outside_seen(void)
{
    int status = ADSM_OK;
    struct outside outside;
    if (atomic_load_explicit(&any, memory_order_relaxed))
        return adsm_boundary_yield_all();
    if (is_none())
        return ADSM_OK;
    /* One that takes another's place meanwhile is of another thread, which does
     * not know of this wait. */
    for (size_t i = 0; status == ADSM_OK && get(i, &outside); i++)
        status =
            adsm_boundary_yield((const void *)outside.begin, outside.bytes);
    return status;
}
