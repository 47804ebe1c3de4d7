/* Boxes of a matrix. See parts.h. */
#include "parts.h"

static long least(long a, long b)
{
    return a < b ? a : b;
}

static long most(long a, long b)
{
    return a > b ? a : b;
}

bool box_is_empty(struct container_box a)
{
    return a.rows <= 0 || a.columns <= 0;
}

bool box_same(struct container_box a, struct container_box b)
{
    return a.row == b.row && a.column == b.column && a.rows == b.rows &&
           a.columns == b.columns;
}

struct container_box box_overlap(struct container_box a, struct container_box b)
{
    long row = most(a.row, b.row), column = most(a.column, b.column);
    return (struct container_box){
        row,
        column,
        least(a.row + a.rows, b.row + b.rows) - row,
        least(a.column + a.columns, b.column + b.columns) - column,
    };
}

bool box_meets(struct container_box a, struct container_box b)
{
    return !box_is_empty(box_overlap(a, b));
}

bool box_inside(struct container_box a, struct container_box b)
{
    return box_same(box_overlap(a, b), a);
}

int box_remaining(struct container_box a, struct container_box b,
                  struct container_box rest[4])
{
    struct container_box both = box_overlap(a, b);
    const struct container_box around[4] = {
        {a.row, a.column, both.row - a.row, a.columns},
        {both.row + both.rows, a.column, a.row + a.rows - both.row - both.rows,
         a.columns},
        {both.row, a.column, both.rows, both.column - a.column},
        {both.row, both.column + both.columns, both.rows,
         a.column + a.columns - both.column - both.columns},
    };
    int n = 0;
    for (int i = 0; i < 4; i++)
        if (!box_is_empty(around[i]))
            rest[n++] = around[i];
    return n;
}
