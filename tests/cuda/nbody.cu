/*
 * All pairs of bodies, tiles of them in shared memory; the reference is in
 * double precision, so results are compared within a tolerance.
 */
#include "program.h"

enum { THREADS = 64 };

const float softening = 0.01f, dt = 0.01f;

__global__ void accelerate(const float4 *bodies, float3 *pull, int n)
{
    __shared__ float4 tile[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    float4 me = bodies[min(i, n - 1)];
    float3 sum = make_float3(0, 0, 0);
    for (int from = 0; from < n; from += THREADS) {
        int j = from + threadIdx.x;
        tile[threadIdx.x] = j < n ? bodies[j] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < THREADS; k++) {
            float4 other = tile[k];
            float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
            float scale = other.w * inverse * inverse * inverse;
            sum.x += dx * scale;
            sum.y += dy * scale;
            sum.z += dz * scale;
        }
        __syncthreads();
    }
    if (i < n)
        pull[i] = sum;
}

__global__ void move(float4 *bodies, float3 *speeds, const float3 *pull, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    speeds[i].x += pull[i].x * dt;
    speeds[i].y += pull[i].y * dt;
    speeds[i].z += pull[i].z * dt;
    bodies[i].x += speeds[i].x * dt;
    bodies[i].y += speeds[i].y * dt;
    bodies[i].z += speeds[i].z * dt;
}

struct Body {
    double at[3], speed[3], mass;
};

static void step(std::vector<Body> *bodies)
{
    std::vector<Body> next = *bodies;
    for (Body &me : next) {
        double sum[3] = {0, 0, 0};
        for (const Body &other : *bodies) {
            double d[3], square = softening;
            for (int k = 0; k < 3; k++) {
                d[k] = other.at[k] - me.at[k];
                square += d[k] * d[k];
            }
            for (int k = 0; k < 3; k++)
                sum[k] += d[k] * other.mass / (square * std::sqrt(square));
        }
        for (int k = 0; k < 3; k++)
            me.speed[k] += sum[k] * dt;
        for (int k = 0; k < 3; k++)
            me.at[k] += me.speed[k] * dt;
    }
    bodies->swap(next);
}

int main()
{
    const int n = 333, steps = 4, blocks = (n + THREADS - 1) / THREADS;
    std::vector<float4> start(n);
    std::vector<Body> want(n);
    Random random(18);
    for (int i = 0; i < n; i++) {
        start[i] = make_float4(random.unit(), random.unit(), random.unit(),
                               random.unit() / n);
        want[i] = {{start[i].x, start[i].y, start[i].z}, {0}, start[i].w};
    }
    float4 *bodies = to_device(start);
    float3 *speeds = to_device(std::vector<float3>(n, make_float3(0, 0, 0)));
    float3 *pull = new_on_device<float3>(n);
    for (int s = 0; s < steps; s++) {
        accelerate<<<blocks, THREADS>>>(bodies, pull, n);
        move<<<blocks, THREADS>>>(bodies, speeds, pull, n);
        step(&want);
    }
    std::vector<float4> got = to_host(bodies, n);
    double worst = 0, x = 0;
    for (int i = 0; i < n; i++) {
        worst = std::fmax(worst, std::fabs(got[i].x - want[i].at[0]));
        worst = std::fmax(worst, std::fabs(got[i].y - want[i].at[1]));
        worst = std::fmax(worst, std::fabs(got[i].z - want[i].at[2]));
        x += got[i].x;
    }
    EXPECT(worst < 1e-5, "off by %g", worst);
    CHECK(cudaFree(bodies));
    CHECK(cudaFree(speeds));
    CHECK(cudaFree(pull));
    return pass("nbody", "n %d steps %d mean x %.4f", n, steps, x / n);
}
