/*
 * Owns: errors: names, texts, the calling thread's last one.
 *
 * A fault on the device is sticky: cudaGetLastError does not reset it, as the
 * context stays unusable until the device is reset.
 */
#include <stdatomic.h>

#include "cudart/rt.h"

struct entry {
    cudaError_t number;
    const char *name, *text;
};

static const struct entry entries[] = {
#define SC_RT_ERROR(name, number, text) {number, "cuda" #name, text},
#include "cudart/include/softcudart/error.def"
#undef SC_RT_ERROR
};

static _Thread_local cudaError_t last;
static _Thread_local uint64_t last_epoch; /* of the reset count below */
static _Atomic uint64_t resets;

static const struct entry *find(cudaError_t error)
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (entries[i].number == error)
            return &entries[i];
    return NULL;
}

static bool is_sticky(cudaError_t error)
{
    switch (error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
        return true;
    default:
        return false;
    }
}

cudaError_t sc_rt_error(CUresult result)
{
    if (result == CUDA_SUCCESS)
        return cudaSuccess;
    /* the numbers are the same since 10.1, for results that both know */
    return find((cudaError_t)result) ? (cudaError_t)result : cudaErrorUnknown;
}

cudaError_t sc_rt_done(cudaError_t error)
{
    /* not ready is an answer: work goes on that nothing is wrong with */
    if (error != cudaSuccess && error != cudaErrorNotReady) {
        last = error;
        last_epoch = atomic_load(&resets);
    }
    return error;
}

void sc_rt_forgive(void)
{
    atomic_fetch_add(&resets, 1);
    last = cudaSuccess;
}

static cudaError_t current(void)
{
    if (is_sticky(last) && last_epoch != atomic_load(&resets))
        last = cudaSuccess;
    return last;
}

SC_RT cudaGetLastError(void)
{
    cudaError_t error = current();
    if (!is_sticky(error))
        last = cudaSuccess;
    return error;
}

SC_RT cudaPeekAtLastError(void)
{
    return current();
}

__attribute__((visibility("default"))) const char *
cudaGetErrorName(cudaError_t error)
{
    const struct entry *entry = find(error);
    return entry ? entry->name : "unrecognized error code";
}

__attribute__((visibility("default"))) const char *
cudaGetErrorString(cudaError_t error)
{
    const struct entry *entry = find(error);
    return entry ? entry->text : "unrecognized error code";
}
