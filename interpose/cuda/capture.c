/* Streams whose work is recorded; see capture.h. */
#include "interpose/cuda/capture.h"

#include "interpose/cuda/driver.h"

static _Atomic bool capture_seen;

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
}
