/*
 * Operators of reductions and scans on the CPU (ADSM_DEVICES=cpu): what
 * ADSM_OPERATOR makes where a .cu is compiled behind adsm_cpu.h, and what the
 * shipped operators are there. C11 and C++.
 *
 * The kernels are those of adsm_operator.h, with its names, parameters and tree:
 * neighbours 2k and 2k + 1 are combined, then the results of 2k and 2k + 1, and so
 * on; one without a neighbour goes on as it is. So the bits are those of devices.
 * What a warp does there one thread does here, with the nodes it has not combined
 * yet on a stack. Thread: any. Signal: never
 */
#ifndef ADSM_CPU_OPERATOR_H
#define ADSM_CPU_OPERATOR_H

#include <adsm.h>
#include <stdbool.h>
#include <string.h>

/** What is known of an operator. `to` may be `a` or `b`. */
typedef struct adsmCpuOperator {
    size_t bytes;
    void (*of)(void *to, const void *a, const void *b);
    void (*none)(void *to);
} adsmCpuOperator;

enum {
    ADSM_CPU_ROW = 256, /* elements that a warp of a device reads at once */
    ADSM_CPU_FEW = 64,  /* that a thread of a device folds                */
    ADSM_CPU_BLOCK = 4 * ADSM_CPU_ROW, /* of a scan    */
    ADSM_CPU_LEVELS = 48,              /* of any tree  */
};

/* With the operator known its calls are instructions. */
#define ADSM_CPU_INLINE static inline __attribute__((always_inline, unused))

#define ADSM_CPU_VALUE(type, i) (*(type *)values[i])

ADSM_CPU_INLINE long adsm_cpu_most(long a, long b)
{
    return a > b ? a : b;
}

ADSM_CPU_INLINE long adsm_cpu_least(long a, long b)
{
    return a < b ? a : b;
}

/* Elements, `far` bytes apart. */
struct adsm_cpu_line {
    const char *base;
    long far;
};

ADSM_CPU_INLINE const char *adsm_cpu_at(struct adsm_cpu_line x, long i)
{
    return x.base + i * x.far;
}

/* Nodes that wait for what is right of them; deeper ones are larger. */
struct adsm_cpu_stack {
    char *values;
    int count;
};

/* Node `n` of its level: with its left neighbour it becomes a larger one, and so
 * on. One that is not there lies before all elements, so nothing waits. */
ADSM_CPU_INLINE void adsm_cpu_push(const adsmCpuOperator *op,
                                   struct adsm_cpu_stack *s, void *v,
                                   unsigned long n)
{
    for (; n & 1; n >>= 1)
        if (s->count > 0)
            op->of(v, s->values + (size_t)--s->count * op->bytes, v);
    memcpy(s->values + (size_t)s->count++ * op->bytes, v, op->bytes);
}

/* Eight neighbours. */
ADSM_CPU_INLINE void adsm_cpu_eight(const adsmCpuOperator *op,
                                    struct adsm_cpu_line x, long i, char *v)
{
    size_t b = op->bytes;
    for (int k = 0; k < 4; k++)
        op->of(v + (size_t)k * b, adsm_cpu_at(x, i + 2 * k),
               adsm_cpu_at(x, i + 2 * k + 1));
    op->of(v, v, v + b);
    op->of(v + b, v + 2 * b, v + 3 * b);
    op->of(v, v, v + b);
}

/* Elements [lo, hi) of a tree whose first leaf is `begin`. */
ADSM_CPU_INLINE void adsm_cpu_tree(const adsmCpuOperator *op,
                                   struct adsm_cpu_line x, long begin, long lo,
                                   long hi, void *result)
{
    size_t b = op->bytes;
    char *v = (char *)__builtin_alloca(4 * b);
    struct adsm_cpu_stack s;
    s.values = (char *)__builtin_alloca(ADSM_CPU_LEVELS * b);
    s.count = 0;
    for (long i = lo; i < hi;) {
        unsigned long n = (unsigned long)(i - begin);
        if (n % 8 == 0 && i + 8 <= hi) {
            adsm_cpu_eight(op, x, i, v);
            adsm_cpu_push(op, &s, v, n / 8);
            i += 8;
        } else {
            memcpy(v, adsm_cpu_at(x, i), b);
            adsm_cpu_push(op, &s, v, n);
            i++;
        }
    }
    if (s.count == 0) {
        op->none(result);
        return;
    }
    memcpy(v, s.values + (size_t)--s.count * b, b);
    while (s.count > 0)
        op->of(v, s.values + (size_t)--s.count * b, v);
    memcpy(result, v, b);
}

