/*
 * Kernels for the CPU, from the same source as those for devices: for one C++
 * file (C++17, gcc or clang) of a program that runs with ADSM_DEVICES=cpu.
 *
 *     #include "adsm_cpu.h"
 *     #include "heat.cu"     which has ADSM_CPU_KERNEL(heat_step) at its end
 *
 *     c++ -std=c++17 -O3 -march=native -ffp-contract=off -fno-trapping-math \
 *         -c heat_cpu.cpp
 *
 * Threads of a block run one after the other, in a loop along x that compilers
 * turn into vectors where the kernel lets them. So a kernel has none whose
 * threads wait for each other: one with __syncthreads or shuffles does not
 * compile here, and with ADSM_DEVICES=cpu the library says that it has no
 * function. -ffp-contract=off makes the same bits as on devices; -march=native
 * makes fma an instruction, -fno-trapping-math lets gcc make vectors.
 */
#ifndef TOOLS_CUDA_ADSM_CPU_H
#define TOOLS_CUDA_ADSM_CPU_H

#include <adsm.h>
#include <adsm_cpu_operator.h>

#include <utility>

#define __global__ inline __attribute__((visibility("hidden")))
#define __device__
#define __host__
#define __constant__ static const
#define __shared__   static thread_local
#define __launch_bounds__(...)

struct adsm_cpu_index {
    unsigned x, y, z;
};

/* Nobody takes their addresses, so a loop keeps them in registers. */
static thread_local adsm_cpu_index threadIdx, blockIdx, blockDim, gridDim;

/* Of a kernel that uses it, when that is asked to run here. */
__attribute__((error("a kernel whose threads wait for each other has no "
                     "function for the CPU"))) void
__syncthreads();

#define ADSM_CPU_KERNEL(kernel)                                                \
    static adsm_cpu_kernel adsm_cpu_##kernel(                                  \
        {#kernel, adsm_cpu_of<kernel>::run, adsm_cpu_of<kernel>::count,        \
         adsm_cpu_of<kernel>::bytes, nullptr});

#define ADSM_OPERATOR(name, type, identity, ...)                               \
    ADSM_CPU_OPERATOR(name, type, identity, __VA_ARGS__)                       \
    static adsm_cpu_kernel adsm_cpu_kernels_##name[] = {                       \
        adsm_cpu_kernel(adsm_cpu_codes_##name[0]),                             \
        adsm_cpu_kernel(adsm_cpu_codes_##name[1]),                             \
        adsm_cpu_kernel(adsm_cpu_codes_##name[2]),                             \
        adsm_cpu_kernel(adsm_cpu_codes_##name[3]),                             \
        adsm_cpu_kernel(adsm_cpu_codes_##name[4]),                             \
        adsm_cpu_kernel(adsm_cpu_codes_##name[5]),                             \
        adsm_cpu_kernel(adsm_cpu_codes_##name[6])};

/* It has no function for the CPU. */
#define ADSM_MAP_REDUCE(...)

#include "adsm_device.h"

template <auto Kernel> struct adsm_cpu_of;

template <typename... Parameter, void (*Kernel)(Parameter...)>
struct adsm_cpu_of<Kernel> {
    static constexpr int count = sizeof...(Parameter);
    static constexpr size_t bytes[] = {sizeof(Parameter)..., 0};

    /* By value: an array that is written could have them, for all a compiler
     * sees. */
    static inline __attribute__((always_inline)) void
    block(unsigned nx, unsigned ny, unsigned nz, Parameter... value)
    {
        for (unsigned z = 0; z < nz; z++)
            for (unsigned y = 0; y < ny; y++)
                for (unsigned x = 0; x < nx; x++) {
                    threadIdx = {x, y, z};
                    Kernel(value...);
                }
    }

    template <size_t... I>
    static inline __attribute__((always_inline)) void
    each(const adsmBlocks &blocks, void *const *values,
         std::index_sequence<I...>)
    {
        const unsigned *grid = blocks.grid, *block_of = blocks.block;
        gridDim = {grid[0], grid[1], grid[2]};
        blockDim = {block_of[0], block_of[1], block_of[2]};
        for (uint64_t b = 0; b < blocks.count; b++) {
            uint64_t at = blocks.first + b;
            blockIdx = {(unsigned)(at % grid[0]),
                        (unsigned)(at / grid[0] % grid[1]),
                        (unsigned)(at / grid[0] / grid[1])};
            block(block_of[0], block_of[1], block_of[2],
                  *static_cast<Parameter *>(values[I])...);
        }
    }

    __attribute__((flatten)) static void run(const adsmBlocks *blocks,
                                             void *const *values)
    {
        each(*blocks, values, std::index_sequence_for<Parameter...>());
    }
};

/** Its kernel runs on the CPU as long as the file's code is there. */
struct adsm_cpu_kernel {
    adsmCpuCode code;

    explicit adsm_cpu_kernel(const adsmCpuCode &of) : code(of)
    {
        adsmCpuAdd(&code);
    }
    ~adsm_cpu_kernel()
    {
        adsmCpuRemove(&code);
    }
};

#endif
