/*
 * Parts in pieces: as many as the call's options say, or as memory makes
 * necessary, then in rounds; see task.h.
 *
 * Pieces of one round are enqueued one behind the other: a kernel waits for what
 * its own piece reads, so it runs while the next is brought. A round's copies are
 * made as any are, by evicting what was used longest ago: what the round before
 * last left. So while a kernel runs, the results of the last one go to the host
 * and the arguments of the next come to the device, as long as two rounds fit. An
 * array that is read and written keeps its memory until its results are gone, so
 * there what comes next needs room beside both: three rounds.
 */
#include "call/task.h"

#include "accel/store.h"
#include "call/detail.h"
#include "mm/object/object.h"
#include "range/box.h"
#include "range/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- how much a part needs -------------------------------------------------- */

enum { TOGETHER = 3 }; /* most rounds that are to fit */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Of the memory of a device, what copies can have: ranges of other sizes lie
 * between them, and small ones in a page of their own. Where there is little
 * more than a page all are small. */
static size_t usable(struct adsm_accel *accel)
{
    size_t most = adsm_memory_most(accel), between = most / 16;
    size_t page = least(ADSM_STORE_PAGE, most / 2);
    return most - (between > page ? between : page);
}

/* The room that an operand's copy has; a pointer's has whole rows. */
static adsmBox room_of(const struct adsm_operand *operand,
                       const struct adsm_split_part *part)
{
    struct adsm_want wants[ADSM_OPERAND_WANTS];
    (void)adsm_operand_want(operand, part, wants);
    adsmBox room = wants[0].around;
    for (int d = 1; wants[0].rows && d < room.nd; d++) {
        room.lo[d] = 0;
        room.hi[d] = operand->array.shape.hi[d];
    }
    return room;
}

/* Does the home of an operand serve it on a device, without a copy? */
static bool is_at_home(const struct adsm_operand *operand,
                       const struct adsm_accel *accel)
{
    const struct adsm_object *object = operand->array.object;
    return !object->homeless && object->home == accel &&
           operand->edge == ADSM_EDGE_NONE;
}

/* Is the room of operand `i` within that of another one of the same array? Of
 * equal ones the first counts. What all pieces have whole has to be in what all
 * have: a row that lies in one piece does not in the next. */
static bool is_within(const struct adsm_task *task, int i,
                      const struct adsm_split_part *part)
{
    const struct adsm_operand *own = &task->operands[i];
    adsmBox room = room_of(own, part);
    for (int k = 0; k < task->operand_count; k++) {
        const struct adsm_operand *other = &task->operands[k];
        if (k == i ||
            (adsm_operand_is_whole(own) && !adsm_operand_is_whole(other)) ||
            other->array.object != own->array.object ||
            other->array.origin != own->array.origin ||
            !adsm_box_equal(&other->array.shape, &own->array.shape))
            continue;
        adsmBox there = room_of(other, part);
        if (adsm_box_within(&room, &there) &&
            (k < i || !adsm_box_within(&there, &room)))
            return true;
    }
    return false;
}

/* Bytes of the copies of a part: of operands that all parts have whole, or of
 * the others. */
static size_t need(const struct adsm_task *task, const struct adsm_accel *accel,
                   const struct adsm_split_part *part, bool whole)
{
    size_t bytes = 0;
    for (int i = 0; i < task->operand_count; i++) {
        const struct adsm_operand *operand = &task->operands[i];
        if (adsm_operand_is_whole(operand) != whole ||
            is_at_home(operand, accel) || is_within(task, i, part))
            continue;
        adsmBox room = room_of(operand, part);
        bytes += adsm_store_takes(adsm_box_bytes(&room));
    }
    return bytes;
}

/* ---- cutting ---------------------------------------------------------------- */

