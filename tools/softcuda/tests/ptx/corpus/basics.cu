struct body { float4 position; double mass; short kind; char name[3]; };
__constant__ float weights[25];
__constant__ int table[4] = {1, -2, 3, 4};
__device__ int counter = 7;
__device__ double scales[2][3] = {{1.0, 2.5}, {3, 4, 5}};
__device__ int *where = &counter;

extern "C" __global__ void axpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

extern "C" __global__ void __launch_bounds__(256, 2)
bodies(const struct body *in, struct body *out, struct body offset, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    struct body b = in[i];
    b.position.x += offset.position.x * weights[i % 25];
    b.position.w *= table[i & 3];
    b.mass += scales[i & 1][i % 3] + offset.name[i % 3] + *where;
    b.kind = (short)(b.kind >> (i & 15));
    b.name[0] ^= (char)i;
    out[i] = b;
}

extern "C" __global__ void stencil(const float *in, float *out, int nx, int ny,
                                   int nz)
{
    extern __shared__ float tile[];
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    bool inside = x > 0 && y > 0 && x < nx - 1 && y < ny - 1;
    for (int z = 1; z < nz - 1; z++) {
        int at = (z * ny + y) * nx + x;
        tile[threadIdx.y * blockDim.x + threadIdx.x] =
            x < nx && y < ny ? in[at] : 0;
        __syncthreads();
        if (inside)
            out[at] = 0.5f * tile[threadIdx.y * blockDim.x + threadIdx.x] +
                      0.1f * (in[at - 1] + in[at + 1] + in[at - nx] +
                              in[at + nx] + in[at - nx * ny] +
                              in[at + nx * ny]);
        __syncthreads();
    }
}

extern "C" __global__ void spectrum(const float *in, float *out, double *wide,
                                    int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = in[i];
    out[i] = sinf(v) + cosf(v) * expf(-v) + logf(fabsf(v) + 1) + sqrtf(v * v) +
             rsqrtf(v * v + 1) + powf(fabsf(v), 0.3f) + tanhf(v) + atan2f(v, 2) +
             fminf(v, 3) + floorf(v) + rintf(v) + fmodf(v, 0.7f) + erff(v);
    wide[i] = exp((double)v) + log((double)v * v + 1) +
              sqrt((double)v * v) + cbrt((double)v) + fma((double)v, 2., 3.);
}
