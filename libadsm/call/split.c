/* Grids and strips. */
#include "call/split.h"

#include <limits.h>
#include <string.h>

long adsm_split_common(long a, long b)
{
    long x = a, y = b, multiple;
    if (a <= 1 || b <= 1)
        return a > b ? a : b;
    while (y) {
        long rest = x % y;
        x = y;
        y = rest;
    }
    return __builtin_mul_overflow(a / x, b, &multiple) ? LONG_MAX : multiple;
}

static long extent(const adsmBox *box, int d)
{
    return d < box->nd ? box->hi[d] - box->lo[d] : 1;
}

/* Strips of a dimension: no more than begin at different indices. */
static long most_strips(const struct adsm_split *split, int d)
{
    if (d >= split->range.nd || !split->may[d])
        return 1;
    long n = extent(&split->range, d);
    long unit = adsm_split_common(split->align, split->grain[d]);
    return unit > 1 ? n / unit + (n % unit > 0) : n;
}

/* Bytes of neighbours that the cuts of a grid cost. */
static double cost_of(const struct adsm_split *split, const int grid[3])
{
    double cost = 0;
    for (int d = 0; d < 3; d++) {
        double face = 1;
        for (int e = 0; e < 3; e++)
            if (e != d)
                face *= (double)extent(&split->range, e);
        cost += (grid[d] - 1) * split->halo[d] * face;
    }
    return cost;
}

static int cuts_of(const int grid[3])
{
    return (grid[0] > 1) + (grid[1] > 1) + (grid[2] > 1);
}

/* Whether the first grid is the better one; outer dimensions come first. */
static bool better(const struct adsm_split *split, const int a[3],
                   const int b[3])
{
    double cost_a = cost_of(split, a), cost_b = cost_of(split, b);
    if (cost_a != cost_b)
        return cost_a < cost_b;
    if (cuts_of(a) != cuts_of(b))
        return cuts_of(a) < cuts_of(b);
    return a[0] != b[0] ? a[0] > b[0] : a[1] > b[1];
}

/* The best grid of exactly `parts`; false when there is none. */
static bool grid_of(const struct adsm_split *split, int parts, int best[3])
{
    bool found = false;
    for (int a = 1; a <= parts && a <= most_strips(split, 0); a++) {
        if (parts % a)
            continue;
        for (int b = 1; b <= parts / a && b <= most_strips(split, 1); b++) {
            int grid[3] = {a, b, parts / a / b};
            if (parts / a % b || grid[2] > most_strips(split, 2))
                continue;
            if (!found || better(split, grid, best))
                memcpy(best, grid, sizeof grid);
            found = true;
        }
    }
    return found;
}

/* Return: false when there would be too many parts */
static bool choose_grid(const struct adsm_split *split, int grid[3])
{
    const long *tile = split->tile;
    if (tile[0] > 0 || tile[1] > 0 || tile[2] > 0) {
        double count = 1;
        for (int d = 0; d < 3; d++) {
            long n = extent(&split->range, d);
            long strips = tile[d] > 0 ? n / tile[d] + (n % tile[d] > 0) : 1;
            count *= (double)strips;
            if (count > ADSM_SPLIT_PARTS)
                return false;
            grid[d] = (int)strips;
        }
        return true;
    }
    int parts = split->parts > 0 ? split->parts : split->devices;
    if (parts > ADSM_SPLIT_PARTS)
        return false;
    grid[0] = parts;
    grid[1] = grid[2] = 1;
    if (split->borders)
        return true;
    while (!grid_of(split, parts, grid)) /* 1 has one */
        parts--;
    return true;
}

/* The multiple of `unit` where a strip begins instead. */
static long aligned(long unit, long at, long lo, long hi)
{
    if (unit <= 1 || at <= lo || at >= hi)
        return at;
    long below = at - at % unit, above;
    if (__builtin_add_overflow(below, unit, &above))
        above = hi;
    long nearest = at - below < above - at ? below : above;
    return nearest < lo ? lo : nearest > hi ? hi : nearest;
}