/* A part of one device that is to be cut. */
struct cut {
    const struct adsm_task *task;
    struct adsm_accel *accel;
    const struct adsm_split_part *part;
    int least;                    /* pieces that were asked for */
    struct adsm_split_part *into; /* room for ADSM_SPLIT_PARTS */
    int grid[3];
};

static int cut_into(struct cut *cut, int parts)
{
    const struct adsm_task *task = cut->task;
    struct adsm_split how = {.range = cut->part->box,
                             .devices = 1,
                             .parts = parts,
                             .align = task->opts.align,
                             .share = {1}};
    adsm_operand_weigh(task->operands, task->operand_count, &how);
    int count = adsm_split_make(&how, cut->into, cut->grid);
    for (int i = 0; i < count; i++) {
        cut->into[i].device = cut->part->device;
        cut->into[i].index = cut->part->index;
        cut->into[i].count = cut->part->count;
    }
    return count;
}

/* The most that so many neighbours need together of what is theirs alone. */
static size_t worst(const struct cut *cut, int count, int together)
{
    size_t last[TOGETHER] = {0}, sum = 0, most = 0;
    for (int i = 0; i < count; i++) {
        sum -= last[i % together];
        last[i % together] = need(cut->task, cut->accel, &cut->into[i], false);
        sum += last[i % together];
        most = sum > most ? sum : most;
    }
    return most;
}

/* Into as few as can be, so that as many neighbours fit. Return: their number;
 * 0: it cannot be */
static int cut_to_fit(struct cut *cut, size_t room, int together)
{
    size_t all = need(cut->task, cut->accel, cut->part, false);
    if (room == 0 || all / room >= ADSM_SPLIT_PARTS)
        return 0;
    int parts = (int)(all / room * (size_t)together) + 1;
    if (parts < cut->least)
        parts = cut->least;
    for (; parts <= ADSM_SPLIT_PARTS; parts += parts / 8 + 1) {
        int count = cut_into(cut, parts);
        if (worst(cut, count, together) <= room)
            return count;
        if (count < parts)
            break;
    }
    return 0;
}

/* Why a part does not fit, however it is cut. */
static int too_large(struct cut *cut, size_t whole, size_t most)
{
    int count = cut_into(cut, ADSM_SPLIT_PARTS);
    size_t least = whole + worst(cut, count, 1);
    return adsm_detail(ADSM_E_DEVICE_NOMEM,
                       "kernel '%s' needs %zu bytes of device %d for the "
                       "smallest part its range can be cut into, of which "
                       "%zu can be had",
                       cut->task->kernel.name, least,
                       adsm_accel_device(cut->accel), most);
}

/* How many neighbours are on the device where all three stages overlap. */
static int together_best(const struct adsm_task *task)
{
    for (int i = 0; i < task->operand_count; i++)
        if (task->operands[i].reads && task->operands[i].writes)
            return TOGETHER;
    return TOGETHER - 1;
}

/* So that they fit. Return: ADSM_OK; a status with a sentence */
static int fit(struct cut *cut, int *count)
{
    size_t most = usable(cut->accel);
    size_t whole = need(cut->task, cut->accel, cut->part, true);
    size_t room = whole < most ? most - whole : 0;
    *count = 0;
    for (int n = together_best(cut->task); n > 0 && *count == 0; n--)
        *count = cut_to_fit(cut, room, n);
    return *count > 0 ? ADSM_OK : too_large(cut, whole, most);
}

static int cut_part(struct cut *cut, bool rounds, int *count)
{
    const struct adsm_task *task = cut->task;
    const struct adsm_operand_call about = {task->kernel.name, task->range,
                                            true, task->numbers};
    int rc = ADSM_OK;
    if (rounds && !adsm_task_has_parts(&task->opts))
        rc = fit(cut, count);
    else
        *count = cut_into(cut, cut->least);
    return rc == ADSM_OK
               ? adsm_operand_check(&about, task->operands, task->operand_count,
                                    cut->into, *count, cut->grid)
               : rc;
}

