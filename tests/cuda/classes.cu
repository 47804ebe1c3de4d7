/*
 * C++ on the device: templates over types and sizes, operators, constexpr,
 * constructors in shared memory, objects passed by value, lambdas.
 */
#include "program.h"

template <typename T, int ROWS, int COLUMNS> class Matrix
{
  public:
    __host__ __device__ Matrix()
    {
        for (auto &row : cells)
            for (T &cell : row)
                cell = T();
    }
    __host__ __device__ T &operator()(int row, int column)
    {
        return cells[row][column];
    }
    __host__ __device__ const T &operator()(int row, int column) const
    {
        return cells[row][column];
    }
    template <int OTHER>
    __host__ __device__ Matrix<T, ROWS, OTHER>
    operator*(const Matrix<T, COLUMNS, OTHER> &b) const
    {
        Matrix<T, ROWS, OTHER> result;
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < OTHER; j++)
                for (int k = 0; k < COLUMNS; k++)
                    result(i, j) = result(i, j) + cells[i][k] * b(k, j);
        return result;
    }

  private:
    T cells[ROWS][COLUMNS];
};

/* Arithmetic modulo a prime, so that everything is exact. */
template <unsigned PRIME> struct Modular {
    unsigned value;
    __host__ __device__ Modular(unsigned v = 0) : value(v % PRIME)
    {
    }
    __host__ __device__ Modular operator+(Modular other) const
    {
        return Modular(value + other.value);
    }
    __host__ __device__ Modular operator*(Modular other) const
    {
        return Modular((unsigned long long)value * other.value % PRIME);
    }
    static constexpr unsigned size = PRIME;
};

template <typename T> struct Traits {
    static constexpr int bits = sizeof(T) * 8;
};

__host__ __device__ constexpr int power(int base, int exponent)
{
    return exponent ? base * power(base, exponent - 1) : 1;
}

template <typename... Parts>
__host__ __device__ unsigned sum_all(Parts... parts)
{
    return (unsigned(parts) + ... + 0u);
}

typedef Modular<65521> Number;
typedef Matrix<Number, 3, 3> Square;

template <typename Function>
__host__ __device__ unsigned apply(Function function, int i)
{
    return function(i);
}

__global__ void powers(Square base, unsigned *out, int n)
{
    __shared__ alignas(Square) char room[sizeof(Square)];
    Square &first = *(Square *)room;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        new (room) Square(base);
    __syncthreads();
    if (i >= n)
        return;
    Square result = first;
    for (int k = 0; k < i % 20; k++)
        result = result * first;
    auto corner = [&result](int j) { return result(j % 3, 2 - j % 3).value; };
    static_assert(Traits<short>::bits == 16, "traits");
    constexpr int table[power(2, 3)] = {1, 2, 3, 5, 8, 13, 21, 34};
    out[i] = sum_all(apply(corner, i), table[i % 8], (char)i, i * 2.0f);
}

int main()
{
    const int n = 500;
    Square base;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            base(i, j) = Number(i * 1000 + j * 77 + 13);
    unsigned *out = new_on_device<unsigned>(n);
    powers<<<(n + 63) / 64, 64>>>(base, out, n);
    std::vector<unsigned> got = to_host(out, n);
    const int table[] = {1, 2, 3, 5, 8, 13, 21, 34};
    for (int i = 0; i < n; i++) {
        unsigned long long m[3][3], next[3][3];
        for (int r = 0; r < 9; r++)
            m[r / 3][r % 3] = base(r / 3, r % 3).value;
        for (int k = 0; k < i % 20; k++) {
            for (int r = 0; r < 9; r++) {
                next[r / 3][r % 3] = 0;
                for (int l = 0; l < 3; l++)
                    next[r / 3][r % 3] +=
                        m[r / 3][l] * base(l, r % 3).value % Number::size;
            }
            for (int r = 0; r < 9; r++)
                m[r / 3][r % 3] = next[r / 3][r % 3] % Number::size;
        }
        unsigned want = (unsigned)m[i % 3][2 - i % 3] + table[i % 8] +
                        (unsigned)(signed char)i + 2 * i;
        EXPECT(got[i] == want, "at %d: %u, not %u", i, got[i], want);
    }
    CHECK(cudaFree(out));
    return pass("classes", "digest %016llx", (unsigned long long)digest(got));
}
