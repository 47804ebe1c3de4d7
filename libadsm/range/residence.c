/* Which objects come and which go; see residence.h. */
#include "range/residence_parts.h"

#include "accel/peer.h"
#include "base/log.h"
#include "mm/heap/between.h"
#include "mm/object/call.h"
#include "mm/object/gate.h"
#include "mm/object/index.h"
#include "range/memory.h"

#include <time.h>
#include <utlist.h>

static struct {
    struct adsm_lock lock; /* rank OBJECT_LIST */
    struct adsm_residence *all;
    _Atomic size_t count;
    _Atomic uint64_t stamp;
} list = {.lock = ADSM_LOCK_INIT(ADSM_RANK_OBJECT_LIST)};

void adsm_residence_list(struct adsm_object *object)
{
    struct adsm_residence *residence = adsm_residence_of(object);
    residence->object = object;
    adsm_lock_acquire(&list.lock);
    DL_APPEND(list.all, residence);
    atomic_fetch_add(&list.count, 1);
    adsm_lock_release(&list.lock);
}

void adsm_residence_unlist(struct adsm_object *object)
{
    struct adsm_residence *residence = adsm_residence_of(object);
    adsm_lock_acquire(&list.lock);
    DL_DELETE(list.all, residence);
    atomic_fetch_sub(&list.count, 1);
    adsm_lock_release(&list.lock);
}

uint64_t adsm_residence_stamp(void)
{
    return atomic_fetch_add(&list.stamp, 1) + 1;
}

/* ---- who comes, who goes --------------------------------------------------- */

/* A choice among the movable objects of a home. */
struct choice {
    struct adsm_accel *home;
    uint64_t stamp; /* of the use that they come for                      */
    const struct adsm_cause *cause; /* of what is sent then               */
};

static bool is_wanted(const struct adsm_residence *r, const struct choice *c)
{
    return !atomic_load(&r->resident) && atomic_load(&r->used) == c->stamp;
}

static bool is_in_the_way(const struct adsm_residence *r,
                          const struct choice *c)
{
    return atomic_load(&r->resident) && atomic_load(&r->used) != c->stamp;
}

static bool may_go(const struct adsm_residence *r, const struct choice *c)
{
    return is_in_the_way(r, c) && atomic_load(&r->object->pins) == 0;
}

typedef bool is_chosen(const struct adsm_residence *r, const struct choice *c);

/* Of the objects at home that are chosen, the one used longest ago; those of
 * one use come in the order of their allocation. */
static struct adsm_resident pick(const struct choice *c, is_chosen *chosen)
{
    struct adsm_residence *best = NULL, *r;
    struct adsm_resident found = {NULL, 0};
    adsm_lock_acquire(&list.lock);
    DL_FOREACH(list.all, r)
    {
        if (r->object->home == c->home && atomic_load(&r->object->live) &&
            chosen(r, c) &&
            (!best || atomic_load(&r->used) < atomic_load(&best->used)))
            best = r;
    }
    if (best)
        found = (struct adsm_resident){best->object,
                                       atomic_load(&best->object->generation)};
    adsm_lock_release(&list.lock);
    return found;
}

/* What the device would have to hold, and what it has for that. */
struct sizes {
    size_t touched, arrays; /* bytes, and how many                        */
    size_t coming;          /* of them, bytes of those that are away      */
    size_t leaving;         /* bytes of others, which may go, or could if
                               no copy were using them just now           */
    size_t room;            /* bytes that can be had, with those           */
};

static struct sizes measure(const struct choice *c)
{
    struct sizes s = {0};
    const struct adsm_residence *r;
    adsm_lock_acquire(&list.lock);
    DL_FOREACH(list.all, r)
    {
        if (r->object->home != c->home)
            continue;
        size_t bytes = adsm_address_taken(c->home, &r->object->span);
        bool touched = atomic_load(&r->used) == c->stamp;
        s.touched += touched ? bytes : 0;
        s.arrays += touched;
        s.coming += is_wanted(r, c) ? bytes : 0;
        s.leaving += is_in_the_way(r, c) ? bytes : 0;
    }
    adsm_lock_release(&list.lock);
    return s;
}

static double mib(size_t bytes)
{
    return (double)bytes / (1 << 20);
}

static void tell(const struct choice *c, const struct sizes *s, bool known)
{
    size_t most = s->touched - s->coming + s->room;
    adsm_log_once(
        ADSM_LOG_ERROR,
        "ADSM_OVERSUBSCRIBE: a launch may touch %.3f MiB in %zu arrays at once "
        "and device %d has room for %.3f MiB of them: %s",
        mib(s->touched), s->arrays, adsm_accel_device(c->home), mib(most),
        known ? "give it fewer or smaller arrays at a time"
              : "its code does not say which of all arrays it touches; where "
                "kernels reach them through their arguments only, set "
                "ADSM_OVERSUBSCRIBE=arguments, else free what is not needed");
}

