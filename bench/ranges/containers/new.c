/*
 * The new rules of SkePU's containers (Fig. 5) with Algorithm 1, what a copy
 * is brought up to date from, and Algorithm 2, what becomes of the others when
 * one is written. See parts.h.
 *
 * Word for word but for one letter: line 33 of Algorithm 1 ends the range of
 * the source at offset_dst + n_src, which copies beyond the source; meant is
 * offset_src + n_src, and the text says so.
 */
#include "parts.h"

#include <stdio.h>
#include <stdlib.h>

enum { PLAN_MOST = 4096 };

struct step {
    struct copy *to, *from; /* NULL: the main copy */
    struct container_box box;
};

/* The plan for one copy, and the boxes that nothing has been found for. */
struct plan {
    struct container *c;
    struct copy *copy;
    struct step step[PLAN_MOST];
    struct container_box check[PLAN_MOST];
    int steps, checks;
};

static void full(void)
{
    fprintf(stderr, "containers: more than %d pieces of a copy\n", PLAN_MOST);
    exit(1);
}

static void add_step(struct plan *plan, struct copy *to, struct copy *from,
                     struct container_box box)
{
    if (plan->steps == PLAN_MOST)
        full();
    plan->step[plan->steps++] = (struct step){to, from, box};
}

static void add_remaining(struct plan *plan, struct container_box box,
                          struct container_box sub)
{
    if (plan->checks + 4 > PLAN_MOST)
        full();
    plan->checks += box_remaining(box, sub, plan->check + plan->checks);
}

/* getValidDevCopy and getModifiedDevCopy */
static struct copy *copy_on(const struct container *c, int device,
                            struct container_box box, bool modified)
{
    for (struct copy *i = c->copies; i; i = i->next)
        if (i->device == device && (modified ? i->modified : i->valid) &&
            box_meets(i->box, box))
            return i;
    return NULL;
}

/* Lines 7 to 14: from the same device. */
static bool from_here(struct plan *plan, struct container_box box)
{
    struct copy *from = copy_on(plan->c, plan->copy->device, box, false);
    if (!from)
        return false;
    struct container_box sub = box_overlap(from->box, box);
    add_step(plan, plan->copy, from, sub);
    add_remaining(plan, box, sub);
    return true;
}

/* Lines 18 to 27: from another device. */
static bool from_peer(struct plan *plan, struct container_box box)
{
    for (int device = 0; containers.peer && device < containers.devices;
         device++) {
        struct copy *from = device == plan->copy->device
                                ? NULL
                                : copy_on(plan->c, device, box, false);
        if (!from)
            continue;
        struct container_box sub = box_overlap(from->box, box);
        add_step(plan, plan->copy, from, sub);
        add_remaining(plan, box, sub);
        return true;
    }
    return false;
}

/* Lines 28 to 41: from another device, all of it by the main copy. */
static bool from_modified(struct plan *plan, struct container_box box)
{
    struct container *c = plan->c;
    for (int device = 0; device < containers.devices; device++) {
        struct copy *from =
            device == plan->copy->device ? NULL : copy_on(c, device, box, true);
        if (!from)
            continue;
        struct container_box sub = box_overlap(from->box, box);
        add_step(plan, NULL, from, from->box);
        add_step(plan, plan->copy, NULL, sub);
        add_remaining(plan, box, sub);
        from->modified = false;
        if (!any_modified(c))
            c->valid = true;
        return true;
    }
    return false;
}

/* Algorithm 1 */
static void update_copy(struct container *c, struct copy *copy)
{
    static struct plan plan;
    plan.c = c;
    plan.copy = copy;
    plan.check[0] = copy->box;
    plan.steps = 0;
    plan.checks = 1;
    while (plan.checks > 0) {
        struct container_box box = plan.check[--plan.checks];
        if (from_here(&plan, box))
            continue;
        if (!c->valid && (from_peer(&plan, box) || from_modified(&plan, box)))
            continue;
        add_step(&plan, copy, NULL, box);
    }
    for (int i = 0; i < plan.steps; i++)
        move_box(c, plan.step[i].to, plan.step[i].from, plan.step[i].box);
    copy->valid = true;
}

/* Algorithm 2 */
static void update_others(struct container *c, struct copy *written)
{
    struct container_box rest[4];
    c->valid = false;
    for (struct copy *i = c->copies; i; i = i->next) {
        if (i == written || !i->valid || !box_meets(i->box, written->box))
            continue;
        int n = i->modified ? box_remaining(i->box, written->box, rest) : 0;
        for (int k = 0; k < n; k++)
            move_box(c, NULL, i, rest[k]);
        i->modified = false;
        i->valid = false;
    }
}

struct copy *new_on_device(struct container *c, int device,
                           struct container_box box, enum container_mode mode)
{
    bool made;
    struct copy *copy = copy_get(c, device, box, &made);
    if ((mode & MODE_READ) && !copy->valid)
        update_copy(c, copy);
    if (mode & MODE_WRITE) {
        update_others(c, copy);
        copy->modified = true;
        copy->valid = true;
    }
    return copy;
}

void new_on_cpu(struct container *c, struct container_box box,
                enum container_mode mode)
{
    if (!c->valid) {
        for (struct copy *i = c->copies; i; i = i->next)
            if (i->modified && box_meets(i->box, box) &&
                !(mode == MODE_WRITE && box_inside(i->box, box)))
                copy_save(c, i);
        if (!any_modified(c))
            c->valid = true;
    }
    if (!(mode & MODE_WRITE))
        return;
    for (struct copy *i = c->copies; i; i = i->next)
        if (box_meets(i->box, box))
            i->valid = i->modified = false;
}
