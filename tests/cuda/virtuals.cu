/*
 * Objects made on the device, called through virtual functions; tables of
 * function pointers, on the device and fetched by the host.
 */
#include "program.h"

class Shape
{
  public:
    __device__ virtual ~Shape()
    {
    }
    __device__ virtual int area() const = 0;
    __device__ virtual int twice() const
    {
        return 2 * area();
    }
};

class Box : public Shape
{
  public:
    __device__ Box(int w, int h) : width(w), height(h)
    {
    }
    __device__ int area() const override
    {
        return width * height;
    }

  private:
    int width, height;
};

class Strange : public Box
{
  public:
    __device__ Strange(int size) : Box(size, size), extra(size)
    {
    }
    __device__ int twice() const override
    {
        return Box::twice() + extra;
    }
    __device__ ~Strange() override
    {
        extra = 0;
    }

  private:
    int extra;
};

__global__ void make(Shape **shapes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (i % 3 == 0)
        shapes[i] = new Strange(i);
    else
        shapes[i] = new Box(i, i + 1);
}

typedef int (*Operation)(int, int);

__device__ int plus(int a, int b)
{
    return a + b;
}
__device__ int minus(int a, int b)
{
    return a - b;
}
__device__ __noinline__ int times(int a, int b)
{
    return a * b;
}

__device__ Operation operations[3] = {plus, minus, times};
__device__ Operation chosen = times;

__global__ void use(Shape **shapes, int n, Operation given, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int value = shapes[i]->twice() + shapes[i]->area();
    out[i] = operations[i % 3](value, i) + given(i, 3);
}

__global__ void destroy(Shape **shapes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        delete shapes[i];
}

int main()
{
    const int n = 200, blocks = (n + 63) / 64;
    Shape **shapes = new_on_device<Shape *>(n);
    int *out = new_on_device<int>(n);
    Operation given;
    CHECK(cudaMemcpyFromSymbol(&given, chosen, sizeof given));
    make<<<blocks, 64>>>(shapes, n);
    use<<<blocks, 64>>>(shapes, n, given, out);
    destroy<<<blocks, 64>>>(shapes, n);
    CHECK(cudaDeviceSynchronize());
    std::vector<int> got = to_host(out, n);
    for (int i = 0; i < n; i++) {
        int area = i % 3 == 0 ? i * i : i * (i + 1);
        int value = 3 * area + (i % 3 == 0 ? i : 0);
        int want = i % 3 == 0 ? value + i : i % 3 == 1 ? value - i : value * i;
        EXPECT(got[i] == want + 3 * i, "at %d: %d, not %d", i, got[i],
               want + 3 * i);
    }
    CHECK(cudaFree(shapes));
    CHECK(cudaFree(out));
    return pass("virtuals", "digest %016llx", (unsigned long long)digest(got));
}
