/* Places of the table, and what wakes who looks at it; see ahead_table.h. */
#include "mm/watch/ahead_table.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

struct adsm_ahead_place adsm_ahead_table[ADSM_AHEAD_OBJECTS];

static struct {
    struct adsm_lock lock;
    _Atomic uint32_t places; /* that were ever used */
    _Atomic uint32_t posted; /* futex word: grows with each */
} table = {.lock = ADSM_LOCK_INIT(ADSM_RANK_OBJECT_LIST)};

uint32_t adsm_ahead_places(void)
{
    return atomic_load_explicit(&table.places, memory_order_relaxed);
}

void adsm_ahead_enlist(struct adsm_object *object)
{
    adsm_lock_acquire(&table.lock);
    uint32_t k = 0;
    while (k < ADSM_AHEAD_OBJECTS && atomic_load(&adsm_ahead_table[k].object))
        k++;
    if (k < ADSM_AHEAD_OBJECTS) {
        atomic_store(&adsm_ahead_table[k].taken, true);
        atomic_store(&adsm_ahead_table[k].posted, false);
        atomic_store(&adsm_ahead_table[k].little, NULL);
        atomic_store(&adsm_ahead_table[k].generation,
                     atomic_load(&object->generation));
        atomic_store(&adsm_ahead_table[k].object, object);
        object->ahead->place = k + 1;
        if (k >= atomic_load(&table.places))
            atomic_store(&table.places, k + 1);
    }
    adsm_lock_release(&table.lock);
}

void adsm_ahead_delist(struct adsm_object *object)
{
    if (object->ahead->place == 0)
        return;
    adsm_lock_acquire(&table.lock);
    atomic_store(&adsm_ahead_table[object->ahead->place - 1].object, NULL);
    adsm_lock_release(&table.lock);
}

void adsm_ahead_expect(const struct adsm_object *object)
{
    atomic_store_explicit(&adsm_ahead_table[object->ahead->place - 1].taken,
                          true, memory_order_relaxed);
}

void adsm_ahead_post(const struct adsm_object *object)
{
    int saved = errno;
    atomic_store(&adsm_ahead_table[object->ahead->place - 1].posted, true);
    atomic_fetch_add(&table.posted, 1);
    syscall(SYS_futex, &table.posted, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    errno = saved;
}

uint32_t adsm_ahead_posted(void)
{
    return atomic_load(&table.posted);
}

void adsm_ahead_await(uint32_t seen)
{
    syscall(SYS_futex, &table.posted, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}
