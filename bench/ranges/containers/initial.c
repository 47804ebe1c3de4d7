/*
 * The first rules of SkePU's containers (Fig. 3): copies of ranges that know
 * only whether they were modified. A copy that is there is used, stale or not;
 * so a program whose calls run on several devices flushes between them. See
 * parts.h.
 */
#include "parts.h"

static void save_all(struct container *c)
{
    for (struct copy *i = c->copies; i; i = i->next)
        if (i->modified)
            copy_save(c, i);
}

void initial_on_cpu(struct container *c, enum container_mode mode)
{
    save_all(c);
    if (mode & MODE_WRITE)
        while (c->copies)
            copy_remove(c, c->copies);
}

/* Copies are of one range of elements: whole rows, or part of one. */
static bool is_range(const struct container *c, struct container_box box)
{
    return box.rows == 1 || box.columns == c->columns;
}

struct copy *initial_on_device(struct container *c, int device,
                               struct container_box box,
                               enum container_mode mode)
{
    bool made;
    if (!is_range(c, box))
        return NULL;
    struct copy *copy = copy_get(c, device, box, &made);
    if (made && (mode & MODE_READ)) {
        save_all(c);
        move_box(c, copy, NULL, box);
    }
    if (mode & MODE_WRITE)
        copy->modified = true;
    return copy;
}
