/* What happened, in CUDA's terms; see result.h. */
#include "interpose/cuda/result.h"

#include "base/log.h"
#include "base/status.h"
#include "interpose/cuda/driver.h"

static _Atomic bool fault_seen;

static CUresult result_of(int status)
{
    CUresult result;
    if (status < 0) /* the driver's own */
        return (CUresult)-status;
    switch (status) {
    case ADSM_OK:
        return CUDA_SUCCESS;
    case ADSM_E_INVALID:
    case ADSM_E_NOT_SHARED:
        return CUDA_ERROR_INVALID_VALUE;
    case ADSM_E_NOMEM:
    case ADSM_E_DEVICE_NOMEM:
    case ADSM_E_LIMIT:
        return CUDA_ERROR_OUT_OF_MEMORY;
    case ADSM_E_NO_DEVICE:
        return CUDA_ERROR_NO_DEVICE;
    case ADSM_E_UNSUPPORTED:
        return CUDA_ERROR_NOT_SUPPORTED;
    case ADSM_E_SYSTEM:
        return CUDA_ERROR_OPERATING_SYSTEM;
    case ADSM_E_FORKED:
        return CUDA_ERROR_NOT_INITIALIZED;
    default:
        /* The driver knows better what happened to the device. */
        result = cuda_driver_synchronize();
        return result ? result : CUDA_ERROR_UNKNOWN;
    }
}

CUresult cuda_result_of(const char *what, int status)
{
    CUresult result = result_of(status);
    if (status > 0 && status != ADSM_E_DEVICE_NOMEM &&
        status != ADSM_E_NOT_SHARED)
        adsm_log_once(ADSM_LOG_ERROR, "%s: %s", what, adsm_status_text(status));
    return result;
}

void cuda_see(CUresult result)
{
    switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
        atomic_store_explicit(&fault_seen, true, memory_order_relaxed);
    }
}

CUresult cuda_context_health(void)
{
    return hook_likely(!atomic_load_explicit(&fault_seen, memory_order_relaxed))
               ? CUDA_SUCCESS
               : cuda_driver_synchronize();
}
