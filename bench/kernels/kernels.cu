/*
 * The kernels of the classic suites, one or two lines of an idea each, for
 * comparing the software device with C on the same cores.
 *
 * host.c holds the same algorithms in C, kernels.cl in OpenCL C.
 */
#include "adsm_device.h"

#include "sizes.h"

#define BARRIER() __syncthreads()

extern "C" __global__ void vecadd(const float *a, const float *b, float *c,
                                  int n)
{
    long i = adsm_thread_x();
    if (i < n)
        c[i] = a[i] + b[i];
}

/* c = a * b, n a multiple of TILE. */
extern "C" __global__ void sgemm(const float *a, const float *b, float *c,
                                 int n)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    int column = (int)blockIdx.x * TILE + x, row = (int)blockIdx.y * TILE + y;
    float sum = 0;
    for (int t = 0; t < n; t += TILE) {
        left[y][x] = a[row * n + t + x];
        right[y][x] = b[(t + y) * n + column];
        BARRIER();
        for (int k = 0; k < TILE; k++)
            sum = adsm_fma(left[y][k], right[k][x], sum);
        BARRIER();
    }
    c[row * n + column] = sum;
}

/* points: kx, ky, kz, magnitude of phi */
extern "C" __global__ void mriq(const float4_ *points, int count,
                                const float *x, const float *y, const float *z,
                                float *qr, float *qi)
{
    long i = adsm_thread_x();
    float px = x[i], py = y[i], pz = z[i], r = 0, q = 0;
    for (int k = 0; k < count; k++) {
        float angle =
            TWO_PI * (points[k].x * px + points[k].y * py + points[k].z * pz);
        r = adsm_fma(points[k].w, __nvvm_cos_approx_f(angle), r);
        q = adsm_fma(points[k].w, __nvvm_sin_approx_f(angle), q);
    }
    qr[i] = r;
    qi[i] = q;
}

extern "C" __global__ void mandelbrot(int *out, int width, float left,
                                      float top, float step, int most)
{
    int px = adsm_thread_x(), py = adsm_thread_y();
    float cx = left + (float)px * step, cy = top + (float)py * step;
    float x = 0, y = 0;
    int n = 0;
    while (n < most && x * x + y * y < 4) {
        float t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        n++;
    }
    out[py * width + px] = n;
}

extern "C" __global__ void reduction(const int *in, int n, int *sum)
{
    __shared__ int part[BLOCK];
    int me = (int)threadIdx.x, all = (int)(gridDim.x * blockDim.x);
    int mine = 0;
    for (long i = adsm_thread_x(); i < n; i += all)
        mine += in[i];
    part[me] = mine;
    BARRIER();
    for (int reach = BLOCK / 2; reach > 0; reach /= 2) {
        if (me < reach)
            part[me] += part[me + reach];
        BARRIER();
    }
    if (me == 0)
        __nvvm_atom_add_gen_i(sum, part[0]);
}

/* Exclusive sums inside each block; the block's total goes to sums. */
extern "C" __global__ void scan_blocks(const int *in, int *out, int *sums)
{
    __shared__ int part[2][BLOCK];
    long i = adsm_thread_x();
    int me = (int)threadIdx.x, from = 0;
    int value = in[i];
    part[0][me] = value;
    BARRIER();
    for (int step = 1; step < BLOCK; step *= 2) {
        int v = part[from][me];
        if (me >= step)
            v += part[from][me - step];
        from = 1 - from;
        part[from][me] = v;
        BARRIER();
    }
    out[i] = part[from][me] - value;
    if (me == BLOCK - 1)
        sums[blockIdx.x] = part[from][me];
}

extern "C" __global__ void scan_add(int *out, const int *sums)
{
    out[adsm_thread_x()] += sums[blockIdx.x];
}

