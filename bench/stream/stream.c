/* Threads and their queues; see stream.h. */
#include "stream.h"

#include <pthread.h>
#include <string.h>

enum { STEPS = 4 };

static void (*const steps[STEPS])(const struct converter *, struct task *) = {
    task_load, task_begin, task_look, task_store};

/* Never full: there is room for all tasks and the end. */
struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct task *items[STREAM_TASKS + 1]; /* NULL: no more come */
    int first, count;
};

struct stream {
    const struct converter *converter;
    char *const *files;
    int count, failed;
    struct task tasks[STREAM_TASKS];
    struct queue queues[STEPS]; /* in front of each step; of step 0, unused */
};

struct stage {
    struct stream *stream;
    int step;
};

static void put(struct queue *queue, struct task *task)
{
    pthread_mutex_lock(&queue->lock);
    int at = (queue->first + queue->count++) % (STREAM_TASKS + 1);
    queue->items[at] = task;
    pthread_cond_signal(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
}

static struct task *take(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->count == 0)
        pthread_cond_wait(&queue->filled, &queue->lock);
    struct task *task = queue->items[queue->first];
    queue->first = (queue->first + 1) % (STREAM_TASKS + 1);
    queue->count--;
    pthread_mutex_unlock(&queue->lock);
    return task;
}

/* The first step: a file for each task that is free. */
static void *begin(void *argument)
{
    struct stream *stream = ((struct stage *)argument)->stream;
    for (int i = 0; i < stream->count; i++) {
        struct task *task = take(&stream->queues[0]);
        task->path = stream->files[i];
        steps[0](stream->converter, task);
        put(&stream->queues[1], task);
    }
    put(&stream->queues[1], NULL);
    return NULL;
}

static void *go_on(void *argument)
{
    const struct stage *stage = argument;
    struct stream *stream = stage->stream;
    struct task *task;
    while ((task = take(&stream->queues[stage->step]))) {
        steps[stage->step](stream->converter, task);
        if (stage->step == STEPS - 1)
            stream->failed += task->failed;
        put(&stream->queues[(stage->step + 1) % STEPS], task);
    }
    if (stage->step < STEPS - 1)
        put(&stream->queues[stage->step + 1], NULL);
    return NULL;
}

/* Later steps first: what could not be started has nobody before it. */
static bool run_threads(struct stream *stream)
{
    pthread_t threads[STEPS];
    struct stage stages[STEPS];
    int first = STEPS;
    for (int s = STEPS - 1; s >= 0; s--) {
        stages[s] = (struct stage){stream, s};
        if (pthread_create(&threads[s], NULL, s == 0 ? begin : go_on,
                           &stages[s]) != 0)
            break;
        first = s;
    }
    if (first > 0 && first < STEPS)
        put(&stream->queues[first], NULL);
    for (int s = first; s < STEPS; s++)
        pthread_join(threads[s], NULL);
    return first == 0;
}

static void run_alone(struct stream *stream)
{
    struct task *task = &stream->tasks[0];
    for (int i = 0; i < stream->count; i++) {
        task->path = stream->files[i];
        for (int s = 0; s < STEPS; s++)
            steps[s](stream->converter, task);
        stream->failed += task->failed;
    }
}

int stream_run(const struct converter *converter, char *const *files, int count,
               bool threads)
{
    struct stream stream = {
        .converter = converter, .files = files, .count = count};
    bool ran = true;
    for (int s = 0; s < STEPS; s++) {
        pthread_mutex_init(&stream.queues[s].lock, NULL);
        pthread_cond_init(&stream.queues[s].filled, NULL);
    }
    for (int i = 0; i < STREAM_TASKS; i++)
        put(&stream.queues[0], &stream.tasks[i]);
    if (threads)
        ran = run_threads(&stream);
    else
        run_alone(&stream);
    for (int s = 0; s < STEPS; s++) {
        pthread_mutex_destroy(&stream.queues[s].lock);
        pthread_cond_destroy(&stream.queues[s].filled);
    }
    for (int i = 0; i < STREAM_TASKS; i++)
        picture_free(&stream.tasks[i].picture);
    return ran ? stream.failed : -1;
}
