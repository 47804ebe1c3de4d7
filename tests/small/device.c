/*
 * The small accelerator's calls, memory and table; see device.h. What is
 * enqueued, and when it runs: work.c.
 */
#include "small/parts.h"

#include "accel/error.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct small small = {.boxes = true, .peers = true};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void small_check(bool sound, const char *what)
{
    if (sound)
        return;
    fprintf(stderr, "small device: %s\n", what);
    abort();
}

/* ---- calls ----------------------------------------------------------------- */

static bool gives_back(enum small_op op)
{
    return op == SMALL_stream_destroy || op == SMALL_event_destroy ||
           op == SMALL_memory_free || op == SMALL_host_unpin;
}

/* A wait that fails is a lost device: of those that live none is known. */
static bool is_wait(enum small_op op)
{
    return op == SMALL_event_wait || op == SMALL_context_wait;
}

void small_lock(void)
{
    pthread_mutex_lock(&lock);
}

int small_call(struct adsm_accel *accel, enum small_op op)
{
    int status = ADSM_OK;
    small_lock();
    small.calls[op]++;
    small.calls[SMALL_ANY]++;
    if (accel && small.lost[accel->ordinal]) {
        adsm_accel_condemn(accel, ADSM_E_DEVICE_LOST);
        status = ADSM_E_DEVICE_LOST;
    } else if (small.fails_in > 0 &&
               (small.fails == op ||
                (small.fails == SMALL_ANY && !is_wait(op))) &&
               --small.fails_in == 0) {
        small.failed = true;
        status = small.status;
    }
    if (status == ADSM_OK || gives_back(op))
        return ADSM_OK;
    pthread_mutex_unlock(&lock);
    return adsm_accel_fail(status, "a call was told to fail", NULL);
}

int small_done(void)
{
    pthread_mutex_unlock(&lock);
    return ADSM_OK;
}

/* ---- memory ----------------------------------------------------------------- */

struct small_range *small_range_of(struct small_range *ranges, int ordinal,
                                   uint64_t at, size_t bytes)
{
    for (struct small_range *range = ranges; range < ranges + SMALL_MOST;
         range++)
        if (range->bytes && (ordinal < 0 || range->ordinal == ordinal) &&
            at >= range->at && at + bytes <= range->at + range->bytes)
            return range;
    return NULL;
}

void *small_at_end(const struct small_end *end, size_t bytes)
{
    if (end->ordinal < 0)
        return (void *)(uintptr_t)end->at;
    small_check(small_range_of(small.range, end->ordinal, end->at, bytes),
                "work on memory that is not the device's");
    return small_at((struct adsm_daddr){end->at});
}

void *small_at(struct adsm_daddr at)
{
    return (void *)(uintptr_t)(at.at ^ UINT64_C(1) << SMALL_NAME_BIT);
}

static struct small_range *free_range(struct small_range *ranges)
{
    while (ranges->bytes)
        ranges++;
    return ranges;
}

static int memory_alloc(struct adsm_accel *accel, size_t bytes,
                        struct adsm_daddr *at)
{
    BEGIN(accel, memory_alloc);
    int i = accel->ordinal;
    void *made = bytes <= small.memory[i] - small.used[i]
                     ? aligned_alloc(512, (bytes + 511) / 512 * 512)
                     : NULL;
    if (!made) {
        small_done();
        return adsm_accel_fail(ADSM_E_DEVICE_NOMEM, "the device is full", NULL);
    }
    memset(made, 0xa5, bytes);
    at->at = (uintptr_t)made ^ UINT64_C(1) << SMALL_NAME_BIT;
    *free_range(small.range) = (struct small_range){at->at, bytes, i, made};
    small.used[i] += bytes;
    return small_done();
}

static int memory_free(struct adsm_accel *accel, struct adsm_daddr at)
{
    BEGIN(accel, memory_free);
    struct small_range *range =
        small_range_of(small.range, accel->ordinal, at.at, 1);
    small_check(range && range->at == at.at, "memory given back that is none");
    small.used[accel->ordinal] -= range->bytes;
    range->bytes = 0;
    free(small_at(at));
    return small_done();
}

