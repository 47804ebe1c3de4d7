/*
 * Folds and scans of large elements: the part of adsm_operator.h, which includes
 * it, for those of more than ADSM_SMALL_ bytes.
 *
 * Such an element stays in a lane's memory, where it is used by its address: each
 * word of it that is chosen, moved or kept in a register is a line of text, and so
 * is each of an operator's. So there is one place where two of a lane are combined,
 * and one where two lanes meet, and what is not there is left out by branches.
 */
#ifndef TOOLS_CUDA_ADSM_OPERATOR_LARGE_H
#define TOOLS_CUDA_ADSM_OPERATOR_LARGE_H

/* Of `count` neighbours, a power of two up to 256: whether any is there, and in
 * *out what they give. s[b] is what the last 2^b elements gave that have no
 * neighbour yet. */
template <typename Op, typename At>
static ADSM_INLINE_ bool adsm_fold_alone(const At &x, long at, int count,
                                         adsm_extent there,
                                         typename Op::value *out)
{
    typename Op::value s[9];
    unsigned have = 0;
    int last = 0;
#pragma unroll 1
    for (int i = 0; i < count; i++) {
        bool is = at + i >= there.lo && at + i < there.hi;
        if (is)
            *out = x(at + i);
        int b = 0;
#pragma unroll 1
        for (; i >> b & 1; b++) {
            if (!(have >> b & 1))
                continue;
            *out = is ? Op::of(s[b], *out) : s[b];
            is = true;
        }
        have &= ~((1u << b) - 1);
        if (is) {
            s[b] = *out;
            have |= 1u << b;
        }
        last = b;
    }
    return have >> last & 1;
}

/* The same as adsm_fold_chunk: lanes have rows * 8 neighbours each. */
template <typename Op, typename At>
static ADSM_INLINE_ typename Op::value
adsm_fold_large(const At &x, long begin, int rows, adsm_extent there)
{
    typename Op::value v[2];
    int each = rows * (ADSM_ROW_ / 32), lane = adsm_lane();
    long at = begin + (long)lane * each;
    bool is = adsm_fold_alone<Op>(x, at, each, there, &v[0]);
#pragma unroll 1
    for (int lanes = 1; lanes < 32; lanes *= 2) {
        bool second = lane & lanes;
        bool other = adsm_swap_word(is, lanes);
        v[1] = adsm_swap(v[0], lanes);
        if (is && other)
            v[0] = Op::of(v[second], v[!second]);
        else if (other)
            v[0] = v[1];
        is = is || other;
    }
    return v[0];
}

/* A scan of the first `size` elements of a block: lanes go through 32 each. What lies
 * before one is `before`, what lanes before gave, and what those of the lane that
 * have no neighbour yet gave, from the largest on. */
template <typename Op>
static ADSM_INLINE_ void
adsm_scan_large(const typename Op::value *in, typename Op::value *out,
                long size, bool any, typename Op::value before, int exclusive)
{
    enum { EACH = ADSM_BLOCK_ / 32 };
    typename Op::value left[5], v[2], s[7];
    int lane = adsm_lane();
    adsm_line<typename Op::value> x = {in};
    adsm_extent there = {0, size};
    adsm_fold_alone<Op>(x, lane * EACH, EACH, there, &v[0]);
#pragma unroll 1
    for (int b = 0; b < 5; b++) {
        bool second = lane >> b & 1;
        left[b] = v[1] = adsm_swap(v[0], 1 << b);
        v[0] = Op::of(v[second], v[!second]);
    }
#pragma unroll 1
    for (int b = 4; b >= 0; b--)
        if (lane >> b & 1) {
            before = any ? Op::of(before, left[b]) : left[b];
            any = true;
        }
#pragma unroll 1
    for (int j = 0; j < EACH && lane * EACH + j < size; j++) {
        bool some = any;
        v[0] = before;
        s[0] = in[lane * EACH + j]; /* s[b + 1]: the last 2^b before it */
#pragma unroll 1
        for (int b = 5; b >= 0; b--)
            if (b > 0 ? j >> (b - 1) & 1 : !exclusive) {
                v[0] = some ? Op::of(v[0], s[b]) : s[b];
                some = true;
            }
        out[lane * EACH + j] = v[0];
        int b = 1;
#pragma unroll 1
        for (; j >> (b - 1) & 1; b++)
            s[0] = Op::of(s[b], s[0]);
        s[b] = s[0];
    }
}

#endif
