/*
 * The runtime's own ring; see relay.h.
 *
 * Lock: `relay.lock`, rank API: the submission queue and the list. What comes
 * back is read by the ring's thread alone.
 */
#include "interpose/libc/relay.h"
#include "interpose/libc/pieces.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/status.h"
#include "base/system.h"
#include "base/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ENTRIES = 256, PROBED = 64 };

/* In the low bit of what an end on our ring is known by: of a message. */
enum { OF_MESSAGE = 1 };

static struct {
    struct adsm_lock lock;
    enum { RELAY_UNKNOWN, RELAY_WORKS, RELAY_FAILED, RELAY_LOST } state;
    int fd;
    struct io_uring_params about;
    char *rings;
    struct io_uring_sqe *sqes;
    struct relay_op *ops;
} relay = {.lock = ADSM_LOCK_INIT(ADSM_RANK_API), .fd = -1};

static _Atomic uint32_t *word(uint32_t offset)
{
    return (_Atomic uint32_t *)(relay.rings + offset);
}

static int enter(unsigned submit, unsigned wait)
{
    return (int)syscall(SYS_io_uring_enter, relay.fd, submit, wait,
                        wait ? IORING_ENTER_GETEVENTS : 0, NULL, 0);
}

/* Is the descriptor still the ring's? A program may close what it has not
 * opened, and open something else. The lock is held. */
static bool is_lost(void)
{
    int saved = errno;
    bool lost = enter(0, 0) < 0 && (errno == EBADF || errno == EOPNOTSUPP);
    if (lost)
        relay.state = RELAY_LOST;
    errno = saved;
    return lost;
}

/* The lock is held. Every entry is taken by the kernel at once. */
static int submit(const struct io_uring_sqe *sqe)
{
    uint32_t tail = atomic_load_explicit(word(relay.about.sq_off.tail),
                                         memory_order_relaxed);
    uint32_t i = tail & (relay.about.sq_entries - 1);
    relay.sqes[i] = *sqe;
    atomic_store(word(relay.about.sq_off.array) + i, i);
    atomic_store_explicit(word(relay.about.sq_off.tail), tail + 1,
                          memory_order_release);
    int taken;
    do {
        taken = enter(1, 0);
    } while (taken < 0 && (errno == EINTR || errno == EAGAIN));
    if (taken == 1)
        return ADSM_OK;
    atomic_store(word(relay.about.sq_off.tail), tail);
    return ADSM_E_SYSTEM;
}

/* ---- ends ----------------------------------------------------------------- */

static void post(struct relay_op *op)
{
    struct io_uring_sqe sqe = {.opcode = IORING_OP_MSG_RING,
                               .fd = op->ring,
                               .len = (uint32_t)op->result,
                               .off = op->user_data,
                               .user_data = (uintptr_t)op | OF_MESSAGE};
    adsm_lock_acquire(&relay.lock);
    int status = submit(&sqe);
    adsm_lock_release(&relay.lock);
    if (status)
        hook_failed("io_uring", status);
}

static void end(struct relay_op *op)
{
    adsm_lock_acquire(&relay.lock);
    struct relay_op **at = &relay.ops;
    while (*at != op)
        at = &(*at)->next;
    *at = op->next;
    adsm_lock_release(&relay.lock);
    relay_free(op);
}

static int settle(struct relay_op *op, size_t done)
{
    return op->ranges ? flights_end(op->ranges, done) : ADSM_OK;
}

static void on_end(struct relay_op *op, int result)
{
    adsm_lock_acquire(&relay.lock);
    op->moving = !op->orphan;
    adsm_lock_release(&relay.lock);
    int status = settle(op, op->moving && result > 0 ? (size_t)result : 0);
    if (status)
        hook_failed("io_uring", status);
    op->result = status ? -pieces_errno(status) : result;
    adsm_lock_acquire(&relay.lock);
    op->moving = false;
    bool silent = op->orphan || (op->quiet && op->result >= 0);
    adsm_lock_release(&relay.lock);
    if (silent)
        end(op);
    else
        post(op);
}

/* The program's ring may be full for a while. */
static void on_posted(struct relay_op *op, int result)
{
    if (result == -EOVERFLOW || result == -EAGAIN || result == -ENOMEM) {
        nanosleep(&(struct timespec){0, 1000 * 1000}, NULL);
        post(op);
        return;
    }
    if (result < 0 && !op->orphan)
        adsm_log_once(ADSM_LOG_ERROR,
                      "io_uring: the end of an operation on shared memory "
                      "cannot be told: %d",
                      -result);
    end(op);
}

static void *serve(void *unused)
{
    uint32_t head = 0;
    for (;;) {
        uint32_t tail = atomic_load_explicit(word(relay.about.cq_off.tail),
                                             memory_order_acquire);
        if (head == tail) {
            if (enter(0, 1) >= 0 || errno == EINTR)
                continue;
            adsm_lock_acquire(&relay.lock);
            bool lost = is_lost();
            adsm_lock_release(&relay.lock);
            if (lost)
                return unused;
            nanosleep(&(struct timespec){0, 1000 * 1000}, NULL);
            continue;
        }
        struct io_uring_cqe *cqes =
            (void *)(relay.rings + relay.about.cq_off.cqes);
        struct io_uring_cqe cqe = cqes[head & (relay.about.cq_entries - 1)];
        atomic_store_explicit(word(relay.about.cq_off.head), ++head,
                              memory_order_release);
        struct relay_op *op =
            (void *)(uintptr_t)(cqe.user_data & ~(uint64_t)OF_MESSAGE);
        if (op && cqe.user_data & OF_MESSAGE)
            on_posted(op, cqe.res);
        else if (op)
            on_end(op, cqe.res);
    }
}

