/*
 * The mathematical library in single precision against double precision, and
 * the fast intrinsics within their wider limits. Built twice: as it is, and
 * with -use_fast_math.
 */
#include "program.h"

#ifdef FAST_MATH
#define PROGRAM "float_math_fast"
#else
#define PROGRAM "float_math"
#endif

struct Function {
    const char *name;
    double relative, absolute; /* one of them has to hold */
};

static const Function functions[] = {
    {"sinf", 3e-7, 5e-7},    {"cosf", 3e-7, 5e-7},   {"expf", 4e-6, 0},
    {"logf", 3e-7, 5e-7},    {"powf", 2e-5, 0},      {"sqrtf", 2e-7, 0},
    {"rsqrtf", 3e-7, 0},     {"divide", 3e-7, 0},    {"tanhf", 4e-7, 2e-6},
    {"atan2f", 5e-7, 0},     {"erff", 3e-7, 0},      {"fmodf", 0, 4e-6},
    {"cbrtf", 3e-7, 0},      {"log10f", 3e-7, 4e-7}, {"exp2f", 4e-7, 0},
    {"__sinf", 1e-5, 6e-7},  {"__expf", 4e-6, 0},    {"__logf", 1e-5, 4e-7},
    {"__fdividef", 4e-7, 0}, {"hypotf", 4e-7, 0},
};
enum { COUNT = sizeof functions / sizeof *functions };

__global__ void compute(const float *xs, const float *ys, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = xs[i], y = ys[i], *mine = out + i * COUNT;
    mine[0] = sinf(y);
    mine[1] = cosf(y);
    mine[2] = expf(x);
    mine[3] = logf(fabsf(x));
    mine[4] = powf(fabsf(x), y);
    mine[5] = sqrtf(fabsf(x));
    mine[6] = rsqrtf(fabsf(x));
    mine[7] = x / y;
    mine[8] = tanhf(y);
    mine[9] = atan2f(x, y);
    mine[10] = erff(y);
    mine[11] = fmodf(x, y);
    mine[12] = cbrtf(x);
    mine[13] = log10f(fabsf(x));
    mine[14] = exp2f(y);
    mine[15] = __sinf(y);
    mine[16] = __expf(x);
    mine[17] = __logf(fabsf(x));
    mine[18] = __fdividef(x, y);
    mine[19] = hypotf(x, y);
}

static void expected(double x, double y, double *want)
{
    double all[COUNT] = {std::sin(y),
                         std::cos(y),
                         std::exp(x),
                         std::log(std::fabs(x)),
                         std::pow(std::fabs(x), y),
                         std::sqrt(std::fabs(x)),
                         1 / std::sqrt(std::fabs(x)),
                         x / y,
                         std::tanh(y),
                         std::atan2(x, y),
                         std::erf(y),
                         std::fmod(x, y),
                         std::cbrt(x),
                         std::log10(std::fabs(x)),
                         std::exp2(y),
                         std::sin(y),
                         std::exp(x),
                         std::log(std::fabs(x)),
                         x / y,
                         std::hypot(x, y)};
    memcpy(want, all, sizeof all);
}

int main()
{
    const int n = 1000;
    std::vector<float> x(n), y(n);
    Random random(35);
    for (int i = 0; i < n; i++) {
        x[i] = (random.unit() - 0.5f) * 40 + 1e-4f;
        y[i] = (random.unit() - 0.5f) * 6 + 1e-4f;
    }
    float *device_x = to_device(x), *device_y = to_device(y);
    float *out = new_on_device<float>(n * COUNT);
    compute<<<(n + 127) / 128, 128>>>(device_x, device_y, out, n);
    std::vector<float> got = to_host(out, n * COUNT);
    for (int i = 0; i < n; i++) {
        double want[COUNT];
        expected(x[i], y[i], want);
        for (int k = 0; k < COUNT; k++) {
            double off = std::fabs(got[i * COUNT + k] - want[k]);
            EXPECT(off <= functions[k].absolute ||
                       off <= functions[k].relative * std::fabs(want[k]),
                   "%s of %.9g %.9g: %.9g, not %.9g", functions[k].name, x[i],
                   y[i], got[i * COUNT + k], want[k]);
        }
    }
    CHECK(cudaFree(device_x));
    CHECK(cudaFree(device_y));
    CHECK(cudaFree(out));
    return pass(PROGRAM, "functions %d digest %016llx", COUNT,
                (unsigned long long)digest(got));
}
