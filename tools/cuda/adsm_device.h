/*
 * The device side of a CUDA C++ subset, for kernels built without the SDK.
 *
 * Owns the few names a kernel of this project may use: the CUDA qualifiers,
 * thread and block indices, the barrier, views of arrays, operators of
 * reductions (adsm_operator.h), and arithmetic with one rounding fixed by the
 * source (build with -ffp-contract=off, as tools/ptx.sh does), so that every
 * device prints the same bits. Does not wrap the host API and has
 * no library behind it: sin, exp and their like are written as fma polynomials
 * by whoever needs them.
 *
 * Where a real CUDA compiler supplies these names (nvcc, or clang with the
 * SDK's headers), only the adsm_ functions are defined here.
 */
#ifndef TOOLS_CUDA_ADSM_DEVICE_H
#define TOOLS_CUDA_ADSM_DEVICE_H

#if defined(__clang__) && defined(__CUDA__) && !defined(__global__)

#define __global__             __attribute__((global))
#define __device__             __attribute__((device))
#define __host__               __attribute__((host))
#define __shared__             __attribute__((shared))
#define __constant__           __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

/* Each member is a read of a special register, not a memory access, so it is
 * a property with a getter. */
#define ADSM_SREG(field, builtin)                                              \
    __declspec(property(get = get_##field)) unsigned field;                    \
    static __device__ inline                                                   \
        __attribute__((always_inline)) unsigned get_##field()                  \
    {                                                                          \
        return builtin();                                                      \
    }
#define ADSM_SREG3(name, sreg)                                                 \
    struct adsm_##name {                                                       \
        ADSM_SREG(x, __nvvm_read_ptx_sreg_##sreg##_x)                          \
        ADSM_SREG(y, __nvvm_read_ptx_sreg_##sreg##_y)                          \
        ADSM_SREG(z, __nvvm_read_ptx_sreg_##sreg##_z)                          \
    };                                                                         \
    extern const __device__ __attribute__((weak)) adsm_##name name;

ADSM_SREG3(threadIdx, tid)
ADSM_SREG3(blockIdx, ctaid)
ADSM_SREG3(blockDim, ntid)
ADSM_SREG3(gridDim, nctaid)

#endif

/** Behind a kernel: where its file is compiled for the CPU, behind adsm_cpu.h, it
 *  is run there. */
#ifndef ADSM_CPU_KERNEL
#define ADSM_CPU_KERNEL(kernel)
#endif

/** Position of this thread in the grid along x, in threads: more than an int
 *  counts, where there are that many. */
static __device__ inline long adsm_thread_x()
{
    return (long)blockIdx.x * blockDim.x + threadIdx.x;
}

/** The same along y: a grid has 65,535 blocks there at most. */
static __device__ inline int adsm_thread_y()
{
    return (int)(blockIdx.y * blockDim.y + threadIdx.y);
}

/** The same along z. */
static __device__ inline int adsm_thread_z()
{
    return (int)(blockIdx.z * blockDim.z + threadIdx.z);
}

/**
 * A 2-D or 3-D array as a call over several devices passes it: element (y, x)
 * or (z, y, x) of the whole array, whatever part of it the device has. Rows and
 * planes are `pitch` bytes apart. A parameter of such a type is what lets calls
 * cut an array by any dimension.
 */
template <typename T> struct adsm_view2 {
    T *base;
    long pitch;

    __device__ T &operator()(long y, long x) const
    {
        return ((T *)((char *)base + y * pitch))[x];
    }
};

template <typename T> struct adsm_view3 {
    T *base;
    long pitch, plane;

    __device__ T &operator()(long z, long y, long x) const
    {
        return ((T *)((char *)base + z * plane + y * pitch))[x];
    }
};

#ifndef TOOLS_CUDA_ADSM_CPU_H
#include "adsm_operator.h"
#endif

/** a * b + c with one rounding, in f32. */
static __device__ inline float adsm_fma(float a, float b, float c)
{
#ifdef __NVCC__
    return fmaf(a, b, c);
#else
    return __builtin_fmaf(a, b, c);
#endif
}

/** a * b + c with one rounding, in f64. */
static __device__ inline double adsm_fma64(double a, double b, double c)
{
#ifdef __NVCC__
    return fma(a, b, c);
#else
    return __builtin_fma(a, b, c);
#endif
}

/** Square root, exactly rounded. */
static __device__ inline float adsm_sqrt(float x)
{
#ifdef __NVCC__
    return __fsqrt_rn(x);
#else
    return __builtin_sqrtf(x);
#endif
}

/** The whole number nearest to x, the even one of two. */
static __device__ inline float adsm_nearest(float x)
{
#ifdef __NVCC__
    return rintf(x);
#else
    return __builtin_rintf(x);
#endif
}

/**
 * Sine and cosine of an angle in turns, |turns| < 2^20, to 2e-7 of the angle
 * as given: eighths of a turn around a multiple of a quarter, by polynomial.
 */
static __device__ inline void adsm_sincos_turns(float turns, float *sine,
                                                float *cosine)
{
    float quarters = adsm_nearest(4.0f * turns);
    float a = 6.28318531f * adsm_fma(-0.25f, quarters, turns);
    float z = a * a;
    float s = adsm_fma(-1.95152959e-4f, z, 8.33216087e-3f);
    s = adsm_fma(s, z, -1.66666546e-1f);
    s = adsm_fma(s * z, a, a);
    float c = adsm_fma(2.44331571e-5f, z, -1.38873163e-3f);
    c = adsm_fma(c, z, 4.16666457e-2f);
    c = adsm_fma(c * z, z, adsm_fma(-0.5f, z, 1.0f));
    int quadrant = (int)quarters;
    float s_of = quadrant & 1 ? c : s, c_of = quadrant & 1 ? s : c;
    *sine = quadrant & 2 ? -s_of : s_of;
    *cosine = (quadrant + 1) & 2 ? -c_of : c_of;
}

/** Add to a counter that other threads of the grid add to. */
static __device__ inline void adsm_atomic_add(unsigned *counter, unsigned value)
{
#ifdef __NVCC__
    atomicAdd(counter, value);
#else
    __atomic_fetch_add(counter, value, __ATOMIC_RELAXED);
#endif
}

#endif
