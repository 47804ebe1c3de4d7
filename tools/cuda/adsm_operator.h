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
 * is one of the shipped, sum_f32 and its like, or the program's.
 *
 * Every kernel here folds by the same tree: neighbours 2k and 2k + 1 are
 * combined, then the results of 2k and 2k + 1, and so on; one without a
 * neighbour goes on as it is. So what a chunk gives depends on its elements
 * alone, whichever chunks there are: a warp folds `rows` rows of 256, a lane 8
 * neighbours of a row, and lanes and rows are combined by shuffles. A scan goes
 * down the same tree: what lies before a node is what lies before its parent,
 * and, if it is the right one of two, the left one.
 *
 * adsm_device.h includes it. The kernels' names and parameters are those that
 * libadsm/sched/operator.h expects. Blocks are of whole warps along x.
 */
#ifndef TOOLS_CUDA_ADSM_OPERATOR_H
#define TOOLS_CUDA_ADSM_OPERATOR_H

enum { ADSM_ROW_ = 256, ADSM_LANE_ = 8, ADSM_FEW_ = 64 };

/* Instructions instead of intrinsics: clang without the SDK has those only where
 * it is told a version of PTX. */
static __device__ inline unsigned adsm_lane()
{
    return threadIdx.x & 31;
}

#define ADSM_SHUFFLE_(name, mode)                                              \
    static __device__ inline unsigned name(unsigned word, int lane)            \
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

