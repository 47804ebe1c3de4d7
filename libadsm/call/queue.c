/* Tasks that wait: made of calls, waited for, forgotten. See queue.h. */
#include "call/waiting.h"

#include "base/futex.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/quiet.h"
#include "base/stats.h"
#include "call/detail.h"
#include "call/policy.h"
#include "mm/object/awaited.h"
#include "range/box.h"
#include "range/check.h"
#include "range/prepare.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Somebody who waits: on his stack. */
struct waiter {
    bool (*over)(const void *what);
    const void *what;
    struct waiter *next;
    _Atomic uint32_t woken; /* futex word */
};

static struct {
    struct adsm_lock lock;
    struct adsm_waiting *first, *last; /* those that are not begun */
    int count, busy; /* of these, and of those that are being begun */
    uint64_t made;
    int failure; /* the first one that nobody has heard of yet */
    char sentence[256];
    struct waiter *waiters;
    _Atomic bool ended;
} queue = {.lock = ADSM_LOCK_INIT(ADSM_RANK_QUEUE)};

void adsm_queue_lock(void)
{
    adsm_lock_acquire(&queue.lock);
}

void adsm_queue_unlock(void)
{
    adsm_lock_release(&queue.lock);
}

bool adsm_queue_has_ended(void)
{
    return queue.ended;
}

/* ---- who waits ----------------------------------------------------------------- */

/* Wake those for whom it is over. The lock is held. */
static void look_at_waiters(void)
{
    for (struct waiter **at = &queue.waiters, *w; (w = *at);) {
        if (!queue.ended && !w->over(w->what)) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        atomic_store(&w->woken, 1);
        adsm_futex_wake(&w->woken, 1);
    }
}

/* Until it is over, which is asked with the lock held. Return: was it not yet?
 * Signal: fault path */
static bool wait_until(bool (*over)(const void *what), const void *what)
{
    struct waiter waiter = {.over = over, .what = what};
    adsm_queue_lock();
    bool waits = !queue.ended && !over(what);
    if (waits) {
        waiter.next = queue.waiters;
        queue.waiters = &waiter;
    }
    adsm_queue_unlock();
    if (!waits)
        return false;
    uint64_t opened = adsm_quiet_wait_begin(); /* it may be long */
    while (!atomic_load(&waiter.woken))
        adsm_futex_wait(&waiter.woken, 0);
    adsm_quiet_wait_end(opened);
    return true;
}

/* Tasks leave in any order: the oldest one that is left tells. */
static bool are_begun(const void *number)
{
    return !queue.first || queue.first->number > *(const uint64_t *)number;
}

void adsm_queue_drain(void)
{
    if (atomic_load(&adsm_awaited_tasks) == 0 || adsm_queue_is_mine())
        return;
    adsm_queue_lock();
    uint64_t last = queue.made;
    adsm_queue_unlock();
    (void)wait_until(are_begun, &last);
}

struct access {
    const struct adsm_object *object;
    size_t begin, end;
    bool writes;
};

static bool comes_behind_none(const void *what)
{
    const struct access *access = what;
    return !adsm_order_meets(access->object, access->begin, access->end,
                             access->writes);
}

/* Signal: fault path. The threads of devices are what others wait for. */
static bool meets(const struct adsm_object *object, size_t offset, size_t bytes,
                  bool writes)
{
    return !adsm_queue_is_mine() && !queue.ended &&
           adsm_order_meets(object, offset, offset + bytes, writes);
}

/* Signal: fault path */
static void await(const struct adsm_object *object, size_t offset, size_t bytes,
                  bool writes)
{
    struct access access = {object, offset, offset + bytes, writes};
    if (adsm_queue_is_mine())
        return;
    if (!object)
        adsm_queue_drain();
    else if (wait_until(comes_behind_none, &access))
        ADSM_COUNT(task_waits, 1);
}

void adsm_queue_init(void)
{
    static const struct adsm_awaited_ops ops = {meets, await};
    adsm_awaited_set(&ops);
}

