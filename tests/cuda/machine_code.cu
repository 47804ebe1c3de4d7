/*
 * An image with machine code only, for another device than this one: the
 * launch says that there is no kernel, and the program goes on.
 */
#include "program.h"

__global__ void nothing(int *data)
{
    *data = 1;
}

int main()
{
    int *data = to_device(std::vector<int>{41});
    nothing<<<1, 1>>>(data);
    cudaError_t error = cudaGetLastError();
    EXPECT(error == cudaErrorNoKernelImageForDevice, "%s",
           cudaGetErrorName(error));
    int left = to_host(data, 1)[0];
    EXPECT(left == 41, "it ran: %d", left);
    CHECK(cudaFree(data));
    return pass("machine_code", "%s", cudaGetErrorName(error));
}