template <typename T> struct adsm_words {
    enum { COUNT = (sizeof(T) + 3) / 4 };
    unsigned word[COUNT];

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

template <typename T> static __device__ inline T adsm_swap(T value, int lanes)
{
    adsm_words<T> words(value);
#pragma unroll
    for (int i = 0; i < adsm_words<T>::COUNT; i++)
        words.word[i] = adsm_swap_word(words.word[i], lanes);
    return words.value();
}

template <typename T> static __device__ inline T adsm_take(T value, int lane)
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
static __device__ inline typename Op::value
adsm_join(typename Op::value left, typename Op::value right, long at, long size,
          adsm_extent there)
{
    if (!Full && at + size >= there.hi)
        return left;
    if (!Full && at + size <= there.lo)
        return right;
    return Op::of(left, right);
}

/* Of this lane and the one `lanes` away, which has a neighbour of `size`. */
template <typename Op, bool Full>
static __device__ inline typename Op::value
adsm_meet(typename Op::value mine, int lanes, long at, long size,
          adsm_extent there)
{
    typename Op::value other = adsm_swap(mine, lanes);
    if (Full && Op::COMMUTES)
        return Op::of(mine, other);
    bool right = adsm_lane() & lanes;
    return adsm_join<Op, Full>(right ? other : mine, right ? mine : other,
                               at & -(2 * size), size, there);
}

/* Eight that are all there. */
template <typename Op, typename At>
static __device__ inline typename Op::value adsm_fold8(const At &x, long at)
{
    typename Op::value v[ADSM_LANE_];
#pragma unroll
    for (int j = 0; j < ADSM_LANE_; j++)
        v[j] = x(at + j);
#pragma unroll
    for (int size = 1; size < ADSM_LANE_; size *= 2)
#pragma unroll
        for (int j = 0; j < ADSM_LANE_; j += 2 * size)
            v[j] = Op::of(v[j], v[j + size]);
    return v[0];
}

/* Up to 64, a power of two, of which some may not be there: like a counter, a
 * one that gets another carries. */
template <typename Op, typename At>
static __device__ inline typename Op::value
adsm_fold_few(const At &x, long at, int count, adsm_extent there)
{
    typename Op::value v = Op::none(), s[6] = {v, v, v, v, v, v};
#pragma unroll 1
    for (int j = 0; j < count; j++) {
        bool carries = true;
        if (at + j >= there.lo && at + j < there.hi)
            v = x(at + j);
#pragma unroll
        for (int b = 0; b < 6; b++) {
            int size = 1 << b;
            bool two = carries && (j & size);
            if (two)
                v = adsm_join<Op, false>(s[b], v, at + j + 1 - 2 * size, size,
                                         there);
            else if (carries)
                s[b] = v;
            carries = two;
        }
    }
    return v;
}

template <typename Op, bool Full, typename At>
static __device__ inline typename Op::value adsm_fold_lane(const At &x, long at,
                                                           adsm_extent there)
{
    return Full ? adsm_fold8<Op>(x, at)
                : adsm_fold_few<Op>(x, at, ADSM_LANE_, there);
}

/* The lanes of a row that begins at `row`. */
template <typename Op, bool Full, typename At>
static __device__ inline typename Op::value adsm_fold_row(const At &x, long row,
                                                          adsm_extent there)
{
    enum { UNROLLED = Full ? 5 : 1 }; /* what is rare is small */
    long at = row + (long)adsm_lane() * ADSM_LANE_;
    typename Op::value v = adsm_fold_lane<Op, Full>(x, at, there);
#pragma unroll UNROLLED
    for (int lanes = 1; lanes < 32; lanes *= 2)
        v = adsm_meet<Op, Full>(v, lanes, at, lanes * (long)ADSM_LANE_, there);
    return v;
}

/* `rows` rows from `begin` on, by a warp: lane 0 gets the result. */
template <typename Op, typename At>
static __device__ inline typename Op::value
adsm_fold_chunk(const At &x, long begin, int rows, adsm_extent there)
{
    long lane = adsm_lane();
    typename Op::value v = Op::none(), mine = v;
#pragma unroll 1
    for (int k = 0; k < rows; k++) {
        long row = begin + (long)k * ADSM_ROW_, end = row + ADSM_ROW_;
        if (row >= there.hi || end <= there.lo)
            continue;
        if (row >= there.lo && end <= there.hi)
            v = adsm_fold_row<Op, true>(x, row, there);
        else
            v = adsm_fold_row<Op, false>(x, row, there);
        if (lane == k)
            mine = v;
    }
    long at = begin + lane * ADSM_ROW_;
#pragma unroll 1
    for (int lanes = 1; lanes < rows; lanes *= 2)
        mine = adsm_meet<Op, false>(mine, lanes, at, lanes * (long)ADSM_ROW_,
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

template <typename T> struct adsm_stride {
    const T *base;
    long stride;

    __device__ T operator()(long i) const
    {
        return base[i * stride];
    }
};

template <typename T> struct adsm_row_of {
    adsm_view2<const T> in;
    long y;

    __device__ T operator()(long x) const
    {
        return in(y, x);
    }
};

template <typename T> struct adsm_column_of {
    adsm_view2<const T> in;
    long x;

    __device__ T operator()(long y) const
    {
        return in(y, x);
    }
};

/* out[c] = elements of chunk c, a warp each. */
template <typename Op, typename At>
static __device__ inline void adsm_fold(long i0, long i1, const At &x,
                                        typename Op::value *out, int rows)
{
    long chunk = (long)rows * ADSM_ROW_;
    long warps = (long)gridDim.x * (blockDim.x / 32);
    for (long c = i0 / chunk + adsm_thread_x() / 32; c * chunk < i1;
         c += warps) {
        adsm_extent there = {i0, i1};
        typename Op::value v = adsm_fold_chunk<Op>(x, c * chunk, rows, there);
        if (adsm_lane() == 0)
            out[c] = v;
    }
}

/* out[y * pitch + c] = those of row y. Blocks are one warp wide. */
template <typename Op>
static __device__ inline void
adsm_fold_rows(long y0, long y1, long x0, long x1,
               adsm_view2<const typename Op::value> in, typename Op::value *out,
               long pitch, int rows)
{
    long chunk = (long)rows * ADSM_ROW_;
    for (long y = y0 + adsm_thread_y(); y < y1;
         y += (long)gridDim.y * blockDim.y)
        for (long c = x0 / chunk + blockIdx.x; c * chunk < x1; c += gridDim.x) {
            adsm_extent there = {x0, x1};
            adsm_row_of<typename Op::value> x = {in, y};
            typename Op::value v =
                adsm_fold_chunk<Op>(x, c * chunk, rows, there);
            if (adsm_lane() == 0)
                out[y * pitch + c] = v;
        }
}

/* out(c, x) = 64 elements of column x, a thread each. */
template <typename Op>
static __device__ inline void
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
        adsm_column_of<typename Op::value> x = {in, column};
        out(c, column) = adsm_fold_few<Op>(x, c * ADSM_FEW_, ADSM_FEW_, there);
    }
}

/* out[i] = elements [j0, j1), at most 64, `far` apart; those of i begin at
 * i * next. */
template <typename Op>
static __device__ inline void
adsm_fold_last(long i0, long i1, const typename Op::value *in,
               typename Op::value *out, long j0, long j1, long next, long far)
{
    long i = i0 + adsm_thread_x();
    if (i >= i1)
        return;
    adsm_extent there = {j0, j1};
    adsm_stride<typename Op::value> x = {in + i * next, far};
    out[i] = adsm_fold_few<Op>(x, 0, ADSM_FEW_, there);
}

/* ---- scans -------------------------------------------------------------- */

/* `before` and what follows it; there is nothing before element 0. */
template <typename Op>
static __device__ inline typename Op::value
adsm_behind(bool any, typename Op::value before, typename Op::value v)
{
    return any ? Op::of(before, v) : v;
}

/* All lanes of a warp: each gets the result. */
template <typename Op>
static __device__ inline typename Op::value
adsm_fold_lanes(typename Op::value v)
{
    adsm_extent all = {0, 0};
#pragma unroll
    for (int lanes = 1; lanes < 32; lanes *= 2)
        v = adsm_meet<Op, true>(v, lanes, 0, lanes, all);
    return v;
}

/* What lies before each of `count` lanes, if `before` lies before lane 0. */
template <typename Op>
static __device__ inline typename Op::value
adsm_before_lane(typename Op::value v, int count, bool any,
                 typename Op::value before)
{
    typename Op::value left[5];
    unsigned lane = adsm_lane();
#pragma unroll
    for (int b = 0; b < 5; b++) {
        left[b] = adsm_swap(v, 1 << b);
        v = lane >> b & 1 ? Op::of(left[b], v) : Op::of(v, left[b]);
    }
#pragma unroll
    for (int b = 4; b >= 0; b--)
        if ((1 << b) < count && (lane >> b & 1)) {
            before = adsm_behind<Op>(any, before, left[b]);
            any = true;
        }
    return before;
}

/* What lies before each of eight elements. */
template <typename Op>
static __device__ inline void
adsm_before_each(const typename Op::value *v, bool any,
                 typename Op::value before, typename Op::value *e)
{
    e[0] = before;
    e[1] = adsm_behind<Op>(any, e[0], v[0]);
    e[2] = adsm_behind<Op>(any, e[0], Op::of(v[0], v[1]));
    e[3] = Op::of(e[2], v[2]);
    e[4] = adsm_behind<Op>(any, e[0],
                           Op::of(Op::of(v[0], v[1]), Op::of(v[2], v[3])));
    e[5] = Op::of(e[4], v[4]);
    e[6] = Op::of(e[4], Op::of(v[4], v[5]));
    e[7] = Op::of(e[6], v[6]);
}

/* The elements of a lane; what is not there gives what is not used. */
template <typename Op>
static __device__ inline typename Op::value
adsm_load(const typename Op::value *in, long at, long end,
          typename Op::value *v)
{
#pragma unroll
    for (int j = 0; j < ADSM_LANE_; j++)
        v[j] = at + j < end ? in[at + j] : Op::none();
    adsm_line<typename Op::value> x = {v};
    return adsm_fold8<Op>(x, 0);
}

/* One row: in and out may be the same. */
template <typename Op>
static __device__ inline void
adsm_scan_row(const typename Op::value *in, typename Op::value *out, long at,
              long end, bool any, typename Op::value before, int exclusive)
{
    typename Op::value v[ADSM_LANE_], e[ADSM_LANE_];
    before =
        adsm_before_lane<Op>(adsm_load<Op>(in, at, end, v), 32, any, before);
    any = any || adsm_lane() > 0;
    adsm_before_each<Op>(v, any, before, e);
#pragma unroll
    for (int j = 0; j < ADSM_LANE_; j++)
        if (at + j < end)
            out[at + j] =
                exclusive ? e[j] : adsm_behind<Op>(any || j > 0, e[j], v[j]);
}

/* Chunks of [0, i1), a warp each; before[c] lies before chunk c. */
template <typename Op>
static __device__ inline void
adsm_scan(long i0, long i1, const typename Op::value *in,
          const typename Op::value *before, typename Op::value *out, int rows,
          int exclusive)
{
    long chunk = (long)rows * ADSM_ROW_, lane = adsm_lane();
    long warps = (long)gridDim.x * (blockDim.x / 32);
    for (long c = i0 / chunk + adsm_thread_x() / 32; c * chunk < i1;
         c += warps) {
        typename Op::value row = Op::none(), first = Op::none();
        if (c > 0)
            first = before[c];
#pragma unroll 1
        for (int k = 0; k < rows; k++) {
            typename Op::value v[ADSM_LANE_], fold;
            fold = adsm_load<Op>(
                in, c * chunk + k * ADSM_ROW_ + lane * ADSM_LANE_, i1, v);
            fold = adsm_fold_lanes<Op>(fold);
            if (lane == k)
                row = fold;
        }
        row = adsm_before_lane<Op>(row, rows, c > 0, first);
#pragma unroll 1
        for (int k = 0; k < rows; k++)
            adsm_scan_row<Op>(in, out,
                              c * chunk + k * ADSM_ROW_ + lane * ADSM_LANE_, i1,
                              c > 0 || k > 0, adsm_take(row, k), exclusive);
    }
}

/* ---- kernels ------------------------------------------------------------ */

#define ADSM_LIST_(...) __VA_ARGS__

/* An operator, without kernels. Where it commutes lanes need not ask which of
 * two is the left one. */
#define ADSM_OP_(name, type, commutes, identity, ...)                          \
    struct adsm_op_##name {                                                    \
        typedef type value;                                                    \
        enum { COMMUTES = commutes };                                          \
        static __device__ inline value none()                                  \
        {                                                                      \
            return identity;                                                   \
        }                                                                      \
        static __device__ inline value of(value a, value b)                    \
        {                                                                      \
            return __VA_ARGS__;                                                \
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
        op::value *out, long pitch, int rows)                                  \
    {                                                                          \
        adsm_fold_rows<op>(y0, y1, x0, x1, in, out, pitch, rows);              \
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
        op::value *out, int rows, int exclusive)                               \
    {                                                                          \
        adsm_scan<op>(i0, i1, in, before, out, rows, exclusive);               \
    }

/** An operator of the program's, for adsmOperatorGet. */
#define ADSM_OPERATOR(name, type, identity, ...)                               \
    ADSM_OP_(name, type, 0, identity, __VA_ARGS__)                             \
    ADSM_KERNELS_(name, adsm_op_##name)

/** A map whose values are reduced, for adsmMapReduce. */
#define ADSM_MAP_REDUCE(name, type, operator_, params, ...)                    \
    extern "C" __global__ void name(long i0, long i1, ADSM_LIST_ params,       \
                                    type *adsm_out)                            \
    {                                                                          \
        auto x_of_i = [&](long i) -> type { return __VA_ARGS__; };             \
        adsm_fold<adsm_op_##operator_>(i0, i1, x_of_i, adsm_out, 32);          \
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
