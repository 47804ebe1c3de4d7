/*
 * Contexts of the program and what the runtime has in them; see context.h.
 *
 * A runtime that cannot be brought up is said once and then leaves the program
 * alone.
 */
#include "interpose/cuda/context.h"

#include "accel/address/address.h"
#include "base/log.h"
#include "base/status.h"
#include "interpose/cuda/driver.h"
#include "interpose/cuda/module.h"
#include "interpose/cuda/params.h"
#include "interpose/signals/mask.h"
#include "libadsm/init.h"

bool cuda_is_serving(void)
{
    return !hook_passes() && adsm_heap_count() > 0;
}

static bool is_up(void)
{
    mask_start();
    int status = adsm_init();
    if (status)
        adsm_log_once(
            ADSM_LOG_ERROR, "not started, the program runs without it: %s",
            *adsm_accel_why() ? adsm_accel_why() : adsm_status_text(status));
    return status == ADSM_OK;
}

/* The accel of the current context, made if it has none. What may be there the
 * next time is a result; without the rest the program goes on by itself. */
static CUresult open_current(struct adsm_accel **accel)
{
    const char *why = "";
    int status = adsm_accel_of_current(accel);
    if (status == ADSM_OK)
        status = adsm_address_choose(*accel);
    if (status == ADSM_OK) {
        if (adsm_address_strategy(*accel, &why) != ADSM_TRANSLATE)
            return CUDA_SUCCESS;
        adsm_log_once(ADSM_LOG_WARN,
                      "device pointers cannot be host pointers here, "
                      "allocations are not shared: %s",
                      why);
    }
    *accel = NULL;
    bool short_of = status == ADSM_E_NOMEM || status == ADSM_E_LIMIT ||
                    status == ADSM_E_DEVICE_NOMEM;
    if (status)
        adsm_log_once(ADSM_LOG_ERROR, "%s: %s",
                      short_of ? "this context gets no shared memory for now"
                               : "this context runs without shared memory",
                      adsm_accel_error_text());
    return short_of ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult cuda_accel_serving(struct adsm_accel **accel)
{
    CUresult result = CUDA_SUCCESS;
    *accel = NULL;
    if (hook_passes() || !cuda_driver_context())
        return CUDA_SUCCESS;
    hook_enter();
    if (is_up())
        result = open_current(accel);
    hook_leave();
    return result;
}

struct adsm_accel *cuda_accel_current(void)
{
    CUcontext context = cuda_driver_context();
    return context ? adsm_accel_of_context(context) : NULL;
}

bool cuda_is_ours(CUdeviceptr address)
{
    return adsm_index_find((const void *)address) ||
           adsm_address_is_reserved(address);
}

CUdeviceptr cuda_device_address(CUdeviceptr address)
{
    struct adsm_daddr device;
    return adsm_heap_device((const void *)address, &device) == ADSM_OK
               ? device.at
               : address;
}

struct cuda_parting cuda_context_part(CUcontext context)
{
    struct cuda_parting parting = {NULL, context};
    cuda_params_forget();
    if (context && !hook_passes())
        parting.accel = adsm_accel_of_context(context);
    if (!parting.accel)
        return parting;
    hook_enter();
    adsm_heap_withdraw(parting.accel);
    (void)adsm_accel_detach(parting.accel);
    hook_leave();
    return parting;
}

/* Does the context live on? Other failures are those of its work. */
static bool is_refusal(CUresult result)
{
    return result == CUDA_ERROR_INVALID_VALUE ||
           result == CUDA_ERROR_INVALID_CONTEXT ||
           result == CUDA_ERROR_INVALID_DEVICE ||
           result == CUDA_ERROR_NOT_PERMITTED;
}

CUresult cuda_context_parted(struct cuda_parting parting, CUresult result)
{
    if (result == CUDA_SUCCESS)
        cuda_module_forget();
    if (!parting.accel)
        return result;
    if (is_refusal(result)) {
        adsm_accel_attach(parting.accel, parting.context);
        return result;
    }
    hook_enter();
    adsm_accel_end(parting.accel);
    adsm_heap_forget(parting.accel);
    adsm_accel_forget(parting.accel);
    hook_leave();
    return result;
}
