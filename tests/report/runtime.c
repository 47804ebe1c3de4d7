/*
 * A program of the CUDA runtime API, without kernels: the driver is called by
 * libcudart then, and the program's line lies further up. Its copies go through
 * a function of its own.
 */
#include <stdio.h>
#include <stdlib.h>

/* As NVIDIA's header has them, in C. */
int cudaMalloc(void **memory, size_t bytes);
int cudaFree(void *memory);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
enum { UP = 1, DOWN = 2 };

static void check(int result)
{
    if (result == 0)
        return;
    printf("gave %d\n", result);
    exit(3);
}

int main(void)
{
    enum { WORDS = 1 << 16 };
    static unsigned in[WORDS], out[WORDS];
    void *device;
    for (unsigned i = 0; i < WORDS; i++)
        in[i] = i * 2654435761u;
    check(cudaMalloc(&device, sizeof in));
    check(cudaMemcpy(device, in, sizeof in, UP));
    check(cudaMemcpy(out, device, sizeof in, DOWN));
    check(cudaMemcpy(device, in, sizeof in, UP)); /* PLANTED duplicate */
    check(cudaFree(device));
    printf("%u\n", out[7]);
    return 0;
}
