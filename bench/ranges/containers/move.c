/*
 * Copies between the copies of a container, by the driver, and their bytes.
 * See parts.h.
 *
 * A run of elements that lies in one piece on both sides is one call of the
 * driver; a box that does not is one for each row.
 */
#include "parts.h"

#include <string.h>

/* Where an element of a copy lies, in elements from its beginning. */
static long place(const struct container *c, const struct copy *copy, long row,
                  long column)
{
    if (!copy)
        return row * c->columns + column;
    return (row - copy->box.row) * copy->box.columns + column -
           copy->box.column;
}

static long pitch(const struct container *c, const struct copy *copy)
{
    return copy ? copy->box.columns : c->columns;
}

static void move_run(struct container *c, struct copy *to, struct copy *from,
                     struct container_box run)
{
    size_t bytes = (size_t)(run.rows * run.columns) * c->elem;
    size_t to_at = (size_t)place(c, to, run.row, run.column) * c->elem;
    size_t from_at = (size_t)place(c, from, run.row, run.column) * c->elem;
    containers_use(to ? to->device : from->device);
    if (!from) {
        CHECK(cuMemcpyHtoD(to->address + to_at, c->main + from_at, bytes));
        containers.moved.up += bytes;
    } else if (!to) {
        CHECK(cuMemcpyDtoH(c->main + to_at, from->address + from_at, bytes));
        containers.moved.down += bytes;
    } else if (to->device == from->device) {
        CHECK(
            cuMemcpyDtoD(to->address + to_at, from->address + from_at, bytes));
        containers.moved.local += bytes;
    } else {
        CHECK(cuMemcpyPeer(to->address + to_at, containers.context[to->device],
                           from->address + from_at,
                           containers.context[from->device], bytes));
        containers.moved.peer += bytes;
    }
}

void move_box(struct container *c, struct copy *to, struct copy *from,
              struct container_box box)
{
    bool in_one = box.rows == 1 || (box.columns == pitch(c, to) &&
                                    box.columns == pitch(c, from));
    containers.moved.copies++;
    if (in_one) {
        move_run(c, to, from, box);
        return;
    }
    for (long i = 0; i < box.rows; i++)
        move_run(
            c, to, from,
            (struct container_box){box.row + i, box.column, 1, box.columns});
}