/* The part of node `c` of `size` leaves that is in [from, to). */
ADSM_CPU_INLINE void adsm_cpu_node(const adsmCpuOperator *op,
                                   struct adsm_cpu_line x, long c, long size,
                                   long from, long to, void *result)
{
    adsm_cpu_tree(op, x, c * size, adsm_cpu_most(c * size, from),
                  adsm_cpu_least((c + 1) * size, to), result);
}

/* ---- kernels -------------------------------------------------------------- */

/* For each block of those that are to be done, whose place in the grid is: */
#define ADSM_CPU_EACH(blocks, b)                                               \
    for (uint64_t b = (blocks)->first; b < (blocks)->first + (blocks)->count;  \
         b++)

ADSM_CPU_INLINE long adsm_cpu_x(const adsmBlocks *blocks, uint64_t b)
{
    return (long)(b % blocks->grid[0]);
}

ADSM_CPU_INLINE long adsm_cpu_y(const adsmBlocks *blocks, uint64_t b)
{
    return (long)(b / blocks->grid[0] % blocks->grid[1]);
}

/* out[c] = elements of chunk c, a warp each. */
ADSM_CPU_INLINE void adsm_cpu_fold(const adsmCpuOperator *op,
                                   const adsmBlocks *blocks,
                                   void *const *values)
{
    long i0 = ADSM_CPU_VALUE(long, 0), i1 = ADSM_CPU_VALUE(long, 1);
    struct adsm_cpu_line x = {ADSM_CPU_VALUE(const char *, 2), (long)op->bytes};
    char *out = ADSM_CPU_VALUE(char *, 3);
    long chunk = (long)ADSM_CPU_VALUE(int, 4) * ADSM_CPU_ROW;
    long warps = blocks->block[0] / 32, all = warps * blocks->grid[0];
    ADSM_CPU_EACH(blocks, b)
    {
        long bx = adsm_cpu_x(blocks, b);
        for (long w = 0; w < warps; w++)
            for (long c = i0 / chunk + bx * warps + w; c * chunk < i1; c += all)
                adsm_cpu_node(op, x, c, chunk, i0, i1, out + c * x.far);
    }
}

ADSM_CPU_INLINE void adsm_cpu_none(const adsmCpuOperator *op,
                                   const adsmBlocks *blocks,
                                   void *const *values)
{
    long i0 = ADSM_CPU_VALUE(long, 0), i1 = ADSM_CPU_VALUE(long, 1);
    char *out = ADSM_CPU_VALUE(char *, 2);
    long n = blocks->block[0];
    ADSM_CPU_EACH(blocks, b)
    {
        long bx = adsm_cpu_x(blocks, b);
        for (long i = i0 + bx * n; i < i0 + (bx + 1) * n && i < i1; i++)
            op->none(out + i * (long)op->bytes);
    }
}

ADSM_CPU_INLINE void adsm_cpu_bytes(const adsmCpuOperator *op,
                                    const adsmBlocks *blocks,
                                    void *const *values)
{
    long i0 = ADSM_CPU_VALUE(long, 0), i1 = ADSM_CPU_VALUE(long, 1);
    int *out = ADSM_CPU_VALUE(int *, 2);
    long n = blocks->block[0];
    ADSM_CPU_EACH(blocks, b)
    {
        long bx = adsm_cpu_x(blocks, b);
        for (long i = i0 + bx * n; i < i0 + (bx + 1) * n && i < i1; i++)
            out[i] = (int)op->bytes;
    }
}

/* A view as kernels get it. */
struct adsm_cpu_view {
    char *base;
    long pitch;
};

/* out(y, c) = those of row y. Blocks are one warp wide. */
ADSM_CPU_INLINE void adsm_cpu_rows(const adsmCpuOperator *op,
                                   const adsmBlocks *blocks,
                                   void *const *values)
{
    long y0 = ADSM_CPU_VALUE(long, 0), y1 = ADSM_CPU_VALUE(long, 1);
    long x0 = ADSM_CPU_VALUE(long, 2), x1 = ADSM_CPU_VALUE(long, 3);
    struct adsm_cpu_view in = ADSM_CPU_VALUE(struct adsm_cpu_view, 4);
    struct adsm_cpu_view out = ADSM_CPU_VALUE(struct adsm_cpu_view, 5);
    long chunk = (long)ADSM_CPU_VALUE(int, 6) * ADSM_CPU_ROW;
    long high = blocks->block[1], bytes = (long)op->bytes;
    ADSM_CPU_EACH(blocks, b)
    {
        long bx = adsm_cpu_x(blocks, b), by = adsm_cpu_y(blocks, b);
        for (long t = 0; t < high; t++)
            for (long y = y0 + by * high + t; y < y1;
                 y += high * blocks->grid[1])
                for (long c = x0 / chunk + bx; c * chunk < x1;
                     c += blocks->grid[0]) {
                    struct adsm_cpu_line x = {in.base + y * in.pitch, bytes};
                    adsm_cpu_node(op, x, c, chunk, x0, x1,
                                  out.base + y * out.pitch + c * bytes);
                }
    }
}

