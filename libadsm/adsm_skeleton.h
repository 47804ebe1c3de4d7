/*
 * libadsm: skeletons that take several calls. Reductions, scans, maps that are
 * reduced, and farms over the devices of adsm.h, whose words on threads, signals
 * and statuses hold here, too.
 *
 * Reductions fold elements by one tree over their indices: neighbours 2k and
 * 2k + 1 are combined, a before b; then the results of 2k and 2k + 1; and so on
 * until one is left. One without a neighbour, at either end of the range, goes on
 * as it is. What a scan puts before element i: the indices below i are cut, from
 * 0 on, into blocks of the largest powers of two that there is room for, each a
 * node of that tree; they are combined from left to right. So the result does
 * not depend on how the work is spread: it has the same bits on any number of
 * devices and in any parts, also of floating point.
 *
 * All of them are calls, and take the options of calls: `devices`, `parts`,
 * `tile`, `cyclic` and `align` say how the first pass is cut (parts begin where
 * chunks of the tree do), `after` what comes before all passes, `event`, `sync`
 * and `then` what follows the last one; `progress` is told of the first.
 * `block`, `each` and `shared_bytes` are not used, but by farms. NULL: as calls
 * have it. All are asynchronous, and a CPU access of the result waits for it.
 */
#ifndef ADSM_SKELETON_H
#define ADSM_SKELETON_H

#include "adsm.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A function of two elements. It lives until the process ends. */
typedef struct adsmOperator adsmOperator;

typedef enum {
    ADSM_SUM,     /**< integers wrap around                           */
    ADSM_PRODUCT, /**< the same                                       */
    ADSM_MIN,     /**< the first of two that are equal or not ordered */
    ADSM_MAX,     /**< the same                                       */
    ADSM_AND,     /**< of bits; integers only                         */
    ADSM_OR,      /**< the same                                       */
    ADSM_XOR      /**< the same                                       */
} adsmOp;

/** int32_t, uint32_t, int64_t, uint64_t, float, double. */
typedef enum {
    ADSM_I32,
    ADSM_U32,
    ADSM_I64,
    ADSM_U64,
    ADSM_F32,
    ADSM_F64
} adsmType;

/** A shipped operator; NULL when there is none of that type. */
ADSM_API const adsmOperator *adsmOperatorOf(adsmOp op, adsmType type);

/**
 * Look up an operator that ADSM_OPERATOR has made (adsm_operator.h). Waits for
 * the device, which is asked for the size of its elements.
 *
 * Return: ADSM_OK; ADSM_E_NOT_FOUND (the module has none of that name);
 *         ADSM_E_INVALID
 */
ADSM_API adsmStatus adsmOperatorGet(const adsmOperator **op, adsmModule *module,
                                    const char *name);

/*
 * adsmInto(p, op), an argument of calls with options: the kernel combines into
 * elements of all of the array, p[k] = op(p[k], v), as a histogram or a sum of
 * forces does, and does nothing else with them. Threads of a part that meet at
 * an element do so by atomic operations.
 *
 * A call of one part, as one without options is, does that in the array. Of
 * several each has a copy of its own that begins as the operator's identity: for
 * n elements and k parts, n (k + 1) in an array of the library's. Behind the
 * parts one call on the first device combines, by the tree of reductions, what
 * the array held and the copies in the order of the parts. All of it is
 * asynchronous; a CPU access of the array, and what options ask for behind the
 * call, wait for the end.
 *
 * The result's bits: where the operator gives the same in any order and with any
 * parentheses (integers, min and max without NaN and zeros of both signs), they
 * are the same for any devices and parts. Else they depend on how the range is
 * cut, and on nothing but that if the kernel gives a part the same bits each
 * time, which atomic additions of floats do not where threads meet. Parts by
 * `tile` are cut alike for any devices; those of which the sizes are the
 * library's are not.
 *
 * The pointer's type is the operator's; the size alone is checked. No other
 * argument may lie in the array. The parameter is a pointer or, of an array of
 * several dimensions, a view. (CUDASTF: access mode `reduce`; StarPU: REDUX.)
 */
#ifndef __cplusplus
#define adsmInto(ptr, op)                                                      \
    ((adsmArg){.p = (ptr),                                                     \
               .mode = ADSM_INOUT,                                             \
               .size = sizeof(adsmArg),                                        \
               .elem = ADSM_ELEM_(ptr),                                        \
               .align = ADSM_ALIGN_(ptr),                                      \
               .how = ADSM_INTO,                                               \
               .extra = (const adsmOperator *){(op)}})
#endif

