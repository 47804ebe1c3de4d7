/*
 * The small accelerator: its memory, streams that wait to be asked, and the
 * table of its calls, which have the names of the entries; see device.h.
 */
#include "accel/accel.h"
#include "base/slices.h"
#include "small/device.h"

#include "accel/error.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tables are arrays that are never given back: a stale handle is told from a
 * live one. */
enum { MOST = 1024, NAME_BIT = 62, HOST = -1 };

struct task {
    struct task *next;
    void (*run)(void *what);
    _Alignas(max_align_t) uint8_t what[];
};

struct stream {
    bool live;
    int ordinal;
    struct task *first, **last;
    uint64_t given, done; /* pieces of work, also of streams before it */
};

/* Reached when its stream has done as much as it was given at the record, which
 * is a piece of work itself: nobody has got that far by doing nothing. */
struct event {
    bool live;
    struct stream *stream;
    uint64_t number;
};

struct range {
    uint64_t at;
    size_t bytes; /* 0: none */
    int ordinal;
    void *memory; /* where a leak checker finds it */
};

struct small small;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static char contexts[SMALL_DEVICES]; /* their addresses are the handles */
static struct stream streams[MOST];  /* the first are the default streams */
static struct event events[MOST];
static struct range memory[MOST], pins[MOST];
static unsigned chance;
static struct {
    const char *entry;
    unsigned in;
    int status;
    bool done;
} failure;

static void check(bool sound, const char *what)
{
    if (sound)
        return;
    fprintf(stderr, "small device: %s\n", what);
    abort();
}

/* ---- calls ----------------------------------------------------------------- */

static bool is_one_of(const char *entry, const char *some)
{
    return strstr(some, entry) != NULL;
}

static int status_of(struct adsm_accel *accel, const char *entry)
{
    if (accel && small.lost[accel->ordinal]) {
        adsm_accel_condemn(accel, ADSM_E_DEVICE_LOST);
        return ADSM_E_DEVICE_LOST;
    }
    bool it = failure.entry ? strcmp(failure.entry, entry) == 0
                            : !is_one_of(entry, "event_wait context_wait");
    if (failure.in == 0 || !it || --failure.in > 0)
        return ADSM_OK;
    failure.done = true;
    return failure.status;
}

static int begin(struct adsm_accel *accel, const char *entry)
{
    pthread_mutex_lock(&lock);
    int status = status_of(accel, entry);
    if (status == ADSM_OK || is_one_of(entry, "stream_destroy event_destroy "
                                              "memory_free host_unpin"))
        return ADSM_OK;
    return adsm_accel_fail(status, entry, " was told to fail", NULL);
}

static void leave(const int *status)
{
    (void)status;
    pthread_mutex_unlock(&lock);
}

/* An entry has the lock from here to its return. */
#define BEGIN(accel)                                                           \
    __attribute__((cleanup(leave))) int begun_ = begin(accel, __func__);       \
    if (begun_ != ADSM_OK)                                                     \
    return begun_

/* ---- memory ---------------------------------------------------------------- */

/* The range of a device, or of the host, that bytes lie in. */
static struct range *find(struct range *ranges, int ordinal, uint64_t at,
                          size_t bytes)
{
    for (struct range *range = ranges; range < ranges + MOST; range++)
        if (range->bytes && range->ordinal == ordinal && at >= range->at &&
            at + bytes <= range->at + range->bytes)
            return range;
    return NULL;
}

static void enter(struct range *ranges, struct range one)
{
    while (ranges->bytes)
        ranges++;
    *ranges = one;
}

void *small_at(struct adsm_daddr at)
{
    return (void *)(uintptr_t)(at.at ^ UINT64_C(1) << NAME_BIT);
}

static int memory_alloc(struct adsm_accel *accel, size_t bytes,
                        struct adsm_daddr *at)
{
    BEGIN(accel);
    int i = accel->ordinal;
    void *made = NULL;
    if (bytes <= small.memory[i] - small.used[i])
        made = aligned_alloc(512, (bytes + 511) / 512 * 512);
    if (!made)
        return adsm_accel_fail(ADSM_E_DEVICE_NOMEM, "the device is full", NULL);
    memset(made, 0xa5, bytes);
    at->at = (uintptr_t)made ^ UINT64_C(1) << NAME_BIT;
    enter(memory, (struct range){at->at, bytes, i, made});
    small.used[i] += bytes;
    return ADSM_OK;
}