/* out(c, x) = 64 elements of column x, a thread each. */
ADSM_CPU_INLINE void adsm_cpu_columns(const adsmCpuOperator *op,
                                      const adsmBlocks *blocks,
                                      void *const *values)
{
    long y0 = ADSM_CPU_VALUE(long, 0), y1 = ADSM_CPU_VALUE(long, 1);
    long x0 = ADSM_CPU_VALUE(long, 2), x1 = ADSM_CPU_VALUE(long, 3);
    struct adsm_cpu_view in = ADSM_CPU_VALUE(struct adsm_cpu_view, 4);
    struct adsm_cpu_view out = ADSM_CPU_VALUE(struct adsm_cpu_view, 5);
    long wide = blocks->block[0], high = blocks->block[1];
    long bytes = (long)op->bytes;
    ADSM_CPU_EACH(blocks, b)
    {
        long bx = adsm_cpu_x(blocks, b), by = adsm_cpu_y(blocks, b);
        for (long t = 0; t < high; t++)
            for (long c = y0 / ADSM_CPU_FEW + by * high + t;
                 c * ADSM_CPU_FEW < y1; c += high * blocks->grid[1])
                for (long i = x0 + bx * wide;
                     i < x0 + (bx + 1) * wide && i < x1; i++) {
                    struct adsm_cpu_line x = {in.base + i * bytes, in.pitch};
                    adsm_cpu_node(op, x, c, ADSM_CPU_FEW, y0, y1,
                                  out.base + c * out.pitch + i * bytes);
                }
    }
}

/* out[i] = elements [j0, j1), at most 64, `far` apart; those of i begin at
 * i * next. */
ADSM_CPU_INLINE void adsm_cpu_last(const adsmCpuOperator *op,
                                   const adsmBlocks *blocks,
                                   void *const *values)
{
    long i0 = ADSM_CPU_VALUE(long, 0), i1 = ADSM_CPU_VALUE(long, 1);
    const char *in = ADSM_CPU_VALUE(const char *, 2);
    char *out = ADSM_CPU_VALUE(char *, 3);
    long j0 = ADSM_CPU_VALUE(long, 4), j1 = ADSM_CPU_VALUE(long, 5);
    long next = ADSM_CPU_VALUE(long, 6), far = ADSM_CPU_VALUE(long, 7);
    long n = blocks->block[0], bytes = (long)op->bytes;
    ADSM_CPU_EACH(blocks, b)
    {
        long bx = adsm_cpu_x(blocks, b);
        for (long i = i0 + bx * n; i < i0 + (bx + 1) * n && i < i1; i++) {
            struct adsm_cpu_line x = {in + i * next * bytes, far * bytes};
            adsm_cpu_tree(op, x, 0, j0, j1, out + i * bytes);
        }
    }
}

/* What lies before element j of a block, if `before` lies before the block: that,
 * and the nodes that the bits of j name, larger ones first. */
ADSM_CPU_INLINE void adsm_cpu_before(const adsmCpuOperator *op, long j,
                                     bool any, const char *nodes, char *before)
{
    for (int b = 9; b >= 0; b--)
        if (j >> b & 1) {
            const char *node = nodes + (size_t)b * op->bytes;
            if (any)
                op->of(before, before, node);
            else
                memcpy(before, node, op->bytes);
            any = true;
        }
}

/* The first `size` elements of a block; in and out may be the same. */
ADSM_CPU_INLINE void adsm_cpu_scan_block(const adsmCpuOperator *op,
                                         const char *in, char *out, long size,
                                         bool any, const char *first,
                                         bool exclusive)
{
    size_t b = op->bytes;
    char *nodes = (char *)__builtin_alloca(11 * b);
    char *v = (char *)__builtin_alloca(2 * b), *e = v + b;
    for (long j = 0; j < size && j < ADSM_CPU_BLOCK; j++) {
        memcpy(e, first, b);
        adsm_cpu_before(op, j, any, nodes, e);
        memcpy(v, in + j * (long)b, b);
        if (!exclusive && (any || j > 0))
            op->of(e, e, v);
        memcpy(out + j * (long)b, !exclusive && !any && j == 0 ? v : e, b);
        int level = 0;
        for (; j >> level & 1; level++)
            op->of(v, nodes + (size_t)level * b, v);
        memcpy(nodes + (size_t)level * b, v, b);
    }
}

