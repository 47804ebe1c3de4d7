/*
 * Boxes of arguments of the random test, each as a text and as a function that
 * says the same; see live_boxed.h.
 */
#include "live_boxed.h"

#include <stdio.h>

static int say_own(const adsmPart *part, void *user, adsmBox *out, int most)
{
    (void)user;
    (void)most;
    out[0] = part->box;
    return 1;
}

/* [i0-$1:i1+$2] of a line */
static int say_around(const adsmPart *part, void *user, adsmBox *out, int most)
{
    const struct live_boxes *by = user;
    (void)most;
    out[0] = part->box;
    out[0].lo[0] -= by->a;
    out[0].hi[0] += by->b;
    return 1;
}

/* Every $1-th from $2 on, forwards or backwards. */
static int say_strided(const adsmPart *part, void *user, adsmBox *out, int most)
{
    const struct live_boxes *by = user;
    long first = by->a * part->box.lo[0] + by->b;
    long last = by->a * (part->box.hi[0] - 1) + by->b;
    (void)most;
    out[0] = (adsmBox){1, {first < last ? first : last}, {0}};
    out[0].hi[0] = 1 + (first < last ? last : first);
    return 1;
}

/* Both ends of what has $1 in its innermost dimension. */
static int say_ends(const adsmPart *part, void *user, adsmBox *out, int most)
{
    const struct live_boxes *by = user;
    int d = part->box.nd - 1;
    (void)most;
    out[0] = out[1] = part->box;
    out[1].lo[d] = by->a - part->box.hi[d];
    out[1].hi[d] = by->a - part->box.lo[d];
    return 2;
}

/* [i][j] | [$1][j] | [i][$2] */
static int say_crossed(const adsmPart *part, void *user, adsmBox *out, int most)
{
    const struct live_boxes *by = user;
    (void)most;
    out[0] = out[1] = out[2] = part->box;
    out[1].lo[0] = by->a;
    out[1].hi[0] = by->a + 1;
    out[2].lo[1] = by->b;
    out[2].hi[1] = by->b + 1;
    return 3;
}

/* [i][:$1] */
static int say_left(const adsmPart *part, void *user, adsmBox *out, int most)
{
    const struct live_boxes *by = user;
    (void)most;
    out[0] = part->box;
    out[0].lo[1] = 0;
    out[0].hi[1] = by->a;
    return 1;
}

/* [:$1][j] */
static int say_top(const adsmPart *part, void *user, adsmBox *out, int most)
{
    const struct live_boxes *by = user;
    (void)most;
    out[0] = part->box;
    out[0].lo[0] = 0;
    out[0].hi[0] = by->a;
    return 1;
}

/* [$1][:] */
static int say_row(const adsmPart *part, void *user, adsmBox *out, int most)
{
    const struct live_boxes *by = user;
    (void)part;
    (void)most;
    out[0] = adsmR2(by->a + 1, by->shape.hi[1]);
    out[0].lo[0] = by->a;
    return 1;
}

/* Rows with those above and below that there are: no text says it. */
static int say_rows(const adsmPart *part, void *user, adsmBox *out, int most)
{
    const struct live_boxes *by = user;
    (void)most;
    out[0] = part->box;
    out[0].lo[0] -= out[0].lo[0] > 0;
    out[0].hi[0] += out[0].hi[0] < by->shape.hi[0];
    return 1;
}

/* $1 elements an index, up to $2: the last part has fewer, or none. And one that
 * all have, if there is. */
static int say_span(const adsmPart *part, void *user, adsmBox *out, int most)
{
    const struct live_boxes *by = user;
    long end = part->box.hi[0] * by->a;
    (void)most;
    out[0] =
        (adsmBox){1, {part->box.lo[0] * by->a}, {end < by->b ? end : by->b}};
    out[1] = (adsmBox){1, {by->c}, {by->c + 1}};
    return by->c < 0 ? 1 : 2;
}

