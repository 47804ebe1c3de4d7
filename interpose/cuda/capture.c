/* Streams whose work is recorded; see capture.h. */
#include "interpose/cuda/capture.h"

#include "interpose/cuda/driver.h"

static _Atomic bool capture_seen;

/* Begun, and not ended. */
static _Atomic int under_way;

bool cuda_captures(void)
{
    return atomic_load_explicit(&capture_seen, memory_order_relaxed);
}

bool cuda_is_capturing(CUstream stream)
{
    return cuda_captures() && cuda_driver_is_capturing(stream);
}

void cuda_capture_seen(void)
{
    atomic_store_explicit(&capture_seen, true, memory_order_relaxed);
    atomic_fetch_add(&under_way, 1);
}

void cuda_capture_ended(void)
{
    int before = atomic_load(&under_way);
    while (before > 0 &&
           !atomic_compare_exchange_weak(&under_way, &before, before - 1))
        ;
}

bool cuda_captures_now(void)
{
    return atomic_load_explicit(&under_way, memory_order_relaxed) > 0;
}
