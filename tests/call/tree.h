/*
 * Reductions and scans on the CPU, by the very tree that adsm.h describes:
 * neighbours are combined, one without a neighbour goes on as it is.
 */
#ifndef TESTS_CALL_TREE_H
#define TESTS_CALL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TREE_MOST = 40 }; /* bytes of an element */

struct tree {
    size_t elem;
    void (*of)(void *r, const void *a, const void *b);
    uint8_t none[TREE_MOST];
};

/** A row or a column: elements `stride` bytes apart. */
struct line {
    const uint8_t *at;
    size_t stride;
};

/* The node of elements [at, at + size), of which those in [lo, hi) are there:
 * false when none is. */
static inline bool tree_node(const struct tree *t, struct line x, long at,
                             long size, long lo, long hi, uint8_t *value)
{
    uint8_t left[TREE_MOST], right[TREE_MOST];
    if (lo >= hi || at >= hi || at + size <= lo)
        return false;
    if (size == 1) {
        memcpy(value, x.at + (size_t)at * x.stride, t->elem);
        return true;
    }
    bool l = tree_node(t, x, at, size / 2, lo, hi, left);
    bool r = tree_node(t, x, at + size / 2, size / 2, lo, hi, right);
    if (l && r)
        t->of(value, left, right);
    else
        memcpy(value, l ? left : right, t->elem);
    return true;
}

static inline void tree_fold(const struct tree *t, struct line x, long lo,
                             long hi, uint8_t *value)
{
    long size = 1;
    while (size < hi)
        size *= 2;
    if (!tree_node(t, x, 0, size, lo, hi, value))
        memcpy(value, t->none, t->elem);
}

/* Down the tree: `before` lies before it when `any` does. */
static inline void tree_down(const struct tree *t, struct line x, long at,
                             long size, long n, bool any, const uint8_t *before,
                             bool exclusive, uint8_t *out)
{
    uint8_t left[TREE_MOST], both[TREE_MOST];
    uint8_t *to = out + (size_t)at * t->elem;
    if (at >= n)
        return;
    if (size == 1) {
        memcpy(left, x.at + (size_t)at * x.stride, t->elem);
        memcpy(both, any ? before : t->none, t->elem);
        if (exclusive)
            memcpy(to, both, t->elem);
        else if (any)
            t->of(to, both, left);
        else
            memcpy(to, left, t->elem);
        return;
    }
    tree_down(t, x, at, size / 2, n, any, before, exclusive, out);
    if (at + size / 2 >= n)
        return;
    tree_node(t, x, at, size / 2, 0, n, left);
    if (any)
        t->of(both, before, left);
    else
        memcpy(both, left, t->elem);
    tree_down(t, x, at + size / 2, size / 2, n, true, both, exclusive, out);
}

/* `out` is not what x is of. */
static inline void tree_scan(const struct tree *t, struct line x, long n,
                             bool exclusive, uint8_t *out)
{
    long size = 1;
    while (size < n)
        size *= 2;
    tree_down(t, x, 0, size, n, false, t->none, exclusive, out);
}

#endif
