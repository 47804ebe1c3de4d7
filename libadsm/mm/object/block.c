/*
 * Holding blocks: the BUSY bit and where to wait for it; see block.h.
 *
 * A thread that waits sleeps on one of a few futex words chosen by the block's
 * address; whoever lets go bumps the word only when somebody sleeps there.
 */
#include "mm/object/block.h"

#include "base/quiet.h"
#include "mm/object/gate.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BUCKETS = 64 };

static struct {
    _Alignas(64) _Atomic uint32_t event;
    _Atomic uint32_t sleepers;
} buckets[BUCKETS];

static size_t bucket_of(const struct adsm_object *object, uint32_t i)
{
    return (((uintptr_t)object >> 6) ^ i) % BUCKETS;
}

void adsm_block_init(struct adsm_object *object, enum adsm_state first)
{
    for (uint32_t i = 0; i < object->block_count; i++)
        atomic_init(&object->blocks[i], (uint8_t)first);
}

bool adsm_block_try_hold(struct adsm_object *object, uint32_t i)
{
    /* Acquire: see what the last holder did. */
    return !(atomic_fetch_or_explicit(&object->blocks[i], ADSM_BLOCK_BUSY,
                                      memory_order_acquire) &
             ADSM_BLOCK_BUSY);
}

static bool is_same(const struct adsm_object *object, uint32_t generation)
{
    return atomic_load(&object->live) &&
           atomic_load(&object->generation) == generation;
}

bool adsm_block_hold(struct adsm_object *object, uint32_t generation,
                     uint32_t i)
{
    int saved = errno;
    /* The caller's: the object it stays as long as it is not freed. */
    uint32_t gate = atomic_load(&object->gate);
    while (!adsm_block_try_hold(object, i)) {
        size_t b = bucket_of(object, i);
        atomic_fetch_add(&buckets[b].sleepers, 1);
        uint32_t event = atomic_load(&buckets[b].event);
        bool busy = atomic_load(&object->blocks[i]) & ADSM_BLOCK_BUSY;
        adsm_rwlock_release_shared(&object->lock);
        adsm_gate_leave(gate);
        if (busy) {
            /* The limit covers a holder that died with its thread. */
            struct timespec limit = {0, 10 * 1000 * 1000};
            bool sleeps = adsm_quiet_sleep_begin();
            syscall(SYS_futex, &buckets[b].event, FUTEX_WAIT_PRIVATE, event,
                    &limit, NULL, 0);
            adsm_quiet_sleep_end(sleeps);
        }
        atomic_fetch_sub(&buckets[b].sleepers, 1);
        adsm_gate_enter(gate);
        adsm_rwlock_acquire_shared(&object->lock);
        if (!is_same(object, generation)) {
            errno = saved;
            return false;
        }
    }
    errno = saved;
    return true;
}

void adsm_block_release(struct adsm_object *object, uint32_t first,
                        uint32_t count)
{
    int saved = errno;
    for (uint32_t i = first; i < first + count; i++) {
        /* Sequentially consistent with the sleepers' count: either we see the
         * sleeper or it sees the bit clear. */
        atomic_fetch_and(&object->blocks[i], (uint8_t)~ADSM_BLOCK_BUSY);
        size_t b = bucket_of(object, i);
        if (atomic_load(&buckets[b].sleepers)) {
            atomic_fetch_add(&buckets[b].event, 1);
            syscall(SYS_futex, &buckets[b].event, FUTEX_WAKE_PRIVATE, 1 << 30,
                    NULL, NULL, 0);
        }
    }
    errno = saved;
}

uint32_t adsm_block_run(const struct adsm_object *object, uint32_t first,
                        uint32_t limit)
{
    enum adsm_state state = adsm_block_state(object, first);
    uint32_t n = 1;
    while (n < limit && adsm_block_state(object, first + n) == state)
        n++;
    return n;
}