struct cutter {
    const struct adsm_split *split;
    const int *grid;
    int outermost; /* dimension that is cut; 3: none */
    bool weighted; /* a part per device */
};

/* Together the weights of parts [first, first + count). */
static double weight(const struct cutter *c, int first, int count)
{
    if (!c->weighted)
        return count;
    double sum = 0;
    for (int i = first; i < first + count; i++)
        sum += c->split->share[i];
    return sum;
}

/* Where strip `i` of a dimension begins, in a box whose parts begin with number
 * `first`; strip grid[d] begins where the box ends. */
static long strip(const struct cutter *c, int d, int i, int first, int below)
{
    const struct adsm_split *split = c->split;
    long lo = split->range.lo[d], hi = split->range.hi[d], at;
    if (split->borders && d == 0)
        return split->borders[i];
    if (i == 0)
        return lo;
    if (i == c->grid[d])
        return hi;
    if (split->tile[d] > 0)
        at = lo + i * split->tile[d];
    else
        at = lo + (long)(0.5 + (double)(hi - lo) * weight(c, first, i * below) /
                                   weight(c, first, c->grid[d] * below));
    long unit = split->grain[d];
    if (d == c->outermost)
        unit = adsm_split_common(split->align, unit);
    return aligned(unit, at, lo, hi);
}

/* The box of part `number`; false when it is empty. */
static bool box_of(const struct cutter *c, int number, adsmBox *box)
{
    const int *grid = c->grid;
    int below[3] = {grid[1] * grid[2], grid[2], 1};
    int first = 0;
    *box = c->split->range;
    for (int d = 0; d < box->nd; d++) {
        int i = (number - first) / below[d];
        box->lo[d] = strip(c, d, i, first, below[d]);
        box->hi[d] = strip(c, d, i + 1, first, below[d]);
        if (box->hi[d] <= box->lo[d])
            return false;
        first += i * below[d];
    }
    return true;
}

/* Who gets part `number` of `count`. */
static int deal(const struct adsm_split *split, int number, int count)
{
    if (count <= split->devices)
        return number;
    if (split->cyclic)
        return number % split->devices;
    double middle = (number + 0.5) / count, sum = 0;
    for (int d = 0; d < split->devices - 1; d++) {
        sum += split->share[d];
        if (middle < sum)
            return d;
    }
    return split->devices - 1;
}

/* The parts of a grid. Return: their number */
static int fill_grid(const struct adsm_split *split,
                     struct adsm_split_part *parts, const int grid[3])
{
    int count = grid[0] * grid[1] * grid[2], n = 0;
    struct cutter c = {split, grid, 0, count == split->devices};
    while (c.outermost < 3 && grid[c.outermost] == 1)
        c.outermost++;
    for (int i = 0; i < count; i++) {
        if (!box_of(&c, i, &parts[n].box))
            continue;
        parts[n].round = 0;
        parts[n].index = n;
        parts[n++].device = deal(split, i, count);
    }
    for (int i = 0; i < n; i++)
        parts[i].count = n;
    return n;
}

/* Of strips that are narrower than what they are aligned to one may have all. */
static bool is_cut(const struct adsm_split *split, int d,
                   const struct adsm_split_part *parts, int count)
{
    for (int i = 0; i < count; i++)
        if (parts[i].box.lo[d] > split->range.lo[d])
            return true;
    return false;
}

int adsm_split_make(const struct adsm_split *split,
                    struct adsm_split_part *parts, int grid[3])
{
    grid[0] = grid[1] = grid[2] = 1;
    for (int d = 0; d < split->range.nd; d++)
        if (split->range.hi[d] <= split->range.lo[d])
            return 0;
    if (!choose_grid(split, grid))
        return -1;
    int n = fill_grid(split, parts, grid);
    for (int d = 0; d < split->range.nd; d++)
        if (grid[d] > 1 && !is_cut(split, d, parts, n)) {
            grid[d] = 1;
            n = fill_grid(split, parts, grid); /* another is cut first */
            d = -1;
        }
    return n;
}
