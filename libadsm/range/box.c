/*
 * Boxes: see range/box.h.
 */
#include "range/box.h"

adsmBox adsm_box_hull(const adsmBox *a, const adsmBox *b)
{
    adsmBox out = *a;
    for (int d = 0; d < a->nd; d++) {
        if (b->lo[d] < out.lo[d])
            out.lo[d] = b->lo[d];
        if (b->hi[d] > out.hi[d])
            out.hi[d] = b->hi[d];
    }
    return out;
}

int adsm_box_subtract(const adsmBox *a, const adsmBox *b,
                      adsmBox out[ADSM_BOX_PIECES])
{
    adsmBox rest = *a;
    int n = 0;
    if (adsm_box_is_empty(b) || !adsm_box_meets(a, b)) {
        out[0] = *a;
        return 1;
    }
    for (int d = 0; d < a->nd; d++) {
        if (rest.lo[d] < b->lo[d]) {
            out[n] = rest;
            out[n++].hi[d] = b->lo[d];
            rest.lo[d] = b->lo[d];
        }
        if (b->hi[d] < rest.hi[d]) {
            out[n] = rest;
            out[n++].lo[d] = b->hi[d];
            rest.hi[d] = b->hi[d];
        }
    }
    return n;
}

/* Do they differ in one dimension only, and touch or overlap there? */
static bool box_is_continued(const adsmBox *a, const adsmBox *b)
{
    int differ = -1;
    for (int d = 0; d < a->nd; d++) {
        if (a->lo[d] == b->lo[d] && a->hi[d] == b->hi[d])
            continue;
        if (differ >= 0 || a->hi[d] < b->lo[d] || b->hi[d] < a->lo[d])
            return false;
        differ = d;
    }
    return true;
}

bool adsm_box_join(const adsmBox *a, const adsmBox *b, adsmBox *out)
{
    if (!box_is_continued(a, b) && !adsm_box_within(a, b) &&
        !adsm_box_within(b, a))
        return false;
    *out = adsm_box_hull(a, b);
    return true;
}

/* Bytes of `box` that are in none of the others. */
static size_t box_bytes_outside(const adsmBox *box, const adsmBox *others,
                                int n)
{
    while (n > 0 &&
           (adsm_box_is_empty(others) || !adsm_box_meets(box, others))) {
        others++;
        n--;
    }
    if (n == 0)
        return adsm_box_bytes(box);
    adsmBox pieces[ADSM_BOX_PIECES];
    int count = adsm_box_subtract(box, others, pieces);
    size_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += box_bytes_outside(&pieces[i], others + 1, n - 1);
    return bytes;
}

size_t adsm_box_union_bytes(const adsmBox *boxes, int n)
{
    size_t bytes = 0;
    for (int i = 0; i < n; i++)
        if (!adsm_box_is_empty(&boxes[i]))
            bytes += box_bytes_outside(&boxes[i], boxes + i + 1, n - i - 1);
    return bytes;
}

/*
 * Append the bytes [begin, end) of `slab`, which is one index wide in all
 * dimensions before `d`: a part of its first index, then whole ones, then a
 * part of the last. The parts are of one index each and one dimension less, and
 * reach from or to its end, so they are one box more each for every dimension.
 */
static int box_cut(adsmBox slab, int d, size_t begin, size_t end, adsmBox *out)
{
    size_t pitch[3];
    if (d == 3) /* never: in the innermost dimension the pitch is 1 */
        return 0;
    adsm_box_pitches(&slab, pitch);
    size_t first = begin / pitch[d], last = end / pitch[d];
    size_t in_first = begin % pitch[d], in_last = end % pitch[d];
    long origin = slab.lo[d];
    int n = 0;
    if (in_first != 0) {
        slab.lo[d] = origin + (long)first;
        slab.hi[d] = slab.lo[d] + 1;
        if (first == last)
            return box_cut(slab, d + 1, in_first, in_last, out);
        n += box_cut(slab, d + 1, in_first, pitch[d], out);
        first++;
    }
    if (first < last) {
        out[n] = slab;
        out[n].lo[d] = origin + (long)first;
        out[n++].hi[d] = origin + (long)last;
    }
    if (in_last != 0) {
        slab.lo[d] = origin + (long)last;
        slab.hi[d] = slab.lo[d] + 1;
        n += box_cut(slab, d + 1, 0, in_last, out + n);
    }
    return n;
}

int adsm_box_of_bytes(const adsmBox *whole, size_t begin, size_t end,
                      adsmBox out[ADSM_BOX_CUTS])
{
    return begin < end ? box_cut(*whole, 0, begin, end, out) : 0;
}

void adsm_box_pitches(const adsmBox *box, size_t pitch[3])
{
    size_t bytes = 1;
    pitch[1] = pitch[2] = 1;
    for (int d = box->nd - 1; d >= 0; d--) {
        pitch[d] = bytes;
        bytes *= (size_t)(box->hi[d] - box->lo[d]);
    }
}

size_t adsm_box_offset(const adsmBox *box, const adsmBox *in,
                       const size_t pitch[3])
{
    size_t offset = 0;
    for (int d = 0; d < box->nd; d++)
        offset += (size_t)(box->lo[d] - in->lo[d]) * pitch[d];
    return offset;
}
