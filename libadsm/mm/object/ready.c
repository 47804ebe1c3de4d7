/* Ranges whose first pages are there before they are wanted; see ready.h. */
#include "mm/object/ready.h"

#include "base/lock.h"
#include "base/thread.h"
#include "os/huge.h"
#include "os/vm.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    MOST = 4,      /* kept at a time: 8 MiB                               */
    LEAST = 65536, /* what has less in its first grain has its pages soon */
    PIECE = 65536, /* others wait for the address space meanwhile         */
    STACK = 65536,
};

static struct {
    struct adsm_lock lock;
    struct adsm_ready kept[MOST]; /* lock; the oldest first               */
    _Atomic size_t count;         /* lock for changes                      */
    struct adsm_ready wanted;     /* lock; what was taken last, of which
                                     the range has its length alone        */
    _Atomic uint32_t asked;       /* grows with what is wanted             */
} ready = {.lock = ADSM_LOCK_INIT(ADSM_RANK_READY)};

static size_t granules(size_t bytes)
{
    return (bytes + ADSM_ARENA_GRANULE_BYTES - 1) / ADSM_ARENA_GRANULE_BYTES;
}

static size_t granule_of(size_t offset)
{
    return offset / ADSM_ARENA_GRANULE_BYTES * ADSM_ARENA_GRANULE_BYTES;
}

/* What an object of `bytes` that is accessed there needs to have ready. */
static struct adsm_ready need(size_t bytes, size_t touch, bool huge)
{
    struct adsm_ready one = {.at = granule_of(touch), .huge = huge};
    one.range.bytes = granules(bytes) * ADSM_ARENA_GRANULE_BYTES;
    one.bytes = bytes - one.at < ADSM_ARENA_GRANULE_BYTES
                    ? bytes - one.at
                    : ADSM_ARENA_GRANULE_BYTES;
    return one;
}

/* Has it no page that the object has no bytes for? */
static bool serves(const struct adsm_ready *one, const struct adsm_ready *need)
{
    return one->range.bytes == need->range.bytes && one->at == need->at &&
           one->bytes <= need->bytes;
}

/* The lock is held. */
static struct adsm_ready remove_at(size_t i)
{
    struct adsm_ready one = ready.kept[i];
    size_t count = atomic_load(&ready.count) - 1;
    for (; i < count; i++)
        ready.kept[i] = ready.kept[i + 1];
    atomic_store(&ready.count, count);
    return one;
}

/* The lock is held. Return: its place; how many there are: none serves */
static size_t find(const struct adsm_ready *need)
{
    size_t i = 0;
    while (i < atomic_load(&ready.count) && !serves(&ready.kept[i], need))
        i++;
    return i;
}

int adsm_ready_take(size_t bytes, size_t touch, bool huge,
                    struct adsm_ready *out)
{
    *out = (struct adsm_ready){.bytes = 0};
    adsm_lock_acquire(&ready.lock);
    ready.wanted = need(bytes, touch, huge);
    size_t i = find(&ready.wanted);
    if (i < atomic_load(&ready.count))
        *out = remove_at(i);
    adsm_lock_release(&ready.lock);
    if (out->range.segment)
        return ADSM_OK;
    int rc = adsm_arena_alloc(&out->range, bytes);
    if (rc == ADSM_OK || adsm_ready_count() == 0)
        return rc;
    adsm_ready_clear();
    return adsm_arena_alloc(&out->range, bytes);
}

void adsm_ready_put(struct adsm_ready *one)
{
    struct adsm_ready old = {.bytes = 0};
    if (one->bytes < LEAST) {
        adsm_arena_free(&one->range);
        return;
    }
    size_t end = one->at + one->bytes;
    adsm_arena_decommit(&one->range, 0, one->at);
    adsm_arena_decommit(&one->range, end, one->range.bytes - end);
    adsm_lock_acquire(&ready.lock);
    if (atomic_load(&ready.count) == MOST)
        old = remove_at(0);
    ready.kept[atomic_fetch_add(&ready.count, 1)] = *one;
    adsm_lock_release(&ready.lock);
    adsm_arena_free(&old.range);
}

void adsm_ready_clear(void)
{
    for (bool more = true; more;) {
        struct adsm_ready old = {.bytes = 0};
        adsm_lock_acquire(&ready.lock);
        more = atomic_load(&ready.count) > 0;
        if (more)
            old = remove_at(0);
        adsm_lock_release(&ready.lock);
        adsm_arena_free(&old.range);
    }
}

size_t adsm_ready_count(void)
{
    return atomic_load(&ready.count);
}

/* ---- the thread ----------------------------------------------------------- */

/* Get the pages of a range that nobody has yet. */
static int fill(struct adsm_ready *one)
{
    uintptr_t at = (uintptr_t)one->range.shadow + one->at;
    int rc = ADSM_OK;
    if (one->huge && adsm_huge_make(at, one->bytes))
        return rc;
    one->huge = false;
    for (size_t n, done = 0; rc == ADSM_OK && done < one->bytes; done += n) {
        n = one->bytes - done < PIECE ? one->bytes - done : PIECE;
        rc = adsm_arena_commit(&one->range, one->at + done, n);
    }
    return rc;
}

static void make(struct adsm_ready one)
{
    size_t bytes = one.range.bytes;
    if (adsm_arena_alloc(&one.range, bytes) != ADSM_OK)
        return;
    if (fill(&one) == ADSM_OK)
        adsm_ready_put(&one);
    else
        adsm_arena_free(&one.range);
}

/* What is wanted, if nothing that is kept serves instead. */
static bool lacks(struct adsm_ready *one)
{
    adsm_lock_acquire(&ready.lock);
    *one = ready.wanted;
    bool lack = one->bytes >= LEAST && find(one) == atomic_load(&ready.count);
    adsm_lock_release(&ready.lock);
    return lack;
}

static void *serve(void *unused)
{
    (void)unused;
    for (uint32_t seen = 0;;) {
        struct adsm_ready one;
        syscall(SYS_futex, &ready.asked, FUTEX_WAIT_PRIVATE, seen, NULL, NULL,
                0);
        seen = atomic_load(&ready.asked);
        if (lacks(&one))
            make(one);
    }
    return NULL;
}

void adsm_ready_start(void)
{
    static _Atomic bool tried;
    /* Without it, pages come when they are accessed. */
    if (atomic_load_explicit(&ready.asked, memory_order_relaxed) > 0 &&
        !atomic_load_explicit(&tried, memory_order_relaxed) &&
        !atomic_exchange(&tried, true))
        (void)!adsm_thread_start(serve, STACK, false);
}

void adsm_ready_ask(void)
{
    int saved = errno;
    struct adsm_ready one;
    if (lacks(&one)) {
        atomic_fetch_add(&ready.asked, 1);
        syscall(SYS_futex, &ready.asked, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
    errno = saved;
}
