/*
 * Operators of reductions and scans: one line of a program's .cu makes the
 * kernels that adsmReduce, adsmScan and adsmMapReduce use.
 *
 *     ADSM_OPERATOR(longest, float2, make_float2(0, 0), a.y >= b.y ? a : b)
 *     ADSM_MAP_REDUCE(dot, float, sum_f32, (const float *x, const float *y),
 *                     x[i] * y[i])
 *
 * The expression of an operator combines `a` with the `b` behind it; it should
 * be associative. Commas outside of parentheses end a macro's argument: write
 * an identity in braces as (float2{0, 0}). A type has no constructors that do
 * something, as it is copied by its bytes. The expression of a map is of index
 * `i` and the names in `params`, of which there are one or more; its operator
 * is one of the shipped, sum_f32 and its like, or the program's. All other names
 * are the program's, but those with adsm_ and the kernels': longest_fold, _none,
 * _bytes, _rows, _columns, _last and _scan.
 *
 * Every kernel here folds by the same tree: neighbours 2k and 2k + 1 are
 * combined, then the results of 2k and 2k + 1, and so on; one without a
 * neighbour goes on as it is. So what a chunk gives depends on its elements
 * alone, whichever chunks there are. A warp reads 32 lines of 32 elements, lanes
 * side by side and 8 lines at once, and combines neighbours of two lines: each
 * lane gives the one line to its neighbour and takes the other. What is left of
 * the lines, and blocks of them, are combined by shuffles. Where 8 elements are
 * more than a lane's registers it goes through neighbours instead. A scan goes
 * down the same tree: what lies before a node is what lies before its parent,
 * and, if it is the right one of two, the left one.
 *
 * Only what is on its way at once is unrolled: programs with an operator have
 * this text, and so has the library. Of large elements see below.
 *
 * adsm_device.h includes it. The kernels' names and parameters are those that
 * libadsm/call/operator.h expects. Blocks are of whole warps along x.
 */
#ifndef TOOLS_CUDA_ADSM_OPERATOR_H
#define TOOLS_CUDA_ADSM_OPERATOR_H

enum {
    ADSM_LANE_ = 8,
    ADSM_ROW_ = 256,
    ADSM_ROWS_ = 4,
    ADSM_BLOCK_ = ADSM_ROWS_ * ADSM_ROW_,
    ADSM_FEW_ = 64,
    ADSM_SMALL_ = 32 /* bytes of an element */
};

/* Always: the software device has no native code for calls. */
#define ADSM_INLINE_ __device__ inline __attribute__((always_inline))

/* Instructions instead of intrinsics: clang without the SDK has those only where
 * it is told a version of PTX. */
static ADSM_INLINE_ int adsm_lane()
{
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return (int)lane;
}

/* Of the grid's x: a number that is seen to be the same for all lanes. */
static ADSM_INLINE_ long adsm_warp()
{
    unsigned first = threadIdx.x - (unsigned)adsm_lane();
    return ((long)blockIdx.x * blockDim.x + first) / 32;
}

static ADSM_INLINE_ long adsm_warps()
{
    return (long)gridDim.x * (blockDim.x / 32);
}

#define ADSM_SHUFFLE_(name, mode)                                              \
    static ADSM_INLINE_ unsigned name(unsigned word, int lane)                 \
    {                                                                          \
        unsigned other;                                                        \
        asm volatile("shfl.sync." mode ".b32 %0, %1, %2, 31, 0xffffffff;"      \
                     : "=r"(other)                                             \
                     : "r"(word), "r"(lane));                                  \
        return other;                                                          \
    }

/* From the lane whose number differs in the bits of `lane`; from that lane. */
ADSM_SHUFFLE_(adsm_swap_word, "bfly")
ADSM_SHUFFLE_(adsm_take_word, "idx")
#undef ADSM_SHUFFLE_

