/*
 * Streams and events of the small accelerator, and when work runs; see
 * device.h. Lock: that of the call.
 */
#include "small/parts.h"

#include <stdlib.h>
#include <string.h>

enum kind { MOVE, SET, KERNEL, CALL, RECORD, AWAIT };

struct small_task {
    struct small_task *next;
    enum kind kind;
    struct small_end to, from;
    struct adsm_rect rect;
    uint8_t value;
    const struct small_kernel *kernel;
    uint8_t argument[SMALL_ARGUMENTS][64];
    void (*call)(void *arg);
    void *arg;
    struct small_event *event;
    struct small_stream *other; /* where the event was recorded */
    uint64_t number;
    void *bytes; /* host bytes as they were when the call was made */
};

static size_t span_of(const struct adsm_rect *rect, const size_t pitch[2])
{
    return (rect->planes - 1) * pitch[1] + (rect->rows - 1) * pitch[0] +
           rect->bytes;
}

static void move(struct small_task *task)
{
    const struct adsm_rect *rect = &task->rect;
    uint8_t *to = small_at_end(&task->to, span_of(rect, rect->to_pitch));
    const uint8_t *from =
        task->bytes
            ? task->bytes
            : small_at_end(&task->from, span_of(rect, rect->from_pitch));
    for (size_t p = 0; p < rect->planes; p++)
        for (size_t r = 0; r < rect->rows; r++)
            memmove(to + p * rect->to_pitch[1] + r * rect->to_pitch[0],
                    from + p * rect->from_pitch[1] + r * rect->from_pitch[0],
                    rect->bytes);
}

static void run_until(struct small_stream *stream,
                      const struct small_event *event, uint64_t number);

static void run_kernel(struct small_task *task)
{
    void *arguments[SMALL_ARGUMENTS];
    for (int i = 0; i < SMALL_ARGUMENTS; i++)
        arguments[i] = task->argument[i];
    task->kernel->run(arguments);
}

/* The oldest piece of work of a stream. */
static void step(struct small_stream *stream)
{
    struct small_task *task = stream->first;
    stream->first = task->next;
    if (!stream->first)
        stream->last = &stream->first;
    small.pending--;
    switch (task->kind) {
    case MOVE:
        move(task);
        break;
    case SET:
        memset(small_at_end(&task->to, task->rect.bytes), task->value,
               task->rect.bytes);
        break;
    case KERNEL:
        run_kernel(task);
        break;
    case CALL:
        task->call(task->arg);
        break;
    case RECORD:
        task->event->reached = task->number;
        break;
    case AWAIT:
        run_until(task->other, task->event, task->number);
        break;
    }
    free(task->bytes);
    free(task);
}

static void run_until(struct small_stream *stream,
                      const struct small_event *event, uint64_t number)
{
    while (event->reached < number) {
        small_check(stream->first, "an event that is never reached");
        step(stream);
    }
}

static void run_stream(struct small_stream *stream)
{
    while (stream->first)
        step(stream);
}

static void run_some(void)
{
    for (int i = 0; i < 4; i++) {
        struct small_stream *stream = &small.stream[rand_r(&small.chance) % 64];
        if (stream->first)
            step(stream);
    }
}

static struct small_stream *stream_of(struct adsm_accel *accel,
                                      adsm_stream handle)
{
    struct small_stream *stream =
        handle ? handle : &small.stream[accel->ordinal];
    small_check(stream->ordinal == accel->ordinal && (!handle || stream->live),
                "work in a stream that is not the device's");
    return stream;
}

static struct small_task *enqueue(struct adsm_accel *accel, adsm_stream handle,
                                  struct small_task work)
{
    struct small_stream *stream = stream_of(accel, handle);
    struct small_task *task = malloc(sizeof *task);
    small_check(task, "no memory");
    *task = work;
    if (!stream->last)
        stream->last = &stream->first;
    *stream->last = task;
    stream->last = &task->next;
    small.pending++;
    return task;
}

/* What is enqueued runs as the pace says. */
static int submitted(struct adsm_accel *accel, adsm_stream handle)
{
    if (small.pace == SMALL_EAGER)
        run_stream(stream_of(accel, handle));
    else if (small.pace == SMALL_MIXED)
        run_some();
    return small_done();
}

/* Host memory that is not page-locked is read or written before the call
 * returns, when all before it in the stream has run. */
