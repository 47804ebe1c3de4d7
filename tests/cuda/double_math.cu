/*
 * The mathematical library in double precision (libdevice) against the CPU's,
 * within the errors that the CUDA C++ programming guide states.
 */
#include "program.h"

#define FUNCTIONS(F)                                                           \
    F(sin, sin(x), 2)                                                          \
    F(cos, cos(x), 2)                                                          \
    F(tan, tan(x), 2)                                                          \
    F(exp, exp(x / 4), 1)                                                      \
    F(exp2, exp2(x), 1)                                                        \
    F(expm1, expm1(x / 64), 1)                                                 \
    F(log, log(fabs(x)), 1)                                                    \
    F(log2, log2(fabs(x)), 1)                                                  \
    F(log10, log10(fabs(x)), 1)                                                \
    F(log1p, log1p(fabs(x)), 1)                                                \
    F(pow, pow(fabs(x), y), 2)                                                 \
    F(sqrt, sqrt(fabs(x)), 0)                                                  \
    F(cbrt, cbrt(x), 1)                                                        \
    F(hypot, hypot(x, y), 2)                                                   \
    F(asin, asin(y / 8), 2)                                                    \
    F(acos, acos(y / 8), 2)                                                    \
    F(atan, atan(x), 2)                                                        \
    F(atan2, atan2(x, y), 2)                                                   \
    F(sinh, sinh(y), 2)                                                        \
    F(cosh, cosh(y), 1)                                                        \
    F(tanh, tanh(y), 1)                                                        \
    F(asinh, asinh(x), 3)                                                      \
    F(erf, erf(y / 2), 2)                                                      \
    F(erfc, erfc(y / 2), 5)                                                    \
    F(tgamma, tgamma(fabs(y)), 10)                                             \
    F(lgamma, lgamma(fabs(x) * 4), 4)                                          \
    F(fmod, fmod(x, y), 0)                                                     \
    F(remainder, remainder(x, y), 0)                                           \
    F(floor, floor(x), 0)                                                      \
    F(rint, rint(x), 0)                                                        \
    F(round, round(x), 0)                                                      \
    F(trunc, trunc(x), 0)                                                      \
    F(fma, fma(x, y, x), 0)                                                    \
    F(divide, x / y, 0)

enum {
#define F(name, text, ulps) INDEX_##name,
    FUNCTIONS(F)
#undef F
        COUNT
};

__device__ void compute(double x, double y, double *out)
{
#define F(name, text, ulps) out[INDEX_##name] = text;
    FUNCTIONS(F)
#undef F
}

/* More digits than the results have, so that only the device can be wrong. */
static void compute_here(long double x, long double y, long double *out)
{
    using namespace std;
#define F(name, text, ulps) out[INDEX_##name] = text;
    FUNCTIONS(F)
#undef F
}

__global__ void compute_all(const double *x, const double *y, double *out,
                            int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        compute(x[i], y[i], out + i * COUNT);
}

int main()
{
    const char *names[] = {
#define F(name, text, ulps) #name,
        FUNCTIONS(F)
#undef F
    };
    const double allowed[] = {
#define F(name, text, ulps) ulps,
        FUNCTIONS(F)
#undef F
    };
    const int n = 700;
    std::vector<double> x(n), y(n);
    Random random(34);
    for (int i = 0; i < n; i++) {
        x[i] = (random.unit() - 0.5) * (i % 10 == 0 ? 1e5 : 60) + 1e-7;
        y[i] = (random.unit() - 0.5) * 14;
        if (i % 10 == 0)
            x[i] = std::fmod(x[i], 1000);
    }
    double *device_x = to_device(x), *device_y = to_device(y);
    double *out = new_on_device<double>(n * COUNT);
    compute_all<<<(n + 127) / 128, 128>>>(device_x, device_y, out, n);
    std::vector<double> got = to_host(out, n * COUNT);
    for (int i = 0; i < n; i++) {
        long double want[COUNT];
        compute_here(x[i], y[i], want);
        for (int k = 0; k < COUNT; k++) {
            double have = got[i * COUNT + k], near = (double)want[k];
            if (std::isnan(near) && std::isnan(have))
                continue;
            double unit =
                std::nextafter(std::fabs(near), INFINITY) - std::fabs(near);
            double off =
                have == near ? 0 : (double)fabsl(have - want[k]) / unit;
            double most = allowed[k] + 0.501;
            EXPECT(off <= most, "%s of %.17g %.17g: %.17g, not %.17g (%g)",
                   names[k], x[i], y[i], have, near, off);
        }
    }
    CHECK(cudaFree(device_x));
    CHECK(cudaFree(device_y));
    CHECK(cudaFree(out));
    return pass("double_math", "functions %d digest %016llx", COUNT,
                (unsigned long long)digest(got));
}