/* ---- failures ------------------------------------------------------------------ */

static void keep_failure(int rc)
{
    if (queue.failure != ADSM_OK)
        return;
    queue.failure = rc;
    snprintf(queue.sentence, sizeof queue.sentence, "%s", adsm_detail_text());
}

int adsm_queue_failure(void)
{
    char sentence[sizeof queue.sentence];
    adsm_queue_lock();
    int rc = queue.failure;
    memcpy(sentence, queue.sentence, sizeof sentence);
    queue.failure = ADSM_OK;
    adsm_queue_unlock();
    return rc == ADSM_OK ? rc : adsm_detail(rc, "%s", sentence);
}

/* ---- the end of a task ---------------------------------------------------------- */

static void unlink_waiting(struct adsm_waiting *waiting)
{
    *(waiting->prev ? &waiting->prev->next : &queue.first) = waiting->next;
    *(waiting->next ? &waiting->next->prev : &queue.last) = waiting->prev;
    queue.count--;
    atomic_fetch_sub(&adsm_awaited_tasks, 1);
}

/* All tasks of a call are begun, with its status. Who asks for it is told. */
static void tell_begun(struct adsm_waiting_call *call)
{
    call->ended.status = call->status;
    if (call->event)
        adsm_event_complete(call->event, &call->ended);
}

/* Nobody uses the call any more. */
static void end_call(struct adsm_task *task, int status, bool wait)
{
    adsm_progress_end(task->progress, status, wait);
    adsm_task_free(task);
}

/* The lock is held. Return: are these all of its call? */
static bool count_begun(struct adsm_waiting *waiting, int rc)
{
    struct adsm_waiting_call *call = waiting->call;
    const struct adsm_ended *ended = &waiting->task->ended;
    if (rc != ADSM_OK && call->status == ADSM_OK) {
        call->status = rc;
        snprintf(call->sentence, sizeof call->sentence, "%s",
                 adsm_detail_text());
    }
    if (rc != ADSM_OK && !call->waited)
        keep_failure(rc);
    for (int i = 0; i < ended->count; i++)
        adsm_ended_add(&call->ended, ended->fences[i]);
    return --call->left == 0;
}

/* Who waits for the call is told before what comes behind it is begun: so nobody
 * sees the end of a call before that of one it comes behind. */
void adsm_queue_begun(struct adsm_waiting *waiting, int rc)
{
    struct adsm_waiting_call *call = waiting->call;
    struct adsm_task *own = waiting->task != call->task ? waiting->task : NULL;
    if (own && own->ended.count > 0)
        adsm_progress_add(call->task->progress, own->ended.fences[0]);
    adsm_queue_lock();
    bool last = count_begun(waiting, rc);
    adsm_queue_unlock();
    if (last)
        tell_begun(call);
    adsm_queue_lock();
    unlink_waiting(waiting);
    adsm_order_leave(waiting, adsm_queue_ready);
    queue.busy--;
    last = --call->inside == 0; /* nobody else uses the call any more */
    bool ends = last && !call->waited;
    if (last)
        call->begun = true; /* who waits may free it from here on */
    look_at_waiters();
    adsm_queue_unlock();
    adsm_queue_wake();
    adsm_task_free(own);
    if (ends)
        end_call(call->task, call->status, false);
}

void adsm_queue_begins(void)
{
    queue.busy++;
}

void adsm_queue_end(void)
{
    enum { TRIES = 10000 };
    if (adsm_queue_is_mine())
        return;
    adsm_queue_lock();
    queue.ended = true;
    atomic_store(&adsm_awaited_tasks, 0);
    look_at_waiters();
    bool idle = queue.busy == 0;
    adsm_queue_unlock();
    /* What begins a task is soon through, but where it waits for a device. */
    for (int i = 0; i < TRIES && !idle; i++) {
        nanosleep(&(struct timespec){0, 100 * 1000}, NULL);
        adsm_queue_lock();
        idle = queue.busy == 0;
        adsm_queue_unlock();
    }
}

