/*
 * Which copies serve a call: those that are there, or new ones, object by object
 * and on each device for all of its parts at once; see spread_parts.h.
 */
#include "range/spread_parts.h"

#include "base/region.h"
#include "range/check.h"
#include "range/memory.h"
#include "range/prepare.h"
#include "range/state.h"

#include <stdlib.h>

/* Is it the first want of its object? */
bool adsm_walk_is_first(struct adsm_part *parts, int count,
                        const struct adsm_want *want)
{
    struct adsm_walk walk = adsm_walk_of(parts, count);
    while (adsm_walk_next(&walk) && walk.want != want)
        if (walk.want->array.object == want->array.object)
            return false;
    return true;
}

/* One shape for all uses of an object in a call. */
static adsmBox shape_for(struct adsm_part *parts, int count,
                         const struct adsm_want *first)
{
    size_t bytes = first->array.object->bytes;
    adsmBox shape = adsm_prepare_shape(&first->array, bytes);
    for (struct adsm_walk w = adsm_walk_of(parts, count); adsm_walk_next(&w);) {
        if (w.want->array.object != first->array.object)
            continue;
        adsmBox other = adsm_prepare_shape(&w.want->array, bytes);
        if (other.nd != shape.nd || !adsm_box_equal(&other, &shape))
            return adsm_prepare_bytes(bytes);
    }
    return shape;
}

/* A copy that is not one yet: it has no memory and no number. */
static struct adsm_copy *new_copy(const struct adsm_want *want,
                                  struct adsm_accel *accel, const adsmBox *room)
{
    struct adsm_copy *copy = calloc(1, sizeof *copy);
    if (!copy)
        return NULL;
    copy->object = want->array.object;
    copy->accel = accel;
    copy->room = *room;
    const adsmBox *whole = adsm_ranged_shape(copy->object);
    copy->box =
        want->framed ? (adsmBox){.nd = whole->nd} : adsm_box_meet(room, whole);
    adsm_box_pitches(room, copy->pitch);
    copy->guard = adsm_check_guard() + adsm_copy_skew(copy);
    copy->bytes = copy->guard + adsm_box_bytes(room);
    if (adsm_check_guard() > 0)
        copy->bytes += copy->guard;
    copy->uses = 1;
    return copy;
}

/* Are its rows as far apart as a pointer's kernel expects? */
static bool has_rows(const struct adsm_copy *copy)
{
    const adsmBox *whole = adsm_ranged_shape(copy->object);
    for (int d = 1; d < whole->nd; d++)
        if (copy->room.lo[d] != 0 || copy->room.hi[d] != whole->hi[d])
            return false;
    return true;
}

/* A copy with just this room that nobody uses: what is beyond the edge is filled
 * for one want, and may be another thing for the next. */
static struct adsm_copy *find_room(const struct adsm_held *held,
                                   const struct adsm_accel *accel,
                                   const adsmBox *room)
{
    for (uint32_t i = ADSM_HOLDER_HOME + 1; i < held->top; i++) {
        struct adsm_copy *copy = held->copies[i];
        if (copy && copy->accel == accel && copy->uses == 0 &&
            copy->room.nd == room->nd && adsm_box_equal(&copy->room, room))
            return copy;
    }
    return NULL;
}

/* A copy of its own for a want, with just its room. */
static int choose_room(struct adsm_held *held, struct adsm_accel *accel,
                       struct adsm_want *want)
{
    want->copy =
        adsm_check_is_on() ? NULL : find_room(held, accel, &want->room);
    if (want->copy)
        adsm_memory_use(want->copy);
    else
        want->copy = new_copy(want, accel, &want->room);
    return want->copy ? ADSM_OK : ADSM_E_NOMEM;
}

/* Wants of one object on one device, as the plan asks for them. */
struct group {
    struct adsm_need *need;
    struct adsm_want **want;
    int count, most;
    adsmBox *fresh; /* ADSM_FRESH of each: copies to be made come first */
    struct adsm_copy **made;
};

/* An empty group with room for wants of these parts. */
static bool make_group(struct group *group, struct adsm_region *region,
                       const struct adsm_part *parts, int count)
{
    int n = 0;
    for (int p = 0; p < count && n < ADSM_WANTS; p++)
        n += parts[p].count;
    n = n < ADSM_WANTS ? n : ADSM_WANTS;
    size_t most = (size_t)n;
    *group = (struct group){
        .most = n,
        .need = adsm_region_get(region, most, sizeof *group->need),
        .want = adsm_region_get(region, most, sizeof(struct adsm_want *)),
        .fresh = adsm_region_get(region, ADSM_FRESH * most, sizeof(adsmBox)),
        .made = adsm_region_get(region, most, sizeof(struct adsm_copy *)),
    };
    return group->need && group->want && group->fresh && group->made;
}

static int mode_of(const struct adsm_want *want)
{
    return (adsm_box_is_empty(&want->reads) ? 0 : ADSM_IN) |
           (adsm_box_is_empty(&want->writes) ? 0 : ADSM_OUT);
}

/* Does want `i` alone keep a copy that is there for others? */
static bool keeps_another(const struct group *group, int i)
{
    const struct adsm_copy *copy = group->need[i].copy;
    if (!copy || copy->home || copy->passing || !group->want[i]->passing ||
        (group->need[i].mode & ADSM_OUT))
        return false;
    for (int k = 0; k < group->count; k++)
        if (group->need[k].copy == copy && !group->want[k]->passing)
            return false;
    return true;
}

/* What is for one step gets a copy of its own where it would keep a larger one in
 * use, which may have to go for the rest of the call. Return: as adsm_plan_choose
 */