extern "C" __global__ void histogram(const unsigned *in, int words, int *bins)
{
    __shared__ int part[BINS];
    part[threadIdx.x] = 0;
    BARRIER();
    int all = (int)(gridDim.x * blockDim.x);
    for (long i = adsm_thread_x(); i < words; i += all) {
        unsigned v = in[i];
        for (int byte = 0; byte < 4; byte++)
            __nvvm_atom_add_gen_i(&part[v >> 8 * byte & 255], 1);
    }
    BARRIER();
    __nvvm_atom_add_gen_i(&bins[threadIdx.x], part[threadIdx.x]);
}

/* A cube of n cells a side; the faces stay as they are. */
extern "C" __global__ void stencil(const float *in, float *out, int n)
{
    int x = adsm_thread_x(), y = adsm_thread_y(), z = adsm_thread_z();
    if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1)
        return;
    int at = (z * n + y) * n + x, plane = n * n;
    float around = in[at - 1] + in[at + 1] + in[at - n] + in[at + n] +
                   in[at - plane] + in[at + plane];
    out[at] = adsm_fma(0.1f, around, 0.4f * in[at]);
}

extern "C" __global__ void spmv(const int *rows, const int *columns,
                                const float *values, const float *x, float *y,
                                int n)
{
    long row = adsm_thread_x();
    if (row >= n)
        return;
    float sum = 0;
    for (int i = rows[row]; i < rows[row + 1]; i++)
        sum = adsm_fma(values[i], x[columns[i]], sum);
    y[row] = sum;
}

/* One step of the bitonic network: compare with the element `step` away. */
extern "C" __global__ void bitonic_step(int *data, int size, int step)
{
    int t = adsm_thread_x();
    int i = 2 * t - (t & (step - 1)), k = i + step;
    int a = data[i], b = data[k];
    int ascending = (i & size) == 0;
    int swap = (a > b) == ascending;
    data[i] = swap ? b : a;
    data[k] = swap ? a : b;
}

/* All steps of distance < 2 * BLOCK, in shared memory, for sizes first…last. */
extern "C" __global__ void bitonic_block(int *data, int first, int last)
{
    __shared__ int part[2 * BLOCK];
    int t = (int)threadIdx.x, base = (int)blockIdx.x * 2 * BLOCK;
    part[t] = data[base + t];
    part[t + BLOCK] = data[base + t + BLOCK];
    for (int size = first; size <= last; size *= 2)
        for (int step = size / 2 < BLOCK ? size / 2 : BLOCK; step > 0;
             step /= 2) {
            BARRIER();
            int i = 2 * t - (t & (step - 1)), k = i + step;
            int a = part[i], b = part[k];
            int ascending = ((base + i) & size) == 0;
            int swap = (a > b) == ascending;
            part[i] = swap ? b : a;
            part[k] = swap ? a : b;
        }
    BARRIER();
    data[base + t] = part[t];
    data[base + t + BLOCK] = part[t + BLOCK];
}

/* bodies: x, y, z, mass */
extern "C" __global__ void nbody(const float4_ *bodies, float4_ *force, int n)
{
    __shared__ float4_ tile[BLOCK];
    long i = adsm_thread_x();
    float4_ me = bodies[i], sum = {0, 0, 0, 0};
    for (int t = 0; t < n; t += BLOCK) {
        tile[threadIdx.x] = bodies[t + (int)threadIdx.x];
        BARRIER();
        for (int k = 0; k < BLOCK; k++) {
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y;
            float dz = tile[k].z - me.z;
            float d2 =
                adsm_fma(dx, dx, adsm_fma(dy, dy, adsm_fma(dz, dz, SOFTENING)));
            float inverse = __nvvm_rsqrt_approx_f(d2);
            float pull = tile[k].w * inverse * inverse * inverse;
            sum.x = adsm_fma(dx, pull, sum.x);
            sum.y = adsm_fma(dy, pull, sum.y);
            sum.z = adsm_fma(dz, pull, sum.z);
        }
        BARRIER();
    }
    force[i] = sum;
}

static __device__ inline float exp_(float v)
{
    return __nvvm_ex2_approx_f(v * LOG2_E);
}

