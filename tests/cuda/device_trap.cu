/*
 * __trap: the kernel and its context end with the error the language names.
 */
#include "program.h"

__global__ void trap_at(int which, int *out)
{
    if (threadIdx.x == which)
        __trap();
    out[threadIdx.x] = 1;
}

int main()
{
    int *out = new_on_device<int>(64);
    trap_at<<<1, 64>>>(64, out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(to_host(out, 64)[63] == 1, "nothing was trapped");
    trap_at<<<1, 64>>>(40, out);
    cudaError_t error = cudaDeviceSynchronize();
    EXPECT(error == cudaErrorLaunchFailure ||
               error == cudaErrorIllegalInstruction,
           "%s", cudaGetErrorName(error));
    EXPECT(cudaFree(out) == error, "the context goes on");
    return pass("device_trap", "error %d", error != cudaSuccess);
}