static int choose_own(struct group *group, adsmBox *fresh, int n)
{
    bool keeps[ADSM_WANTS];
    for (int i = 0; i < group->count; i++)
        keeps[i] = keeps_another(group, i);
    for (int i = 0; i < group->count; i++)
        if (keeps[i]) {
            group->need[i].copy = NULL;
            group->need[i].fresh = (uint8_t)n;
            fresh[n++] = group->need[i].box;
        }
    return n;
}

/* Give the copies of a group to its wants; new ones where there is none. */
static int choose(struct adsm_held *held, struct adsm_accel *accel,
                  struct group *group)
{
    adsmBox *fresh = group->fresh;
    struct adsm_copy **made = group->made;
    int n = adsm_plan_choose(held, accel, !adsm_check_is_on(), group->need,
                             group->count, fresh);
    n = choose_own(group, fresh, n);
    for (int i = 0; i < n; i++) {
        made[i] = new_copy(group->want[0], accel, &fresh[i]);
        if (!made[i]) {
            while (i-- > 0)
                free(made[i]);
            return ADSM_E_NOMEM;
        }
        made[i]->uses = 0; /* counted below */
        made[i]->passing = true;
    }
    int rc = ADSM_OK;
    for (int i = 0; i < group->count; i++) {
        struct adsm_need *need = &group->need[i];
        struct adsm_want *want = group->want[i];
        want->copy = need->copy ? need->copy : made[need->fresh];
        if (!want->passing)
            want->copy->passing = false;
        if (!need->copy)
            made[need->fresh]->uses++;
        else if (!want->rows || want->flat || has_rows(need->copy))
            adsm_memory_use(need->copy);
        else if ((rc = choose_room(held, accel, want)) != ADSM_OK)
            break;
    }
    for (int i = 0; i < n; i++)
        if (made[i]->uses == 0) /* after a failure */
            free(made[i]);
    group->count = 0;
    return rc;
}

/* Do two parts have copies together? */
static bool is_near(const struct adsm_part *a, const struct adsm_part *b)
{
    return adsm_check_is_on() ? a == b : a->accel == b->accel;
}

/* Copies of one object for all parts on the device of one. */
static int choose_on(struct adsm_part *parts, int count,
                     const struct adsm_want *first,
                     const struct adsm_part *part, struct group *group)
{
    struct adsm_accel *accel = part->accel;
    struct adsm_held *held = &adsm_ranged(first->array.object)->held;
    int rc = ADSM_OK;
    group->count = 0;
    for (struct adsm_walk w = adsm_walk_of(parts, count); adsm_walk_next(&w);) {
        if (w.want->array.object != first->array.object || w.want->also ||
            !is_near(w.part, part) || w.want->copy || rc != ADSM_OK)
            continue;
        if (adsm_prepare_has_margin(w.want)) {
            rc = choose_room(held, accel, w.want);
            continue;
        }
        group->want[group->count] = w.want;
        group->need[group->count++] = (struct adsm_need){
            .box = w.want->room, .mode = (uint8_t)mode_of(w.want)};
        if (group->count == group->most)
            rc = choose(held, accel, group);
    }
    return rc == ADSM_OK && group->count > 0 ? choose(held, accel, group) : rc;
}

/* Further boxes of an argument are where its first one is. */
static void join_first(struct adsm_want *want)
{
    want->copy = (want - 1)->copy;
    if (adsm_copy_is_new(want->copy))
        want->copy->uses++;
    else
        adsm_memory_use(want->copy);
}

static int choose_for(struct adsm_part *parts, int count,
                      const struct adsm_want *first, struct group *group)
{
    struct adsm_object *object = first->array.object;
    adsmBox shape = shape_for(parts, count, first);
    int rc = ADSM_OK;
    for (struct adsm_walk w = adsm_walk_of(parts, count);
         rc == ADSM_OK && adsm_walk_next(&w);)
        if (w.want->array.object == object) {
            rc = adsm_prepare_want(w.want, &shape);
            adsm_check_widen(w.want);
        }
    if (rc == ADSM_OK)
        rc = adsm_ranged_update(object, &shape, ADSM_CAUSE(part));
    for (struct adsm_walk w = adsm_walk_of(parts, count);
         rc == ADSM_OK && adsm_walk_next(&w);)
        if (w.want->array.object == object && !w.want->also && !w.want->copy)
            rc = choose_on(parts, count, first, w.part, group);
    for (struct adsm_walk w = adsm_walk_of(parts, count);
         rc == ADSM_OK && adsm_walk_next(&w);)
        if (w.want->array.object == object && w.want->also)
            join_first(w.want);
    return rc;
}

static int choose_all(struct adsm_part *parts, int count, struct group *group,
                      int *failed)
{
    for (struct adsm_walk w = adsm_walk_of(parts, count); adsm_walk_next(&w);) {
        if (!adsm_walk_is_first(parts, count, w.want))
            continue;
        *failed = w.next_part;
        int rc = adsm_array_lock(&w.want->array);
        if (rc != ADSM_OK)
            return rc;
        rc = choose_for(parts, count, w.want, group);
        adsm_array_unlock(&w.want->array);
        if (rc != ADSM_OK)
            return rc;
    }
    return ADSM_OK;
}

int adsm_spread_choose(struct adsm_part *parts, int count, int *failed)
{
    struct adsm_region region = {0};
    struct group group;
    *failed = 0;
    int rc = make_group(&group, &region, parts, count)
                 ? choose_all(parts, count, &group, failed)
                 : ADSM_E_NOMEM;
    adsm_region_end(&region);
    return rc;
}