static const struct {
    const char *text; /* NULL: none says it */
    adsmBoxFn *function;
} kinds[] = {
    [LIVE_LINE] = {"[i]", say_own},
    [LIVE_PLANE] = {"[i][j0:j1]", say_own},
    [LIVE_SPACE] = {"[i][j][k]", say_own},
    [LIVE_AROUND] = {"[i0-$1 : i1+$2]", say_around},
    [LIVE_FORWARDS] = {"[$1*i0+$2:$1*(i1-1)+$2+1]", say_strided},
    [LIVE_BACKWARDS] = {"[$1*(i1-1)+$2:$1*i0+$2+1]", say_strided},
    [LIVE_ENDS] = {"[i]|[$1-i1:$1-i0]", say_ends},
    [LIVE_ENDS_OF_ROWS] = {"[i][j] | [i][$1-j1:$1-j0]", say_ends},
    [LIVE_CROSSED] = {"[i][j]|[$1][j]|[i][$2]", say_crossed},
    [LIVE_LEFT] = {"[i][:$1]", say_left},
    [LIVE_WHOLE_ROWS] = {"[i][:]", NULL},
    [LIVE_TOP] = {"[:$1][j]", say_top},
    [LIVE_ROW] = {"[$1][:]", say_row},
    [LIVE_ROWS] = {NULL, say_rows},
    [LIVE_SPAN] = {NULL, say_span},
};

static int say(const adsmPart *part, void *user, adsmBox *out, int most)
{
    const struct live_boxes *by = user;
    if (part->index < 0 || part->index >= part->count || part->device < 0 ||
        part->device > 3 || most != 8)
        live_stop("a function is asked for part %d of %d on device %d, %d "
                  "boxes at most",
                  part->index, part->count, part->device, most);
    int n = kinds[by->kind].function(part, user, out, most);
    if (by->twice)
        for (int i = 0; i < n; i++)
            out[n + i] = out[i];
    n += by->twice ? n : 0;
    if (by->empty) {
        out[n] = out[0];
        out[n++].hi[0] = out[0].lo[0] - 3;
    }
    return n;
}

adsmArg live_boxed_arg(struct live_thread *t, const struct live_array *a,
                       adsmMode mode, struct live_boxes *by)
{
    static const char *const nothing[] = {"| [0:0]", "|[ 3:2][:]",
                                          "|[-1:-1][:][:]"};
    const char *text = kinds[by->kind].text;
    by->shape = a->shape;
    by->twice = draw(t, 4) == 0;
    by->empty = draw(t, 4) == 0;
    by->text[0] = '\0';
    if (!kinds[by->kind].function || (text && draw(t, 2)))
        snprintf(by->text, sizeof by->text, "%s%s%s%s", text,
                 by->twice ? "|" : "", by->twice ? text : "",
                 by->empty ? nothing[a->shape.nd - 1] : "");
    live_note("  ... boxes of %d: %d, %s, %ld %ld %ld%s%s", a->number, by->kind,
              by->text[0] ? by->text : "a function", by->a, by->b, by->c,
              by->twice ? ", twice" : "", by->empty ? ", and nothing" : "");
    return by->text[0] ? adsmBoxed(a->p, mode, by->text, by->a, by->b, by->c)
                       : adsmBoxedBy(a->p, mode, say, by);
}

bool live_boxed_may(const struct live_thread *t, const struct live_array *a,
                    adsmBox box)
{
    static const int none[3];
    for (int d = 0; d < box.nd; d++)
        if (box.lo[d] < 0 || box.hi[d] <= box.lo[d] ||
            box.hi[d] > a->shape.hi[d])
            return false;
    return live_foreign(t, a, &box, none) == 0;
}

adsmBox live_boxed_both(struct live_thread *t, const struct live_array *a,
                        const struct live_array *b)
{
    const adsmBox *shape = &b->shape;
    adsmBox box = live_box(t, a);
    for (int d = 0; d < box.nd; d++)
        if (box.hi[d] > shape->hi[d])
            box.hi[d] = shape->hi[d];
    return box;
}
