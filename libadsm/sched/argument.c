/* What can be wrong with one argument. */
#include "sched/argument.h"

#include "sched/detail.h"

int adsm_argument_not_made(const struct adsm_kernel_view *kernel, int number)
{
    return adsm_detail(ADSM_E_INVALID,
                       "argument %d of kernel '%s' was not made by adsmVal, "
                       "adsmIn, adsmOut or adsmInOut",
                       number, kernel->name);
}

int adsm_argument_check_value(const struct adsm_kernel_view *kernel, int number,
                              int parameter, const adsmArg *arg)
{
    bool kept = arg->how == ADSM_KEPT;
    if (!adsm_argument_value(arg) || (kept && arg->bytes > sizeof arg->param))
        return adsm_argument_not_made(kernel, number);
    if (kernel->parameters >= 0 &&
        arg->bytes != kernel->parameter_bytes[parameter])
        return adsm_detail(ADSM_E_INVALID,
                           "argument %d of kernel '%s' has %zu bytes, its "
                           "parameter has %u",
                           number, kernel->name, arg->bytes,
                           kernel->parameter_bytes[parameter]);
    return ADSM_OK;
}
