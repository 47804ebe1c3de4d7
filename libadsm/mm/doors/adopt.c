/* Adoption and its end; see adopt.h. */
#include "mm/doors/adopt.h"

#include "accel/accel.h"
#include "accel/address/address.h"
#include "base/lock.h"
#include "base/log.h"
#include "mm/doors/turn.h"
#include "mm/heap/heap.h"
#include "mm/heap/life.h"
#include "mm/object/gate.h"
#include "mm/object/index.h"
#include "mm/object/list.h"
#include "mm/object/passing.h"

#include <time.h>

static struct adsm_rwlock lock = ADSM_RWLOCK_INIT(ADSM_RANK_ADOPT);

static struct adsm_lock adopting = ADSM_LOCK_INIT(ADSM_RANK_ADOPTING);

/* The thread is in there as one of many. */
static _Thread_local bool stays __attribute__((tls_model("initial-exec")));

static bool (*_Atomic is_inside)(void);

void adsm_adopt_unless(bool (*inside)(void))
{
    atomic_store(&is_inside, inside);
}

static const struct adsm_object *at(uint64_t address)
{
    return adsm_index_find((const void *)(uintptr_t)address);
}

/* Without its lock, an object may end meanwhile, and its structure be another's
 * or nobody's: what was read is right if the object was there all the time. */
static bool has(uint64_t address, bool adopted)
{
    const struct adsm_object *object, *now;
    uint32_t generation, then;
    bool is;
    do {
        object = at(address);
        if (!object)
            return false;
        generation = atomic_load(&object->generation);
        is = adsm_object_is_adopted(object);
        atomic_thread_fence(memory_order_acquire);
        now = at(address);
        then = atomic_load(&object->generation);
    } while (now != object || then != generation);
    return is == adopted;
}

bool adsm_adopt_has(uint64_t address)
{
    return has(address, true);
}

bool adsm_adopt_has_other(uint64_t address)
{
    return has(address, false);
}

/* ---- the beginning --------------------------------------------------------- */

/* Where the object around an address begins: the address may lie behind its last
 * byte, on its last page. NULL: none is adopted there. */
static const void *host_of(uint64_t address)
{
    const struct adsm_object *object = at(address);
    return object && adsm_object_is_adopted(object) ? object->host : NULL;
}

/* Earlier objects may have pages of it: an allocation that another thread is just
 * being given lies between, of which they do not know. */
static void clear_way(const struct adsm_span *span)
{
    uintptr_t begin = (uintptr_t)span->host, end = begin + span->bytes;
    for (uintptr_t c = begin; c && c < end; c = adsm_index_border(c))
        if (adsm_adopt_has(c))
            (void)adsm_heap_disown(host_of(c), true);
}

/* The lock of adopting is held. @waited  what was enqueued before, which nobody
 * noted, has ended */
static int make(struct adsm_accel *accel, struct adsm_span *span, size_t bytes,
                uintptr_t address, bool waited)
{
    clear_way(span);
    int rc = adsm_address_claim_found(accel, span);
    if (rc == ADSM_OK)
        return adsm_heap_adopt(accel, span, bytes,
                               address - (uintptr_t)span->host, waited);
    (void)!adsm_address_free(accel, span);
    return rc;
}

/* The lock of adopting is held. */
static int find_and_make(uintptr_t address, bool waited)
{
    struct adsm_accel *accel;
    struct adsm_memory memory;
    struct adsm_span span;
    size_t bytes;
    int rc =
        adsm_accel_of_memory((struct adsm_daddr){address}, &accel, &memory);
    if (rc == ADSM_OK)
        rc = adsm_address_find(accel, &memory, &span, &bytes);
    return rc == ADSM_OK ? make(accel, &span, bytes, address, waited) : rc;
}

/* Threads that are about to end a context. */
static _Atomic uint32_t parting;

static bool gives_way(void)
{
    return atomic_load(&parting) > 0;
}

