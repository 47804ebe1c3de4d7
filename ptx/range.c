/* Ranges of bytes; see ptx/range.h. */
#include "ptx/range.h"

void sc_range_all(struct sc_range *range, struct sc_interval at)
{
    range->known = at.hi - at.lo < sc_interval_any(64).hi;
    range->first = range->known ? (uint64_t)at.lo : 0;
    range->last = range->known ? (uint64_t)at.hi : UINT64_MAX;
    range->row = range->last - range->first + range->known;
    range->stride_count = 0;
}

/* The smallest of too many becomes part of the row. */
void sc_range_strided(struct sc_range *range, const struct sc_strided *set)
{
    if (!set->known)
        return;
    sc_range_all(range, sc_strided_hull(set));
    range->row = 1;
    for (unsigned i = 0; i < set->count; i++) {
        const struct sc_term *term = &set->term[i];
        if (term->step == 1 || i == SC_STRIDES_MOST)
            range->row += (term->count - 1) * term->step;
        else
            range->stride[range->stride_count++] =
                (struct sc_stride){term->step, term->count};
    }
}

static bool is_near(const struct sc_range *a, const struct sc_range *b)
{
    return (a->first < b->last || a->first - b->last <= SC_RANGE_NEAR_BYTES) &&
           (b->first < a->last || b->first - a->last <= SC_RANGE_NEAR_BYTES);
}

static bool is_of_one_kind(const struct sc_range *a, const struct sc_range *b)
{
    return a->places == b->places && a->known == b->known &&
           a->reads == b->reads && a->writes == b->writes;
}

static bool has_same_strides(const struct sc_range *a, const struct sc_range *b)
{
    bool same = a->stride_count == b->stride_count;
    for (unsigned i = 0; same && i < a->stride_count; i++)
        same = a->stride[i].bytes == b->stride[i].bytes;
    return same;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void widen(struct sc_range *to, const struct sc_range *by)
{
    struct sc_interval at = {to->first < by->first ? to->first : by->first,
                             most(to->last, by->last)};
    sc_range_all(to, at);
}

/* Rows of both as sums of the same strides. Return: false: a row would have
 * much that neither has */
static bool join_rows(struct sc_range *to, const struct sc_range *by)
{
    const struct sc_range *low = to->first <= by->first ? to : by;
    const struct sc_range *high = low == to ? by : to;
    uint64_t apart = high->first - low->first;
    struct sc_range both = *low;
    for (unsigned i = 0; i < both.stride_count; i++) {
        uint64_t steps = apart / both.stride[i].bytes;
        both.stride[i].count =
            most(low->stride[i].count, high->stride[i].count + steps);
        apart -= steps * both.stride[i].bytes;
    }
    both.row = most(low->row, apart + high->row);
    if (both.row > most(low->row, high->row) + SC_RANGE_NEAR_BYTES)
        return false;
    struct sc_strided set = sc_strided_of(
        sc_interval_of(both.first, (sc_wide)both.first + both.row - 1));
    for (unsigned i = 0; i < both.stride_count; i++) {
        struct sc_strided rows =
            sc_strided_of(sc_interval_of(0, both.stride[i].count - 1));
        rows = sc_strided_times(&rows, both.stride[i].bytes);
        set = sc_strided_add(&set, &rows);
    }
    if (!set.known || sc_strided_hull(&set).hi > UINT64_MAX)
        return false;
    *to = both;
    sc_range_strided(to, &set);
    return true;
}

/* All of one lies between first and last of another, which has no strides. */
static bool has_all(const struct sc_range *a, const struct sc_range *b)
{
    return !a->stride_count && a->first <= b->first && a->last >= b->last;
}

bool sc_range_join(struct sc_range *to, const struct sc_range *by)
{
    if (!is_of_one_kind(to, by) || (to->known && !is_near(to, by)))
        return false;
    to->sparse &= by->sparse;
    if (has_all(to, by))
        return true;
    if (to->stride_count && has_same_strides(to, by))
        return join_rows(to, by);
    if (has_all(by, to) || (!to->stride_count && !by->stride_count)) {
        widen(to, by);
        return true;
    }
    return false;
}
