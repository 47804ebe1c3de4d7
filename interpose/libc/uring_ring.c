/* Rings of raw system calls; see uring_ring.h. */
#include "interpose/libc/uring_ring.h"
#include "interpose/calls/call.h"
#include "interpose/calls/copy.h"
#include "interpose/calls/roles.h"
#include "interpose/libc/relay.h"
#include "interpose/libc/uring_entry.h"
#include "interpose/loader.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/status.h"
#include "init.h"
#include "os/look.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* Of kernels newer than the headers. */
enum {
    SETUP_NO_MMAP = 1 << 14,
    SETUP_REGISTERED_FD_ONLY = 1 << 15,
    SETUP_NO_SQARRAY = 1 << 16,
    ENTER_REGISTERED_RING = 1 << 4,
};

enum { RINGS = 64 };

struct ring {
    struct io_uring_params about;
    char *queues; /* head, tail and array; NULL: not mapped yet              */
    size_t queues_bytes;
    struct io_uring_sqe *sqes;
    size_t sqes_bytes;
};

static struct {
    struct adsm_lock lock;
    _Atomic int count;
    _Atomic int files[RINGS]; /* one more than the descriptor; 0: no ring    */
    struct ring each[RINGS];
} rings = {.lock = ADSM_LOCK_INIT(ADSM_RANK_API)};

static long issue(void *number, const uintptr_t *w)
{
    return hook_next_syscall((long)number, w[0], w[1], w[2], w[3], w[4], w[5]);
}

/* ---- what is known ------------------------------------------------------------- */

bool uring_ring_any(void)
{
    return atomic_load_explicit(&rings.count, memory_order_relaxed) > 0;
}

static int place_of(int file)
{
    if (!uring_ring_any())
        return -1;
    for (int i = 0; i < RINGS; i++)
        if (atomic_load_explicit(&rings.files[i], memory_order_relaxed) ==
            file + 1)
            return i;
    return -1;
}

bool uring_ring_is(int file)
{
    return file >= 0 && place_of(file) >= 0;
}

/* The lock is held. */
static void drop(int place)
{
    rings.files[place] = 0;
    rings.count--;
    rings.each[place] = (struct ring){.queues = NULL};
}

void uring_ring_forget(int file)
{
    if (!uring_ring_is(file))
        return;
    adsm_lock_acquire(&rings.lock);
    int place = place_of(file);
    if (place >= 0)
        drop(place);
    adsm_lock_release(&rings.lock);
}

/* Nothing arrives any more of what was under way. */
static void end(int file)
{
    uring_ring_forget(file);
    if (adsm_is_up())
        relay_forget(file);
}

/* The kernel's word for memory that the program brings. */
static void *brought(const void *offsets)
{
    uint64_t at;
    memcpy(&at, (const char *)offsets + 32, sizeof at);
    return (void *)(uintptr_t)at;
}

static void begin(int file, const struct io_uring_params *about)
{
    struct ring ring = {.about = *about};
    if (about->flags & SETUP_NO_MMAP) {
        ring.queues = brought(&about->cq_off);
        ring.sqes = brought(&about->sq_off);
    }
    adsm_lock_acquire(&rings.lock);
    int place = 0;
    while (place < RINGS && rings.files[place])
        place++;
    if (place < RINGS) {
        rings.each[place] = ring;
        rings.files[place] = file + 1;
        rings.count++;
    }
    adsm_lock_release(&rings.lock);
    if (place == RINGS)
        adsm_log_once(ADSM_LOG_WARN,
                      "io_uring: of more than %d rings by system calls the "
                      "entries are not looked at",
                      RINGS);
}