static int memory_free(struct adsm_accel *accel, struct adsm_daddr at)
{
    BEGIN(accel);
    struct range *range = find(memory, accel->ordinal, at.at, 1);
    check(range && range->at == at.at, "memory given back that is none");
    small.used[accel->ordinal] -= range->bytes;
    range->bytes = 0;
    free(range->memory);
    return ADSM_OK;
}

static int memory_info(struct adsm_accel *accel, size_t *free_bytes,
                       size_t *total_bytes)
{
    BEGIN(accel);
    *total_bytes = small.memory[accel->ordinal];
    *free_bytes = *total_bytes - small.used[accel->ordinal];
    return ADSM_OK;
}

static int host_pin(struct adsm_accel *accel, void *at, size_t bytes,
                    bool *owned)
{
    BEGIN(accel);
    *owned = !find(pins, HOST, (uintptr_t)at, bytes);
    if (*owned)
        enter(pins, (struct range){(uintptr_t)at, bytes, HOST, NULL});
    small.pinned += *owned;
    return ADSM_OK;
}

static int host_unpin(struct adsm_accel *accel, void *at)
{
    BEGIN(accel);
    struct range *range = find(pins, HOST, (uintptr_t)at, 1);
    check(range && range->at == (uintptr_t)at, "unpinned what is not pinned");
    range->bytes = 0;
    small.pinned--;
    return ADSM_OK;
}

/* ---- streams: work that waits ---------------------------------------------- */

/* The oldest piece of work of a stream. */
static void step(struct stream *stream)
{
    struct task *task = stream->first;
    check(task, "work that waits for itself");
    stream->first = task->next;
    task->run(task->what);
    stream->done++;
    free(task);
}

static void run_stream(struct stream *stream)
{
    while (stream->first)
        step(stream);
}

static struct stream *stream_of(struct adsm_accel *accel, adsm_stream handle)
{
    struct stream *stream = handle ? handle : &streams[accel->ordinal];
    check(stream->ordinal == accel->ordinal && (!handle || stream->live),
          "work in a stream that is not the device's");
    return stream;
}

/* Behind what is in the stream; it runs as the pace says. */
static void enqueue(struct stream *stream, void (*run)(void *what),
                    const void *what, size_t bytes)
{
    struct task *task = malloc(sizeof *task + bytes);
    check(task, "no memory");
    task->next = NULL;
    task->run = run;
    if (bytes > 0)
        memcpy(task->what, what, bytes);
    *(stream->first ? stream->last : &stream->first) = task;
    stream->last = &task->next;
    stream->given++;
    if (small.pace == SMALL_EAGER)
        run_stream(stream);
    for (int i = 0; i < 4 && small.pace == SMALL_MIXED; i++) {
        struct stream *some = &streams[rand_r(&chance) % 64];
        if (some->first)
            step(some);
    }
}

static int stream_create(struct adsm_accel *accel, adsm_stream *handle)
{
    BEGIN(accel);
    struct stream *stream = &streams[SMALL_DEVICES];
    while (stream->live)
        stream++;
    stream->live = true;
    stream->ordinal = accel->ordinal;
    *handle = stream;
    return ADSM_OK;
}

static int stream_destroy(struct adsm_accel *accel, adsm_stream handle)
{
    BEGIN(accel);
    struct stream *stream = stream_of(accel, handle);
    run_stream(stream);
    stream->live = false;
    return ADSM_OK;
}

static int context_wait(struct adsm_accel *accel)
{
    BEGIN(accel);
    for (struct stream *stream = streams; stream < streams + MOST; stream++)
        if (stream->ordinal == accel->ordinal)
            run_stream(stream);
    return ADSM_OK;
}

void small_run(void)
{
    pthread_mutex_lock(&lock);
    for (struct stream *stream = streams; stream < streams + MOST; stream++)
        run_stream(stream);
    pthread_mutex_unlock(&lock);
}

/* ---- events ---------------------------------------------------------------- */

static struct event *event_of(adsm_device_event handle)
{
    struct event *event = handle;
    check(event->live, "an event that is none");
    return event;
}

static void nothing(void *what)
{
    (void)what;
}

static void await(void *what)
{
    const struct event *event = what;
    while (event->stream->done < event->number)
        step(event->stream);
}