/**
 * Reduce the elements of a range of an array (SkePU's reduce).
 *
 * @result  shared, of the operator's elements; apart from what is read of `in`.
 *          keep -1: one element. keep 0: one for each row of the array, and 1:
 *          for each column; those of the range are written. Of nothing the
 *          operator's identity
 * @in      an array of as many dimensions as the range; one of two that adsmShape
 *          was not told of is the range's
 * @range   one dimension, or two: then rows are folded, and with keep -1 their
 *          results. Few long rows are cut between devices, too
 * Return: ADSM_OK; ADSM_E_INVALID; ADSM_E_NOT_SHARED; what calls return
 */
ADSM_API adsmStatus adsmReduce(const adsmOperator *op, void *result,
                               const void *in, adsmBox range, int keep,
                               const adsmOpts *opts);

/**
 * Scan the first n elements of an array of one dimension: out[i] is what the
 * elements before i give and, unless `exclusive`, element i combined with it.
 * Before element 0 is nothing: out[0] is element 0, or exclusive the identity.
 *
 * @out  n elements; `in` itself, or apart from it
 * Return: as adsmReduce
 */
ADSM_API adsmStatus adsmScan(const adsmOperator *op, void *out, const void *in,
                             long n, int exclusive, const adsmOpts *opts);

/**
 * Reduce what a map makes of a range of one dimension, without an array for it
 * (SkePU's mapreduce).
 *
 * @map     a kernel that ADSM_MAP_REDUCE has made
 * @args    one entry for each of its parameters; behind them the kernel has one
 *          more for partial results, which messages count
 * @result  one shared element
 * Return: as adsmCallRangeV
 */
ADSM_API adsmStatus adsmMapReduceV(adsmKernel *map, void *result, adsmBox range,
                                   const adsmOpts *opts, int count,
                                   const adsmArg *args);

/** adsmMapReduce(&opts, dot, &sum, adsmR1(n), adsmIn(x), adsmIn(y)) */
#ifndef __cplusplus
#define adsmMapReduce(opts, map, result, range, ...)                           \
    adsmMapReduceV(map, result, range, opts, ADSM_ARGS(__VA_ARGS__))
#endif

/** A call of a farm. */
typedef struct {
    adsmKernel *kernel;
    adsmBox range;
    int count; /**< of `args` */
    const adsmArg *args;
} adsmTask;

/**
 * Make calls that have nothing to do with each other: task i runs on device i
 * of the options, and from the first one on again when there are no more. Where
 * two use the same bytes they are ordered as calls are. `event`, `then` and
 * `sync` are for all of them, and `progress` is told of tasks.
 *
 * Return: ADSM_OK; ADSM_E_INVALID (parts or tiles); the first failure of a call:
 *         those before it run, the others do not
 */
ADSM_API adsmStatus adsmFarmV(const adsmTask *tasks, int count,
                              const adsmOpts *opts);

/** adsmFarm(&opts, adsmTaskOf(k, adsmR1(n), adsmIn(x), adsmOut(y)), ...) */
#ifndef __cplusplus
#define adsmTaskOf(kernel, range, ...)                                         \
    ((adsmTask){(kernel), (range), ADSM_ARGS(__VA_ARGS__)})
#define adsmFarm(opts, ...)                                                    \
    adsmFarmV((adsmTask[]){__VA_ARGS__},                                       \
              (int)(sizeof((adsmTask[]){__VA_ARGS__}) / sizeof(adsmTask)),     \
              opts)
#endif

#ifdef __cplusplus
} /* extern "C" */

template <typename T> inline adsmArg adsmInto(T *ptr, const adsmOperator *op)
{
    adsmArg arg = adsmPointer(ptr, ADSM_INOUT, ADSM_INTO);
    arg.extra = op;
    return arg;
}

template <typename... Args>
inline adsmStatus adsmMapReduce(const adsmOpts *opts, adsmKernel *map,
                                void *result, adsmBox range,
                                const Args &...args)
{
    const adsmArg list[sizeof...(args) + 1] = {args..., adsmArg()};
    return adsmMapReduceV(map, result, range, opts, (int)sizeof...(args), list);
}

/* A task with its arguments, which it keeps. adsmTask points to them: there is
 * none of what is about to go. */
template <size_t Count> struct adsmTaskWith {
    adsmKernel *kernel;
    adsmBox range;
    adsmArg args[Count + 1];

    operator adsmTask() const &
    {
        return adsmTask{kernel, range, (int)Count, args};
    }
    operator adsmTask() const && = delete;
};

template <typename... Args>
inline adsmTaskWith<sizeof...(Args)>
adsmTaskOf(adsmKernel *kernel, adsmBox range, const Args &...args)
{
    return adsmTaskWith<sizeof...(Args)>{kernel, range, {args..., adsmArg()}};
}

template <typename... Tasks>
inline adsmStatus adsmFarm(const adsmOpts *opts, const Tasks &...tasks)
{
    const adsmTask list[sizeof...(tasks) + 1] = {tasks..., adsmTask()};
    return adsmFarmV(list, (int)sizeof...(tasks), opts);
}
#endif

#endif
