/*
 * libadsm: shared arrays of a type in C++ (C++11), and arguments that keep what
 * they name. Over adsm.h alone; nothing of it is in the library.
 *
 *     adsm::array<float, 2> u(adsmR2(ny, nx)), w(adsmR2(ny, nx));
 *     u(3, 4) = 1;
 *     adsm::call_with(&opts, heat, adsmR2(ny, nx), u.cross(1, 1), w.out(), 0.2f);
 *
 * An array is a handle: copies of it are the same array, which is freed with the
 * last handle and the last argument that was made of it. An argument has its value
 * or its array with it, so it may be kept, and used when what it was made of is
 * gone. Statuses are those of adsm.h; nothing here throws but for want of host
 * memory for a handle. Thread: a handle as a shared_ptr
 */
#ifndef ADSM_ARRAY_H
#define ADSM_ARRAY_H

#include "adsm.h"

#include <memory>
#include <type_traits>
#include <utility>

namespace adsm
{

/** An argument of a call: a value of any type without pointers to what may go, or
 *  one made by an array. */
class arg
{
  public:
    template <typename T, typename = typename std::enable_if<
                              !std::is_pointer<T>::value &&
                              !std::is_same<T, adsmArg>::value>::type>
    arg(const T &value) : made(adsmVal(value))
    {
        static_assert(std::is_trivially_copyable<T>::value,
                      "a kernel gets the bytes of a value");
        if (made.p) { /* it has no room for it */
            std::shared_ptr<T> own = std::make_shared<T>(value);
            made.p = own.get();
            kept = own;
        }
    }

    arg(const adsmArg &of, std::shared_ptr<void> keeps)
        : made(of), kept(std::move(keeps))
    {
    }

    /** As the functions of adsm.h that make arguments from others. */
    arg rows() const
    {
        return arg(adsmRows(made), kept);
    }
    arg cols() const
    {
        return arg(adsmCols(made), kept);
    }
    arg flat() const
    {
        return arg(adsmFlat(made), kept);
    }
    arg view() const
    {
        return arg(adsmView(made), kept);
    }
    arg along(int d0, int d1, int d2) const
    {
        return arg(adsmAlong(made, d0, d1, d2), kept);
    }
    arg per(long d0, long d1, long d2) const
    {
        return arg(adsmPer(made, d0, d1, d2), kept);
    }

    /** For adsm.h: good as long as this argument is there. */
    const adsmArg &c() const
    {
        return made;
    }

  private:
    adsmArg made;
    std::shared_ptr<void> kept;
};

/** An array of N dimensions, 1 to 3, whose elements are bytes to the library. */
template <typename T, int N = 1> class array
{
    static_assert(N >= 1 && N <= 3, "an array has 1 to 3 dimensions");
    static_assert(std::is_trivially_copyable<T>::value,
                  "elements are copied between memories by their bytes");

  public:
    array() : shape_()
    {
    }

    /**
     * Allocate it (adsmAllocArray). Where that fails, or `shape` has not N
     * dimensions, it is empty, and adsmLastStatus says why.
     */
    explicit array(adsmBox shape, int home = ADSM_NO_HOME) : shape_()
    {
        if (shape.nd != N) /* adsm.h has the words for it */
            shape.nd = -1;
        T *made = static_cast<T *>(adsmAllocArray(sizeof(T), shape, home));
        if (!made)
            return;
        at_ = std::shared_ptr<T>(made, adsmFree);
        shape_ = shape;
    }

    explicit operator bool() const
    {
        return static_cast<bool>(at_);
    }
    T *data() const
    {
        return at_.get();
    }
    long extent(int d) const
    {
        return d < N ? shape_.hi[d] : 1;
    }
    long size() const
    {
        long n = at_ ? 1 : 0;
        for (int d = 0; d < N; d++)
            n *= extent(d);
        return n;
    }
    T *begin() const
    {
        return data();
    }
    T *end() const
    {
        return data() + size();
    }

    /** The CPU's accesses, which wait for calls by themselves. */
    T &operator[](long i) const
    {
        return data()[i];
    }
    T &operator()(long y, long x) const
    {
        static_assert(N == 2, "as many indices as dimensions");
        return data()[y * extent(1) + x];
    }
    T &operator()(long z, long y, long x) const
    {
        static_assert(N == 3, "as many indices as dimensions");
        return data()[(z * extent(1) + y) * extent(2) + x];
    }

    /** Arguments, as adsm.h has them. */
    arg in() const
    {
        return of(adsmIn(data()));
    }
    arg out() const
    {
        return of(adsmOut(data()));
    }
    arg inout() const
    {
        return of(adsmInOut(data()));
    }
    arg all() const
    {
        return of(adsmAll(data()));
    }
    arg scatter() const
    {
        return of(adsmScatter(data()));
    }
    arg halo(int r, adsmEdge e = ADSM_EDGE_NONE) const
    {
        return of(adsmHalo(data(), r, e));
    }
    arg cross(int ry, int rx, adsmEdge e = ADSM_EDGE_NONE) const
    {
        return of(adsmCross(data(), ry, rx, e));
    }
    arg square(int ry, int rx, adsmEdge e = ADSM_EDGE_NONE) const
    {
        return of(adsmSquare(data(), ry, rx, e));
    }
    template <typename... Longs>
    arg boxed(adsmMode mode, const char *text, Longs... params) const
    {
        return of(adsmBoxed(data(), mode, text, params...));
    }

    /** In the order of the data, on the device. */
    adsmStatus fill(const T &value) const
    {
        return adsmFill(data(), static_cast<size_t>(size()), value);
    }
    adsmStatus copy(const array &from) const
    {
        return adsmCopy(
            data(), from.data(),
            static_cast<size_t>(size() < from.size() ? size() : from.size()) *
                sizeof(T));
    }

  private:
    arg of(const adsmArg &made) const
    {
        return arg(made, at_);
    }

    std::shared_ptr<T> at_;
    adsmBox shape_;
};

/** adsmCall and adsmCallWith. */
template <typename... Args>
inline adsmStatus call(adsmKernel *kernel, long n, const Args &...args)
{
    const arg kept[sizeof...(args) + 1] = {arg(args)..., arg(0)};
    adsmArg list[sizeof...(args) + 1];
    for (size_t i = 0; i < sizeof...(args); i++)
        list[i] = kept[i].c();
    return adsmCallV(kernel, n, static_cast<int>(sizeof...(args)), list);
}

template <typename... Args>
inline adsmStatus call_with(const adsmOpts *opts, adsmKernel *kernel,
                            adsmBox range, const Args &...args)
{
    const arg kept[sizeof...(args) + 1] = {arg(args)..., arg(0)};
    adsmArg list[sizeof...(args) + 1];
    for (size_t i = 0; i < sizeof...(args); i++)
        list[i] = kept[i].c();
    return adsmCallRangeV(kernel, range, opts,
                          static_cast<int>(sizeof...(args)), list);
}

} // namespace adsm

#endif