/* Blocks of [0, i1); before[c] lies before block c. */
ADSM_CPU_INLINE void adsm_cpu_scan(const adsmCpuOperator *op,
                                   const adsmBlocks *blocks,
                                   void *const *values)
{
    long i0 = ADSM_CPU_VALUE(long, 0), i1 = ADSM_CPU_VALUE(long, 1);
    const char *in = ADSM_CPU_VALUE(const char *, 2);
    const char *before = ADSM_CPU_VALUE(const char *, 3);
    char *out = ADSM_CPU_VALUE(char *, 4);
    bool exclusive = ADSM_CPU_VALUE(int, 5);
    long warps = blocks->block[0] / 32, all = warps * blocks->grid[0];
    long bytes = (long)op->bytes;
    char *first = (char *)__builtin_alloca(op->bytes);
    ADSM_CPU_EACH(blocks, b)
    {
        long bx = adsm_cpu_x(blocks, b);
        for (long w = 0; w < warps; w++)
            for (long c = i0 / ADSM_CPU_BLOCK + bx * warps + w;
                 c * ADSM_CPU_BLOCK < i1; c += all) {
                long at = c * ADSM_CPU_BLOCK;
                if (c > 0)
                    memcpy(first, before + c * bytes, op->bytes);
                else
                    op->none(first);
                adsm_cpu_scan_block(op, in + at * bytes, out + at * bytes,
                                    i1 - at, c > 0, first, exclusive);
            }
    }
}

/* ---- an operator ---------------------------------------------------------- */

/* Sizes of the kernels' parameters. */
static const size_t adsm_cpu_fold_of[] = {8, 8, 8, 8, 4},
                    adsm_cpu_none_of[] = {8, 8, 8},
                    adsm_cpu_rows_of[] = {8, 8, 8, 8, 16, 16, 4},
                    adsm_cpu_columns_of[] = {8, 8, 8, 8, 16, 16},
                    adsm_cpu_last_of[] = {8, 8, 8, 8, 8, 8, 8, 8},
                    adsm_cpu_scan_of[] = {8, 8, 8, 8, 8, 4};

#define ADSM_CPU_KERNEL_OF_(name, what)                                        \
    static void adsm_cpu_##what##_##name(const adsmBlocks *blocks,             \
                                         void *const *values)                  \
    {                                                                          \
        adsm_cpu_##what(&adsm_cpu_op_##name, blocks, values);                  \
    }

#define ADSM_CPU_CODE_OF_(name, what, sizes)                                   \
    {                                                                          \
#name "_" #what, adsm_cpu_##what##_##name,                             \
            sizeof(sizes) / sizeof *(sizes), sizes, NULL                       \
    }

/** adsm_cpu_codes_NAME, the seven kernels of an operator: see ADSM_OPERATOR. */
#define ADSM_CPU_OPERATOR(name, type, identity, ...)                           \
    static void adsm_cpu_of_##name(void *to, const void *at_a,                 \
                                   const void *at_b)                           \
    {                                                                          \
        type a = *(const type *)at_a, b = *(const type *)at_b;                 \
        *(type *)to = __VA_ARGS__;                                             \
    }                                                                          \
    static void adsm_cpu_identity_##name(void *to)                             \
    {                                                                          \
        *(type *)to = identity;                                                \
    }                                                                          \
    static const adsmCpuOperator adsm_cpu_op_##name = {                        \
        sizeof(type), adsm_cpu_of_##name, adsm_cpu_identity_##name};           \
    ADSM_CPU_KERNEL_OF_(name, fold)                                            \
    ADSM_CPU_KERNEL_OF_(name, none)                                            \
    ADSM_CPU_KERNEL_OF_(name, bytes)                                           \
    ADSM_CPU_KERNEL_OF_(name, rows)                                            \
    ADSM_CPU_KERNEL_OF_(name, columns)                                         \
    ADSM_CPU_KERNEL_OF_(name, last)                                            \
    ADSM_CPU_KERNEL_OF_(name, scan)                                            \
    static adsmCpuCode adsm_cpu_codes_##name[] = {                             \
        ADSM_CPU_CODE_OF_(name, fold, adsm_cpu_fold_of),                       \
        ADSM_CPU_CODE_OF_(name, none, adsm_cpu_none_of),                       \
        ADSM_CPU_CODE_OF_(name, bytes, adsm_cpu_none_of),                      \
        ADSM_CPU_CODE_OF_(name, rows, adsm_cpu_rows_of),                       \
        ADSM_CPU_CODE_OF_(name, columns, adsm_cpu_columns_of),                 \
        ADSM_CPU_CODE_OF_(name, last, adsm_cpu_last_of),                       \
        ADSM_CPU_CODE_OF_(name, scan, adsm_cpu_scan_of)};

enum { ADSM_CPU_OPERATOR_KERNELS = 7 };

#endif