/* ---- all parts -------------------------------------------------------------- */

/* Pieces of all parts, and how many each device has. */
struct pieces {
    struct adsm_split_part *parts;
    int count, room;
    int of[ADSM_SPLIT_DEVICES];
};

static int add(struct adsm_task *task, struct pieces *pieces,
               struct adsm_split_part part)
{
    if (pieces->count == pieces->room) {
        size_t room = pieces->room ? 2 * (size_t)pieces->room : 64;
        void *more = adsm_task_get(task, room, sizeof part, "parts");
        if (!more)
            return ADSM_E_NOMEM;
        if (pieces->count > 0)
            memcpy(more, pieces->parts, (size_t)pieces->count * sizeof part);
        pieces->parts = more;
        pieces->room = (int)room;
    }
    part.round = pieces->of[part.device]++;
    pieces->parts[pieces->count++] = part;
    return ADSM_OK;
}

static int by_round(const void *a, const void *b)
{
    const struct adsm_split_part *p = a, *q = b;
    return p->round != q->round ? p->round - q->round : p->device - q->device;
}

/* What a device has of a part's own arguments. */
static size_t there(const struct cut *cut, const struct adsm_split_part *part)
{
    const struct adsm_task *task = cut->task;
    size_t bytes = 0;
    for (int i = 0; i < task->operand_count; i++) {
        struct adsm_want wants[ADSM_OPERAND_WANTS];
        const struct adsm_operand *operand = &task->operands[i];
        if (adsm_operand_is_whole(operand))
            continue;
        (void)adsm_operand_want(operand, part, wants);
        bytes +=
            adsm_spread_there(&operand->array, &wants[0].around, cut->accel);
    }
    return bytes;
}

/* A call that begins where the last one ended finds what that has left: swept
 * over in the same direction again and again, nothing stays until it is used. */
static void begin_where_data_are(const struct cut *cut, int count)
{
    struct adsm_split_part *into = cut->into;
    if (count < 2 || there(cut, &into[count - 1]) <= there(cut, &into[0]))
        return;
    for (int i = 0, k = count - 1; i < k; i++, k--) {
        struct adsm_split_part swap = into[i];
        into[i] = into[k];
        into[k] = swap;
    }
}

static int add_all(struct adsm_task *task, const struct adsm_split_part *part,
                   bool rounds, struct adsm_split_part *into,
                   struct pieces *pieces)
{
    struct cut cut = {.task = task,
                      .accel = task->accels[part->device],
                      .part = part,
                      .least = task->opts.chunks > 1 ? task->opts.chunks : 1,
                      .into = into};
    int count = 0;
    int rc = cut_part(&cut, rounds, &count);
    if (rounds)
        begin_where_data_are(&cut, count);
    for (int i = 0; i < count && rc == ADSM_OK; i++)
        rc = add(task, pieces, into[i]);
    return rc;
}

int adsm_task_pieces(struct adsm_task *task, bool rounds,
                     struct adsm_split_part **pieces, int *pieces_count)
{
    struct pieces all = {NULL, 0, 0, {0}};
    struct adsm_split_part *into =
        adsm_task_get(task, ADSM_SPLIT_PARTS, sizeof *into, "parts");
    int rc = into ? ADSM_OK : ADSM_E_NOMEM;
    for (int i = 0; i < task->part_count && rc == ADSM_OK; i++)
        rc = add_all(task, &task->parts[i], rounds, into, &all);
    if (rc != ADSM_OK)
        return rc;
    qsort(all.parts, (size_t)all.count, sizeof *all.parts, by_round);
    /* Pieces of a part have one copy of what they accumulate into: each begins
     * when the one before is made. */
    bool apart = rounds || adsm_task_accumulates(task);
    for (int i = 0; i < all.count && !apart; i++)
        all.parts[i].round = 0;
    *pieces = all.parts;
    *pieces_count = all.count;
    return ADSM_OK;
}
