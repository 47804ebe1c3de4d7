/*
 * Managed memory and hints about it, checked and timed. See managed.h.
 */
#include "common/managed.h"

#include "managed/hints.h"

void *managed_alloc(size_t bytes)
{
    CUdeviceptr address;
    CHECK(cuMemAllocManaged(&address, bytes, CU_MEM_ATTACH_GLOBAL));
    return (void *)address;
}

void read_mostly(void *managed, size_t bytes)
{
    CHECK(hint_read_mostly(managed, bytes));
}

void prefer_device(void *managed, size_t bytes)
{
    CHECK(hint_prefer_device(managed, bytes));
}

void prefetch_to_device(void *managed, size_t bytes)
{
    enum bench_phase before = bench_enter(BENCH_COPY);
    CHECK(hint_to_device(managed, bytes));
    bench_enter(before);
}

void prefetch_to_host(void *managed, size_t bytes)
{
    enum bench_phase before = bench_enter(BENCH_COPY);
    CHECK(hint_to_host(managed, bytes));
    bench_enter(before);
}
