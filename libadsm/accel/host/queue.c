/* Streams, their jobs, and who does them; see queue.h. */
#include "accel/host/queue.h"

#include "accel/error.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/lock.h"
#include "base/option.h"
#include "base/thread.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum {
    JOBS = 256, /* of a stream: as many wait in it */
    /* A thread that has found nothing looks on for a while: to be woken takes
     * longer than the host needs for its next call. */
    LOOKS = 500,
    /* Pieces that a kernel's blocks come in, for each thread, if all are as fast
     * as each other. */
    PIECES = 4,
};

/* A job, and how far it is. */
struct job {
    struct adsm_host_job job;
    uint64_t taken, done, count; /* blocks; one where it has none */
};

struct adsm_host_stream {
    _Atomic uint64_t given, done;  /* written under the lock */
    struct adsm_host_stream *next; /* stays as it is */
    bool unused;                   /* lock           */
    struct job jobs[JOBS];
};

/* What a thread has taken: blocks [first, first + count) of the stream's oldest
 * job. */
struct piece {
    struct adsm_host_stream *stream;
    struct job *job;
    uint64_t first, count;
};

static struct adsm_host_stream first_stream;

static struct {
    struct adsm_lock lock;
    struct adsm_host_stream *streams; /* lock */
    int threads;                      /* lock: started                    */
    int idle;                         /* lock: threads asleep             */
    _Atomic int looking;              /* threads about to find work       */
    _Atomic uint32_t work;            /* bumped when there may be some    */
    _Atomic uint32_t over;            /* bumped when a job has ended ...  */
    _Atomic uint32_t waiting;         /* ... while somebody waits for it  */
} queue = {.lock = ADSM_LOCK_INIT(ADSM_RANK_POOL), .streams = &first_stream};

int adsm_host_threads(void)
{
    static _Atomic int known;
    int count = adsm_options_get()->cpus;
    cpu_set_t may;
    if (count > 0)
        return count;
    if (atomic_load(&known) == 0)
        atomic_store(&known, sched_getaffinity(0, sizeof may, &may) == 0
                                 ? CPU_COUNT(&may)
                                 : 1);
    return atomic_load(&known);
}

struct adsm_host_stream *adsm_host_default(void)
{
    return &first_stream;
}

/* ---- what a job does ------------------------------------------------------ */

static void run_copy(const struct adsm_host_copy *copy)
{
    for (size_t p = 0; p < copy->planes; p++)
        for (size_t r = 0; r < copy->rows; r++)
            memmove(copy->to + p * copy->to_pitch[1] + r * copy->to_pitch[0],
                    copy->from + p * copy->from_pitch[1] +
                        r * copy->from_pitch[0],
                    copy->bytes);
    free(copy->buffer);
}

static void run_set(const struct adsm_host_set *set)
{
    uint16_t *two = set->to;
    uint32_t *four = set->to;
    if (set->width == 1)
        memset(set->to, (int)set->value, set->count);
    for (size_t i = 0; set->width == 2 && i < set->count; i++)
        two[i] = (uint16_t)set->value;
    for (size_t i = 0; set->width == 4 && i < set->count; i++)
        four[i] = set->value;
}

static void run_blocks(const struct adsm_host_kernel *kernel, uint64_t first,
                       uint64_t count)
{
    adsmBlocks blocks = kernel->blocks;
    blocks.first = first;
    blocks.count = count;
    kernel->run(&blocks, kernel->values);
}

static void run(const struct piece *piece)
{
    const struct adsm_host_job *job = &piece->job->job;
    switch (job->what) {
    case ADSM_HOST_COPY:
        run_copy(&job->copy);
        break;
    case ADSM_HOST_SET:
        run_set(&job->set);
        break;
    case ADSM_HOST_KERNEL:
        run_blocks(&job->kernel, piece->first, piece->count);
        break;
    case ADSM_HOST_CALL:
        job->call.call(job->call.arg);
        break;
    case ADSM_HOST_TIME:
        atomic_store(job->time, adsm_now_ns());
        break;
    case ADSM_HOST_AWAIT:
        break;
    }
}