void uring_ring_mapped(int file, off_t offset, void *at, size_t bytes)
{
    adsm_lock_acquire(&rings.lock);
    int place = place_of(file);
    struct ring *ring = place < 0 ? NULL : &rings.each[place];
    if (ring && offset == (off_t)IORING_OFF_SQES) {
        ring->sqes = at;
        ring->sqes_bytes = bytes;
    } else if (ring && (offset == IORING_OFF_SQ_RING ||
                        (ring->about.features & IORING_FEAT_SINGLE_MMAP &&
                         offset == (off_t)IORING_OFF_CQ_RING))) {
        ring->queues = at;
        ring->queues_bytes = bytes;
    }
    adsm_lock_release(&rings.lock);
}

static bool meets(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    uintptr_t first = (uintptr_t)a, second = (uintptr_t)b;
    return first < second + b_bytes && second < first + a_bytes;
}

/* A ring that lies there, by its descriptor. */
static int ring_at(const void *at, size_t bytes)
{
    int file = -1;
    adsm_lock_acquire(&rings.lock);
    for (int i = 0; i < RINGS && file < 0; i++) {
        const struct ring *ring = &rings.each[i];
        if (meets(at, bytes, ring->queues, ring->queues_bytes) ||
            meets(at, bytes, ring->sqes, ring->sqes_bytes))
            file = rings.files[i] - 1;
    }
    adsm_lock_release(&rings.lock);
    return file;
}

void uring_ring_unmaps(const void *at, size_t bytes)
{
    int file;
    while (uring_ring_any() && (file = ring_at(at, bytes)) >= 0)
        end(file);
}

/* ---- calls ------------------------------------------------------------------------ */

long uring_ring_setup(const uintptr_t *words)
{
    static const struct call_shape shape = {
        "io_uring_setup", false, {OUT(1, struct io_uring_params)}};
    struct io_uring_params about;
    long file =
        call_is_plain(&shape, words)
            ? issue((void *)SYS_io_uring_setup, words)
            : call_shared(&shape, words, issue, (void *)SYS_io_uring_setup);
    if (file < 0 || !adsm_look(&about, (const void *)words[1], sizeof about) ||
        about.flags & SETUP_REGISTERED_FD_ONLY)
        return file;
    end((int)file); /* one of this number before it is closed */
    begin((int)file, &about);
    return file;
}

/* Entries from head to tail, all of them: another thread may have the kernel
 * take those of this one. Return: whether there is, or was, one to change. */
static bool look_through(const struct ring *ring, int file, bool change)
{
    const struct io_uring_params *about = &ring->about;
    const struct io_sqring_offsets *at = &about->sq_off;
    const struct uring_ring known = {file, about->flags};
    unsigned shift = about->flags & IORING_SETUP_SQE128 ? 1 : 0;
    unsigned mask = *(unsigned *)(ring->queues + at->ring_mask);
    const unsigned *array = (unsigned *)(ring->queues + at->array);
    bool linked = false, found = false;
    /* Acquire: pairs with the program's store behind its entries, and with the
     * kernel's behind its reading. */
    unsigned tail = __atomic_load_n((unsigned *)(ring->queues + at->tail),
                                    __ATOMIC_ACQUIRE);
    unsigned head = __atomic_load_n((unsigned *)(ring->queues + at->head),
                                    __ATOMIC_ACQUIRE);
    if (tail - head > mask + 1)
        return false;
    for (unsigned i = head; i != tail; i++) {
        unsigned which =
            about->flags & SETUP_NO_SQARRAY ? i & mask : array[i & mask];
        if (which > mask)
            continue; /* the kernel drops it */
        struct io_uring_sqe *sqe = &ring->sqes[which << shift];
        bool links = sqe->flags & (IOSQE_IO_LINK | IOSQE_IO_HARDLINK);
        found = found || uring_needs_look(sqe);
        if (change)
            uring_look_at(sqe, &known, linked);
        linked = links;
    }
    return found;
}

static const char polled[] =
    "io_uring: the kernel takes a ring's entries by itself (SQPOLL), and they "
    "are not looked at; on shared memory liburing's shared library can do that";