static int memory_info(struct adsm_accel *accel, size_t *free_bytes,
                       size_t *total_bytes)
{
    BEGIN(accel, memory_info);
    *total_bytes = small.memory[accel->ordinal];
    *free_bytes = *total_bytes - small.used[accel->ordinal];
    return small_done();
}

static int host_pin(struct adsm_accel *accel, void *at, size_t bytes,
                    bool *owned)
{
    BEGIN(accel, host_pin);
    *owned = !small_range_of(small.pin, -1, (uintptr_t)at, bytes);
    if (*owned)
        *free_range(small.pin) =
            (struct small_range){.at = (uintptr_t)at, .bytes = bytes};
    return small_done();
}

static int host_unpin(struct adsm_accel *accel, void *at)
{
    BEGIN(accel, host_unpin);
    struct small_range *range = small_range_of(small.pin, -1, (uintptr_t)at, 1);
    small_check(range && range->at == (uintptr_t)at,
                "unpinned what is not pinned");
    range->bytes = 0;
    return small_done();
}

/* ---- copies ------------------------------------------------------------------ */

static struct small_end on_host(const void *at)
{
    return (struct small_end){-1, (uintptr_t)at};
}

static struct small_end on(const struct adsm_accel *accel, struct adsm_daddr at)
{
    return (struct small_end){accel->ordinal, at.at};
}

static struct adsm_rect row_of(size_t bytes)
{
    return (struct adsm_rect){.bytes = bytes, .rows = 1, .planes = 1};
}

static int copy_down_now(struct adsm_accel *accel, void *to,
                         struct adsm_daddr from, size_t bytes)
{
    BEGIN(accel, copy_down_now);
    struct small_end source = on(accel, from);
    memcpy(to, small_at_end(&source, bytes), bytes);
    return small_done();
}

