/* The samples next to this file, made with nvcc 13.0:
 *   nvcc --fatbin -gencode arch=compute_75,code=compute_75 \
 *        -gencode arch=compute_80,code=compute_80 \
 *        -gencode arch=compute_100,code=compute_100 \
 *        -compress-mode={none,speed,balance} two.cu
 *   nvcc --fatbin -arch=sm_75 -gencode arch=compute_75,code=sm_75 two.cu
 */
extern "C" __global__ void store(int *p)
{
    *p = __CUDA_ARCH__;
}
extern "C" __global__ void add(float *c, const float *a, const float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
