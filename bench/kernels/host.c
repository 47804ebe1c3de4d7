/*
 * The kernels of kernels.cu in C: same algorithm, OpenMP over the cores, left
 * to the compiler's vectoriser (built with -O3 -march=native).
 */
#include "host.h"

#include <math.h>
#include <omp.h>
#include <string.h>

void host_vecadd(const float *restrict a, const float *restrict b,
                 float *restrict c, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}

static void tile_times_tile(const float *restrict a, const float *restrict b,
                            float sum[TILE][TILE], int n)
{
    for (int y = 0; y < TILE; y++)
        for (int k = 0; k < TILE; k++)
            for (int x = 0; x < TILE; x++)
                sum[y][x] += a[y * n + k] * b[k * n + x];
}

void host_sgemm(const float *restrict a, const float *restrict b,
                float *restrict c, int n)
{
#pragma omp parallel for collapse(2)
    for (int row = 0; row < n; row += TILE)
        for (int column = 0; column < n; column += TILE) {
            float sum[TILE][TILE] = {{0}};
            for (int t = 0; t < n; t += TILE)
                tile_times_tile(a + row * n + t, b + t * n + column, sum, n);
            for (int y = 0; y < TILE; y++)
                memcpy(c + (row + y) * n + column, sum[y], sizeof sum[y]);
        }
}

void host_mriq(const float4_ *restrict points, int count,
               const float *restrict x, const float *restrict y,
               const float *restrict z, float *restrict qr, float *restrict qi,
               int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float r = 0, q = 0;
        for (int k = 0; k < count; k++) {
            float angle = TWO_PI * (points[k].x * x[i] + points[k].y * y[i] +
                                    points[k].z * z[i]);
            r += points[k].w * cosf(angle);
            q += points[k].w * sinf(angle);
        }
        qr[i] = r;
        qi[i] = q;
    }
}

static int escape(float cx, float cy, int most)
{
    float x = 0, y = 0;
    int n = 0;
    while (n < most && x * x + y * y < 4) {
        float t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        n++;
    }
    return n;
}

void host_mandelbrot(int *restrict out, int width, int height, float left,
                     float top, float step, int most)
{
#pragma omp parallel for schedule(dynamic)
    for (int py = 0; py < height; py++)
        for (int px = 0; px < width; px++)
            out[py * width + px] =
                escape(left + (float)px * step, top + (float)py * step, most);
}

void host_reduction(const int *restrict in, int n, int *restrict sum)
{
    int all = 0;
#pragma omp parallel for reduction(+ : all)
    for (int i = 0; i < n; i++)
        all += in[i];
    *sum = all;
}

void host_scan(const int *restrict in, int *restrict out, int n)
{
    enum { MOST = 256 };
    int sums[MOST + 1] = {0};
#pragma omp parallel num_threads(                                              \
    omp_get_max_threads() < MOST ? omp_get_max_threads() : MOST)
    {
        int threads = omp_get_num_threads(), me = omp_get_thread_num();
        long from = (long)n * me / threads, end = (long)n * (me + 1) / threads;
        int sum = 0;
        for (long i = from; i < end; i++)
            sum += in[i];
        sums[me + 1] = sum;
#pragma omp barrier
        sum = 0;
        for (int t = 0; t <= me; t++)
            sum += sums[t];
        for (long i = from; i < end; i++) {
            out[i] = sum;
            sum += in[i];
        }
    }
}

void host_histogram(const unsigned *restrict in, int words, int *restrict bins)
{
    memset(bins, 0, BINS * sizeof *bins);
#pragma omp parallel for reduction(+ : bins[:BINS])
    for (int i = 0; i < words; i++)
        for (int byte = 0; byte < 4; byte++)
            bins[in[i] >> 8 * byte & 255]++;
}

void host_stencil(const float *restrict in, float *restrict out, int n)
{
    long plane = (long)n * n;
#pragma omp parallel for
    for (int z = 1; z < n - 1; z++)
        for (int y = 1; y < n - 1; y++)
            for (int x = 1; x < n - 1; x++) {
                long at = z * plane + y * n + x;
                float around = in[at - 1] + in[at + 1] + in[at - n] +
                               in[at + n] + in[at - plane] + in[at + plane];
                out[at] = 0.1f * around + 0.4f * in[at];
            }
}

