// Everything that makes nvcc print calls: recursion, tables of functions,
// virtual functions, structures by value, printf, assert, malloc.
#include <cassert>
#include <cstdio>

struct Vector {
    float x, y, z;
    char tag;
};

struct Shape {
    int side;
    __device__ Shape(int s) : side(s) {}
    __device__ virtual int area(int n) const { return side + n; }
    __device__ virtual ~Shape() {}
};

struct Square : Shape {
    __device__ Square(int s) : Shape(s) {}
    __device__ int area(int n) const override { return side * side * n; }
};

__noinline__ __device__ Vector add(Vector a, Vector b)
{
    return Vector{a.x + b.x, a.y + b.y, a.z + b.z, (char)(a.tag - b.tag)};
}

__device__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ int odd(int n);
__noinline__ __device__ int even(int n)
{
    return n == 0 ? 1 : odd(n - 1);
}
__noinline__ __device__ int odd(int n)
{
    return n == 0 ? 0 : even(n - 1);
}

__noinline__ __device__ int increment(int a)
{
    return a + 1;
}
__noinline__ __device__ int twice(int a)
{
    return 2 * a;
}
typedef int (*Function)(int);
__device__ Function table[2] = {increment, twice};
__constant__ Function constants[2] = {twice, increment};

// Sorts through pointers into its own frame.
__device__ void sort(int *v, int n)
{
    if (n < 2)
        return;
    int left[8], half = n / 2;
    for (int i = 0; i < half; i++)
        left[i] = v[i];
    sort(left, half);
    sort(v + half, n - half);
    for (int i = 0, j = half, k = 0; i < half;)
        v[k++] = j < n && v[j] < left[i] ? v[j++] : left[i++];
}

extern "C" __global__ void calls(int *out)
{
    int t = threadIdx.x;
    Vector a{1.0f * t, 2, 3, 9}, b{1, 0.5f, t * 0.25f, (char)(t & 3)};
    Vector c = add(add(a, b), b);
    out[8 * t] = fibonacci(t % 11);
    out[8 * t + 1] = even(t) * 2 + odd(t);
    out[8 * t + 2] = table[t & 1](t) + constants[t >> 1 & 1](t);
    out[8 * t + 3] = (int)(4 * (c.x + c.y + c.z)) + c.tag;
}

extern "C" __global__ void objects(int *out)
{
    int t = threadIdx.x;
    Shape *s = t & 1 ? new Square(t) : new Shape(t);
    out[8 * t] = s->area(3);
    delete s;
}

extern "C" __global__ void sorts(int *out)
{
    int v[16];
    for (int i = 0; i < 16; i++)
        v[i] = (i * 7 + threadIdx.x) % 16;
    sort(v, 16);
    for (int i = 0; i < 8; i++)
        out[8 * threadIdx.x + i] = v[i + 8];
}

extern "C" __global__ void prints(int *out)
{
    int t = threadIdx.x;
    out[8 * t] = printf("[%d] %5.2f %s %c %lld %%\n", t, 1.5, "text", 'a' + t,
                        1LL << 40);
    assert(t < 3);
}