static int event_create(struct adsm_accel *accel, adsm_device_event *handle)
{
    BEGIN(accel);
    struct event *event = events;
    while (event->live)
        event++;
    *event = (struct event){.live = true, .stream = streams};
    *handle = event;
    return ADSM_OK;
}

static int event_destroy(struct adsm_accel *accel, adsm_device_event handle)
{
    BEGIN(accel);
    event_of(handle)->live = false;
    return ADSM_OK;
}

static int event_record(struct adsm_accel *accel, adsm_device_event handle,
                        adsm_stream stream)
{
    BEGIN(accel);
    struct event *event = event_of(handle);
    event->stream = stream_of(accel, stream);
    enqueue(event->stream, nothing, NULL, 0);
    event->number = event->stream->given;
    return ADSM_OK;
}

static int stream_order(struct adsm_accel *accel, adsm_stream stream,
                        adsm_device_event event)
{
    BEGIN(accel);
    enqueue(stream_of(accel, stream), await, event_of(event),
            sizeof(struct event));
    return ADSM_OK;
}

static int event_query(struct adsm_accel *accel, adsm_device_event handle,
                       bool *reached)
{
    BEGIN(accel);
    struct event *event = event_of(handle);
    *reached = event->stream->done >= event->number;
    return ADSM_OK;
}

static int event_wait(struct adsm_accel *accel, adsm_device_event handle,
                      uint64_t spin_ns)
{
    BEGIN(accel);
    await(event_of(handle));
    return ADSM_OK;
}

/* ---- copies and kernels ---------------------------------------------------- */

/* A place in a device's memory, or in the host's. */
struct place {
    int ordinal;
    uint64_t at;
};

struct copy {
    struct place to, from;
    struct adsm_rect rect;
    void *bytes; /* the host's as they were when the call was made */
};

static struct place in_host(const void *at)
{
    return (struct place){HOST, (uintptr_t)at};
}

static struct place on_device(struct adsm_accel *accel, struct adsm_daddr at)
{
    return (struct place){accel->ordinal, at.at};
}

static size_t span_of(const struct adsm_rect *rect, const size_t pitch[2])
{
    return (rect->planes - 1) * pitch[1] + (rect->rows - 1) * pitch[0] +
           rect->bytes;
}

static uint8_t *bytes_at(const struct place *place, size_t bytes)
{
    if (place->ordinal == HOST)
        return (uint8_t *)(uintptr_t)place->at;
    check(find(memory, place->ordinal, place->at, bytes),
          "work on memory that is not the device's");
    return small_at((struct adsm_daddr){place->at});
}

static void run_copy(void *what)
{
    const struct copy *copy = what;
    const struct adsm_rect *rect = &copy->rect;
    uint8_t *to = bytes_at(&copy->to, span_of(rect, rect->to_pitch));
    const uint8_t *from =
        copy->bytes ? copy->bytes
                    : bytes_at(&copy->from, span_of(rect, rect->from_pitch));
    for (size_t p = 0; p < rect->planes; p++)
        for (size_t r = 0; r < rect->rows; r++)
            memmove(to + p * rect->to_pitch[1] + r * rect->to_pitch[0],
                    from + p * rect->from_pitch[1] + r * rect->from_pitch[0],
                    rect->bytes);
    free(copy->bytes);
}

static bool is_plain(const struct place *place, size_t bytes)
{
    return place->ordinal == HOST && !find(pins, HOST, place->at, bytes);
}

/* Host memory that is not page-locked is read or written before the call
 * returns, when all before it in the stream has run. */
static void copy(struct stream *stream, struct place to, struct place from,
                 const struct adsm_rect *rect)
{
    struct copy copy = {to, from, *rect, NULL};
    size_t bytes = span_of(rect, rect->from_pitch);
    if (is_plain(&from, bytes)) {
        run_stream(stream);
        copy.bytes = malloc(bytes);
        check(copy.bytes, "no memory");
        memcpy(copy.bytes, bytes_at(&from, bytes), bytes);
    }
    enqueue(stream, run_copy, &copy, sizeof copy);
    if (is_plain(&to, span_of(rect, rect->to_pitch)))
        run_stream(stream);
}

/* The copy of a row and that of a box; behind their ends the parameters that say
 * what they are. */