void host_spmv(const int *restrict rows, const int *restrict columns,
               const float *restrict values, const float *restrict x,
               float *restrict y, int n)
{
#pragma omp parallel for
    for (int row = 0; row < n; row++) {
        float sum = 0;
        for (int i = rows[row]; i < rows[row + 1]; i++)
            sum += values[i] * x[columns[i]];
        y[row] = sum;
    }
}

void host_bitonic(int *restrict data, int n)
{
    for (int size = 2; size <= n; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
#pragma omp parallel for
            for (int t = 0; t < n / 2; t++) {
                int i = 2 * t - (t & (step - 1)), k = i + step;
                int a = data[i], b = data[k];
                int ascending = (i & size) == 0;
                int swap = (a > b) == ascending;
                data[i] = swap ? b : a;
                data[k] = swap ? a : b;
            }
        }
}

void host_nbody(const float4_ *restrict bodies, float4_ *restrict force, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float4_ me = bodies[i], sum = {0, 0, 0, 0};
        for (int k = 0; k < n; k++) {
            float dx = bodies[k].x - me.x, dy = bodies[k].y - me.y;
            float dz = bodies[k].z - me.z;
            float d2 = dx * dx + dy * dy + dz * dz + SOFTENING;
            float inverse = 1 / sqrtf(d2);
            float pull = bodies[k].w * inverse * inverse * inverse;
            sum.x += dx * pull;
            sum.y += dy * pull;
            sum.z += dz * pull;
        }
        force[i] = sum;
    }
}

static float normal(float d)
{
    float a = fabsf(d);
    float k = 1 / (1 + 0.2316419f * a);
    float tail =
        INV_SQRT_TWO_PI * expf(-0.5f * d * d) * k *
        (0.319381530f +
         k * (-0.356563782f +
              k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    return d > 0 ? 1 - tail : tail;
}

void host_blackscholes(const float *restrict price,
                       const float *restrict strike,
                       const float *restrict years, float *restrict call,
                       float *restrict put, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = price[i], x = strike[i], t = years[i];
        float root = sqrtf(t);
        float d1 = (logf(s / x) + (RATE + 0.5f * VOLATILITY * VOLATILITY) * t) /
                   (VOLATILITY * root);
        float n1 = normal(d1), n2 = normal(d1 - VOLATILITY * root);
        float discount = x * expf(-RATE * t);
        float c = s * n1 - discount * n2;
        call[i] = c;
        put[i] = c - s + discount;
    }
}

static void heat_step(const float *restrict in, const float *restrict power,
                      float *restrict out, int n)
{
#pragma omp parallel for
    for (int y = 0; y < n; y++) {
        const float *row = in + (long)y * n;
        const float *north = y > 0 ? row - n : row;
        const float *south = y < n - 1 ? row + n : row;
        for (int x = 0; x < n; x++) {
            float west = row[x > 0 ? x - 1 : x];
            float east = row[x < n - 1 ? x + 1 : x];
            out[(long)y * n + x] =
                row[x] + HEAT_RATE * (power[(long)y * n + x] + west + east +
                                      north[x] + south[x] - 4 * row[x]);
        }
    }
}

void host_heat(const float *restrict in, const float *restrict power,
               float *restrict between, float *restrict out, int n)
{
    heat_step(in, power, between, n);
    heat_step(between, power, out, n);
}

static int bfs_level(const int *restrict rows, const int *restrict edges,
                     unsigned char *restrict frontier,
                     unsigned char *restrict reached,
                     unsigned char *restrict seen, int *restrict cost, int n)
{
    int more = 0;
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (!frontier[i])
            continue;
        frontier[i] = 0;
        for (int k = rows[i]; k < rows[i + 1]; k++)
            if (!seen[edges[k]]) {
                cost[edges[k]] = cost[i] + 1;
                reached[edges[k]] = 1;
            }
    }
#pragma omp parallel for reduction(| : more)
    for (int i = 0; i < n; i++) {
        if (!reached[i])
            continue;
        frontier[i] = seen[i] = 1;
        more = 1;
        reached[i] = 0;
    }
    return more;
}

void host_bfs(const int *restrict rows, const int *restrict edges,
              unsigned char *restrict frontier, unsigned char *restrict reached,
              unsigned char *restrict seen, int *restrict cost, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        frontier[i] = seen[i] = i == 0;
        reached[i] = 0;
        cost[i] = i == 0 ? 0 : -1;
    }
    while (bfs_level(rows, edges, frontier, reached, seen, cost, n))
        continue;
}