/* ---- who does it ---------------------------------------------------------- */

static struct job *job_of(struct adsm_host_stream *stream, uint64_t number)
{
    return &stream->jobs[number % JOBS];
}

static bool is_ready(const struct job *job)
{
    return job->job.what != ADSM_HOST_AWAIT ||
           adsm_host_reached(job->job.await);
}

/* Has the stream's oldest job something for one more thread? */
static bool has_work(struct adsm_host_stream *stream)
{
    uint64_t done = atomic_load(&stream->done);
    const struct job *job = job_of(stream, done);
    return done != atomic_load(&stream->given) && job->taken < job->count &&
           is_ready(job);
}

/* Take as much of it as one thread should have. */
static void take_from(struct adsm_host_stream *stream, struct piece *piece)
{
    struct job *job = job_of(stream, atomic_load(&stream->done));
    uint64_t left = job->count - job->taken;
    uint64_t share = left / (uint64_t)(PIECES * adsm_host_threads());
    *piece = (struct piece){stream, job, job->taken, share > 0 ? share : 1};
    job->taken += piece->count;
}

/* The lock is held, as in the next three. */
static struct adsm_host_stream *find_work(void)
{
    struct adsm_host_stream *stream = queue.streams;
    while (stream && !has_work(stream))
        stream = stream->next;
    return stream;
}

/* There is work for one more thread. Who looks for some finds it. */
static void wake_thread(void)
{
    atomic_fetch_add(&queue.work, 1);
    if (queue.idle > 0 && atomic_load(&queue.looking) == 0)
        adsm_futex_wake(&queue.work, 1);
}

/* Who has taken some wakes the next one, where there is more. */
static bool take(struct piece *piece)
{
    struct adsm_host_stream *stream = find_work();
    if (!stream)
        return false;
    take_from(stream, piece);
    if (queue.idle > 0 && find_work())
        wake_thread();
    return true;
}

static void give_back(const struct piece *piece)
{
    struct job *job = piece->job;
    job->done += piece->count;
    if (job->done < job->count)
        return;
    if (job->job.what == ADSM_HOST_KERNEL)
        free(job->job.kernel.values);
    atomic_fetch_add(&piece->stream->done, 1);
    atomic_fetch_add(&queue.over, 1);
    if (atomic_load(&queue.waiting) > 0)
        adsm_futex_wake(&queue.over, INT32_MAX);
}

/* Return: whether there may be some work */
static bool look_for_work(uint32_t seen)
{
    bool changed = false;
    atomic_fetch_add(&queue.looking, 1);
    for (int i = 0; i < LOOKS && !changed; i++) {
        changed =
            atomic_load_explicit(&queue.work, memory_order_relaxed) != seen;
        adsm_pause();
    }
    atomic_fetch_sub(&queue.looking, 1);
    return changed;
}

/* Look, and then sleep until there may be some. */
static void wait_for_work(uint32_t seen)
{
    if (look_for_work(seen))
        return;
    adsm_lock_acquire(&queue.lock);
    queue.idle++;
    adsm_lock_release(&queue.lock);
    adsm_futex_wait(&queue.work, seen);
    adsm_lock_acquire(&queue.lock);
    queue.idle--;
    adsm_lock_release(&queue.lock);
}

static void *work(void *unused)
{
    struct piece piece;
    (void)unused;
    /* No signal comes to it: its locks need not see to that. */
    adsm_quiet_enter();
    for (;;) {
        uint32_t seen = atomic_load(&queue.work);
        adsm_lock_acquire(&queue.lock);
        while (take(&piece)) {
            adsm_lock_release(&queue.lock);
            run(&piece);
            adsm_lock_acquire(&queue.lock);
            give_back(&piece);
        }
        adsm_lock_release(&queue.lock);
        wait_for_work(seen);
    }
    return NULL;
}