static const char registered[] =
    "io_uring: a ring that is known by its registered number is not looked at";

static void look_at(int file, unsigned flags)
{
    /* Two threads at the same entry would do it twice. */
    static struct adsm_lock looking = ADSM_LOCK_INIT(ADSM_RANK_RING);
    if (flags & ENTER_REGISTERED_RING)
        adsm_log_once(ADSM_LOG_WARN, registered);
    int place = flags & ENTER_REGISTERED_RING ? -1 : place_of(file);
    const struct ring *ring = &rings.each[place < 0 ? 0 : place];
    if (place < 0 || !ring->queues || !ring->sqes)
        return;
    if (ring->about.flags & IORING_SETUP_SQPOLL) {
        adsm_log_once(ADSM_LOG_WARN, polled);
        return;
    }
    if (!look_through(ring, file, false))
        return;
    adsm_lock_acquire(&looking);
    (void)look_through(ring, file, true);
    adsm_lock_release(&looking);
}

long uring_ring_enter(const uintptr_t *words)
{
    /* A mask, or a structure of this size that names one. */
    static const struct call_shape shape = {
        "io_uring_enter", false, {IN_EACH(4, 5, char)}};
    if (uring_ring_any() && adsm_is_up() && !hook_passes())
        look_at((int)words[0], (unsigned)words[3]);
    return call_is_plain(&shape, words)
               ? issue((void *)SYS_io_uring_enter, words)
               : call_shared(&shape, words, issue, (void *)SYS_io_uring_enter);
}

/* A structure that names a list of buffers, as it is registered. */
static long register_by(const uintptr_t *words, size_t list_at, size_t count_at)
{
    char about[64] = {0};
    struct iovec *own;
    uintptr_t w[CALL_WORDS];
    uint64_t at;
    unsigned count;
    memcpy(w, words, sizeof w);
    size_t bytes = w[3] < sizeof about ? w[3] : sizeof about, got;
    if (call_get(about, (const void *)w[2], bytes, &got) != ADSM_OK ||
        got < bytes)
        return issue((void *)SYS_io_uring_register, words);
    memcpy(&at, about + list_at, sizeof at);
    memcpy(&count, about + count_at, sizeof count);
    at = (uintptr_t)uring_without_shared((void *)(uintptr_t)at, count, &own);
    memcpy(about + list_at, &at, sizeof at);
    w[2] = (uintptr_t)about;
    long done = issue((void *)SYS_io_uring_register, w);
    free(own);
    return done;
}

static long register_list(const uintptr_t *words)
{
    struct iovec *own;
    uintptr_t w[CALL_WORDS];
    memcpy(w, words, sizeof w);
    w[2] = (uintptr_t)uring_without_shared((const void *)words[2],
                                           (unsigned)words[3], &own);
    long done = issue((void *)SYS_io_uring_register, w);
    free(own);
    return done;
}

long uring_ring_register(const uintptr_t *words)
{
    /* No structure is larger than this for each that is counted. */
    static const struct call_shape shape = {
        "io_uring_register", false, {OUT_EACH(2, 3, char[64])}};
    unsigned what = (unsigned)words[1];
    if (words[2] && what == IORING_REGISTER_BUFFERS)
        return register_list(words);
    if (words[2] && what == IORING_REGISTER_BUFFERS2)
        return register_by(words, offsetof(struct io_uring_rsrc_register, data),
                           offsetof(struct io_uring_rsrc_register, nr));
    if (words[2] && what == IORING_REGISTER_BUFFERS_UPDATE)
        return register_by(words, offsetof(struct io_uring_rsrc_update2, data),
                           offsetof(struct io_uring_rsrc_update2, nr));
    return call_is_plain(&shape, words)
               ? issue((void *)SYS_io_uring_register, words)
               : call_shared(&shape, words, issue,
                             (void *)SYS_io_uring_register);
}
