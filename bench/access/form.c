/*
 * Copies by hand, managed memory and neither. See form.h.
 */
#include "form.h"

#include "managed/hints.h"
#include "shape.h"

#include <stdio.h>
#include <stdlib.h>

/* Less is left to the pages that fault: a prefetch moves pages. */
enum { LEAST_HINT_BYTES = 64 << 10 };

static enum form form;
static struct form_counts counts;

static void check(CUresult result, const char *call)
{
    const char *name = "an unknown error";
    counts.calls++;
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    fprintf(stderr, "bench_access: %s: %s\n", call, name);
    exit(1);
}

#define CHECK(call) check(call, #call)

void form_start(enum form wanted)
{
    CUdevice device;
    CUcontext context;
    form = wanted;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(kernel_load());
}

void form_count_from_here(void)
{
    counts = (struct form_counts){0};
}

struct form_counts form_counts(void)
{
    return counts;
}

static void *host_memory(size_t bytes)
{
    void *memory;
    if (form == FORM_PINNED) {
        CHECK(cuMemHostAlloc(&memory, bytes, 0));
        return memory;
    }
    memory = malloc(bytes);
    if (!memory) {
        fprintf(stderr, "bench_access: no memory\n");
        exit(1);
    }
    return memory;
}

struct array array_new(size_t bytes, enum use use)
{
    struct array array = {.bytes = bytes};
    if (form == FORM_MANAGED || form == FORM_HINTS)
        CHECK(cuMemAllocManaged(&array.device, bytes, CU_MEM_ATTACH_GLOBAL));
    else
        CHECK(cuMemAlloc(&array.device, bytes));
    array.host = form == FORM_PAGEABLE || form == FORM_PINNED
                     ? host_memory(bytes)
                     : (void *)array.device;
    if (form == FORM_HINTS && use == USE_OF_DEVICE)
        CHECK(hint_prefer_device(array.host, bytes));
    return array;
}

void array_free(struct array *array)
{
    CHECK(cuMemFree(array->device));
    if (form == FORM_PAGEABLE)
        free(array->host);
    if (form == FORM_PINNED)
        CHECK(cuMemFreeHost(array->host));
    *array = (struct array){0};
}

static char *host_at(const struct array *array, size_t at)
{
    return (char *)array->host + at;
}

void form_before_writing(void)
{
    /* Copies of pageable memory have been made when they return. */
    if (form != FORM_PAGEABLE)
        CHECK(cuCtxSynchronize());
}

void array_written(const struct array *array, size_t at, size_t bytes)
{
    const char *host = host_at(array, at);
    if (form == FORM_PAGEABLE)
        CHECK(cuMemcpyHtoD(array->device + at, host, bytes));
    else if (form == FORM_PINNED)
        CHECK(cuMemcpyHtoDAsync(array->device + at, host, bytes, NULL));
    else if (form == FORM_HINTS && bytes >= LEAST_HINT_BYTES)
        CHECK(hint_to_device(host, bytes));
    counts.up++;
    counts.bytes_up += bytes;
}

void array_wanted(const struct array *array, size_t at, size_t bytes)
{
    char *host = host_at(array, at);
    if (form == FORM_PAGEABLE)
        CHECK(cuMemcpyDtoH(host, array->device + at, bytes));
    else if (form == FORM_PINNED)
        CHECK(cuMemcpyDtoHAsync(host, array->device + at, bytes, NULL));
    else if (form == FORM_HINTS && bytes >= LEAST_HINT_BYTES)
        CHECK(hint_to_host(host, bytes));
    counts.down++;
    counts.bytes_down += bytes;
}

void form_wait(void)
{
    /* A copy of pageable memory down has waited. */
    if (form != FORM_PAGEABLE)
        CHECK(cuCtxSynchronize());
}

void form_launch(enum kernel kernel, size_t threads, size_t rows,
                 void **arguments)
{
    CHECK(kernel_launch(kernel, (unsigned)((threads + BLOCK - 1) / BLOCK),
                        (unsigned)rows, arguments));
}
