/*
 * libadsm: what is a macro of adsm.h in C, as functions for C++ (C++11), where a
 * compound literal has no address. adsm.h includes it, and says what they do.
 */
#ifndef ADSM_CXX_H
#define ADSM_CXX_H

#include "adsm.h"

template <typename T> struct adsmKindOf {
    static const uint8_t kind = ADSM_ANY_KIND;
};

#define ADSM_KIND_OF_(type, is)                                                \
    template <> struct adsmKindOf<type> {                                      \
        static const uint8_t kind = is;                                        \
    };
ADSM_KIND_OF_(float, ADSM_REAL)
ADSM_KIND_OF_(double, ADSM_REAL)
ADSM_KIND_OF_(bool, ADSM_INTEGER)
ADSM_KIND_OF_(char, ADSM_INTEGER)
ADSM_KIND_OF_(signed char, ADSM_INTEGER)
ADSM_KIND_OF_(unsigned char, ADSM_INTEGER)
ADSM_KIND_OF_(short, ADSM_INTEGER)
ADSM_KIND_OF_(unsigned short, ADSM_INTEGER)
ADSM_KIND_OF_(int, ADSM_INTEGER)
ADSM_KIND_OF_(unsigned, ADSM_INTEGER)
ADSM_KIND_OF_(long, ADSM_INTEGER)
ADSM_KIND_OF_(unsigned long, ADSM_INTEGER)
ADSM_KIND_OF_(long long, ADSM_INTEGER)
ADSM_KIND_OF_(unsigned long long, ADSM_INTEGER)
#undef ADSM_KIND_OF_

/* Of a variable. */
template <typename T> inline adsmArg adsmVal(const T &x)
{
    adsmArg arg = adsmArg();
    arg.bytes = sizeof x;
    arg.size = sizeof arg;
    arg.edge = adsmKindOf<T>::kind;
    if (sizeof x <= sizeof arg.param) {
        arg.how = ADSM_KEPT;
        __builtin_memcpy(arg.param, &x,
                         sizeof x <= sizeof arg.param ? sizeof x : 0);
    } else {
        arg.p = &x;
    }
    return arg;
}

/* Of a temporary, which is gone when the argument is read. */
template <typename T> inline adsmArg adsmVal(const T &&x)
{
    static_assert(sizeof x <= sizeof(adsmArg().param),
                  "adsmVal keeps values of up to 40 bytes: give a larger one "
                  "as a variable that is there when the call is made");
    return adsmVal(x);
}

template <typename T> inline size_t adsmElement(const T *)
{
    return sizeof(T);
}

template <> inline size_t adsmElement<void>(const void *)
{
    return 0;
}

template <typename T> inline size_t adsmAlignment(const T *)
{
    return alignof(T);
}

template <> inline size_t adsmAlignment<void>(const void *)
{
    return 0;
}

template <typename T>
inline adsmArg adsmPointer(const T *ptr, adsmMode mode, adsmHow how)
{
    adsmArg arg = adsmArg();
    arg.p = ptr;
    arg.mode = mode;
    arg.size = sizeof arg;
    arg.elem = adsmElement(ptr);
    arg.align = (uint8_t)adsmAlignment(ptr);
    arg.how = (uint8_t)how;
    return arg;
}

template <typename T> inline adsmArg adsmIn(const T *ptr)
{
    return adsmPointer(ptr, ADSM_IN, ADSM_BY_RANGE);
}

template <typename T> inline adsmArg adsmOut(const T *ptr)
{
    return adsmPointer(ptr, ADSM_OUT, ADSM_BY_RANGE);
}

template <typename T> inline adsmArg adsmInOut(const T *ptr)
{
    return adsmPointer(ptr, ADSM_INOUT, ADSM_BY_RANGE);
}

template <typename T> inline adsmArg adsmAll(const T *ptr)
{
    return adsmPointer(ptr, ADSM_IN, ADSM_WHOLE);
}

template <typename T> inline adsmArg adsmScatter(T *ptr)
{
    return adsmPointer(ptr, ADSM_INOUT, ADSM_SCATTER);
}