template <typename T, typename Word = unsigned> struct adsm_words {
    enum { COUNT = (sizeof(T) + sizeof(Word) - 1) / sizeof(Word) };
    Word word[COUNT];

    __device__ explicit adsm_words(const T &value)
    {
        word[COUNT - 1] = 0;
        __builtin_memcpy(word, &value, sizeof value);
    }
    __device__ T value() const
    {
        T value;
        __builtin_memcpy(&value, word, sizeof value);
        return value;
    }
};

/* What a T is chosen by: where it has words of 64 bits, by these. */
template <bool Long> struct adsm_word {
    typedef unsigned type;
};
template <> struct adsm_word<true> {
    typedef unsigned long type;
};

/* Without a branch, whatever a T is. */
template <typename T> static ADSM_INLINE_ T adsm_choose(bool first, T a, T b)
{
    typedef adsm_words<T, typename adsm_word<__alignof__(T) == 8>::type> words;
    words x(a), y(b);
#pragma unroll
    for (int i = 0; i < words::COUNT; i++)
        x.word[i] = first ? x.word[i] : y.word[i];
    return x.value();
}

template <typename T> static ADSM_INLINE_ T adsm_swap(T value, int lanes)
{
    adsm_words<T> words(value);
#pragma unroll
    for (int i = 0; i < adsm_words<T>::COUNT; i++)
        words.word[i] = adsm_swap_word(words.word[i], lanes);
    return words.value();
}

template <typename T> static ADSM_INLINE_ T adsm_take(T value, int lane)
{
    adsm_words<T> words(value);
#pragma unroll
    for (int i = 0; i < adsm_words<T>::COUNT; i++)
        words.word[i] = adsm_take_word(words.word[i], lane);
    return words.value();
}

/* ---- folds -------------------------------------------------------------- */

/* What is folded: elements [lo, hi) are there. With Full all that are asked for
 * are. */
struct adsm_extent {
    long lo, hi;
};

/* Two neighbours of `size` elements, the left one from `at` on. */
template <typename Op, bool Full>
static ADSM_INLINE_ typename Op::value
adsm_join(typename Op::value left, typename Op::value right, long at, long size,
          adsm_extent there)
{
    typename Op::value both = Op::of(left, right);
    if (Full)
        return both;
    both = adsm_choose(at + size <= there.lo, right, both);
    return adsm_choose(at + size >= there.hi, left, both);
}

/* Of this lane and the one `lanes` away, which has a neighbour of `size`. */
template <typename Op, bool Full>
static ADSM_INLINE_ typename Op::value adsm_meet(typename Op::value mine,
                                                 int lanes, long at, long size,
                                                 adsm_extent there)
{
    typename Op::value other = adsm_swap(mine, lanes);
    if (Full && Op::COMMUTES)
        return Op::of(mine, other);
    bool right = adsm_lane() & lanes;
    return adsm_join<Op, Full>(right ? other : mine, right ? mine : other,
                               at & -(2 * size), size, there);
}

/* What is not there gives what is not used. */
template <typename Op, bool Full, typename At>
static ADSM_INLINE_ typename Op::value adsm_read(const At &x, long at,
                                                 adsm_extent there)
{
    unsigned long from = at - there.lo, count = there.hi - there.lo;
    return Full || from < count ? x(at) : Op::none();
}

/* `Size` neighbours, by one lane in loops of two. */
template <typename Op, bool Full, int Size, typename At> struct adsm_node {
    static ADSM_INLINE_ typename Op::value fold(const At &x, long at,
                                                adsm_extent there)
    {
        typename Op::value a = Op::none(), b = a;
#pragma unroll 1
        for (int k = 0; k < 2; k++) {
            a = b;
            b = adsm_node<Op, Full, Size / 2, At>::fold(x, at + k * (Size / 2),
                                                        there);
        }
        return adsm_join<Op, Full>(a, b, at, Size / 2, there);
    }
};

template <typename Op, typename At> struct adsm_node<Op, false, 1, At> {
    static ADSM_INLINE_ typename Op::value fold(const At &x, long at,
                                                adsm_extent there)
    {
        return adsm_read<Op, false>(x, at, there);
    }
};

