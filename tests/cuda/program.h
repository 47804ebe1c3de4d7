/*
 * What the programs of this folder share: a call that fails ends the program,
 * a wrong result is printed and ends it, numbers come from one generator.
 *
 * Every program computes on the device, computes the same on the CPU in
 * another way, compares, and prints one line that is the same on every run:
 * the runner compares the output of runs with and without libadsm.
 */
#ifndef TESTS_CUDA_PROGRAM_H
#define TESTS_CUDA_PROGRAM_H

#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

/** Exit status of a program that this device cannot run. */
enum { EXIT_SKIP = 77 };

/** What a block of too many threads gets. */
#define TOO_MANY_THREADS                                                       \
    (CUDART_VERSION >= 13000 ? cudaErrorInvalidValue                           \
                             : cudaErrorInvalidConfiguration)

/** A call of the runtime that has to succeed. */
#define CHECK(call) check_result((call), #call, __LINE__)

/** A call that has to fail with one certain error. */
#define CHECK_FAILS(error, call) check_fails((error), (call), #call, __LINE__)

/** A condition that has to hold; the rest is printed where it does not. */
#define EXPECT(condition, ...)                                                 \
    do {                                                                       \
        if (!(condition))                                                      \
            expectation_failed(__LINE__, #condition, __VA_ARGS__);             \
    } while (0)

inline void check_result(cudaError_t error, const char *call, int line)
{
    if (error == cudaSuccess)
        return;
    printf("FAIL line %d: %s: %s (%s)\n", line, call, cudaGetErrorName(error),
           cudaGetErrorString(error));
    exit(EXIT_FAILURE);
}

inline void check_fails(cudaError_t want, cudaError_t got, const char *call,
                        int line)
{
    if (got == want)
        return;
    printf("FAIL line %d: %s: %s, not %s\n", line, call, cudaGetErrorName(got),
           cudaGetErrorName(want));
    exit(EXIT_FAILURE);
}

__attribute__((format(printf, 3, 4))) inline void
expectation_failed(int line, const char *condition, const char *format, ...)
{
    va_list args;
    printf("FAIL line %d: %s: ", line, condition);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    exit(EXIT_FAILURE);
}

/** The last line of a program: what it found, in figures. */
__attribute__((format(printf, 2, 3))) inline int pass(const char *name,
                                                      const char *format, ...)
{
    va_list args;
    printf("PASS %s ", name);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    return EXIT_SUCCESS;
}

/** The last line of a program that this device has too little for. */
inline int skip(const char *name, const char *why)
{
    printf("SKIP: %s: %s\n", name, why);
    return EXIT_SKIP;
}

/** Numbers that are the same everywhere. */
class Random
{
  public:
    explicit Random(uint32_t seed) : state(seed * 2654435761u + 12345u)
    {
    }
    uint32_t bits()
    {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        return state;
    }
    int below(int limit)
    {
        return (int)(bits() % (uint32_t)limit);
    }
    /* [0, 1), a multiple of 2^-20, so that sums of a few stay exact. */
    float unit()
    {
        return (float)(bits() >> 12) / 1048576.0f;
    }

  private:
    uint32_t state;
};

/** A number for a whole result (FNV-1a). */
inline uint64_t digest(const void *data, size_t bytes)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ ((const unsigned char *)data)[i]) * 0x100000001b3u;
    return hash;
}

template <typename T> uint64_t digest(const std::vector<T> &data)
{
    return digest(data.data(), data.size() * sizeof(T));
}

/** A new array of the device with the contents of `from`. */
template <typename T> T *to_device(const std::vector<T> &from)
{
    T *to;
    CHECK(cudaMalloc(&to, from.size() * sizeof(T)));
    CHECK(cudaMemcpy(to, from.data(), from.size() * sizeof(T),
                     cudaMemcpyHostToDevice));
    return to;
}

template <typename T> T *new_on_device(size_t count)
{
    T *to;
    CHECK(cudaMalloc(&to, count * sizeof(T)));
    return to;
}

/** The contents of an array of the device. */
template <typename T> std::vector<T> to_host(const T *from, size_t count)
{
    std::vector<T> to(count);
    CHECK(
        cudaMemcpy(to.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost));
    return to;
}

/** Is `got` within `share` of `want`, or within `share` of nothing? */
inline bool is_near(double got, double want, double share)
{
    return std::fabs(got - want) <= share * std::fmax(1.0, std::fabs(want));
}

#endif
