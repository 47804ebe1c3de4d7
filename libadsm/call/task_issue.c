/* Parts on their way: copies, launches, fences. */
#include "call/task.h"

#include "accel/error.h"
#include "accel/launched.h"
#include "base/stats.h"
#include "base/trace.h"
#include "mm/doors/boundary.h"
#include "mm/heap/heap.h"
#include "mm/state/direct.h"
#include "range/box.h"
#include "range/check.h"
#include "call/argument.h"
#include "call/detail.h"

#include <string.h>

/* Views as adsm_device.h has them. */
struct view {
    uint64_t base;
    int64_t pitch[2];
};

/* What is made of all parts at once. */
struct issue {
    struct adsm_part *parts;
    struct adsm_want *wants; /* one part's behind another's */
    struct adsm_grid *grids;
    /* Allocations that the device shares, which have no wants. */
    struct adsm_use *uses;
    int direct;
    /* Of the part that is launched: of each operand, and of each parameter. */
    struct view *views;
    void **values;
};

/* What the region does not have. */
static void discard(struct issue *issue, int count)
{
    for (int i = 0; i < count; i++)
        adsm_check_forget(&issue->parts[i]);
}

/* One part, whose wants begin at `wants`. Return: behind its wants */
static struct adsm_want *make_part(const struct adsm_task *task,
                                   const struct adsm_split_part *box,
                                   struct adsm_want *wants,
                                   struct adsm_part *part)
{
    *part = (struct adsm_part){.accel = task->accels[box->device],
                               .wants = wants,
                               .fetch = task->opts.fetch != 0};
    for (int k = 0; k < task->operand_count; k++)
        if (!task->operands[k].array.direct)
            part->count +=
                adsm_operand_want(&task->operands[k], box, wants + part->count);
    return wants + part->count;
}

/* The whole allocation: of a pointer nobody knows how far it is used. */
static int find_direct(const struct adsm_operand *operand, struct adsm_use *use)
{
    const struct adsm_array *array = &operand->array;
    void *base;
    size_t bytes;
    int rc = adsm_heap_range(array->direct, &base, &bytes);
    *use = (struct adsm_use){
        .object = array->object,
        .home = array->object->home,
        .generation = array->generation,
        .mode = operand->writes ? ADSM_INOUT : ADSM_IN,
        .at = base,
        .bytes = bytes,
    };
    return rc;
}

static int find_all_direct(const struct adsm_task *task, struct issue *issue)
{
    int rc = ADSM_OK;
    issue->direct = 0;
    for (int k = 0; k < task->operand_count && rc == ADSM_OK; k++)
        if (task->operands[k].array.direct)
            rc = find_direct(&task->operands[k], &issue->uses[issue->direct++]);
    return rc;
}

/* The most wants of a part. */
static size_t most_wants(const struct adsm_task *task)
{
    size_t n = 0;
    for (int k = 0; k < task->operand_count; k++)
        n += (size_t)task->operands[k].wants;
    return n;
}

/* Room for all of it. */
static int make_room(struct adsm_task *task, size_t count, struct issue *issue)
{
    struct adsm_region *region = &task->region;
    size_t operands = (size_t)task->operand_count;
    size_t values = (size_t)(task->count + adsm_task_fixed(task));
    issue->parts = adsm_region_get(region, count, sizeof *issue->parts);
    issue->wants =
        adsm_region_get(region, count * most_wants(task), sizeof *issue->wants);
    issue->grids = adsm_region_get(region, count, sizeof *issue->grids);
    issue->uses = adsm_region_get(region, operands, sizeof *issue->uses);
    issue->views = adsm_region_get(region, operands, sizeof *issue->views);
    issue->values = adsm_region_get(region, values, sizeof *issue->values);
    if (issue->parts && issue->wants && issue->grids && issue->uses &&
        issue->views && issue->values)
        return ADSM_OK;
    return adsm_detail(ADSM_E_NOMEM, "no memory for %zu parts of kernel '%s'",
                       count, task->kernel.name);
}

static int make_parts(struct adsm_task *task,
                      const struct adsm_split_part *boxes, int count,
                      struct issue *issue)
{
    int rc = find_all_direct(task, issue);
    struct adsm_want *wants = issue->wants;
    for (int i = 0; i < count && rc == ADSM_OK; i++) {
        wants = make_part(task, &boxes[i], wants, &issue->parts[i]);
        if (task->whole)
            issue->grids[i] = task->grid;
        else
            rc = adsm_task_grid(task, &boxes[i].box, &issue->grids[i]);
    }
    return rc;
}