/* A row and a box of each kind: `to` and `from` are their ends. */
#define MOVES(name, to_type, to_end, from_type, from_end)                      \
    static int name(struct adsm_accel *accel, adsm_stream stream, to_type to,  \
                    from_type from, size_t bytes)                              \
    {                                                                          \
        BEGIN(accel, name);                                                    \
        return small_move(accel, stream, to_end, from_end, row_of(bytes));     \
    }                                                                          \
    static int name##_rect(struct adsm_accel *accel, adsm_stream stream,       \
                           to_type to, from_type from,                         \
                           const struct adsm_rect *rect)                       \
    {                                                                          \
        if (!small.boxes)                                                      \
            return ADSM_E_UNSUPPORTED;                                         \
        BEGIN(accel, name##_rect);                                             \
        return small_move(accel, stream, to_end, from_end, *rect);             \
    }

MOVES(copy_up, struct adsm_daddr, on(accel, to), const void *, on_host(from))
MOVES(copy_down, void *, on_host(to), struct adsm_daddr, on(accel, from))
MOVES(copy_device, struct adsm_daddr, on(accel, to), struct adsm_daddr,
      on(accel, from))

static int copy_peer(struct adsm_accel *accel, adsm_stream stream,
                     struct adsm_daddr to, struct adsm_accel *other,
                     struct adsm_daddr from, size_t bytes)
{
    BEGIN(accel, copy_peer);
    return small_move(accel, stream, on(accel, to), on(other, from),
                      row_of(bytes));
}

static int copy_peer_rect(struct adsm_accel *accel, adsm_stream stream,
                          struct adsm_daddr to, struct adsm_accel *other,
                          struct adsm_daddr from, const struct adsm_rect *rect)
{
    if (!small.boxes)
        return ADSM_E_UNSUPPORTED;
    BEGIN(accel, copy_peer_rect);
    return small_move(accel, stream, on(accel, to), on(other, from), *rect);
}

/* ---- devices ----------------------------------------------------------------- */

static int start(int *devices)
{
    BEGIN(NULL, start);
    *devices = small.count;
    return small_done();
}

static int describe(int ordinal, char *name, size_t name_bytes,
                    size_t *total_bytes)
{
    BEGIN(NULL, describe);
    if (name)
        snprintf(name, name_bytes, "small device %d", ordinal);
    if (total_bytes)
        *total_bytes = small.memory[ordinal];
    return small_done();
}

static int context_primary(int ordinal, void **context)
{
    BEGIN(NULL, context_primary);
    *context = &small.context[ordinal];
    return small_done();
}

static void context_release(int ordinal)
{
    (void)ordinal;
}

static int peer_can(int ordinal, int other, bool *can)
{
    BEGIN(NULL, peer_can);
    *can = small.peers && ordinal != other;
    return small_done();
}

static bool memory_is_managed(struct adsm_accel *accel, struct adsm_daddr at)
{
    return false;
}

static int range_granule(struct adsm_accel *accel, size_t *bytes)
{
    return adsm_accel_fail(ADSM_E_UNSUPPORTED, "no windows", NULL);
}

static const struct adsm_accel_ops table = {
    .stream_legacy = (adsm_stream)1,
    .stream_per_thread = (adsm_stream)2,
    .start = start,
    .describe = describe,
    .context_primary = context_primary,
    .context_release = context_release,
    .context_wait = small_context_wait,
    .stream_create = small_stream_create,
    .stream_destroy = small_stream_destroy,
    .stream_order = small_stream_order,
    .event_create = small_event_create,
    .event_destroy = small_event_destroy,
    .event_record = small_event_record,
    .event_query = small_event_query,
    .event_wait = small_event_wait,
    .copy_up = copy_up,
    .copy_down = copy_down,
    .copy_down_now = copy_down_now,
    .copy_device = copy_device,
    .set_device = small_set_device,
    .copy_up_rect = copy_up_rect,
    .copy_down_rect = copy_down_rect,
    .copy_device_rect = copy_device_rect,
    .peer_can = peer_can,
    .copy_peer = copy_peer,
    .copy_peer_rect = copy_peer_rect,
    .host_call = small_host_call,
    .host_pin = host_pin,
    .host_unpin = host_unpin,
    .memory_alloc = memory_alloc,
    .memory_free = memory_free,
    .memory_info = memory_info,
    .memory_is_managed = memory_is_managed,
    .range_granule = range_granule,
    .launch = small_launch,
};

/* ---- for tests ---------------------------------------------------------------- */

void small_begin(int devices)
{
    small.count = devices;
    for (int i = 0; i < SMALL_DEVICES; i++) {
        small.memory[i] = SIZE_MAX / 2;
        small.stream[i] = (struct small_stream){.live = true, .ordinal = i};
    }
    setenv("ADSM_ADDRESS", "translate", 1);
    adsm_accel_replace(&table);
}

void small_set_pace(enum small_pace pace)
{
    small.pace = pace;
}

void small_set_memory(int ordinal, size_t bytes)
{
    small.memory[ordinal] = bytes;
}

void small_set_boxes(bool taken)
{
    small.boxes = taken;
}

void small_set_peers(bool reach)
{
    small.peers = reach;
}

void small_fail(enum small_op op, unsigned n, int status)
{
    small.fails = op;
    small.fails_in = n;
    small.status = status;
    small.failed = false;
}

bool small_has_failed(void)
{
    small.fails_in = 0;
    return small.failed;
}

void small_lose(int ordinal)
{
    small.lost[ordinal] = true;
}

unsigned small_calls(enum small_op op)
{
    return small.calls[op];
}

size_t small_memory_used(void)
{
    size_t bytes = 0;
    for (int i = 0; i < SMALL_DEVICES; i++)
        bytes += small.used[i];
    return bytes;
}

size_t small_pinned(void)
{
    size_t count = 0;
    for (int i = 0; i < SMALL_MOST; i++)
        count += small.pin[i].bytes != 0;
    return count;
}

size_t small_pending(void)
{
    return small.pending;
}
