/* What the three versions of the kernels agree on. */
#ifndef BENCH_KERNELS_SIZES_H
#define BENCH_KERNELS_SIZES_H

#define TILE  16
#define BLOCK 256
#define BINS  256

#define HEAT_STEPS 2
#define HEAT_INNER (TILE - 2 * HEAT_STEPS)
#define HEAT_RATE  0.1f

#define TWO_PI          6.2831853071795865f
#define LOG2_E          1.4426950408889634f
#define LN_2            0.6931471805599453f
#define INV_SQRT_TWO_PI 0.3989422804014327f

#define SOFTENING  1e-3f
#define RATE       0.02f
#define VOLATILITY 0.30f

#ifndef __OPENCL_VERSION__
typedef struct {
    float x, y, z, w;
} __attribute__((aligned(16))) float4_;
#endif

#endif