/* ---- tasks of a call ------------------------------------------------------------- */

/* A function of the program that says which boxes there are may use what is only
 * there while the call is made. */
static bool asks_program(const struct adsm_task *task)
{
    for (int i = 0; i < task->count; i++)
        if (task->args[i].how == ADSM_BOXED && task->args[i].boxes)
            return true;
    return false;
}

bool adsm_queue_takes(const struct adsm_task *task)
{
    return task->policy->place && !task->whole && !task->direct &&
           task->part_count > 0 && !adsm_check_is_on() &&
           !adsm_queue_is_mine() && !asks_program(task);
}

/* Of one part, or all of a call whose parts are combined behind them. */
static int most_wants(const struct adsm_task *task)
{
    int n = 0;
    for (int k = 0; k < task->operand_count; k++)
        n += task->operands[k].wants;
    return n;
}

/* Beyond the array's edge the kernel may find what lies on its other side. */
static void widen_read(struct adsm_want *want)
{
    const adsmBox *shape = &want->array.shape;
    if (want->edge != ADSM_EDGE_WRAP || adsm_box_is_empty(&want->read))
        return;
    for (int d = 0; d < shape->nd; d++)
        if (want->around.lo[d] < 0 || want->around.hi[d] > shape->hi[d]) {
            want->read.lo[d] = 0;
            want->read.hi[d] = shape->hi[d];
        }
}

static void take_use(struct adsm_waiting *waiting, struct adsm_want *want)
{
    struct adsm_waiting_use *use = &waiting->uses[waiting->use_count++];
    const adsmBox *boxes[] = {&want->read, &want->write};
    widen_read(want);
    *use =
        (struct adsm_waiting_use){waiting, want, SIZE_MAX, 0, NULL, NULL, NULL};
    for (int i = 0; i < 2; i++) {
        if (adsm_box_is_empty(boxes[i]))
            continue;
        adsmBox flat = adsm_prepare_flat(&want->array, boxes[i]);
        if ((size_t)flat.lo[0] < use->begin)
            use->begin = (size_t)flat.lo[0];
        if ((size_t)flat.hi[0] > use->end)
            use->end = (size_t)flat.hi[0];
    }
}

/* What the parts from `first` on use. */
static int take_uses(struct adsm_waiting *waiting, int first, int count)
{
    struct adsm_task *task = waiting->task, *call = waiting->call->task;
    size_t most = (size_t)most_wants(call) * (size_t)count;
    struct adsm_want *wants =
        adsm_task_get(task, most, sizeof *wants, "arguments");
    waiting->uses =
        adsm_task_get(task, most, sizeof *waiting->uses, "arguments");
    if (!wants || !waiting->uses)
        return ADSM_E_NOMEM;
    for (int i = first; i < first + count; i++)
        for (int k = 0; k < call->operand_count; k++) {
            int n =
                adsm_operand_want(&call->operands[k], &call->parts[i], wants);
            for (int j = 0; j < n; j++)
                take_use(waiting, wants++);
        }
    return ADSM_OK;
}

/* What a part is refused for when it is cut into pieces is said of the call. */
static int check_pieces(struct adsm_task *task)
{
    struct adsm_split_part *pieces;
    int count;
    return task->opts.chunks > 1
               ? adsm_task_pieces(task, false, &pieces, &count)
               : ADSM_OK;
}