/* What the kernel gets for memory that is the same for all. */
static void view_direct(const struct adsm_array *array, struct view *view)
{
    size_t pitch[3];
    int nd = array->shape.nd;
    adsm_box_pitches(&array->shape, pitch);
    view->base = array->used.at;
    view->pitch[0] = nd > 1 ? (int64_t)pitch[nd - 2] : 0;
    view->pitch[1] = nd > 2 ? (int64_t)pitch[nd - 3] : 0;
}

/* What the kernel gets for each pointer: the copies of the part's wants. */
static void add_views(const struct adsm_task *task, const struct issue *issue,
                      const struct adsm_want *want, void **values)
{
    for (int i = 0; i < task->count; i++) {
        int k = task->operand_of[i];
        if (k < 0)
            continue;
        struct view *view = values[i] = &issue->views[k];
        if (task->operands[k].array.direct) {
            view_direct(&task->operands[k].array, view);
            continue;
        }
        size_t pitch[2];
        while (want->also)
            want++;
        view->base = adsm_spread_base(want++, pitch).at;
        view->pitch[0] = (int64_t)pitch[0];
        view->pitch[1] = (int64_t)pitch[1];
    }
}

static int launch(const struct adsm_task *task, const struct issue *issue,
                  int part, void *handle, adsm_stream stream)
{
    struct adsm_grid *grid = &issue->grids[part];
    adsm_arguments_values(grid, task->count, task->args, issue->values);
    add_views(task, issue, issue->parts[part].wants,
              issue->values + grid->bound_count);
    grid->launch.kernel = handle;
    grid->launch.act = task->kernel.act;
    grid->launch.stream = stream;
    return adsm_accel_launch(issue->parts[part].accel, &grid->launch);
}

/* What the part waits for is ahead of the timer. */
static int launch_timed(struct adsm_task *task, const struct issue *issue,
                        int part, const struct adsm_split_part *box,
                        adsm_stream stream)
{
    struct adsm_speed *speed = task->kernel.speed;
    struct adsm_accel *accel = issue->parts[part].accel;
    int number = task->numbers[box->device];
    double work =
        task->work ? task->work[box->index] : adsm_split_indices(&box->box);
    struct adsm_timer *timer =
        adsm_speed_begin(speed, task->timed, number, accel, stream, work);
    int rc = launch(task, issue, part, task->handles[box->device], stream);
    adsm_speed_end(speed, number, timer, stream, rc == ADSM_OK);
    return rc;
}

/* Memory that the device shares: in order with what its home is given, */
static int order_direct(const struct issue *issue, const struct adsm_part *part,
                        adsm_stream stream)
{
    int rc = ADSM_OK;
    for (int k = 0; k < issue->direct && rc == ADSM_OK; k++)
        rc = adsm_direct_order(part->accel, stream, issue->uses[k].home);
    return rc;
}

/* ... and closed to the CPU until the fence. */
static int close_direct(const struct issue *issue, struct adsm_fence fence)
{
    int rc = ADSM_OK;
    for (int k = 0; k < issue->direct && rc == ADSM_OK; k++)
        rc = adsm_boundary_used(&issue->uses[k], fence);
    return rc;
}

/* One part: in order behind what it needs, and with a fence behind it. */
static int issue_part(struct adsm_task *task, const struct issue *issue, int i,
                      int count, const struct adsm_split_part *box)
{
    struct adsm_part *part = &issue->parts[i];
    struct adsm_fence fence;
    uint64_t start = adsm_trace_begin();
    adsm_stream stream = adsm_accel_launch_stream(part->accel);
    int rc = adsm_spread_order(part, stream);
    if (rc == ADSM_OK)
        rc = order_direct(issue, part, stream);
    if (rc == ADSM_OK)
        rc = adsm_check_before(part);
    if (rc == ADSM_OK)
        rc = launch_timed(task, issue, i, box, stream);
    if (rc == ADSM_OK)
        rc = adsm_fence_record(part->accel, stream, &fence);
    if (rc == ADSM_OK)
        rc = close_direct(issue, fence);
    if (rc == ADSM_OK) {
        ADSM_COUNT(launches, 1);
        adsm_trace_end(ADSM_TRACE_launch, "launch part", start,
                       adsm_accel_device(part->accel), NULL);
        adsm_launched_add(part->accel, task->kernel.name, i, count);
        adsm_spread_launched(part, fence);
        adsm_ended_add(&task->ended, fence);
        adsm_progress_add(task->progress, fence);
        rc = adsm_check_after(part, fence);
    }
    return rc;
}