/* Hull's polynomial for the cumulative normal distribution. */
static __device__ inline float normal(float d)
{
    float a = d < 0 ? -d : d;
    float k = 1 / adsm_fma(0.2316419f, a, 1);
    float tail =
        INV_SQRT_TWO_PI * exp_(-0.5f * d * d) * k *
        (0.319381530f +
         k * (-0.356563782f +
              k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    return d > 0 ? 1 - tail : tail;
}

extern "C" __global__ void blackscholes(const float *price, const float *strike,
                                        const float *years, float *call,
                                        float *put, int n)
{
    long i = adsm_thread_x();
    if (i >= n)
        return;
    float s = price[i], x = strike[i], t = years[i];
    float root = __nvvm_sqrt_rn_f(t);
    float log_ = __nvvm_lg2_approx_f(s / x) * LN_2;
    float d1 = (log_ + (RATE + 0.5f * VOLATILITY * VOLATILITY) * t) /
               (VOLATILITY * root);
    float n1 = normal(d1), n2 = normal(d1 - VOLATILITY * root);
    float discount = x * exp_(-RATE * t);
    float c = s * n1 - discount * n2;
    call[i] = c;
    put[i] = c - s + discount;
}

/* Two steps of heat flow in a plate of n cells a side: a block of TILE x TILE
 * threads leaves the inner TILE - 2 * HEAT_STEPS of both, its rim is computed
 * again by its neighbours. */
extern "C" __global__ void heat(const float *in, const float *power, float *out,
                                int n)
{
    __shared__ float now[TILE][TILE], next[TILE][TILE];
    int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
    int x = (int)blockIdx.x * HEAT_INNER - HEAT_STEPS + tx;
    int y = (int)blockIdx.y * HEAT_INNER - HEAT_STEPS + ty;
    int inside = x >= 0 && x < n && y >= 0 && y < n, valid = 0;
    float source = 0;
    if (inside) {
        now[ty][tx] = in[y * n + x];
        source = power[y * n + x];
    }
    BARRIER();
    int west = x > 0 ? tx - 1 : tx, east = x < n - 1 ? tx + 1 : tx;
    int north = y > 0 ? ty - 1 : ty, south = y < n - 1 ? ty + 1 : ty;
    for (int i = 0; i < HEAT_STEPS; i++) {
        valid = inside && tx > i && tx < TILE - 1 - i && ty > i &&
                ty < TILE - 1 - i;
        if (valid) {
            float me = now[ty][tx];
            next[ty][tx] =
                me + HEAT_RATE * (source + now[ty][west] + now[ty][east] +
                                  now[north][tx] + now[south][tx] - 4 * me);
        }
        BARRIER();
        if (i == HEAT_STEPS - 1)
            break;
        if (valid)
            now[ty][tx] = next[ty][tx];
        BARRIER();
    }
    if (valid)
        out[y * n + x] = next[ty][tx];
}

/* Breadth-first search, a level in two launches: nodes of the frontier reach
 * their neighbours; what was reached becomes the next frontier. */
extern "C" __global__ void bfs_start(unsigned char *frontier,
                                     unsigned char *reached,
                                     unsigned char *seen, int *cost, int n)
{
    long i = adsm_thread_x();
    if (i >= n)
        return;
    frontier[i] = seen[i] = i == 0;
    reached[i] = 0;
    cost[i] = i == 0 ? 0 : -1;
}

extern "C" __global__ void bfs_reach(const int *rows, const int *edges,
                                     unsigned char *frontier,
                                     unsigned char *reached,
                                     const unsigned char *seen, int *cost,
                                     int n)
{
    long i = adsm_thread_x();
    if (i >= n || !frontier[i])
        return;
    frontier[i] = 0;
    for (int k = rows[i]; k < rows[i + 1]; k++) {
        int to = edges[k];
        if (!seen[to]) {
            cost[to] = cost[i] + 1;
            reached[to] = 1;
        }
    }
}

extern "C" __global__ void bfs_next(unsigned char *frontier,
                                    unsigned char *reached,
                                    unsigned char *seen, int *more, int n)
{
    long i = adsm_thread_x();
    if (i >= n || !reached[i])
        return;
    frontier[i] = 1;
    seen[i] = 1;
    *more = 1;
    reached[i] = 0;
}
