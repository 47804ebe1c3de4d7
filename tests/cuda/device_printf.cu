/*
 * printf in kernels: every conversion, many arguments, text that appears at
 * the next synchronisation and before what the host prints after it.
 */
#include "program.h"

__global__ void conversions(const char *text)
{
    printf("int %d %5d|%-5d|%05d %+d\n", -42, 42, 42, 42, 42);
    printf("hex %x %X %#x octal %o unsigned %u\n", 48879, 48879, 255, 8,
           4000000000u);
    printf("long %ld %lld %llx\n", -5l, 1ll << 40, 0xdeadbeefcafeull);
    printf("float %f %.3f %e %g %10.2f|\n", 1.5f, 3.14159, 12345.678, 0.0001,
           -2.5);
    printf("char %c%c percent %% string %s|%8s|\n", 'o', 'k', text, "right");
    printf("nothing to convert\n");
    int written = printf("%s %d %g %llu %c %d %d %d %d %d\n", "many", 1, 2.0,
                         3ull, '4', 5, 6, 7, 8, 9);
    printf("arguments %d star %*d|%.*f|\n", written, 6, 77, 2, 2.71828);
}

__global__ void in_order(int *counter, int n)
{
    /* One thread after another, whatever the order of execution is. */
    for (int turn = 0; turn < n; turn++) {
        if (threadIdx.x == turn && atomicAdd(counter, 1) == turn)
            printf("thread %d of block %d\n", threadIdx.x, blockIdx.x);
        __syncthreads();
    }
}

int main()
{
    char *text = (char *)to_device(std::vector<char>{'d', 'e', 'v', 0});
    int *counter = to_device(std::vector<int>(1));
    size_t bytes = 0;
    CHECK(cudaDeviceGetLimit(&bytes, cudaLimitPrintfFifoSize));
    EXPECT(bytes > 0, "no room for printf");
    conversions<<<1, 1>>>(text);
    CHECK(cudaDeviceSynchronize());
    fflush(stdout);
    in_order<<<1, 7>>>(counter, 7);
    CHECK(cudaDeviceSynchronize());
    fflush(stdout);
    CHECK(cudaFree(text));
    CHECK(cudaFree(counter));
    return pass("device_printf", "%d", 8);
}
