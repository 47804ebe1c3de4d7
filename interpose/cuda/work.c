/* CUDA's driver for the engine, and what it is told of work; see work.h. */
#include "interpose/cuda/work.h"

#include "interpose/cuda/capture.h"
#include "interpose/cuda/context.h"
#include "interpose/cuda/driver.h"

static bool records(adsm_stream stream)
{
    return cuda_is_capturing(stream);
}

static int await(adsm_stream stream)
{
    return -(int)cuda_seen(cuda_driver_wait(stream));
}

/* The driver knows the addresses of page-locked memory, and of its own.
 * @type  CUDA_MEMORY_HOST, or CUDA_MEMORY_DEVICE, where it does */
static bool is_known(const void *address, unsigned *type)
{
    enum { MEMORY_TYPE = 2 };
    return CUDA_CALL(cuPointerGetAttribute,
                     (type, MEMORY_TYPE, (CUdeviceptr)address)) == CUDA_SUCCESS;
}

static bool knows(const void *memory)
{
    unsigned type;
    return is_known(memory, &type);
}

const struct device_driver cuda_device_driver = {
    .current = cuda_accel_current,
    .records = records,
    .knows = knows,
    .wait = await,
};

bool cuda_is_device(const void *address)
{
    unsigned type;
    return is_known(address, &type) && type == CUDA_MEMORY_DEVICE;
}

uint64_t cuda_host_begin(const struct device_work *work, const void *host)
{
    return work->quiet && host && !knows(host) ? adsm_quiet_wait_begin() : 0;
}

CUresult cuda_wait_ahead(struct device_order order)
{
    if (hook_unlikely(cuda_captures()))
        return CUDA_SUCCESS;
    return cuda_seen(cuda_driver_wait(order.stream));
}

CUresult cuda_done(struct device_work *work, CUresult result)
{
    cuda_seen(result);
    int status = device_done(work, result == CUDA_SUCCESS);
    return result ? result : cuda_result("a device copy", status);
}

CUresult cuda_called(const struct adsm_call *call, CUresult result)
{
    cuda_seen(result);
    int status = device_called(call, result == CUDA_SUCCESS);
    return result ? result : cuda_result("a launch", status);
}