int small_move(struct adsm_accel *accel, adsm_stream stream,
               struct small_end to, struct small_end from,
               struct adsm_rect rect)
{
    size_t to_span = span_of(&rect, rect.to_pitch);
    size_t from_span = span_of(&rect, rect.from_pitch);
    bool is_read =
        from.ordinal < 0 && !small_range_of(small.pin, -1, from.at, from_span);
    if (is_read)
        run_stream(stream_of(accel, stream));
    struct small_task *task =
        enqueue(accel, stream,
                (struct small_task){
                    .kind = MOVE, .to = to, .from = from, .rect = rect});
    if (is_read) {
        task->bytes = malloc(from_span);
        small_check(task->bytes, "no memory");
        memcpy(task->bytes, (void *)(uintptr_t)from.at, from_span);
    }
    if (to.ordinal < 0 && !small_range_of(small.pin, -1, to.at, to_span))
        run_stream(stream_of(accel, stream));
    return submitted(accel, stream);
}

int small_set_device(struct adsm_accel *accel, adsm_stream stream,
                     struct adsm_daddr to, uint8_t value, size_t bytes)
{
    BEGIN(accel, set_device);
    enqueue(accel, stream,
            (struct small_task){.kind = SET,
                                .to = {accel->ordinal, to.at},
                                .value = value,
                                .rect.bytes = bytes});
    return submitted(accel, stream);
}

int small_host_call(struct adsm_accel *accel, adsm_stream stream,
                    void (*call)(void *arg), void *arg)
{
    BEGIN(accel, host_call);
    enqueue(accel, stream,
            (struct small_task){.kind = CALL, .call = call, .arg = arg});
    return submitted(accel, stream);
}

int small_launch(struct adsm_accel *accel, void *kernel, const unsigned grid[3],
                 const unsigned block[3], size_t shared_bytes,
                 adsm_stream stream, void **arguments)
{
    BEGIN(accel, launch);
    struct small_task work = {.kind = KERNEL, .kernel = kernel};
    for (int i = 0; i < work.kernel->count; i++)
        memcpy(work.argument[i], arguments[i], work.kernel->bytes[i]);
    enqueue(accel, stream, work);
    return submitted(accel, stream);
}

/* ---- streams and events ------------------------------------------------------ */

int small_stream_create(struct adsm_accel *accel, adsm_stream *handle)
{
    BEGIN(accel, stream_create);
    struct small_stream *stream = &small.stream[SMALL_DEVICES];
    while (stream->live)
        stream++;
    stream->live = true;
    stream->ordinal = accel->ordinal;
    *handle = stream;
    return small_done();
}

int small_stream_destroy(struct adsm_accel *accel, adsm_stream handle)
{
    BEGIN(accel, stream_destroy);
    struct small_stream *stream = stream_of(accel, handle);
    run_stream(stream);
    stream->live = false;
    return small_done();
}

static struct small_event *event_of(adsm_device_event handle)
{
    struct small_event *event = handle;
    small_check(event->live, "an event that is none");
    return event;
}

int small_stream_order(struct adsm_accel *accel, adsm_stream stream,
                       adsm_device_event handle)
{
    BEGIN(accel, stream_order);
    struct small_event *event = event_of(handle);
    enqueue(accel, stream,
            (struct small_task){.kind = AWAIT,
                                .event = event,
                                .other = event->stream,
                                .number = event->recorded});
    return submitted(accel, stream);
}

int small_event_create(struct adsm_accel *accel, adsm_device_event *handle)
{
    BEGIN(accel, event_create);
    struct small_event *event = small.event;
    while (event->live)
        event++;
    /* Numbers go on: work that names the event before is not misled. */
    event->live = true;
    *handle = event;
    return small_done();
}

int small_event_destroy(struct adsm_accel *accel, adsm_device_event handle)
{
    BEGIN(accel, event_destroy);
    event_of(handle)->live = false;
    return small_done();
}

int small_event_record(struct adsm_accel *accel, adsm_device_event handle,
                       adsm_stream stream)
{
    BEGIN(accel, event_record);
    struct small_event *event = event_of(handle);
    event->stream = stream_of(accel, stream);
    enqueue(accel, stream,
            (struct small_task){
                .kind = RECORD, .event = event, .number = ++event->recorded});
    return submitted(accel, stream);
}

int small_event_query(struct adsm_accel *accel, adsm_device_event handle,
                      bool *reached)
{
    BEGIN(accel, event_query);
    struct small_event *event = event_of(handle);
    *reached = event->reached >= event->recorded;
    return small_done();
}

int small_event_wait(struct adsm_accel *accel, adsm_device_event handle,
                     uint64_t spin_ns)
{
    BEGIN(accel, event_wait);
    struct small_event *event = event_of(handle);
    run_until(event->stream, event, event->recorded);
    return small_done();
}

static void run_all(int ordinal)
{
    for (struct small_stream *s = small.stream; s < small.stream + SMALL_MOST;
         s++)
        if (ordinal < 0 || s->ordinal == ordinal)
            run_stream(s);
}

int small_context_wait(struct adsm_accel *accel)
{
    BEGIN(accel, context_wait);
    run_all(accel->ordinal);
    return small_done();
}

void small_run(void)
{
    small_lock();
    run_all(-1);
    small_done();
}