/* Of those that are all there eight are on their way at once. */
template <typename Op, typename At> struct adsm_node<Op, true, ADSM_LANE_, At> {
    static ADSM_INLINE_ typename Op::value fold(const At &x, long at,
                                                adsm_extent)
    {
        typename Op::value v[ADSM_LANE_];
#pragma unroll
        for (int i = 0; i < ADSM_LANE_; i++)
            v[i] = x(at + i);
#pragma unroll
        for (int size = 1; size < ADSM_LANE_; size *= 2)
#pragma unroll
            for (int i = 0; i < ADSM_LANE_; i += 2 * size)
                v[i] = Op::of(v[i], v[i + size]);
        return v[0];
    }
};

template <typename Op, bool Full, int Size, typename At>
static ADSM_INLINE_ typename Op::value adsm_fold_few(const At &x, long at,
                                                     adsm_extent there)
{
    return adsm_node<Op, Full, Size, At>::fold(x, at, there);
}

/* Of two lanes, `lanes` apart: the first gets what both have of `a`, combined,
 * and the second what both have of `b`; what the lane gets begins at `at`. */
template <typename Op, bool Full>
static ADSM_INLINE_ typename Op::value
adsm_pair(typename Op::value a, typename Op::value b, int lanes, long at,
          adsm_extent there)
{
    bool second = adsm_lane() & lanes;
    typename Op::value mine = adsm_choose(second, b, a);
    typename Op::value other = adsm_swap(adsm_choose(second, a, b), lanes);
    if (Full && Op::COMMUTES)
        return Op::of(mine, other);
    return adsm_join<Op, Full>(adsm_choose(second, other, mine),
                               adsm_choose(second, mine, other), at, lanes,
                               there);
}

/* A row's eight lines of 32 elements, which lanes read side by side and all at
 * once: lane l gets eight neighbours of line l modulo 8, those of which one is
 * element l. So these are in the order of the lanes' places. */
template <typename Op, bool Full, typename At>
static ADSM_INLINE_ typename Op::value adsm_fold_lines(const At &x, long at,
                                                       adsm_extent there)
{
    typename Op::value v[ADSM_LANE_];
    int lane = adsm_lane();
#pragma unroll
    for (int j = 0; j < ADSM_LANE_; j++)
        v[j] = adsm_read<Op, Full>(x, at + lane + j * 32, there);
#pragma unroll
    for (int lanes = 1; lanes < ADSM_LANE_; lanes *= 2) {
        int low = lane & (2 * lanes - 1), node = low * 32 + (lane - low);
#pragma unroll
        for (int j = 0; j < ADSM_LANE_; j += 2 * lanes)
            v[j] = adsm_pair<Op, Full>(v[j], v[j + lanes], lanes,
                                       at + j * 32 + node, there);
    }
    return v[0];
}

static ADSM_INLINE_ int adsm_place()
{
    return adsm_lane() % 8 * 4 + adsm_lane() / 8;
}

/* Between lanes that differ in bit b of their place. */
static ADSM_INLINE_ int adsm_place_bit(int b)
{
    return b < 2 ? 8 << b : 1 << (b - 2);
}

/* A block, all there, in loops of two: lane l comes to have line l, and then
 * all get what the lines give. */
template <typename Op, typename At>
static ADSM_INLINE_ typename Op::value adsm_fold_block(const At &x, long at)
{
    typename Op::value a = Op::none(), b = a, c = a, d = a;
    adsm_extent all = {0, 0};
#pragma unroll 1
    for (int k = 0; k < 2; k++) {
#pragma unroll 1
        for (int i = 0; i < 2; i++) {
            a = b;
            b = adsm_fold_lines<Op, true>(x, at + (2 * k + i) * ADSM_ROW_, all);
        }
        c = d;
        d = adsm_pair<Op, true>(a, b, 8, 0, all);
    }
    d = adsm_pair<Op, true>(c, d, 16, 0, all);
#pragma unroll
    for (int lanes = 1; lanes < 32; lanes *= 2)
        d = adsm_meet<Op, true>(d, lanes, 0, lanes, all);
    return d;
}