/* Does it all fit? */
static int check(const struct choice *c, struct sizes *s)
{
    *s = measure(c);
    int rc = s->coming ? adsm_residence_room(c->home, &s->room) : ADSM_OK;
    s->room += s->leaving;
    return rc == ADSM_OK && s->coming > s->room ? ADSM_E_DEVICE_NOMEM : rc;
}

/* One object goes; another one where a system call is just filling it. Return:
 * ADSM_E_DEVICE_NOMEM: none can; ADSM_E_LIMIT: none just now */
static int make_way(const struct choice *c)
{
    enum { TRIES = 64 };
    int rc = ADSM_E_LIMIT;
    for (int i = 0; i < TRIES && rc == ADSM_E_LIMIT; i++) {
        struct adsm_resident found = pick(c, may_go);
        if (!found.object)
            return pick(c, is_in_the_way).object ? ADSM_E_LIMIT
                                                 : ADSM_E_DEVICE_NOMEM;
        rc = adsm_residence_depart(found);
    }
    return rc;
}

/* All that has the stamp becomes resident; the home's gate is closed. What does
 * not fit is said before anything has moved.
 *
 * Return: ADSM_E_LIMIT: what is in the way is being used by copies or system
 * calls, or is on its way; to be tried again with the gate open in between */
static int bring(const struct choice *c, bool known)
{
    struct adsm_resident found;
    struct sizes s;
    uint64_t settled = adsm_between_ended();
    int rc = check(c, &s);
    /* Where that does not do, copies of parts that nobody uses go as well. */
    while (rc == ADSM_E_DEVICE_NOMEM &&
           adsm_memory_make_room(c->home, s.coming - s.leaving))
        rc = check(c, &s);
    while (rc == ADSM_OK && s.coming && (found = pick(c, is_wanted)).object) {
        rc = adsm_residence_arrive(found, c->cause);
        if (rc == ADSM_E_DEVICE_NOMEM)
            rc = make_way(c);
    }
    if (s.coming)
        adsm_address_trim(c->home);
    if (rc == ADSM_E_DEVICE_NOMEM && adsm_between_since(settled))
        return ADSM_E_LIMIT;
    if (rc == ADSM_E_DEVICE_NOMEM)
        tell(c, &s, known);
    return rc;
}

/* A copy or a system call of another thread is waited for: no gate is closed. */
static void give_way(void)
{
    nanosleep(&(struct timespec){0, 50 * 1000}, NULL);
}

/* ---- calls ----------------------------------------------------------------- */

/* The object is used now, by a call that may write it. */
static void mark(struct adsm_residence *r, uint64_t stamp)
{
    atomic_store(&r->used, stamp);
    atomic_store(&r->object->holds, true);
}

/* A use may be of an object that was freed, and its structure another's. */
static void mark_use(const struct adsm_use *use, uint64_t stamp)
{
    adsm_rwlock_acquire_shared(&use->object->lock);
    if (adsm_use_fits(use) && adsm_object_is_movable(use->object))
        mark(adsm_residence_of(use->object), stamp);
    adsm_rwlock_release_shared(&use->object->lock);
}

static void mark_all(struct adsm_accel *home, uint64_t stamp)
{
    struct adsm_residence *r;
    adsm_lock_acquire(&list.lock);
    DL_FOREACH(list.all, r)
    {
        if (r->object->home == home)
            mark(r, stamp);
    }
    adsm_lock_release(&list.lock);
}

static bool is_idle(void)
{
    return atomic_load(&list.count) == 0;
}

static int prepare(const struct adsm_call *call)
{
    const struct adsm_use *uses;
    size_t count;
    int rc = ADSM_OK;
    if (is_idle())
        return ADSM_OK;
    bool known = adsm_call_touches(call, &uses, &count);
    struct choice c = {.stamp = adsm_residence_stamp(),
                       .cause = ADSM_CAUSE(call)};
    for (size_t i = 0; known && i < count; i++)
        mark_use(&uses[i], c.stamp);
    struct adsm_accel *host = NULL;
    do {
        c.home = host ? host : call->accel;
        if (!(call->gates & adsm_gate_bit(c.home)))
            continue;
        if (!known)
            mark_all(c.home, c.stamp);
        rc = bring(&c, known);
    } while (rc == ADSM_OK && (host = adsm_peer_next_host(call->accel, host)));
    return rc;
}

int adsm_residence_prepare(const struct adsm_call *call)
{
    int rc;
    while ((rc = prepare(call)) == ADSM_E_LIMIT) {
        adsm_gate_open(call->gates);
        give_way();
        adsm_gate_close(call->gates);
    }
    return rc;
}

