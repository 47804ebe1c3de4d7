/*
 * Hints that are not given. See hints.h.
 */
#include "managed/hints.h"

CUresult hint_read_mostly(const void *memory, size_t bytes)
{
    (void)memory;
    (void)bytes;
    return CUDA_SUCCESS;
}

CUresult hint_prefer_device(const void *memory, size_t bytes)
{
    (void)memory;
    (void)bytes;
    return CUDA_SUCCESS;
}

CUresult hint_to_device(const void *memory, size_t bytes)
{
    (void)memory;
    (void)bytes;
    return CUDA_SUCCESS;
}

CUresult hint_to_host(const void *memory, size_t bytes)
{
    (void)memory;
    (void)bytes;
    return CUDA_SUCCESS;
}