/* A row that begins at `row`, of which some may not be there. Where that is
 * Often so it is worth more text. */
template <typename Op, bool Often, typename At>
static ADSM_INLINE_ typename Op::value adsm_fold_row(const At &x, long row,
                                                     adsm_extent there)
{
    long at = row + adsm_place() * ADSM_LANE_;
    typename Op::value v =
        Often && sizeof v <= ADSM_SMALL_
            ? adsm_fold_lines<Op, false>(x, row, there)
            : adsm_fold_few<Op, false, ADSM_LANE_>(x, at, there);
#pragma unroll 1
    for (int b = 0; b < 5; b++)
        v = adsm_meet<Op, false>(v, adsm_place_bit(b), at,
                                 (long)ADSM_LANE_ << b, there);
    return v;
}

/* The same of a block. */
template <typename Op, bool Often, typename At>
static ADSM_INLINE_ typename Op::value adsm_fold_part(const At &x, long block,
                                                      adsm_extent there)
{
    int lane = adsm_lane();
    typename Op::value v = Op::none(), mine = v;
#pragma unroll 1
    for (int k = 0; k < ADSM_ROWS_; k++) {
        long row = block + (long)k * ADSM_ROW_;
        if (row >= there.hi || row + ADSM_ROW_ <= there.lo)
            continue;
        v = adsm_fold_row<Op, Often>(x, row, there);
        mine = adsm_choose(lane == k, v, mine);
    }
    long at = block + (long)lane * ADSM_ROW_;
#pragma unroll 1
    for (int lanes = 1; lanes < ADSM_ROWS_; lanes *= 2)
        mine = adsm_meet<Op, false>(mine, lanes, at, lanes * (long)ADSM_ROW_,
                                    there);
    return adsm_take(mine, 0);
}

template <typename Op, typename At>
static ADSM_INLINE_ typename Op::value
adsm_fold_large(const At &x, long begin, int rows, adsm_extent there);

/* `rows` rows from `begin` on, by a warp: lane 0 gets the result. */
template <typename Op, bool Often, typename At>
static ADSM_INLINE_ typename Op::value
adsm_fold_chunk(const At &x, long begin, int rows, adsm_extent there)
{
    if (sizeof(typename Op::value) > ADSM_SMALL_)
        return adsm_fold_large<Op>(x, begin, rows, there);
    int lane = adsm_lane(), blocks = rows / ADSM_ROWS_;
    typename Op::value v = Op::none(), mine = v;
#pragma unroll 1
    for (int k = 0; k < blocks; k++) {
        long block = begin + (long)k * ADSM_BLOCK_, end = block + ADSM_BLOCK_;
        if (block >= there.hi || end <= there.lo)
            continue;
        if (block >= there.lo && end <= there.hi)
            v = adsm_fold_block<Op>(x, block);
        else
            v = adsm_fold_part<Op, Often>(x, block, there);
        mine = adsm_choose(lane == k, v, mine);
    }
    long at = begin + (long)lane * ADSM_BLOCK_;
#pragma unroll 1
    for (int lanes = 1; lanes < blocks; lanes *= 2)
        mine = adsm_meet<Op, false>(mine, lanes, at, lanes * (long)ADSM_BLOCK_,
                                    there);
    return mine;
}

template <typename T> struct adsm_line {
    const T *base;

    __device__ T operator()(long i) const
    {
        return base[i];
    }
};

/* Elements `far` bytes apart. */
template <typename T> struct adsm_stride {
    const T *base;
    long far;

    __device__ T operator()(long i) const
    {
        return *(const T *)((const char *)base + i * far);
    }
};

#include "adsm_operator_large.h"

/* out[c] = elements of chunk c, a warp each. */
template <typename Op, typename At>
static ADSM_INLINE_ void adsm_fold(long i0, long i1, const At &x,
                                   typename Op::value *out, int rows)
{
    long chunk = (long)rows * ADSM_ROW_;
    for (long c = i0 / chunk + adsm_warp(); c * chunk < i1; c += adsm_warps()) {
        adsm_extent there = {i0, i1};
        auto v = adsm_fold_chunk<Op, false>(x, c * chunk, rows, there);
        if (adsm_lane() == 0)
            out[c] = v;
    }
}