static int make_task(struct adsm_waiting_call *call, int part, bool one,
                     struct adsm_waiting **made)
{
    struct adsm_task *task = call->task;
    int rc = one ? ADSM_OK : adsm_task_part(call->task, part, &task);
    if (rc != ADSM_OK)
        return rc;
    struct adsm_waiting *waiting =
        adsm_task_get(task, 1, sizeof *waiting, "tasks");
    if (!waiting) {
        if (!one)
            adsm_task_free(task);
        return ADSM_E_NOMEM;
    }
    *made = waiting;
    memset(waiting, 0, sizeof *waiting);
    waiting->task = task;
    waiting->call = call;
    waiting->device = ADSM_ANY_DEVICE;
    waiting->placed = one || !adsm_task_has_parts(&call->task->opts);
    if (waiting->placed)
        waiting->device = call->task->numbers[call->task->parts[part].device];
    waiting->indices = call->task->work && !one
                           ? call->task->work[part]
                           : adsm_split_indices(&call->task->parts[part].box);
    waiting->before = 1; /* until all of the call are entered */
    return take_uses(waiting, part, one ? call->task->part_count : 1);
}

/* ---- entered ---------------------------------------------------------------------- */

/* Behind calls of `after` that are not begun. */
static int enter_after(struct adsm_waiting *waiting)
{
    const adsmOpts *o = &waiting->call->task->opts;
    int rc = ADSM_OK;
    for (struct adsm_waiting *w = o->afters > 0 ? queue.first : NULL;
         w && rc == ADSM_OK; w = w->next)
        for (int i = 0; i < o->afters && rc == ADSM_OK; i++)
            if (w->call->event && w->call->event == o->after[i].id)
                rc = adsm_order_behind(w, waiting);
    return rc;
}

static int enter(struct adsm_waiting *waiting)
{
    int rc = enter_after(waiting);
    if (rc == ADSM_OK)
        rc = adsm_order_enter(waiting);
    if (rc != ADSM_OK)
        return rc;
    waiting->number = ++queue.made;
    waiting->prev = queue.last;
    *(queue.last ? &queue.last->next : &queue.first) = waiting;
    queue.last = waiting;
    queue.count++;
    atomic_fetch_add(&adsm_awaited_tasks, 1);
    ADSM_COUNT(tasks, 1);
    return ADSM_OK;
}

/* Those that were entered, where not all could be. The lock is held. */
static void take_back(struct adsm_waiting **made, int entered)
{
    for (int i = 0; i < entered; i++) {
        unlink_waiting(made[i]);
        adsm_order_leave(made[i], adsm_queue_ready);
    }
    look_at_waiters();
}

/* Older tasks hold on to those that were behind them until they are begun. */
static void free_all(struct adsm_waiting **made, int count, bool one)
{
    adsm_queue_drain();
    for (int i = 0; i < count && !one; i++)
        adsm_task_free(made[i]->task);
}

/* Close what those that were entered use. */
static int claim_all(struct adsm_waiting **made, int count)
{
    int rc = ADSM_OK;
    for (int i = 0; i < count && rc == ADSM_OK; i++)
        for (int k = 0; k < made[i]->use_count && rc == ADSM_OK; k++)
            rc = adsm_spread_claim(made[i]->uses[k].want);
    return rc;
}

static int enter_all(struct adsm_waiting **made, int count, bool one)
{
    int rc = ADSM_OK, n;
    adsm_quiet_enter(); /* once for all locks */
    adsm_queue_lock();
    for (n = 0; n < count; n++)
        if ((rc = enter(made[n])) != ADSM_OK)
            break;
    adsm_queue_unlock();
    if (rc == ADSM_OK)
        rc = claim_all(made, count);
    adsm_queue_lock();
    for (int i = 0; i < count && rc == ADSM_OK; i++)
        if (--made[i]->before == 0)
            adsm_queue_ready(made[i]);
    if (rc != ADSM_OK)
        take_back(made, n);
    adsm_queue_unlock();
    adsm_queue_wake();
    adsm_quiet_leave();
    if (rc != ADSM_OK)
        free_all(made, count, one);
    return rc;
}

static bool has_room(const void *count)
{
    return queue.count == 0 ||
           queue.count + *(const int *)count <= ADSM_QUEUE_TASKS;
}