static int failed(const struct adsm_task *task, int rc, int part, int count,
                  int device)
{
    const char *advice =
        rc == ADSM_E_DEVICE_NOMEM && task->whole &&
                task->kernel.reach != ADSM_ANY_OBJECT && !task->is_launch
            ? " (a call with options, adsmCallWith, may be made in parts)"
            : "";
    if (rc == ADSM_E_NOT_SHARED)
        (void)adsm_accel_fail(rc, "an object was freed while the call was made",
                              NULL);
    return adsm_detail_cause(rc, "part %d of %d of kernel '%s', on device %d%s",
                             part, count, task->kernel.name, device, advice);
}

/* The most arguments that lie in one object: each may have a copy of its own. */
static int most_in_one_object(const struct adsm_task *task)
{
    int most = 1;
    for (int i = 0; i < task->operand_count; i++) {
        const struct adsm_object *object = task->operands[i].array.object;
        int n = 0;
        for (int k = 0; object && k < task->operand_count; k++)
            n += task->operands[k].array.object == object;
        most = n > most ? n : most;
    }
    return most;
}

/* How many parts from `first` on are of one round, and not more than `most`. */
static int of_round(const struct adsm_split_part *boxes, int first, int count,
                    int most)
{
    int n = 1;
    while (n < most && first + n < count &&
           boxes[first + n].round == boxes[first].round)
        n++;
    return n;
}

/* Begin parts from `first` on. What the first ones have begun is not left undone
 * where there is room for fewer at a time. Return: as all; `*bad` is its part */
static int begin_some(struct issue *issue, int first, int *count, int *bad)
{
    struct adsm_part *parts = issue->parts + first;
    int rc = adsm_spread_begin(parts, *count, bad);
    while (rc == ADSM_E_DEVICE_NOMEM && first > 0 && *count > 1) {
        *count /= 2;
        rc = adsm_spread_begin(parts, *count, bad);
    }
    *bad += first;
    return rc;
}

/* Those that are begun, of `all` parts. Return: as above */
static int issue_some(struct adsm_task *task,
                      const struct adsm_split_part *boxes, struct issue *issue,
                      int first, int count, int all, int *bad)
{
    int rc = ADSM_OK;
    for (int i = first; i < first + count && rc == ADSM_OK; i++) {
        *bad = i;
        rc = issue_part(task, issue, i, all, &boxes[i]);
    }
    adsm_spread_end(issue->parts + first, count);
    return rc;
}

/* What came to each device, for the next call's chunks. */
static void note_brought(const struct adsm_task *task,
                         const struct adsm_split_part *boxes,
                         const struct adsm_part *parts, int count)
{
    for (int d = 0; d < task->devices && !task->whole; d++) {
        double indices = 0;
        size_t bytes = 0;
        for (int i = 0; i < count; i++) {
            if (boxes[i].device != d)
                continue;
            indices += adsm_split_indices(&boxes[i].box);
            for (int k = 0; k < parts[i].count; k++)
                bytes += parts[i].wants[k].brought;
        }
        if (indices > 0)
            adsm_speed_came(task->kernel.speed, task->numbers[d], indices,
                            bytes);
    }
}

int adsm_task_issue(struct adsm_task *task, const struct adsm_split_part *boxes,
                    int count)
{
    struct issue issue;
    int bad = 0, most = adsm_spread_together(most_in_one_object(task)), n;
    int rc = make_room(task, (size_t)count, &issue);
    if (rc == ADSM_OK)
        rc = make_parts(task, boxes, count, &issue);
    if (rc == ADSM_OK)
        rc = adsm_progress_expect(task->progress, count); /* a part has none */
    if (rc != ADSM_OK)
        return rc;
    for (int i = 0; i < count && rc == ADSM_OK; i += n) {
        n = of_round(boxes, i, count, most);
        rc = begin_some(&issue, i, &n, &bad);
        if (rc == ADSM_OK)
            rc = issue_some(task, boxes, &issue, i, n, count, &bad);
    }
    if (rc != ADSM_OK)
        (void)failed(task, rc, bad, count, task->numbers[boxes[bad].device]);
    else
        note_brought(task, boxes, issue.parts, count);
    if (rc == ADSM_OK)
        rc = adsm_task_checked(task, boxes, issue.parts, count);
    discard(&issue, count);
    return rc;
}