int adsm_host_start(void)
{
    int rc = ADSM_OK;
    adsm_lock_acquire(&queue.lock);
    while (rc == ADSM_OK && queue.threads < adsm_host_threads()) {
        rc = adsm_thread_start(work, 0, true);
        queue.threads += rc == ADSM_OK;
    }
    if (queue.threads > 0)
        rc = ADSM_OK;
    adsm_lock_release(&queue.lock);
    return rc == ADSM_OK ? rc
                         : adsm_accel_fail(rc,
                                           "no thread for kernels on the CPU "
                                           "could be started",
                                           NULL);
}

/* ---- streams -------------------------------------------------------------- */

static struct adsm_host_stream *find_unused(void)
{
    struct adsm_host_stream *stream = queue.streams;
    while (stream && !stream->unused)
        stream = stream->next;
    return stream;
}

struct adsm_host_stream *adsm_host_stream_make(void)
{
    adsm_lock_acquire(&queue.lock);
    struct adsm_host_stream *stream = find_unused();
    if (stream) {
        stream->unused = false;
    } else {
        stream = calloc(1, sizeof *stream);
        if (stream) {
            stream->next = queue.streams;
            queue.streams = stream;
        }
    }
    adsm_lock_release(&queue.lock);
    return stream;
}

void adsm_host_stream_end(struct adsm_host_stream *stream)
{
    adsm_host_await(adsm_host_given(stream), 0);
    adsm_lock_acquire(&queue.lock);
    stream->unused = true;
    adsm_lock_release(&queue.lock);
}

static bool is_full(struct adsm_host_stream *stream)
{
    return atomic_load(&stream->given) - atomic_load(&stream->done) == JOBS;
}

/* The lock is held, and is given back meanwhile. */
static void wait_for_room(struct adsm_host_stream *stream)
{
    while (is_full(stream)) {
        struct adsm_host_point oldest = {stream,
                                         atomic_load(&stream->done) + 1};
        adsm_lock_release(&queue.lock);
        adsm_host_await(oldest, 0);
        adsm_lock_acquire(&queue.lock);
    }
}

void adsm_host_submit(struct adsm_host_stream *stream,
                      const struct adsm_host_job *job)
{
    bool blocks = job->what == ADSM_HOST_KERNEL;
    adsm_lock_acquire(&queue.lock);
    wait_for_room(stream);
    *job_of(stream, atomic_load(&stream->given)) = (struct job){
        .job = *job, .count = blocks ? job->kernel.blocks.count : 1};
    atomic_fetch_add(&stream->given, 1);
    wake_thread();
    adsm_lock_release(&queue.lock);
}

/* ---- points --------------------------------------------------------------- */

struct adsm_host_point adsm_host_given(struct adsm_host_stream *stream)
{
    return (struct adsm_host_point){stream, atomic_load(&stream->given)};
}

bool adsm_host_reached(struct adsm_host_point point)
{
    return !point.stream || atomic_load(&point.stream->done) >= point.number;
}

void adsm_host_await(struct adsm_host_point point, uint64_t spin_ns)
{
    uint64_t end = spin_ns ? adsm_now_ns() + spin_ns : 0;
    while (spin_ns && !adsm_host_reached(point) && adsm_now_ns() < end)
        adsm_pause();
    if (adsm_host_reached(point))
        return;
    uint64_t opened = adsm_quiet_wait_begin();
    atomic_fetch_add(&queue.waiting, 1);
    for (;;) {
        uint32_t seen = atomic_load(&queue.over);
        if (adsm_host_reached(point))
            break;
        adsm_futex_wait(&queue.over, seen);
    }
    atomic_fetch_sub(&queue.waiting, 1);
    adsm_quiet_wait_end(opened);
}

void adsm_host_await_all(void)
{
    adsm_lock_acquire(&queue.lock);
    struct adsm_host_stream *stream = queue.streams;
    adsm_lock_release(&queue.lock);
    for (; stream; stream = stream->next)
        adsm_host_await(adsm_host_given(stream), 0);
}