/* out(y, c) = those of row y. Blocks are one warp wide. */
template <typename Op>
static ADSM_INLINE_ void adsm_fold_rows(long y0, long y1, long x0, long x1,
                                        adsm_view2<const typename Op::value> in,
                                        adsm_view2<typename Op::value> out,
                                        int rows)
{
    long chunk = (long)rows * ADSM_ROW_;
    for (long y = y0 + adsm_thread_y(); y < y1;
         y += (long)gridDim.y * blockDim.y)
        for (long c = x0 / chunk + blockIdx.x; c * chunk < x1; c += gridDim.x) {
            adsm_extent there = {x0, x1};
            adsm_line<typename Op::value> x = {&in(y, 0)};
            auto v = adsm_fold_chunk<Op, true>(x, c * chunk, rows, there);
            if (adsm_lane() == 0)
                out(y, c) = v;
        }
}

/* out(c, x) = 64 elements of column x, a thread each. */
template <typename Op>
static ADSM_INLINE_ void
adsm_fold_columns(long y0, long y1, long x0, long x1,
                  adsm_view2<const typename Op::value> in,
                  adsm_view2<typename Op::value> out)
{
    long column = x0 + adsm_thread_x();
    if (column >= x1)
        return;
    for (long c = y0 / ADSM_FEW_ + adsm_thread_y(); c * ADSM_FEW_ < y1;
         c += (long)gridDim.y * blockDim.y) {
        adsm_extent there = {y0, y1};
        adsm_stride<typename Op::value> x = {&in(0, column), in.pitch};
        long at = c * ADSM_FEW_, end = at + ADSM_FEW_;
        if (sizeof *out.base > ADSM_SMALL_)
            adsm_fold_alone<Op>(x, at, ADSM_FEW_, there, &out(c, column));
        else if (at >= y0 && end <= y1)
            out(c, column) = adsm_fold_few<Op, true, ADSM_FEW_>(x, at, there);
        else
            out(c, column) = adsm_fold_few<Op, false, ADSM_FEW_>(x, at, there);
    }
}

/* out[i] = elements [j0, j1), at most 64, `far` apart; those of i begin at
 * i * next. */
template <typename Op>
static ADSM_INLINE_ void
adsm_fold_last(long i0, long i1, const typename Op::value *in,
               typename Op::value *out, long j0, long j1, long next, long far)
{
    long i = i0 + adsm_thread_x();
    if (i >= i1)
        return;
    adsm_extent there = {j0, j1};
    adsm_stride<typename Op::value> x = {in + i * next, far * (long)sizeof *in};
    if (sizeof *out > ADSM_SMALL_)
        adsm_fold_alone<Op>(x, 0, ADSM_FEW_, there, &out[i]);
    else
        out[i] = adsm_fold_few<Op, false, ADSM_FEW_>(x, 0, there);
}

/* ---- scans -------------------------------------------------------------- */

/* `before` and what follows it; there is nothing before element 0. */
template <typename Op>
static ADSM_INLINE_ typename Op::value
adsm_behind(bool any, typename Op::value before, typename Op::value v)
{
    return adsm_choose(any, Op::of(before, v), v);
}

/* Element j of lane l is element l of those that lanes read side by side in line
 * j, and the other way round, if the low bits of lanes and lines change places.
 * So eight neighbours come to a lane: those from 8 p on, if p is its place. */
template <typename T> static ADSM_INLINE_ void adsm_turn(T *v)
{
#pragma unroll
    for (int lanes = 1; lanes < ADSM_LANE_; lanes *= 2) {
        bool second = adsm_lane() & lanes;
#pragma unroll
        for (int j = 0; j < ADSM_LANE_; j++) {
            if (j & lanes)
                continue;
            T a = v[j], b = v[j + lanes];
            T other = adsm_swap(adsm_choose(second, a, b), lanes);
            v[j] = adsm_choose(second, other, a);
            v[j + lanes] = adsm_choose(second, b, other);
        }
    }
}

