/* What can be wrong with one argument. */
#include "sched/argument.h"

#include "sched/detail.h"

int adsm_arguments_check(const struct adsm_kernel_view *kernel, int count,
                         int fixed)
{
    static const char *const after[] = {"", " after i0 and i1",
                                        " after i0, i1, j0 and j1",
                                        " after i0, i1, j0, j1, k0 and k1"};
    if (count < 0 || count > ADSM_KERNEL_PARAMETERS - fixed)
        return adsm_detail(ADSM_E_INVALID, "%d arguments; 0 to %d are possible",
                           count, ADSM_KERNEL_PARAMETERS - fixed);
    if (kernel->parameters >= 0 && count + fixed != kernel->parameters)
        return adsm_detail(
            ADSM_E_INVALID, "kernel '%s' takes %d arguments%s, %d were given",
            kernel->name, kernel->parameters - fixed, after[fixed / 2], count);
    for (int i = 0; i < fixed && kernel->parameters >= 0; i++)
        if (kernel->parameter_bytes[i] != sizeof(long))
            return adsm_detail(ADSM_E_INVALID,
                               "parameter %d of kernel '%s' has %u bytes: the "
                               "first %d are the bounds of its part, `long` "
                               "each",
                               i, kernel->name, kernel->parameter_bytes[i],
                               fixed);
    return ADSM_OK;
}

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