/* They have the lock, or have given up on it. */
static void let_part(void)
{
    while (gives_way())
        nanosleep(&(struct timespec){0, 100 * 1000}, NULL);
}

/* Wait for all that uses the memory at an address. *over: it was not given up, to
 * be tried again. */
static int await(uintptr_t address, bool *over)
{
    struct adsm_accel *accel;
    struct adsm_memory memory;
    uint64_t asked = adsm_placeholder_marks();
    int rc =
        adsm_accel_of_memory((struct adsm_daddr){address}, &accel, &memory);
    if (rc == ADSM_E_NOT_FOUND)
        adsm_placeholder_clear(address, asked);
    return rc == ADSM_OK ? adsm_accel_wait(accel, gives_way, over) : rc;
}

static const char *reason(int rc)
{
    switch (rc) {
    case ADSM_E_NOMEM:
        return "the host has no memory to share device memory with, at";
    case ADSM_E_LIMIT:
        return "device memory cannot be shared, for something else is mapped "
               "there or no mappings or addresses are left, at";
    default:
        return "the device does not answer, its memory cannot be shared, at";
    }
}

static bool is_adopted(uintptr_t address, int rc)
{
    if (rc != ADSM_OK && rc != ADSM_E_NOT_FOUND)
        adsm_log_signal_address(ADSM_LOG_ERROR, reason(rc), address);
    return rc == ADSM_OK;
}

/* For a host function: by the thread that serves it. */
static bool adopt_in_turn(uintptr_t address)
{
    struct adsm_turn *turn = adsm_turn_hold();
    if (!turn)
        return false;
    int rc = adsm_turn_touch(turn, address, ADSM_READ, ADSM_CAUSE(fault));
    adsm_turn_let_go(turn);
    return rc == ADSM_OK;
}

/* Is there an object for everybody, and not for host functions alone? */
static bool is_made(uintptr_t address)
{
    const struct adsm_object *object = at(address);
    return object && !atomic_load(&object->unwaited);
}

/* There is one that was waited for. The lock of adopting is held, so it stays. */
static int complete(uintptr_t address)
{
    struct adsm_object *object = adsm_index_find((const void *)address);
    if (!object)
        return find_and_make(address, true);
    atomic_store(&object->unwaited, false);
    return ADSM_OK;
}

/* Nobody passes by. *over: as above. */
static int try_adopt(uintptr_t address, bool *over)
{
    *over = true;
    adsm_rwlock_acquire(&lock);
    int rc = is_made(address) ? ADSM_OK : await(address, over);
    if (rc == ADSM_OK && *over) {
        adsm_lock_acquire(&adopting);
        rc = complete(address);
        adsm_lock_release(&adopting);
    }
    adsm_rwlock_release(&lock);
    return rc;
}

bool adsm_adopt(uintptr_t address)
{
    bool (*inside)(void) = atomic_load(&is_inside);
    bool over;
    int rc;
    if (adsm_turn_is_mine())
        return adopt_in_turn(address);
    if (stays || (inside && inside()))
        return false;
    adsm_passing_bar();
    while ((rc = try_adopt(address, &over)), !over)
        let_part();
    adsm_passing_allow();
    return is_adopted(address, rc);
}

bool adsm_adopt_aside(uintptr_t address)
{
    enum { TRIES = 2000, PAUSE_NS = 1000 * 1000 };
    int i = 0;
    /* Who holds it may wait for work that waits for the function. */
    while (!adsm_lock_try(&adopting)) {
        if (++i == TRIES)
            return false;
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
    }
    int rc = at(address) ? ADSM_OK : find_and_make(address, false);
    adsm_lock_release(&adopting);
    return is_adopted(address, rc);
}