/* What lies before each lane, in the order of their places, if `before` lies
 * before the first. What all lanes have becomes `v`. */
template <typename Op>
static ADSM_INLINE_ typename Op::value
adsm_before_lane(typename Op::value &v, bool any, typename Op::value before)
{
    typename Op::value left[5];
    int lane = adsm_lane();
#pragma unroll
    for (int b = 0; b < 5; b++) {
        int far = adsm_place_bit(b);
        left[b] = adsm_swap(v, far);
        v = Op::COMMUTES ? Op::of(v, left[b])
                         : Op::of(adsm_choose(lane & far, left[b], v),
                                  adsm_choose(lane & far, v, left[b]));
    }
#pragma unroll
    for (int b = 4; b >= 0; b--) {
        bool right = lane & adsm_place_bit(b);
        before =
            adsm_choose(right, adsm_behind<Op>(any, before, left[b]), before);
        any = any || right;
    }
    return before;
}

/* Eight neighbours: the sums of two, of four and of all. */
template <typename Op> struct adsm_eight {
    typename Op::value two[4], four[2], all;

    __device__ explicit adsm_eight(const typename Op::value *v)
    {
#pragma unroll
        for (int j = 0; j < 4; j++)
            two[j] = Op::of(v[2 * j], v[2 * j + 1]);
        four[0] = Op::of(two[0], two[1]);
        four[1] = Op::of(two[2], two[3]);
        all = Op::of(four[0], four[1]);
    }
};

/* What lies before each of them. */
template <typename Op>
static ADSM_INLINE_ void
adsm_before_each(const typename Op::value *v, const adsm_eight<Op> &sums,
                 bool any, typename Op::value before, typename Op::value *e)
{
    e[0] = before;
    e[1] = adsm_behind<Op>(any, e[0], v[0]);
    e[2] = adsm_behind<Op>(any, e[0], sums.two[0]);
    e[3] = Op::of(e[2], v[2]);
    e[4] = adsm_behind<Op>(any, e[0], sums.four[0]);
    e[5] = Op::of(e[4], v[4]);
    e[6] = Op::of(e[4], sums.two[2]);
    e[7] = Op::of(e[6], v[6]);
}

/* The first `size` elements of a row, which may be all; what they give is
 * returned. In and out may be the same. */
template <typename Op>
static ADSM_INLINE_ typename Op::value
adsm_scan_row(const typename Op::value *in, typename Op::value *out, long size,
              bool any, typename Op::value before, int exclusive)
{
    typename Op::value v[ADSM_LANE_], e[ADSM_LANE_];
    int lane = adsm_lane();
    if (size >= ADSM_ROW_) {
#pragma unroll
        for (int j = 0; j < ADSM_LANE_; j++)
            v[j] = in[lane + j * 32];
    } else {
#pragma unroll
        for (int j = 0; j < ADSM_LANE_; j++)
            v[j] = lane + j * 32 < size ? in[lane + j * 32] : Op::none();
    }
    adsm_turn(v);
    adsm_eight<Op> sums(v);
    before = adsm_before_lane<Op>(sums.all, any, before);
    any = any || lane > 0;
    adsm_before_each<Op>(v, sums, any, before, e);
    if (!exclusive) {
#pragma unroll
        for (int j = 0; j < ADSM_LANE_; j++)
            e[j] = adsm_behind<Op>(any || j > 0, e[j], v[j]);
    }
    adsm_turn(e);
    if (size >= ADSM_ROW_) {
#pragma unroll
        for (int j = 0; j < ADSM_LANE_; j++)
            out[lane + j * 32] = e[j];
    } else {
#pragma unroll
        for (int j = 0; j < ADSM_LANE_; j++)
            if (lane + j * 32 < size)
                out[lane + j * 32] = e[j];
    }
    return sums.all;
}

/* The first `size` elements of a block: two pairs of rows, one row behind the
 * other. */