/* ---- copies ---------------------------------------------------------------- */

/* The movable object at the address, and how it was found. */
static struct adsm_resident find(const void *address)
{
    struct adsm_resident found = {NULL, 0};
    struct adsm_object *object = address ? adsm_index_acquire(address) : NULL;
    if (!object)
        return found;
    if (adsm_object_is_movable(object))
        found =
            (struct adsm_resident){object, atomic_load(&object->generation)};
    adsm_rwlock_release_shared(&object->lock);
    return found;
}

/* One or two objects of a home that a copy uses. */
struct pair {
    struct adsm_resident found[2]; /* of no object: none                  */
    struct adsm_object **pinned[2];
};

/* Behind a gate. Return: whether it needs nothing more: it is resident, and
 * pinned then, or it was freed. */
static bool pin(const struct pair *pair, int i, uint64_t stamp)
{
    struct adsm_object *object = pair->found[i].object;
    if (!object || *pair->pinned[i])
        return true;
    adsm_rwlock_acquire_shared(&object->lock);
    bool live = atomic_load(&object->live) &&
                atomic_load(&object->generation) == pair->found[i].generation;
    bool resident = live && !adsm_object_is_away(object);
    if (live)
        atomic_store(&adsm_residence_of(object)->used, stamp);
    if (resident)
        adsm_object_pin(object, pair->pinned[i]);
    adsm_rwlock_release_shared(&object->lock);
    return resident || !live;
}

/* Both or none. */
static bool pin_both(const struct pair *pair, uint64_t stamp)
{
    bool first = pin(pair, 0, stamp), second = pin(pair, 1, stamp);
    if (first && second)
        return true;
    adsm_object_unpin(pair->pinned[0]);
    adsm_object_unpin(pair->pinned[1]);
    return false;
}

static int pin_at(struct adsm_accel *home, const struct pair *pair)
{
    struct choice c = {home, adsm_residence_stamp(), ADSM_CAUSE(own)};
    int rc = ADSM_OK;
    adsm_gate_enter(adsm_gate_of(home));
    bool there = pin_both(pair, c.stamp);
    adsm_gate_leave(adsm_gate_of(home));
    while (!there && rc == ADSM_OK) {
        adsm_gate_close(adsm_gate_bit(home));
        there = pin_both(pair, c.stamp); /* gives them the stamp */
        rc = there ? ADSM_OK : bring(&c, true);
        if (!there && rc == ADSM_OK)
            there = pin_both(pair, c.stamp);
        adsm_gate_open(adsm_gate_bit(home));
        if (rc == ADSM_E_LIMIT) {
            give_way();
            rc = ADSM_OK;
        }
    }
    return rc;
}

/* Homes in one order, so that no two copies wait for each other. */
static int pin_apart(const struct pair *pair)
{
    int first = adsm_accel_index(pair->found[0].object->home) >
                adsm_accel_index(pair->found[1].object->home);
    int rc = ADSM_OK;
    for (int k = 0; k < 2 && rc == ADSM_OK; k++) {
        int i = k ^ first;
        struct pair one = {{pair->found[i]}, {pair->pinned[i], NULL}};
        rc = pin_at(pair->found[i].object->home, &one);
    }
    if (rc != ADSM_OK)
        for (int i = 0; i < 2; i++)
            adsm_object_unpin(pair->pinned[i]);
    return rc;
}

int adsm_residence_pin(const void *one, const void *other,
                       struct adsm_object *pinned[2])
{
    struct pair pair = {.pinned = {&pinned[0], &pinned[1]}};
    pinned[0] = pinned[1] = NULL;
    if (is_idle())
        return ADSM_OK;
    pair.found[0] = find(one);
    pair.found[1] = find(other);
    const struct adsm_object *a = pair.found[0].object;
    const struct adsm_object *b = pair.found[1].object;
    if (!a && !b)
        return ADSM_OK;
    return a && b && a->home != b->home ? pin_apart(&pair)
                                        : pin_at(a ? a->home : b->home, &pair);
}

bool adsm_residence_make_room(struct adsm_accel *accel)
{
    struct choice c = {.home = accel, .stamp = adsm_residence_stamp()};
    int rc = is_idle() ? ADSM_E_DEVICE_NOMEM : ADSM_E_LIMIT;
    while (rc == ADSM_E_LIMIT) {
        uint64_t settled = adsm_between_ended();
        adsm_gate_close(adsm_gate_bit(accel));
        rc = make_way(&c);
        adsm_address_trim(accel);
        adsm_gate_open(adsm_gate_bit(accel));
        if (rc == ADSM_E_DEVICE_NOMEM && adsm_between_since(settled))
            rc = ADSM_E_LIMIT;
        if (rc == ADSM_E_LIMIT)
            give_way();
    }
    return rc == ADSM_OK;
}