bool adsm_adopt_range(const void *address, size_t bytes)
{
    uintptr_t a = (uintptr_t)address;
    uintptr_t end = a + bytes < a ? UINTPTR_MAX : a + bytes;
    bool found = false;
    while ((a = adsm_placeholder_next(a, end)) < end) {
        bool is = at(a) || adsm_adopt(a);
        found |= is;
        /* Past what is shared, or the place that has nothing. */
        a = adsm_index_border(a);
        if (a == 0)
            break;
    }
    return found;
}

/* ---- allocations come and go ----------------------------------------------- */

/* What is given up is waited for, with the lock of adopting held. A host function
 * may need that lock: behind the object's gate there is none, or its home is
 * waited for first.
 * Return: the home; NULL: nothing is adopted there any more */
static struct adsm_accel *try_give_up(uint64_t address, bool keep)
{
    const struct adsm_object *object = at(address);
    if (!object || !adsm_object_is_adopted(object))
        return NULL;
    struct adsm_accel *home = object->home;
    uint32_t gate = atomic_load(&object->gate);
    adsm_gate_enter(gate);
    bool waits = adsm_turn_must_wait(home);
    if (!waits)
        (void)adsm_heap_disown(object->host, keep);
    adsm_gate_leave(gate);
    return waits ? home : NULL;
}

/* Whose pages these are is given up; the lock is held. */
static void give_up(uint64_t address, bool keep)
{
    struct adsm_accel *ahead;
    do {
        adsm_lock_acquire(&adopting);
        ahead = try_give_up(address, keep);
        adsm_lock_release(&adopting);
        if (ahead)
            adsm_turn_wait(ahead);
    } while (ahead);
}

static bool is_whole(uint64_t begin)
{
    const struct adsm_object *object = at(begin);
    return object && adsm_address_is_whole(&object->span, begin);
}

/* Give up whatever is adopted on the pages of a range. */
static void give_up_range(uint64_t begin, size_t bytes)
{
    uintptr_t end = begin + bytes;
    for (uintptr_t c = begin; c && c < end; c = adsm_index_border(c))
        if (adsm_adopt_has(c))
            give_up(c, true);
}

void adsm_adopt_note(uint64_t begin, size_t bytes, bool mapped)
{
    if (bytes == 0)
        return;
    adsm_rwlock_acquire(&lock);
    if (mapped)
        give_up(begin - 1, true);
    give_up_range(begin, bytes + mapped);
    adsm_rwlock_release(&lock);
}

void adsm_adopt_stay(void)
{
    adsm_rwlock_acquire_shared(&lock);
    stays = true;
}

void adsm_adopt_leave(void)
{
    stays = false;
    adsm_rwlock_release_shared(&lock);
}

void adsm_adopt_stop(void)
{
    adsm_rwlock_acquire(&lock);
}

void adsm_adopt_go_on(void)
{
    adsm_rwlock_release(&lock);
}

bool adsm_adopt_part(void)
{
    enum { TRIES = 2000, PAUSE_NS = 1000 * 1000 };
    bool is_held = false;
    atomic_fetch_add(&parting, 1);
    for (int i = 0; i < TRIES && !(is_held = adsm_rwlock_try(&lock)); i++)
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
    atomic_fetch_sub(&parting, 1);
    return is_held;
}

void adsm_adopt_end(uint64_t begin)
{
    if (adsm_adopt_has(begin))
        give_up(begin, !is_whole(begin));
}

void adsm_adopt_end_range(uint64_t begin, size_t bytes)
{
    if (bytes)
        give_up_range(begin, bytes);
}

static int find_any(struct adsm_object *object, void *found)
{
    if (!adsm_object_is_adopted(object))
        return ADSM_OK;
    *(uint64_t *)found = (uint64_t)(uintptr_t)object->host;
    return ADSM_E_LIMIT; /* stop the walk */
}

void adsm_adopt_end_all(void)
{
    for (uint64_t found = 0;; found = 0) {
        (void)adsm_object_each(NULL, false, find_any, &found);
        if (!found)
            return;
        give_up(found, true);
    }
}
