/* Which tasks come behind which: by the bytes they use, and by `after`. */
#include "call/waiting.h"

#include "base/lock.h"
#include "range/box.h"
#include "range/prepare.h"
#include "mm/object/awaited.h"

#include <stdlib.h>

/* Lists of uses change under the queue's lock and this one, which alone is held
 * where an access looks at them: its object's lock is held there. */
static struct adsm_lock uses_lock = ADSM_LOCK_INIT(ADSM_RANK_AWAITED);
static struct adsm_queue_object *objects;

/* ---- objects ------------------------------------------------------------------- */

static struct adsm_queue_object *find(const struct adsm_object *object)
{
    struct adsm_queue_object *found;
    HASH_FIND_PTR(objects, &object, found);
    return found;
}

static struct adsm_queue_object *find_or_make(const struct adsm_object *object)
{
    struct adsm_queue_object *found = find(object);
    if (found || !(found = malloc(sizeof *found)))
        return found;
    *found = (struct adsm_queue_object){.object = object};
    HASH_ADD_PTR(objects, object, found);
    return found;
}

static void drop_unused(struct adsm_queue_object *object)
{
    if (object->newest)
        return;
    HASH_DEL(objects, object);
    free(object);
}

static void link_use(struct adsm_waiting_use *use)
{
    struct adsm_object *its = use->want->array.object;
    struct adsm_queue_object *object = use->object;
    adsm_lock_acquire(&uses_lock);
    use->newer = NULL;
    use->older = object->newest;
    if (use->older)
        use->older->newer = use;
    object->newest = use;
    adsm_lock_release(&uses_lock);
    atomic_fetch_add(&its->awaited, 1);
}

static void unlink_use(struct adsm_waiting_use *use)
{
    struct adsm_object *its = use->want->array.object;
    if (!use->object)
        return;
    adsm_lock_acquire(&uses_lock);
    if (use->newer)
        use->newer->older = use->older;
    else
        use->object->newest = use->older;
    if (use->older)
        use->older->newer = use->newer;
    drop_unused(use->object);
    adsm_lock_release(&uses_lock);
    atomic_fetch_sub(&its->awaited, 1);
    use->object = NULL;
}

/* ---- conflicts ----------------------------------------------------------------- */

static bool is_same_array(const struct adsm_array *a,
                          const struct adsm_array *b)
{
    return a->origin == b->origin && a->shape.nd == b->shape.nd &&
           adsm_box_equal(&a->shape, &b->shape);
}

static bool meets(const struct adsm_waiting_use *a, const adsmBox *in_a,
                  const struct adsm_waiting_use *b, const adsmBox *in_b)
{
    if (adsm_box_is_empty(in_a) || adsm_box_is_empty(in_b))
        return false;
    return is_same_array(&a->want->array, &b->want->array)
               ? adsm_box_meets(in_a, in_b)
               : a->begin < b->end && b->begin < a->end;
}

/* Has the younger use to come behind the older one? */
static bool is_behind(const struct adsm_waiting_use *use,
                      const struct adsm_waiting_use *older)
{
    const struct adsm_want *w = use->want, *o = older->want;
    return meets(use, &w->read, older, &o->write) ||
           meets(use, &w->write, older, &o->write) ||
           meets(use, &w->write, older, &o->read);
}

static bool covers(const adsmBox *outer, const adsmBox *inner)
{
    return adsm_box_is_empty(inner) || adsm_box_within(inner, outer);
}

/* Whoever is older than this and meets the use is before this, too. */
static bool hides_older(const struct adsm_waiting_use *use,
                        const struct adsm_waiting_use *older)
{
    const struct adsm_want *w = use->want, *o = older->want;
    return is_same_array(&w->array, &o->array) &&
           !adsm_box_is_empty(&o->write) && covers(&o->write, &w->read) &&
           covers(&o->write, &w->write);
}

/* ---- edges --------------------------------------------------------------------- */

int adsm_order_behind(struct adsm_waiting *before, struct adsm_waiting *waiting)
{
    if (before == waiting ||
        (before->edges && before->edges->behind == waiting))
        return ADSM_OK;
    struct adsm_waiting_edge *edge =
        adsm_region_get(&waiting->task->region, 1, sizeof *edge);
    if (!edge)
        return ADSM_E_NOMEM;
    *edge = (struct adsm_waiting_edge){waiting, before->edges};
    before->edges = edge;
    waiting->before++;
    return ADSM_OK;
}

static int come_behind(struct adsm_waiting_use *use)
{
    int rc = ADSM_OK;
    struct adsm_waiting_use *older = use->object->newest;
    for (; older && rc == ADSM_OK; older = older->older) {
        /* Those of its own call are as good at the same time. */
        if (older->waiting->call == use->waiting->call ||
            !is_behind(use, older))
            continue;
        rc = adsm_order_behind(older->waiting, use->waiting);
        if (hides_older(use, older))
            break;
    }
    return rc;
}

int adsm_order_enter(struct adsm_waiting *waiting)
{
    int rc = ADSM_OK;
    for (int i = 0; i < waiting->use_count && rc == ADSM_OK; i++) {
        struct adsm_waiting_use *use = &waiting->uses[i];
        adsm_lock_acquire(&uses_lock);
        use->object = find_or_make(use->want->array.object);
        adsm_lock_release(&uses_lock);
        rc = use->object ? come_behind(use) : ADSM_E_NOMEM;
    }
    for (int i = 0; i < waiting->use_count; i++)
        if (waiting->uses[i].object)
            link_use(&waiting->uses[i]);
    if (rc != ADSM_OK)
        adsm_order_leave(waiting, NULL);
    return rc;
}

void adsm_order_leave(struct adsm_waiting *waiting,
                      void (*ready)(struct adsm_waiting *waiting))
{
    struct adsm_waiting_edge *edge = waiting->edges, *next;
    waiting->edges = NULL;
    for (int i = 0; i < waiting->use_count; i++)
        unlink_use(&waiting->uses[i]);
    for (; edge; edge = next) {
        next = edge->next; /* the edge is of the one behind */
        if (--edge->behind->before == 0 && ready)
            ready(edge->behind);
    }
}

bool adsm_order_meets(const struct adsm_object *object, size_t begin,
                      size_t end, bool writes)
{
    adsm_lock_acquire(&uses_lock);
    const struct adsm_queue_object *found = find(object);
    const struct adsm_waiting_use *use = found ? found->newest : NULL;
    bool met = false;
    for (; use && !met; use = use->older) {
        bool written = !adsm_box_is_empty(&use->want->write);
        met = (writes || written) && use->begin < end && begin < use->end;
    }
    adsm_lock_release(&uses_lock);
    return met;
}