template <typename Op>
static ADSM_INLINE_ void
adsm_scan_block(const typename Op::value *in, typename Op::value *out,
                long size, bool any, typename Op::value before, int exclusive)
{
    typename Op::value left = Op::none();
#pragma unroll 1
    for (int k = 0; k * ADSM_ROW_ < size && k < ADSM_ROWS_; k++) {
        bool right = k & 1;
        typename Op::value first = before;
        if (right)
            first = adsm_behind<Op>(any, before, left);
        auto row = adsm_scan_row<Op>(in + k * ADSM_ROW_, out + k * ADSM_ROW_,
                                     size - k * ADSM_ROW_, any || right, first,
                                     exclusive);
        if (right) {
            before = adsm_behind<Op>(any, before, Op::of(left, row));
            any = true;
        }
        left = row;
    }
}

/* Chunks of [0, i1), a block and a warp each; before[c] lies before chunk c. */
template <typename Op>
static ADSM_INLINE_ void adsm_scan(long i0, long i1,
                                   const typename Op::value *in,
                                   const typename Op::value *before,
                                   typename Op::value *out, int exclusive)
{
    for (long c = i0 / ADSM_BLOCK_ + adsm_warp(); c * ADSM_BLOCK_ < i1;
         c += adsm_warps()) {
        long block = c * ADSM_BLOCK_;
        typename Op::value first = Op::none();
        if (c > 0)
            first = before[c];
        if (sizeof first <= ADSM_SMALL_)
            adsm_scan_block<Op>(in + block, out + block, i1 - block, c > 0,
                                first, exclusive);
        else
            adsm_scan_large<Op>(in + block, out + block, i1 - block, c > 0,
                                first, exclusive);
    }
}

/* ---- kernels ------------------------------------------------------------ */

#define ADSM_LIST_(...) __VA_ARGS__

/* An operator, without kernels. Where it commutes lanes need not ask which of
 * two is the left one. The program's words are in functions of their own, where
 * names mean what they do around the macro: a struct's members and a kernel's
 * parameters would be found first. */
#define ADSM_OP_(name, type, commutes, identity, ...)                          \
    static ADSM_INLINE_ type adsm_identity_##name()                            \
    {                                                                          \
        return identity;                                                       \
    }                                                                          \
    static ADSM_INLINE_ type adsm_combined_##name(type a, type b)              \
    {                                                                          \
        return __VA_ARGS__;                                                    \
    }                                                                          \
    struct adsm_op_##name {                                                    \
        typedef type value;                                                    \
        enum { COMMUTES = commutes };                                          \
        static ADSM_INLINE_ value none()                                       \
        {                                                                      \
            return adsm_identity_##name();                                     \
        }                                                                      \
        static ADSM_INLINE_ value of(value a, value b)                         \
        {                                                                      \
            return adsm_combined_##name(a, b);                                 \
        }                                                                      \
    };

/* What merges partial results, and says what they are. */
#define ADSM_MERGE_KERNELS_(name, op)                                          \
    extern "C" __global__ void name##_fold(                                    \
        long i0, long i1, const op::value *in, op::value *out, int rows)       \
    {                                                                          \
        adsm_line<op::value> x = {in};                                         \
        adsm_fold<op>(i0, i1, x, out, rows);                                   \
    }                                                                          \
    extern "C" __global__ void name##_none(long i0, long i1, op::value *out)   \
    {                                                                          \
        long i = i0 + adsm_thread_x();                                         \
        if (i < i1)                                                            \
            out[i] = op::none();                                               \
    }                                                                          \
    extern "C" __global__ void name##_bytes(long i0, long i1, int *out)        \
    {                                                                          \
        long i = i0 + adsm_thread_x();                                         \
        if (i < i1)                                                            \
            out[i] = (int)sizeof(op::value);                                   \
    }

