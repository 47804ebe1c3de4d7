/* By key, or by itself; see code/learned.h. */
#include "code/learned.h"

#include "base/lock.h"
#include "code/remember.h"

#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct adsm_learned {
    uint64_t key;     /* 0: it is in no table */
    uint32_t holders; /* lock                 */
    struct adsm_speed speed;
    UT_hash_handle hh;
};

static struct {
    struct adsm_lock lock;
    struct adsm_learned *all; /* in the order in which they were first held */
    unsigned idle;            /* that nobody holds */
} known = {.lock = ADSM_LOCK_INIT(ADSM_RANK_CODE)};

/* One that nobody holds, where there are too many. Locked. */
static void forget_one(void)
{
    struct adsm_learned *learned, *next;
    if (known.idle < ADSM_LEARNED_KEPT)
        return;
    HASH_ITER(hh, known.all, learned, next)
    {
        if (learned->holders > 0)
            continue;
        HASH_DEL(known.all, learned);
        adsm_speed_fini(&learned->speed);
        free(learned);
        known.idle--;
        return;
    }
}

static struct adsm_learned *make(uint64_t key, const char *name)
{
    struct adsm_learned *learned = calloc(1, sizeof *learned);
    if (!learned)
        return NULL;
    learned->key = key;
    learned->holders = 1;
    adsm_speed_init(&learned->speed, key, name);
    if (!key)
        return learned;
    HASH_ADD(hh, known.all, key, sizeof key, learned);
    if (learned->hh.tbl)
        return learned;
    free(learned);
    return NULL;
}

struct adsm_learned *adsm_learned_hold(uint64_t key, const char *name)
{
    struct adsm_learned *learned = NULL;
    adsm_lock_acquire(&known.lock);
    if (key)
        HASH_FIND(hh, known.all, &key, sizeof key, learned);
    if (!learned)
        learned = make(key, name);
    else if (learned->holders++ == 0)
        known.idle--;
    adsm_lock_release(&known.lock);
    return learned;
}

void adsm_learned_release(struct adsm_learned *learned)
{
    if (!learned)
        return;
    adsm_remember_save(&learned->speed);
    adsm_lock_acquire(&known.lock);
    if (--learned->holders == 0) {
        adsm_speed_idle(&learned->speed);
        if (learned->key) {
            forget_one();
            known.idle++;
        } else {
            adsm_speed_fini(&learned->speed);
            free(learned);
        }
    }
    adsm_lock_release(&known.lock);
}

/* Another thread may still have the lock, or this one, whose handler ends the
 * process: then nothing is written. */
void adsm_learned_save(void)
{
    struct adsm_learned *learned, *next;
    if (!adsm_lock_try(&known.lock))
        return;
    HASH_ITER(hh, known.all, learned, next)
    adsm_remember_save(&learned->speed);
    adsm_lock_release(&known.lock);
}

struct adsm_speed *adsm_learned_speed(struct adsm_learned *learned)
{
    return &learned->speed;
}