static void wait_for_room(int count)
{
    if (atomic_load(&adsm_awaited_tasks) + (uint32_t)count <= ADSM_QUEUE_TASKS)
        return;
    if (wait_until(has_room, &count))
        adsm_log_once(ADSM_LOG_INFO,
                      "a call waits for room: %d tasks are not begun",
                      ADSM_QUEUE_TASKS);
}

static int make_tasks(struct adsm_waiting_call *call, int count, bool one,
                      struct adsm_waiting **made)
{
    int rc = ADSM_OK, i;
    for (i = 0; i < count && rc == ADSM_OK; i++) {
        made[i] = NULL;
        rc = make_task(call, i, one, &made[i]);
    }
    for (int k = 0; k < i && rc != ADSM_OK && !one; k++)
        if (made[k])
            adsm_task_free(made[k]->task);
    return rc;
}

/* What the program gave of the call is read no more behind this. */
static int detach(struct adsm_waiting_call *call)
{
    adsmOpts *o = &call->task->opts;
    int rc = ADSM_OK;
    call->waited = o->sync != 0;
    if (o->event || o->then)
        call->event = adsm_event_reserve();
    if (o->event)
        o->event->id = call->event;
    if (o->then)
        rc = adsm_event_follow_open(call->event, o->then, o->then_arg);
    o->event = NULL;
    o->then = NULL;
    return rc == ADSM_OK ? rc
                         : adsm_detail_cause(rc, "the call is made, but what "
                                                 "follows it cannot run");
}

static bool is_begun(const void *call)
{
    return ((const struct adsm_waiting_call *)call)->begun;
}

/* Without tasks: there is no memory for them, or they use memory of which there
 * are no parts. */
static void begin_at_once(struct adsm_waiting_call *call)
{
    adsm_queue_drain();
    (void)adsm_detail(ADSM_OK, "%s", "");
    call->waited = true;
    call->begun = true;
    call->status = adsm_task_begin(call->task);
    call->ended = call->task->ended;
    snprintf(call->sentence, sizeof call->sentence, "%s", adsm_detail_text());
    tell_begun(call);
}

/* When all of it is begun, or with `ends` when it has ended; which nobody else is
 * told. */
static int finish(struct adsm_waiting_call *call, bool ends)
{
    (void)wait_until(is_begun, call);
    int rc = call->status;
    int waited = ends ? adsm_ended_wait(&call->ended) : ADSM_OK;
    if (rc != ADSM_OK)
        (void)adsm_detail(rc, "%s", call->sentence);
    else if (waited != ADSM_OK)
        rc = adsm_detail_cause(waited, "kernel '%s'", call->task->kernel.name);
    end_call(call->task, rc, ends);
    return rc;
}

int adsm_queue_put(struct adsm_task *task, int *status)
{
    /* A call whose parts are combined behind them is one task. */
    bool one = adsm_task_accumulates(task);
    int count = one ? 1 : task->part_count;
    struct adsm_waiting_call *call =
        adsm_region_zeros(&task->region, 1, sizeof *call);
    struct adsm_waiting **made =
        adsm_task_get(task, (size_t)count, sizeof(void *), "tasks");
    *status = ADSM_OK;
    if (!call || !made)
        return ADSM_E_NOMEM;
    call->task = task;
    call->policy = task->policy;
    call->left = call->inside = count;
    int rc = check_pieces(task);
    if (rc == ADSM_OK)
        rc = adsm_queue_start(task);
    if (rc == ADSM_OK)
        rc = make_tasks(call, count, one, made);
    if (rc == ADSM_OK && !one && (rc = adsm_task_begin_late(task)) != ADSM_OK)
        free_all(made, count, one);
    if (rc != ADSM_OK)
        return rc;
    wait_for_room(count);
    int follows = detach(call);
    bool waited = call->waited;
    bool entered = enter_all(made, count, one) == ADSM_OK;
    if (!entered)
        begin_at_once(call);
    if (waited || !entered)
        *status = finish(call, waited);
    if (*status == ADSM_OK)
        *status = follows;
    return ADSM_OK;
}