/* ---- the ring -------------------------------------------------------------- */

static bool can_post(void)
{
    union {
        struct io_uring_probe head;
        char room[sizeof(struct io_uring_probe) +
                  PROBED * sizeof(struct io_uring_probe_op)];
    } probe = {.room = {0}};
    return syscall(SYS_io_uring_register, relay.fd, IORING_REGISTER_PROBE,
                   &probe, PROBED) == 0 &&
           probe.head.last_op >= IORING_OP_MSG_RING &&
           probe.head.ops[IORING_OP_MSG_RING].flags & IO_URING_OP_SUPPORTED;
}

static void *map(size_t bytes, off_t offset)
{
    void *at = adsm_system_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_POPULATE, relay.fd, offset);
    return at == MAP_FAILED ? NULL : at;
}

static bool start(void)
{
    struct io_uring_params *about = &relay.about;
    relay.fd = (int)syscall(SYS_io_uring_setup, ENTRIES, about);
    if (relay.fd < 0 || !(about->features & IORING_FEAT_SINGLE_MMAP) ||
        !(about->features & IORING_FEAT_CQE_SKIP) || !can_post())
        return false;
    size_t sq = about->sq_off.array + about->sq_entries * sizeof(uint32_t);
    size_t cq =
        about->cq_off.cqes + about->cq_entries * sizeof(struct io_uring_cqe);
    relay.rings = map(sq > cq ? sq : cq, IORING_OFF_SQ_RING);
    relay.sqes = map(about->sq_entries * sizeof *relay.sqes, IORING_OFF_SQES);
    return relay.rings && relay.sqes &&
           adsm_thread_start(serve, 0, false) == ADSM_OK;
}

const char *relay_obstacle(void)
{
    const char *why = NULL;
    adsm_lock_acquire(&relay.lock);
    if (relay.state == RELAY_UNKNOWN)
        relay.state = start() ? RELAY_WORKS : RELAY_FAILED;
    if (relay.state == RELAY_LOST || (relay.state == RELAY_WORKS && is_lost()))
        why = "the program has closed a descriptor that is the runtime's";
    else if (relay.state == RELAY_FAILED)
        why = "the kernel has no IORING_OP_MSG_RING";
    adsm_lock_release(&relay.lock);
    return why;
}

/* ---- operations -------------------------------------------------------------- */

struct relay_op *relay_make(int count)
{
    struct relay_op *op = calloc(1, sizeof *op);
    if (op && count > 0 && !(op->ranges = flights_make(count))) {
        free(op);
        op = NULL;
    }
    return op;
}

void relay_free(struct relay_op *op)
{
    (void)settle(op, 0);
    free(op->ranges);
    free(op);
}

int relay_send(struct relay_op *op, const struct io_uring_sqe *sqe, int ring)
{
    struct io_uring_sqe own = *sqe;
    op->ring = ring;
    op->user_data = sqe->user_data;
    op->quiet = sqe->flags & IOSQE_CQE_SKIP_SUCCESS;
    own.flags &= (uint8_t)~IOSQE_CQE_SKIP_SUCCESS;
    own.user_data = (uintptr_t)op;
    adsm_lock_acquire(&relay.lock);
    op->next = relay.ops;
    relay.ops = op;
    int status = submit(&own);
    if (status)
        relay.ops = op->next;
    adsm_lock_release(&relay.lock);
    return status;
}

static void cancel(const struct relay_op *op)
{
    submit(&(struct io_uring_sqe){
        .opcode = IORING_OP_ASYNC_CANCEL, .fd = -1, .addr = (uintptr_t)op});
}

/* The operation of a ring that is known by `user_data`; the lock is held. */
static struct relay_op *find(int ring, uint64_t user_data)
{
    struct relay_op *op = relay.ops;
    while (op &&
           (op->ring != ring || op->user_data != user_data || !op->ranges))
        op = op->next;
    return op;
}

bool relay_cancel(const struct io_uring_sqe *sqe, int ring)
{
    struct io_uring_sqe own = *sqe;
    adsm_lock_acquire(&relay.lock);
    struct relay_op *op = find(ring, sqe->addr);
    own.addr = (uintptr_t)op;
    adsm_lock_release(&relay.lock);
    struct relay_op *word_of_it = op ? relay_make(0) : NULL;
    if (!word_of_it)
        return false;
    if (relay_send(word_of_it, &own, ring) == ADSM_OK)
        return true;
    relay_free(word_of_it);
    return false;
}

void relay_forget(int ring)
{
    bool moving;
    do {
        moving = false;
        adsm_lock_acquire(&relay.lock);
        for (struct relay_op *op = relay.ops; op; op = op->next) {
            if (op->ring != ring)
                continue;
            if (!op->orphan)
                cancel(op);
            op->orphan = true;
            moving = moving || op->moving;
        }
        adsm_lock_release(&relay.lock);
        if (moving)
            nanosleep(&(struct timespec){0, 100 * 1000}, NULL);
    } while (moving);
}
