/*
 * Errors that a program can recover from: bad launches, bad arguments, bad
 * handles; what the last error is and how often; names and texts.
 */
#include "program.h"

__global__ void nothing(int *data)
{
    if (data)
        *data = 1;
}

static void expect_last(cudaError_t want, const char *after)
{
    cudaError_t peeked = cudaPeekAtLastError();
    cudaError_t got = cudaGetLastError();
    EXPECT(peeked == want && got == want, "after %s: %s, then %s", after,
           cudaGetErrorName(peeked), cudaGetErrorName(got));
    EXPECT(cudaGetLastError() == cudaSuccess, "after %s it stayed", after);
}

int main()
{
    int *device = new_on_device<int>(4), host[4] = {0, 0, 0, 0};
    void *never;
    nothing<<<1, 2048>>>(device);
    expect_last(TOO_MANY_THREADS, "2048 threads");
    nothing<<<0, 32>>>(device);
    expect_last(cudaErrorInvalidConfiguration, "no blocks");
    nothing<<<1, 0>>>(device);
    expect_last(cudaErrorInvalidConfiguration, "no threads");
    nothing<<<dim3(1, 70000, 1), 32>>>(device);
    expect_last(cudaErrorInvalidConfiguration, "70000 rows of blocks");
    nothing<<<1, 32, 1 << 20>>>(device);
    expect_last(cudaErrorInvalidValue, "a megabyte of shared memory");
    EXPECT(cudaDeviceSynchronize() == cudaSuccess, "launches that never were");

    CHECK_FAILS(cudaErrorInvalidValue,
                cudaMemcpy(device, nullptr, 16, cudaMemcpyHostToDevice));
    CHECK_FAILS(cudaErrorInvalidMemcpyDirection,
                cudaMemcpy(device, host, 16, (cudaMemcpyKind)9));
    expect_last(cudaErrorInvalidMemcpyDirection, "a copy to nowhere");
    CHECK_FAILS(cudaErrorInvalidValue, cudaMalloc((void **)nullptr, 16));
    CHECK_FAILS(cudaErrorMemoryAllocation, cudaMalloc(&never, (size_t)1 << 50));
    expect_last(cudaErrorMemoryAllocation, "a petabyte");
    CHECK_FAILS(cudaErrorInvalidValue, cudaFree(host));
    cudaGetLastError();
    CHECK(cudaFree(nullptr));
    CHECK(cudaMemcpy(device, host, 0, cudaMemcpyHostToDevice));
    CHECK_FAILS(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(host, host, 4));
    expect_last(cudaErrorInvalidSymbol, "no symbol");
    CHECK_FAILS(cudaErrorInvalidValue, cudaMemset(device, 0, (size_t)1 << 40));
    cudaGetLastError();

    const struct {
        cudaError_t error;
        const char *name, *text;
    } known[] = {
        {cudaSuccess, "cudaSuccess", "no error"},
        {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
        {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation",
         "out of memory"},
        {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
         "invalid configuration argument"},
        {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
         "an illegal memory access was encountered"},
        {cudaErrorNoDevice, "cudaErrorNoDevice",
         "no CUDA-capable device is detected"},
        {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
        {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout",
         "the launch timed out and was terminated"},
        {(cudaError_t)12345, "unrecognized error code",
         "unrecognized error code"},
    };
    for (const auto &entry : known)
        EXPECT(strcmp(cudaGetErrorName(entry.error), entry.name) == 0 &&
                   strcmp(cudaGetErrorString(entry.error), entry.text) == 0,
               "%d: '%s' '%s'", entry.error, cudaGetErrorName(entry.error),
               cudaGetErrorString(entry.error));
    nothing<<<1, 32>>>(device);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, device, 4, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 1, "%d", host[0]);
    CHECK(cudaFree(device));
    return pass("errors_launch", "texts %zu", sizeof known / sizeof *known);
}
