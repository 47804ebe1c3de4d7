/* Contexts of the program and what the runtime has in them; see context.h. */
#include "interpose/cuda/context.h"

#include "interpose/cuda/driver.h"
#include "interpose/cuda/module.h"
#include "interpose/cuda/params.h"
#include "interpose/report/report.h"

CUresult cuda_accel_serving(struct adsm_accel **accel)
{
    *accel = NULL;
    if (hook_passes() || device_adopts() || report_is_wanted() ||
        !cuda_driver_context())
        return CUDA_SUCCESS;
    return device_serve(accel) ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

struct adsm_accel *cuda_accel_made(void)
{
    struct adsm_accel *accel = NULL;
    if (hook_passes() || !cuda_driver_context())
        return NULL;
    hook_enter();
    if (device_is_up())
        (void)!adsm_accel_of_current(&accel);
    hook_leave();
    return accel;
}

struct adsm_accel *cuda_accel_current(void)
{
    CUcontext context = cuda_driver_context();
    struct adsm_accel *accel = context ? adsm_accel_of_context(context) : NULL;
    /* No allocation has made one: the context may use what others have. */
    return accel || !context || !device_adopts() ? accel : cuda_accel_made();
}

struct cuda_parting cuda_context_part(CUcontext context)
{
    struct cuda_parting parting = {.context = context};
    cuda_params_forget();
    if (!context || hook_passes())
        return parting;
    /* First: who adopts may be making an accel of it. */
    parting.going = device_context_goes();
    parting.accel = adsm_accel_of_context(context);
    if (parting.accel)
        device_part(parting.accel);
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
    if (parting.accel && is_refusal(result))
        adsm_accel_attach(parting.accel, parting.context);
    else if (parting.accel)
        device_parted(parting.accel);
    device_gone(parting.going);
    return result;
}