#define COPIES(name, to_end, from_end, ...)                                    \
    static int name(struct adsm_accel *accel, adsm_stream stream, __VA_ARGS__, \
                    size_t bytes)                                              \
    {                                                                          \
        BEGIN(accel);                                                          \
        struct adsm_rect row = {.bytes = bytes, .rows = 1, .planes = 1};       \
        copy(stream_of(accel, stream), to_end, from_end, &row);                \
        return ADSM_OK;                                                        \
    }                                                                          \
    static int name##_rect(struct adsm_accel *accel, adsm_stream stream,       \
                           __VA_ARGS__, const struct adsm_rect *rect)          \
    {                                                                          \
        if (small.by_rows)                                                     \
            return ADSM_E_UNSUPPORTED;                                         \
        BEGIN(accel);                                                          \
        copy(stream_of(accel, stream), to_end, from_end, rect);                \
        return ADSM_OK;                                                        \
    }

COPIES(copy_up, on_device(accel, to), in_host(from), struct adsm_daddr to,
       const void *from)
COPIES(copy_down, in_host(to), on_device(accel, from), void *to,
       struct adsm_daddr from)
COPIES(copy_device, on_device(accel, to), on_device(accel, from),
       struct adsm_daddr to, struct adsm_daddr from)
COPIES(copy_peer, on_device(accel, to), on_device(other, from),
       struct adsm_daddr to, struct adsm_accel *other, struct adsm_daddr from)

static int copy_down_now(struct adsm_accel *accel, void *to,
                         struct adsm_daddr from, size_t bytes)
{
    BEGIN(accel);
    struct place source = on_device(accel, from);
    memcpy(to, bytes_at(&source, bytes), bytes);
    return ADSM_OK;
}

struct work {
    const struct small_kernel *kernel;
    _Alignas(max_align_t) uint8_t argument[SMALL_ARGUMENT_BYTES];
};

static void run_work(void *what)
{
    const struct work *work = what;
    work->kernel->run(work->argument);
}

static int launch(struct adsm_accel *accel, const struct adsm_launch *launch)
{
    BEGIN(accel);
    struct work work = {.kernel = launch->kernel};
    memcpy(work.argument, launch->values[0], work.kernel->bytes);
    enqueue(stream_of(accel, launch->stream), run_work, &work, sizeof work);
    return ADSM_OK;
}

/* ---- devices --------------------------------------------------------------- */

static int start(int *devices)
{
    BEGIN(NULL);
    *devices = count;
    return ADSM_OK;
}

static int context_primary(int ordinal, void **context)
{
    BEGIN(NULL);
    *context = &contexts[ordinal];
    return ADSM_OK;
}

static void context_release(int ordinal)
{
    (void)ordinal;
}

static int peer_can(int ordinal, int other, bool *can)
{
    BEGIN(NULL);
    *can = !small.apart && ordinal != other;
    return ADSM_OK;
}

static const struct adsm_accel_ops table = {
    .stream_legacy = (adsm_stream)1,
    .stream_per_thread = (adsm_stream)2,
    .start = start,
    .context_primary = context_primary,
    .context_release = context_release,
    .context_wait = context_wait,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_order = stream_order,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_query = event_query,
    .event_wait = event_wait,
    .copy_up = copy_up,
    .copy_up_rect = copy_up_rect,
    .copy_down = copy_down,
    .copy_down_rect = copy_down_rect,
    .copy_down_now = copy_down_now,
    .copy_device = copy_device,
    .copy_device_rect = copy_device_rect,
    .copy_peer = copy_peer,
    .copy_peer_rect = copy_peer_rect,
    .peer_can = peer_can,
    .host_pin = host_pin,
    .host_unpin = host_unpin,
    .memory_alloc = memory_alloc,
    .memory_free = memory_free,
    .memory_info = memory_info,
    .launch = launch,
};

void small_begin(int devices)
{
    /* Check has handlers, which want nothing of a device that gets on only
     * where it is waited for. */
    static const _Atomic uint64_t no_handlers;
    adsm_slices_know(&no_handlers);
    count = devices;
    for (int i = 0; i < SMALL_DEVICES; i++) {
        small.memory[i] = SIZE_MAX / 2;
        streams[i] = (struct stream){.live = true, .ordinal = i};
    }
    setenv("ADSM_ADDRESS", "translate", 1);
    adsm_accel_replace(&table);
}

void small_fail(const char *entry, unsigned n, int status)
{
    failure.entry = entry;
    failure.in = n;
    failure.status = status;
    failure.done = false;
}

bool small_has_failed(void)
{
    failure.in = 0;
    return failure.done;
}