template <typename T>
inline adsmArg adsmNear(const T *ptr, int ry, int rx, adsmEdge e)
{
    adsmArg arg = adsmPointer(ptr, ADSM_IN, ADSM_NEAR);
    arg.edge = (uint8_t)e;
    arg.radius[0] = ry;
    arg.radius[1] = rx;
    return arg;
}

template <typename T> inline adsmArg adsmHalo(const T *ptr, int r, adsmEdge e)
{
    return adsmNear(ptr, r, 0, e);
}

template <typename T>
inline adsmArg adsmColumn(const T *ptr, int ry, adsmEdge e)
{
    return adsmNear(ptr, ry, 0, e);
}

template <typename T> inline adsmArg adsmRow(const T *ptr, int rx, adsmEdge e)
{
    return adsmNear(ptr, 0, rx, e);
}

template <typename T>
inline adsmArg adsmCross(const T *ptr, int ry, int rx, adsmEdge e)
{
    return adsmNear(ptr, ry, rx, e);
}

template <typename T>
inline adsmArg adsmSquare(const T *ptr, int ry, int rx, adsmEdge e)
{
    return adsmNear(ptr, ry, rx, e);
}

template <typename T, typename... Longs>
inline adsmArg adsmBoxed(const T *ptr, adsmMode mode, const char *text,
                         Longs... params)
{
    static_assert(sizeof...(params) <= 4, "a text has $1 to $4");
    const long list[] = {static_cast<long>(params)..., 0};
    adsmArg arg = adsmPointer(ptr, mode, ADSM_BOXED);
    arg.text = text;
    arg.params = (int)sizeof...(params);
    for (size_t i = 0; i < sizeof...(params); i++)
        arg.param[i] = list[i];
    return arg;
}

template <typename T>
inline adsmArg adsmBoxedBy(const T *ptr, adsmMode mode, adsmBoxFn *fn,
                           void *user)
{
    adsmArg arg = adsmPointer(ptr, mode, ADSM_BOXED);
    arg.boxes = fn;
    arg.extra = user;
    return arg;
}

inline adsmDim adsmDim3(long x, long y, long z)
{
    return adsmDim{x, y, z};
}

inline adsmDim adsmDim2(long x, long y)
{
    return adsmDim3(x, y, 1);
}

inline adsmDim adsmDim1(long x)
{
    return adsmDim3(x, 1, 1);
}

inline adsmBox adsmR3(long nz, long ny, long nx)
{
    return adsmBox{3, {0, 0, 0}, {nz, ny, nx}};
}

inline adsmBox adsmR2(long ny, long nx)
{
    return adsmBox{2, {0, 0, 0}, {ny, nx, 0}};
}

inline adsmBox adsmR1(long n)
{
    return adsmBox{1, {0, 0, 0}, {n, 0, 0}};
}

template <typename... Args>
inline adsmStatus adsmLaunch(adsmKernel *kernel, adsmDim grid, adsmDim block,
                             size_t shared_bytes, const Args &...args)
{
    const adsmArg list[sizeof...(args) + 1] = {args..., adsmArg()};
    return adsmLaunchV(kernel, grid, block, shared_bytes, (int)sizeof...(args),
                       list);
}

template <typename T, typename Value>
inline adsmStatus adsmFill(T *to, size_t n, const Value &value)
{
    const T element = static_cast<T>(value);
    return adsmFillV(NULL, to, n * sizeof element, &element, sizeof element);
}

template <typename... Args>
inline adsmStatus adsmStream(void *stream, adsmWorkFn *fn, void *user,
                             const Args &...args)
{
    const adsmArg list[sizeof...(args) + 1] = {args..., adsmArg()};
    return adsmStreamV(stream, fn, user, (int)sizeof...(args), list);
}

template <typename... Args>
inline adsmStatus adsmCall(adsmKernel *kernel, long n, const Args &...args)
{
    const adsmArg list[sizeof...(args) + 1] = {args..., adsmArg()};
    return adsmCallV(kernel, n, (int)sizeof...(args), list);
}

template <typename... Args>
inline adsmStatus adsmCallWith(const adsmOpts *opts, adsmKernel *kernel,
                               adsmBox range, const Args &...args)
{
    const adsmArg list[sizeof...(args) + 1] = {args..., adsmArg()};
    return adsmCallRangeV(kernel, range, opts, (int)sizeof...(args), list);
}

#endif
