/* What boxes arguments of the random test name; see live_boxed.c. */
#ifndef TESTS_RANGE_LIVE_BOXED_H
#define TESTS_RANGE_LIVE_BOXED_H

#include "live.h"

/* By the numbers a, b and c: what is said in live_boxes.c. */
enum live_boxes_kind {
    LIVE_LINE,
    LIVE_PLANE,
    LIVE_SPACE,
    LIVE_AROUND,
    LIVE_FORWARDS,
    LIVE_BACKWARDS,
    LIVE_ENDS,
    LIVE_ENDS_OF_ROWS,
    LIVE_CROSSED,
    LIVE_LEFT,
    LIVE_WHOLE_ROWS, /* by a function columns might be cut, too */
    LIVE_TOP,
    LIVE_ROW,
    LIVE_ROWS, /* and those above and below that there are */
    LIVE_SPAN  /* a elements an index, below element b; and c, if >= 0 */
};

struct live_boxes {
    enum live_boxes_kind kind;
    long a, b, c;
    adsmBox shape; /* the array's */
    bool twice;    /* all once more, which changes nothing */
    bool empty;    /* and one that has nothing */
    char text[160];
};

/** An argument with these boxes, by a text or by a function. `by` is to be there
 *  during the call. */
adsmArg live_boxed_arg(struct live_thread *t, const struct live_array *a,
                       adsmMode mode, struct live_boxes *by);

/** Is the box there, and may the thread use all of it? */
bool live_boxed_may(const struct live_thread *t, const struct live_array *a,
                    adsmBox box);

/** A box that lies in two arrays; it may be empty. */
adsmBox live_boxed_both(struct live_thread *t, const struct live_array *a,
                        const struct live_array *b);

/** Those of two and three dimensions (live_boxed_planes.c), of LIVE_BOXED_PLANES
 *  kinds. Return: whether one could be made of the arrays that were drawn */
enum { LIVE_BOXED_PLANES = 5 };
void live_boxed_planes_begin(void);
bool live_boxed_planes(struct live_thread *t, int kind);

#endif
