/*
 * Prints what a cuda.h says: values, sizes, offsets, and which exported name
 * each call maps to.  Built against either header; the outputs must agree.
 */
#include <cuda.h>
#include <stddef.h>
#include <stdio.h>

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

/* The calls' types must agree with an explicit declaration of ours, so a
 * changed parameter breaks the build against the other header. */
static CUresult (*const create)(CUcontext *, CUctxCreateParams *, unsigned int,
                                CUdevice) = cuCtxCreate;
static CUresult (*const launch)(CUfunction, unsigned int, unsigned int,
                                unsigned int, unsigned int, unsigned int,
                                unsigned int, unsigned int, CUstream, void **,
                                void **) = cuLaunchKernel;
static CUresult (*const upload)(CUdeviceptr, const void *,
                                size_t) = cuMemcpyHtoD;
static CUresult (*const elapsed)(float *, CUevent,
                                 CUevent) = cuEventElapsedTime;
static CUresult (*const reserve)(CUdeviceptr *, size_t, size_t, CUdeviceptr,
                                 unsigned long long) = cuMemAddressReserve;

int main(void)
{
#define VALUE(name) printf("%s %lld\n", #name, (long long)(size_t)(name));
#define SIZE(type)  printf("sizeof %s %zu\n", #type, sizeof(type));
#define FIELD(type, member)                                                    \
    printf("offsetof %s.%s %zu size %zu\n", #type, #member,                    \
           offsetof(type, member), sizeof((type *)0)->member);
#include "tests/driver/header_facts.def"
    puts(TEXT(cuMemAlloc) " " TEXT(cuMemFree) " " TEXT(cuCtxCreate) " " TEXT(
        cuMemcpyHtoDAsync) " " TEXT(cuStreamDestroy) " " TEXT(cuEventDestroy));
    puts(TEXT(cuLaunchKernel) " " TEXT(cuMemcpy2D) " " TEXT(
        cuStreamGetCaptureInfo) " " TEXT(cuGetProcAddress) " " TEXT(cuMemsetD8));
    return !(create && launch && upload && elapsed && reserve);
}