#define ADSM_KERNELS_(name, op)                                                \
    ADSM_MERGE_KERNELS_(name, op)                                              \
    extern "C" __global__ void name##_rows(                                    \
        long y0, long y1, long x0, long x1, adsm_view2<const op::value> in,    \
        adsm_view2<op::value> out, int rows)                                   \
    {                                                                          \
        adsm_fold_rows<op>(y0, y1, x0, x1, in, out, rows);                     \
    }                                                                          \
    extern "C" __global__ void name##_columns(                                 \
        long y0, long y1, long x0, long x1, adsm_view2<const op::value> in,    \
        adsm_view2<op::value> out)                                             \
    {                                                                          \
        adsm_fold_columns<op>(y0, y1, x0, x1, in, out);                        \
    }                                                                          \
    extern "C" __global__ void name##_last(                                    \
        long i0, long i1, const op::value *in, op::value *out, long j0,        \
        long j1, long next, long far)                                          \
    {                                                                          \
        adsm_fold_last<op>(i0, i1, in, out, j0, j1, next, far);                \
    }                                                                          \
    extern "C" __global__ void name##_scan(                                    \
        long i0, long i1, const op::value *in, const op::value *before,        \
        op::value *out, int exclusive)                                         \
    {                                                                          \
        adsm_scan<op>(i0, i1, in, before, out, exclusive);                     \
    }

/** An operator of the program's, for adsmOperatorGet. */
#define ADSM_OPERATOR(name, type, identity, ...)                               \
    ADSM_OP_(name, type, 0, identity, __VA_ARGS__)                             \
    ADSM_KERNELS_(name, adsm_op_##name)

/** A map whose values are reduced, for adsmMapReduce. */
#define ADSM_MAP_REDUCE(name, type, operator_, params, ...)                    \
    extern "C" __global__ void name(long adsm_i0, long adsm_i1,                \
                                    ADSM_LIST_ params, type *adsm_out)         \
    {                                                                          \
        auto adsm_of = [&](long i) __attribute__((always_inline))->type        \
        {                                                                      \
            return __VA_ARGS__;                                                \
        };                                                                     \
        adsm_fold<adsm_op_##operator_>(adsm_i0, adsm_i1, adsm_of, adsm_out,    \
                                       32);                                    \
    }                                                                          \
    ADSM_MERGE_KERNELS_(name, adsm_op_##operator_)

/* ---- shipped ------------------------------------------------------------ */

/* Of two that are equal or not ordered min and max keep the first. Integers
 * wrap around. */
#define ADSM_OP_INTEGER_(of, type, bits, least, most)                          \
    ADSM_OP_(sum_##of, type, 1, 0, (type)((bits)a + (bits)b))                  \
    ADSM_OP_(product_##of, type, 1, 1, (type)((bits)a * (bits)b))              \
    ADSM_OP_(and_##of, type, 1, (type) ~(bits)0, a &b)                         \
    ADSM_OP_(or_##of, type, 1, 0, a | b)                                       \
    ADSM_OP_(xor_##of, type, 1, 0, a ^ b)                                      \
    ADSM_OP_(min_##of, type, 0, most, b < a ? b : a)                           \
    ADSM_OP_(max_##of, type, 0, least, b > a ? b : a)
#define ADSM_OP_REAL_(of, type, most)                                          \
    ADSM_OP_(sum_##of, type, 1, 0, a + b)                                      \
    ADSM_OP_(product_##of, type, 1, 1, a *b)                                   \
    ADSM_OP_(min_##of, type, 0, most, b < a ? b : a)                           \
    ADSM_OP_(max_##of, type, 0, -most, b > a ? b : a)

ADSM_OP_INTEGER_(i32, int, unsigned, -0x7fffffff - 1, 0x7fffffff)
ADSM_OP_INTEGER_(u32, unsigned, unsigned, 0, 0xffffffffu)
ADSM_OP_INTEGER_(i64, long, unsigned long, -0x7fffffffffffffffl - 1,
                 0x7fffffffffffffffl)
ADSM_OP_INTEGER_(u64, unsigned long, unsigned long, 0, 0xfffffffffffffffful)
ADSM_OP_REAL_(f32, float, __builtin_inff())
ADSM_OP_REAL_(f64, double, __builtin_inf())

#endif
